"""A server that says a thousand things at once: whoever else is waiting in this process gets its turn in between."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from tests.client.fakes import (
    NOTICE,
    OK,
    HttpScript,
    Json,
    child,
    legacy,
    result,
    web_server,
    websocket_server,
)

from qortal_mcp.client import Options, connect
from qortal_mcp.protocol.jsonrpc import Notification

MANY = 1_000
# What is taken between two turns of the loop is a millisecond's work.
FEW = 8


def talkative(message: Json) -> list[bytes]:
    return [NOTICE] * MANY + [result(message, OK)]


@asynccontextmanager
async def server_on(transport: str) -> AsyncIterator[str | list[str]]:
    if transport == "stdio":
        yield child(x=[NOTICE.decode()] * MANY + ['{"jsonrpc":"2.0","id":ID,"result":{"ok":true}}'])
    elif transport == "websocket":
        async with websocket_server(legacy(talkative)) as url:
            yield url
    else:
        async with web_server(HttpScript(legacy(talkative), sse=True)) as url:
            yield url


@pytest.mark.parametrize("transport", ["stdio", "websocket", "http"])
async def test_others_get_their_turn_while_a_server_talks_without_a_pause(transport: str) -> None:
    heard = 0
    longest = 0

    def hear(_: Notification) -> None:
        nonlocal heard
        heard += 1

    async def look_on() -> None:
        nonlocal longest
        before = 0
        while True:
            longest = max(longest, heard - before)
            before = heard
            await asyncio.sleep(0)

    async with (
        asyncio.timeout(30),
        server_on(transport) as server,
        connect(server, era="legacy", options=Options(on_notification=hear)) as client,
    ):
        onlooker = asyncio.create_task(look_on())
        assert (await client.request("x")).read(dict[str, bool]) == OK
        onlooker.cancel()
    assert heard == MANY
    assert longest <= FEW
