"""WebSocket: frames as they came, refusals of the upgrade, and the end of a connection."""

import asyncio

import pytest
from aiohttp import WSMsgType, web
from tests.client.fakes import Json, legacy, result, silent, wait_until, web_server, websocket_server

from qortal_mcp.client import (
    ClientLimits,
    ConnectionLost,
    HttpRefused,
    Options,
    Transcript,
    connect,
)
from qortal_mcp.client.wires.websocket import WebSocketWire
from qortal_mcp.client.wires.wire import NoSink

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

    async with asyncio.timeout(30), web_server(handle) as url:
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

    async with asyncio.timeout(30), web_server(handle) as url:
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

    async with asyncio.timeout(30), web_server(handle) as url:
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
    async with asyncio.timeout(30), web_server(handle) as url:
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
        asyncio.timeout(30),
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
        asyncio.timeout(30),
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


@pytest.mark.parametrize("offered", ["mcp", "other", None, ""])
async def test_a_server_may_select_no_subprotocol_and_need_not_be_offered_one(offered: str | None) -> None:
    seen: list[str | None] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.headers.get("sec-websocket-protocol"))
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for frame in socket:
            for answer in legacy(lambda message: [result(message, {"ok": True})])(frame.json()):
                await socket.send_str(answer.decode())
        return socket

    options = Options(limits=LIMITS, subprotocol=offered)
    async with asyncio.timeout(30), web_server(handle) as url:
        address = url.replace("http", "ws")
        async with connect(address, era="legacy", options=options) as client:
            assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}
            assert isinstance(client.wire, WebSocketWire)
            assert client.wire.subprotocol is None
    assert seen == [offered or None]


async def test_a_refused_upgrade_shows_its_challenge() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=401, headers={"www-authenticate": "Bearer"})

    options = Options(limits=LIMITS, headers=(("authorization", "Bearer secret"),))
    async with asyncio.timeout(30), web_server(handle) as url:
        with pytest.raises(HttpRefused, match="HTTP status 401") as failure:
            async with connect(url.replace("http", "ws"), options=options):
                pass
    assert failure.value.challenge == "Bearer"
    assert "secret" not in str(failure.value)


async def test_a_redirected_upgrade_names_where_it_leads() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"location": "https://evil.test/ws?token=1"})

    async with asyncio.timeout(30), web_server(handle) as url:
        with pytest.raises(ConnectionLost, match=r"redirects to https://evil\.test, and redirects are not"):
            await WebSocketWire.open(url.replace("http", "ws"), limits=LIMITS)


async def test_the_connection_is_closed_with_1000() -> None:
    codes: list[int | None] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        await socket.receive()
        codes.append(socket.close_code)
        return socket

    async with asyncio.timeout(30), web_server(handle) as url:
        wire = await WebSocketWire.open(url, limits=LIMITS)
        await wire.close()
        await wait_until(lambda: bool(codes))
    assert codes == [1000]


@pytest.mark.parametrize(("heartbeat", "survives"), [(0.2, False), (5.0, True)])
async def test_a_server_that_answers_no_pings_is_kept_as_long_as_the_limit_says(
    heartbeat: float, survives: bool
) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(autoping=False, timeout=0.1)
        await socket.prepare(request)
        async for frame in socket:
            if frame.type is not WSMsgType.TEXT:
                continue
            message = frame.json()
            if message["method"] == "slow":
                await asyncio.sleep(0.6 if survives else 60)
            for answer in legacy(lambda said: [result(said, {"ok": True})])(message):
                await socket.send_str(answer.decode())
        return socket

    options = Options(limits=ClientLimits(heartbeat_seconds=heartbeat, goodbye_seconds=0.3))
    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url.replace("http", "ws"), era="legacy", options=options) as client,
    ):
        if survives:
            assert (await client.request("slow")).read(dict[str, bool]) == {"ok": True}
        else:
            with pytest.raises(ConnectionLost, match="PONG"):
                await client.request("slow")


class Kept(NoSink):
    """A sink that keeps what arrives."""

    def __init__(self) -> None:
        self.frames: list[bytes] = []

    def arrived(self, data: bytes, *more: object, **others: object) -> bool:
        self.frames.append(data)
        return False


async def test_every_frame_reaches_the_sink_as_it_came() -> None:
    sent = [b"", b"oops", b'{"odd":"\xff"}', b'{"a":\n1}']

    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        for data in sent:
            await socket.send_frame(data, WSMsgType.TEXT)
        await socket.send_frame(b"{}", WSMsgType.BINARY)
        await socket.receive()
        return socket

    kept = Kept()
    async with asyncio.timeout(30), web_server(handle) as url:
        wire = await WebSocketWire.open(url, kept, limits=LIMITS)
        await wait_until(lambda: len(kept.frames) == 5)
        await wire.close()
    assert kept.frames == [*sent, b"{}"]
