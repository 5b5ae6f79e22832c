"""Which era a server belongs to: what each kind of answer to the probe leads to."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from tests.client.fakes import (
    DISCOVERED,
    INITIALIZED,
    HttpScript,
    Json,
    Script,
    error,
    result,
    wait_until,
    web_server,
    websocket_server,
)

from qortal_mcp.client import (
    Client,
    ClientError,
    ClientLimits,
    ConnectionLost,
    Era,
    HttpRefused,
    MalformedReply,
    NotSupported,
    Options,
    RequestTimeout,
    ServerError,
    connect,
)
from qortal_mcp.protocol import errors

LIMITS = ClientLimits(probe_seconds=0.3, handshake_seconds=0.5, connect_seconds=0.5, linger_seconds=0.1)
OPTIONS = Options(limits=LIMITS)
MODERN = "2026-07-28"
LEGACY = "2025-11-25"


def answers(probe: Any, handshake: bool = True) -> Script:
    """A server that answers the probe with a result, an error or nothing, and perhaps a handshake."""

    def script(message: Json) -> list[bytes]:
        if message.get("method") == "server/discover":
            if probe is None:
                return []
            if isinstance(probe, tuple):
                return [error(message, probe[0], "no", probe[1] if len(probe) > 1 else None)]
            return [result(message, probe)]
        if message.get("method") == "initialize":
            return (
                [result(message, {**INITIALIZED, "protocolVersion": LEGACY})]
                if handshake
                else [error(message, -32601)]
            )
        return []

    return script


def discovered(*versions: str) -> Json:
    return {**DISCOVERED, "supportedVersions": list(versions)}


PROBES = [
    pytest.param(DISCOVERED, MODERN, id="modern"),
    pytest.param(discovered("2025-11-25", MODERN, "2030-01-01"), MODERN, id="modern-among-others"),
    pytest.param(discovered("2025-11-25"), LEGACY, id="lists-only-legacy"),
    pytest.param(discovered("2030-01-01"), LEGACY, id="lists-only-unknown"),
    pytest.param({}, LEGACY, id="empty-result"),
    pytest.param({"error": "unknown method"}, LEGACY, id="error-in-result"),
    pytest.param((-32601,), LEGACY, id="method-not-found"),
    pytest.param((-32600,), LEGACY, id="invalid-request"),
    pytest.param((-32602,), LEGACY, id="invalid-params"),
    pytest.param((-32603,), LEGACY, id="internal-error"),
    pytest.param((errors.HEADER_MISMATCH,), MODERN, id="header-mismatch"),
    pytest.param((errors.MISSING_CAPABILITY,), MODERN, id="missing-capability"),
    pytest.param((errors.UNSUPPORTED_VERSION, {"supported": [MODERN]}), MODERN, id="unsupported-but-named"),
    pytest.param(
        (errors.UNSUPPORTED_VERSION, {"supported": [LEGACY]}), LEGACY, id="unsupported-legacy-named"
    ),
    pytest.param((errors.UNSUPPORTED_VERSION,), LEGACY, id="unsupported-without-data"),
    pytest.param(None, LEGACY, id="silence"),
]


@pytest.mark.promise(
    "Library",
    "The client talks to servers of every revision and transport, and finds out by itself which one.",
)
@pytest.mark.parametrize(("probe", "revision"), PROBES)
async def test_the_answer_to_the_probe_decides_on_a_lasting_connection(probe: Any, revision: str) -> None:
    server = websocket_server(answers(probe))
    async with asyncio.timeout(30), server as url, connect(url, options=OPTIONS) as client:
        assert client.terms.revision == revision


@pytest.mark.promise(
    "Library",
    "The client talks to servers of every revision and transport, and finds out by itself which one.",
)
@pytest.mark.parametrize(("probe", "revision"), PROBES)
@pytest.mark.parametrize("status", [200, 400])
async def test_the_answer_to_the_probe_decides_over_http(probe: Any, revision: str, status: int) -> None:
    """A status of 400 is how modern servers send their errors, and how legacy ones refuse what they do not know."""
    server = HttpScript(
        answers(probe),
        status=lambda message: (
            status if message["method"] == "server/discover" and isinstance(probe, tuple) else 200
        ),
    )
    async with asyncio.timeout(30), web_server(server) as url, connect(url, options=OPTIONS) as client:
        assert client.terms.revision == revision


REFUSALS = [
    pytest.param(400, "text/html", b"<h1>Bad</h1>", id="400-html"),
    pytest.param(400, "application/json", b'{"error":"Bad Request"}', id="400-json"),
    pytest.param(404, "text/plain", b"not found", id="404"),
    pytest.param(405, "text/plain", b"", id="405"),
    pytest.param(401, "text/plain", b"", id="401"),
    pytest.param(500, "text/plain", b"oops", id="500"),
    pytest.param(200, "application/json", b"", id="200-empty"),
    pytest.param(200, "text/html", b"<p>hello</p>", id="200-html"),
    pytest.param(202, "text/plain", b"", id="202"),
    pytest.param(302, "text/plain", b"", id="redirect"),
]


@pytest.mark.parametrize(("status", "media_type", "body"), REFUSALS)
async def test_a_probe_refused_by_http_means_legacy(status: int, media_type: str, body: bytes) -> None:
    handshake = HttpScript(answers((-32601,)))

    async def handle(request: web.Request) -> web.StreamResponse:
        if b"server/discover" in await request.read():
            headers = {"location": "http://127.0.0.1:9/"} if status == 302 else {}
            return web.Response(status=status, body=body, content_type=media_type, headers=headers)
        return await handshake(request)

    async with asyncio.timeout(30), web_server(handle) as url, connect(url, options=OPTIONS) as client:
        assert client.terms.revision == LEGACY


async def test_a_modern_server_that_was_slow_to_start_is_asked_again() -> None:
    probes = 0

    def script(message: Json) -> list[bytes]:
        nonlocal probes
        if message.get("method") == "server/discover":
            probes += 1
            return [] if probes == 1 else [result(message, DISCOVERED)]
        return [error(message, -32601)]

    async with asyncio.timeout(30), websocket_server(script) as url, connect(url, options=OPTIONS) as client:
        assert client.terms.revision == MODERN


async def test_after_a_silent_probe_the_handshake_is_the_next_thing_said() -> None:
    said: list[str] = []

    def script(message: Json) -> list[bytes]:
        said.append(message["method"])
        return answers(None)(message)

    async with asyncio.timeout(30), websocket_server(script) as url, connect(url, options=OPTIONS) as client:
        assert client.terms.revision == LEGACY
        await client.notify("notifications/odd")
        await wait_until(lambda: len(said) == 4)
    assert said == ["server/discover", "initialize", "notifications/initialized", "notifications/odd"]


FAILURES: list[Any] = [
    pytest.param("modern", None, (-32601,), True, NotSupported, id="modern-wanted-legacy-found"),
    pytest.param("modern", None, None, True, RequestTimeout, id="modern-wanted-nobody-there"),
    pytest.param("legacy", None, DISCOVERED, False, ServerError, id="legacy-wanted-modern-found"),
    pytest.param("auto", "2025-03-26", DISCOVERED, False, ServerError, id="old-revision-wanted"),
    pytest.param("auto", "1999-01-01", DISCOVERED, True, NotSupported, id="unknown-revision"),
    pytest.param("auto", None, (-32601,), False, ServerError, id="neither"),
    pytest.param(
        "modern",
        None,
        (errors.UNSUPPORTED_VERSION, {"supported": ["2030-01-01"]}),
        True,
        NotSupported,
        id="only-the-future",
    ),
]


@pytest.mark.parametrize(("era", "revision", "probe", "handshake", "kind"), FAILURES)
async def test_what_cannot_be_agreed_on_is_an_error(
    era: Era, revision: str | None, probe: Any, handshake: bool, kind: type[ClientError]
) -> None:
    async with asyncio.timeout(30), websocket_server(answers(probe, handshake)) as url:
        with pytest.raises(kind):
            async with connect(url, era=era, revision=revision, options=OPTIONS):
                pass


HANDSHAKES = [
    pytest.param({**INITIALIZED, "protocolVersion": "2024-11-05"}, "2024-11-05", id="older"),
    pytest.param({"protocolVersion": LEGACY}, LEGACY, id="nothing-else"),
    pytest.param(
        {**INITIALIZED, "capabilities": None, "serverInfo": 5, "instructions": None},
        "2025-06-18",
        id="odd-members",
    ),
    pytest.param({**INITIALIZED, "protocolVersion": "2099-01-01"}, NotSupported, id="future"),
    pytest.param({**INITIALIZED, "protocolVersion": MODERN}, NotSupported, id="modern-has-no-handshake"),
    pytest.param({**INITIALIZED, "protocolVersion": None}, MalformedReply, id="version-null"),
    pytest.param({"capabilities": {}}, MalformedReply, id="no-version"),
]


@pytest.mark.parametrize(("answer", "outcome"), HANDSHAKES)
async def test_the_handshake_is_read_leniently_except_for_the_version(answer: Json, outcome: Any) -> None:
    def script(message: Json) -> list[bytes]:
        return [result(message, answer)] if message.get("method") == "initialize" else []

    async with asyncio.timeout(30), websocket_server(script) as url:
        client = Client(url, OPTIONS)
        try:
            if isinstance(outcome, str):
                await client.open("legacy")
                assert client.terms.revision == outcome
            else:
                with pytest.raises(outcome):
                    await client.open("legacy")
        finally:
            await client.close()


class OldServer:
    """HTTP+SSE: a stream that names an address, and answers on the stream."""

    def __init__(self, endpoint: str = "/messages?session_id=1", script: Script | None = None) -> None:
        self.endpoint = endpoint
        self.script = script or answers((-32601,))
        self.stream: web.StreamResponse | None = None
        self.posted: list[tuple[str, Json]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            if request.path != "/messages":
                return web.Response(status=405)
            message = json.loads(await request.read())
            self.posted.append((request.path_qs, message))
            assert self.stream is not None
            for answer in self.script(message):
                await self.stream.write(b"event: message\r\ndata: %b\r\n\r\n" % answer)
            return web.Response(status=202, text="Accepted")
        self.stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await self.stream.prepare(request)
        await self.stream.write(b": hello\n\nevent: endpoint\ndata: %b\n\n" % self.endpoint.encode())
        await asyncio.Event().wait()
        return self.stream


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_a_refused_handshake_falls_back_to_the_old_transport(era: Era) -> None:
    def script(message: Json) -> list[bytes]:
        return answers((-32601,))(message) or ([result(message, {"ok": True})] if "id" in message else [])

    server = OldServer(script=script)
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url + "/sse", era=era, options=OPTIONS) as client,
    ):
        assert client.terms.revision == LEGACY
        assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}
    assert [message["method"] for _, message in server.posted] == [
        "initialize",
        "notifications/initialized",
        "x",
    ]
    assert server.posted[0][0] == "/messages?session_id=1"


STRANGE = [
    "http://elsewhere.invalid/messages",
    "//elsewhere.invalid/messages",
    "https://127.0.0.1/messages",
    "http://127.0.0.1:1/messages",
    "http://127.0.0.1.elsewhere.invalid/messages",
    "http://[broken",
    "file:///etc/passwd",
    "",
]


@pytest.mark.parametrize("endpoint", STRANGE)
async def test_an_address_of_another_origin_is_refused(endpoint: str) -> None:
    from qortal_mcp.client.wires.http_sse import HttpSseWire

    server = OldServer(endpoint)
    async with asyncio.timeout(30), web_server(server) as url:
        with pytest.raises(MalformedReply, match="origin"):
            await HttpSseWire.open(url + "/sse", limits=LIMITS)
    assert server.posted == []


async def test_the_first_refusal_is_reported_if_there_is_no_old_transport_either() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=403 if request.method == "POST" else 404, text="go away")

    async with asyncio.timeout(30), web_server(handle) as url:
        with pytest.raises(HttpRefused) as failure:
            async with connect(url, options=OPTIONS):
                pass
    assert failure.value.status == 403
    assert failure.value.evidence == (b"go away",)


SILENT_STREAMS = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"event: message\ndata: {}\n\n", id="message-first"),
]


@pytest.mark.parametrize("data", SILENT_STREAMS)
async def test_a_stream_that_names_no_address_is_given_up(data: bytes) -> None:
    from qortal_mcp.client.wires.http_sse import HttpSseWire

    async def handle(request: web.Request) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await stream.prepare(request)
        await stream.write(data)
        await asyncio.Event().wait()
        return stream

    async with asyncio.timeout(30), web_server(handle) as url:
        with pytest.raises((ConnectionLost, MalformedReply)):
            await HttpSseWire.open(url, limits=LIMITS)


async def test_the_end_of_the_old_stream_fails_what_waits() -> None:
    server = OldServer()
    ended = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            serving = asyncio.ensure_future(server(request))
            await asyncio.wait([serving, asyncio.ensure_future(ended.wait())], return_when="FIRST_COMPLETED")
            serving.cancel()
            assert server.stream is not None
            return server.stream
        return await server(request)

    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        waiting = asyncio.create_task(client.request("x"))
        await wait_until(lambda: len(server.posted) == 3)
        ended.set()
        with pytest.raises(ConnectionLost):
            await waiting


async def test_a_missing_server_is_a_lost_connection() -> None:
    for url in ("http://127.0.0.1:9/mcp", "ws://127.0.0.1:9/ws"):
        with pytest.raises(ConnectionLost):
            async with connect(url, options=OPTIONS):
                pass


@pytest.mark.parametrize("target", ["ftp://127.0.0.1/", "127.0.0.1:8000", "", "http"])
async def test_an_unsupported_address_is_reported(target: str) -> None:
    with pytest.raises(ClientError):
        async with connect(target, options=OPTIONS):
            pass
