"""WebSocket: frames as they came, refusals of the upgrade, and the end of a connection."""

import asyncio

import pytest
from aiohttp import WSMsgType, web
from tests.client.fakes import Json, legacy, result, silent, wait_until, web_server, websocket_server

from qortal_mcp.client import ClientLimits, ConnectionLost, HttpRefused, Options, Transcript, connect
from qortal_mcp.client.wires.websocket import WebSocketWire

LIMITS = ClientLimits(request_seconds=2, probe_seconds=0.5, goodbye_seconds=0.3, message_bytes=10_000)
OPTIONS = Options(limits=LIMITS)


async def test_the_subprotocol_is_mcp_and_headers_are_sent() -> None:
    seen: list[str | None] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("authorization"))
        socket = web.WebSocketResponse(protocols=("other", "mcp"))
        await socket.prepare(request)
        await socket.receive()
        return socket

    async with asyncio.timeout(5), web_server(handle) as url:
        wire = await WebSocketWire.open(url, headers=(("authorization", "Bearer t"),), limits=LIMITS)
        assert wire.subprotocol == "mcp"
        await wire.close()
    assert seen == ["Bearer t"]


@pytest.mark.parametrize("status", [200, 301, 302, 401, 403, 404, 500])
async def test_a_refused_upgrade_is_a_lost_connection(status: int) -> None:
    asked: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        return web.Response(status=status, headers={"location": "/elsewhere"})

    async with asyncio.timeout(5), web_server(handle) as url:
        with pytest.raises(ConnectionLost) as failure:
            await WebSocketWire.open(url.replace("http", "ws") + "/ws", limits=LIMITS)
    assert asked == ["/ws"], "a redirect is not followed"
    if status not in (301, 302):
        assert isinstance(failure.value, HttpRefused)
        assert failure.value.status == status


async def test_an_upgrade_that_is_not_answered_is_given_up() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with asyncio.timeout(5), web_server(handle) as url:
        with pytest.raises(ConnectionLost):
            await WebSocketWire.open(url, limits=ClientLimits(connect_seconds=0.2))


FRAMES = [
    pytest.param(WSMsgType.TEXT, b'{"odd":"\xff"}', id="text-that-is-not-utf8"),
    pytest.param(WSMsgType.BINARY, b'{"binary":true}', id="binary"),
    pytest.param(WSMsgType.TEXT, b"", id="empty"),
    pytest.param(WSMsgType.TEXT, b"not json\n", id="not-json"),
]


@pytest.mark.parametrize(("kind", "data"), FRAMES)
async def test_frames_are_recorded_as_they_came_and_echoed_as_they_were_sent(
    kind: WSMsgType, data: bytes
) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(decode_text=False)
        await socket.prepare(request)
        async for frame in socket:
            await socket.send_frame(frame.data, frame.type)
        return socket

    transcript = Transcript()
    async with asyncio.timeout(5), web_server(handle) as url:
        wire = await WebSocketWire.open(url, observer=transcript, limits=LIMITS)
        await wire.send_raw(data, binary=kind is WSMsgType.BINARY)
        record = await transcript.wait_for(
            lambda found: found.kind == "message" and found.direction == "received", 5
        )
        await wire.close()
    assert record is not None
    assert (record.data, record.binary) == (data, kind is WSMsgType.BINARY)


async def test_a_frame_beyond_the_limit_ends_the_connection() -> None:
    def script(message: Json) -> list[bytes]:
        return [result(message, {"text": "x" * 20_000})]

    async with (
        asyncio.timeout(5),
        websocket_server(legacy(script)) as url,
        connect(url, options=OPTIONS) as client,
    ):
        with pytest.raises(ConnectionLost, match="1009"):
            await client.request("x")


async def test_a_connection_that_is_closed_fails_what_waits_and_what_follows() -> None:
    sockets: list[web.WebSocketResponse] = []
    transcript = Transcript()
    options = Options(limits=LIMITS, observer=transcript)
    async with (
        asyncio.timeout(5),
        websocket_server(legacy(silent), sockets) as url,
        connect(url, options=options) as client,
    ):
        waiting = asyncio.create_task(client.request("x"))
        await wait_until(lambda: any(b'"x"' in data for data in transcript.messages("sent")))
        await sockets[-1].close(code=1011, message=b"broken")
        with pytest.raises(ConnectionLost, match="1011"):
            await waiting
        with pytest.raises(ConnectionLost):
            await client.request("y")
    assert len(transcript.records("received", "closed")) == 1
