"""What our client accepts as the result of a tool."""

import asyncio

import pytest
from tests.client.fakes import legacy, result, websocket_server

from qortal_mcp.client import connect


@pytest.mark.promise("Library", "The client asks only `content` of a result, as the specification does.")
async def test_a_result_schema_needs_only_content() -> None:
    server = legacy(lambda message: [result(message, {"content": []})])
    async with asyncio.timeout(30), websocket_server(server) as url, connect(url) as client:
        found = await client.call_tool("t")
    assert (found.content, found.is_error, found.text) == ([], False, "")
