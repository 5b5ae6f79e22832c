"""Servers that follow a script, wrong replies included. All of them on loopback, all in this process."""

import asyncio
import gc
import json
import sys
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from aiohttp import web

from qortal_mcp.client import ClientLimits, Options

Json = dict[str, Any]
# For the tests over HTTP: short waits.
LIMITS = ClientLimits(
    request_seconds=2,
    probe_seconds=0.5,
    linger_seconds=0.1,
    goodbye_seconds=0.3,
    resume_seconds=0.01,
    message_bytes=100_000,
)
OPTIONS = Options(limits=LIMITS)
# From a message to the raw messages that answer it.
Script = Callable[[Json], list[bytes]]

INITIALIZED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "fake", "version": "0"},
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "ttlMs": 0,
    "cacheScope": "public",
}


def result(message: Json, value: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": value}).encode()


def error(message: Json, code: int, text: str = "no", data: Any = None) -> bytes:
    body: Json = {"code": code, "message": text}
    if data is not None:
        body["data"] = data
    return json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "error": body}).encode()


def legacy(script: Script) -> Script:
    """A script that starts with the handshake of the legacy era."""

    def answer(message: Json) -> list[bytes]:
        if message.get("method") == "initialize":
            version = message["params"]["protocolVersion"]
            return [result(message, {**INITIALIZED, "protocolVersion": version})]
        if message.get("method") == "server/discover":
            return [error(message, -32601)]
        return script(message) if "id" in message and "method" in message else []

    return answer


def modern(script: Script) -> Script:
    """A script of a server that only knows the modern era."""

    def answer(message: Json) -> list[bytes]:
        if message.get("method") == "server/discover":
            return [result(message, DISCOVERED)]
        if message.get("method") == "initialize":
            return [error(message, -32601)]
        return script(message) if "id" in message else []

    return answer


def silent(message: Json) -> list[bytes]:
    return []


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def web_server(handler: Handler) -> AsyncIterator[str]:
    """The address of a handler that gets every request. Handlers end when their client leaves."""
    app = web.Application(client_max_size=64 * 1024 * 1024)

    async def handle(request: web.Request) -> web.StreamResponse:
        return await handler(request)

    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    try:
        await site.start()
        host, port = runner.addresses[0][:2]
        yield f"http://{host}:{port}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def websocket_server(
    script: Script, connections: list[web.WebSocketResponse] | None = None
) -> AsyncIterator[str]:
    """A WebSocket server that follows a script."""

    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=("mcp",), timeout=0.1)
        await socket.prepare(request)
        if connections is not None:
            connections.append(socket)
        async for frame in socket:
            for answer in script(json.loads(frame.data)):
                await socket.send_frame(answer, 1)  # type: ignore[arg-type]
        return socket

    async with web_server(handle) as url:
        yield url.replace("http:", "ws:") + "/ws"


class HttpScript:
    """A Streamable HTTP server that follows a script and remembers what it was sent."""

    def __init__(
        self,
        script: Script,
        *,
        sse: bool = False,
        session: str | None = None,
        status: Callable[[Json], int] | None = None,
    ) -> None:
        self.script = script
        self.sse = sse
        self.session = session
        self.status = status or (lambda message: 200)
        self.requests: list[tuple[str, dict[str, str], Json]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        message = json.loads(await request.text() or "{}")
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.requests.append((request.method, headers, message))
        if request.method != "POST":
            return web.Response(status=405 if request.method == "GET" else 200)
        answers = self.script(message)
        sent = (
            {"mcp-session-id": self.session} if self.session and message.get("method") == "initialize" else {}
        )
        if not answers:
            return web.Response(status=202)
        if self.sse:
            body = b"".join(b"event: message\ndata: %b\n\n" % answer for answer in answers)
            return web.Response(body=body, content_type="text/event-stream", headers=sent)
        status = self.status(message)
        return web.Response(body=answers[0], status=status, content_type="application/json", headers=sent)

    def methods(self) -> list[str]:
        return [
            message.get("method", "") if method == "POST" else method for method, _, message in self.requests
        ]


# A child that answers lines by a table in its argument: {method: [line, ...]}, where "ID" stands for the id.
CHILD = """
import json, os, sys
table = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    answers = table.get(message.get("method"), [])
    for answer in answers:
        if answer == "EXIT":
            sys.exit(7)
        sys.stdout.buffer.write(answer.replace("ID", json.dumps(message.get("id"))).encode("latin-1") + b"\\n")
    sys.stdout.flush()
"""

LINES: dict[str, list[str]] = {
    "initialize": ['{"jsonrpc":"2.0","id":ID,"result":' + json.dumps(INITIALIZED) + "}"],
    "server/discover": ['{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}'],
}


def child(**lines: list[str]) -> list[str]:
    """The command of a child that answers these methods (`/` written as `__`), and the handshake."""
    table = {**LINES, **{name.replace("__", "/"): answers for name, answers in lines.items()}}
    return [sys.executable, "-c", CHILD, json.dumps(table)]


def is_gone(pid: int) -> bool:
    """Whether no such process is left, not even a zombie that has not been reaped."""
    import os

    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def wait_until(claim: Callable[[], bool]) -> None:
    """Wait for something that has no event."""
    async with asyncio.timeout(30):
        while not claim():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


OK = {"ok": True}
ANSWER = b'{"jsonrpc":"2.0","id":ID,"result":{"ok":true}}'
NOTICE = b'{"jsonrpc":"2.0","method":"notifications/odd"}'
Reply = Callable[[web.Request, Json], Awaitable[web.StreamResponse]]


def ok(message: Json) -> list[bytes]:
    return [result(message, OK)]


def event(data: bytes, id_: str | None = None) -> bytes:
    return (b"id: %b\n" % id_.encode() if id_ else b"") + b"data: %b\n\n" % data


async def stream_of(request: web.Request) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await stream.prepare(request)
    return stream


def answering(
    reply: Reply, opening: Callable[..., object] = legacy
) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """A server of one era whose reply to every other request is made by a function."""
    usual = HttpScript(opening(silent))  # type: ignore[arg-type]

    async def handle(request: web.Request) -> web.StreamResponse:
        message = json.loads(await request.text() or "{}")
        if message.get("method") in ("initialize", "server/discover", None) or "id" not in message:
            if request.method == "GET":
                return await reply(request, message)
            return await usual(request)
        return await reply(request, message)

    return handle


def body(data: bytes, media_type: str = "text/event-stream", status: int = 200, **headers: str) -> Reply:
    """ID in the data stands for the request's id."""

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        said = data.replace(b"ID", str(message.get("id")).encode())
        sent = {
            "content-type": media_type,
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return web.Response(body=said, status=status, headers=sent)

    return reply


@contextmanager
def unclosed() -> Iterator[list[str]]:
    """What was opened inside the block and then forgotten without being closed, in its own words; known afterwards."""
    left: list[str] = []
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always", ResourceWarning)
        yield left
        gc.collect()
    left += [str(one.message) for one in found]


async def after(ticks: int) -> None:
    """Wait for this many turns of the loop."""
    for _ in range(ticks):
        await asyncio.sleep(0)
