"""A bridge that ends closes every connection it has opened, also one that was lost at that very moment."""

import asyncio
import logging
from collections.abc import Callable

import pytest
from aiohttp import web
from tests.bridge.talking import Talker, bridged, way_to
from tests.client.fakes import Json, after, legacy, result, unclosed, websocket_server


def _tools(message: Json) -> list[bytes]:
    return [result(message, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})]


class _OnLoss(logging.Handler):
    """Calls back when the bridge says that a connection is lost."""

    def __init__(self, then: Callable[[], object]) -> None:
        super().__init__()
        self._then = then

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == "connection to the server lost":
            self._then()


async def _lose_and_end(ticks: int) -> None:
    """Let the server go away, and end the bridge a few turns of the loop after it has noticed."""
    sockets: list[web.WebSocketResponse] = []
    log = logging.getLogger("qortal_mcp.bridge")
    async with (
        asyncio.timeout(30),
        websocket_server(legacy(_tools), sockets) as url,
        bridged(way_to(url)) as bridge,
    ):
        lost = asyncio.get_running_loop().create_future()

        async def end() -> None:
            await after(ticks)
            await bridge.shut()

        handler = _OnLoss(lambda: lost.set_result(asyncio.ensure_future(end())))
        client = Talker(bridge)
        await client.open()
        log.addHandler(handler)
        try:
            await sockets[0].close()
            await (await lost)
        finally:
            log.removeHandler(handler)
            await client.close()


@pytest.mark.parametrize("ticks", range(8))
async def test_a_bridge_that_ends_while_a_connection_is_lost_closes_it(ticks: int) -> None:
    with unclosed() as left:
        await _lose_and_end(ticks)
    assert left == []
