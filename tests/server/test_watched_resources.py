"""Resources whose changes a server notices by itself, when noticing them fails or ends."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping

import pytest

from qortal_mcp.client import Options, connect
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.server import Offer, Server, ServerOptions, resource


@resource("note://{name}")
def note(name: str) -> str:
    """A note."""
    return name


async def test_what_failed_to_notice_changes_begins_again_with_the_next_subscriber(
    caplog: pytest.LogCaptureFixture,
) -> None:
    begun = 0
    heard: asyncio.Queue[Notification] = asyncio.Queue()

    async def changes() -> AsyncIterator[None]:
        nonlocal begun
        begun += 1
        if begun == 1:
            raise RuntimeError("a bug")
        yield

    def begin(variables: Mapping[str, str]) -> AsyncIterator[None]:
        return changes()

    server = Server(
        "notes",
        "1",
        offer=Offer(resources=[note], changes={"note://{name}": begin}),
        options=ServerOptions(resource_updates=True),
    )
    options = Options(on_notification=heard.put_nowait)
    async with asyncio.timeout(10), connect(server, era="legacy", options=options) as first:
        await first.subscribe("note://a")
        with caplog.at_level(logging.ERROR):
            await first.ping()
        assert "cannot be noticed any more" in caplog.text
        async with connect(server, era="legacy", options=options) as second:
            await second.subscribe("note://a")
            for _ in range(2):  # both hear of it
                assert (await heard.get()).method == "notifications/resources/updated"
            await second.ping()
        assert begun == 2
    server.close()
