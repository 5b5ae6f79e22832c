"""Servers in the tests' own process that follow a script and remember everything they hear. Loopback only."""

import asyncio
import contextlib
import json
import sys
import threading
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar

from aiohttp import WSMsgType, web
from msgspec import Struct
from tests.bridge.scripts import Binary, Close, Http, Json, Said, Saying, Script

# Nothing takes a second; a loaded machine may take long.
SECONDS = 30.0
T = TypeVar("T")
_PIPE = Path(__file__).with_name("pipe.py")


class Heard(Struct, frozen=True):
    """Something that a client sent."""

    data: bytes
    headers: Mapping[str, str] = {}
    # HTTP only.
    verb: str = ""

    @property
    def message(self) -> Any:
        try:
            return json.loads(self.data)
        except ValueError:
            return None

    @property
    def method(self) -> str:
        found = self.message
        return str(found.get("method", "")) if isinstance(found, dict) else ""


class Loop:
    """An event loop in a thread of its own, so that tests can simply wait."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def stop(self) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(SECONDS)
        self.loop.close()


class Wire(Protocol):
    """One client's connection, as far as a stand-in can speak on it unasked."""

    async def say(self, said: Said) -> None: ...


class StandIn:
    """A server that follows a script. The script may be replaced at any time."""

    def __init__(self, loop: Loop, script: Script) -> None:
        self.script = script
        # `http://…`, `ws://…`, or `--` and a command.
        self.target: tuple[str, ...] = ()
        self.heard: list[Heard] = []
        # Headers of each stream or upgrade; close codes of connections that ended; processes of programs.
        self.opened: list[Mapping[str, str]] = []
        self.closed: list[int | None] = []
        self.pids: list[int] = []
        self.wires: list[Wire] = []
        self._loop = loop
        self._news = threading.Condition()
        self._stack = AsyncExitStack()

    def note(self, where: list[Any], what: Any) -> None:
        with self._news:
            where.append(what)
            self._news.notify_all()

    def wait_for(self, claim: Callable[[], bool]) -> None:
        """Wait until something is true of what was heard."""
        with self._news:
            assert self._news.wait_for(claim, SECONDS), self.heard

    def methods(self, since: int = 0) -> list[str]:
        return [one.method for one in self.heard[since:] if one.verb in ("", "POST")]

    def messages(self, method: str) -> list[Json]:
        return [one.message for one in self.heard if one.method == method]

    def calls(self, name: str) -> list[Json]:
        """Every call of one tool."""
        return [
            one
            for method in ("tools/call", "call_tool")
            for one in self.messages(method)
            if one["params"].get("name") == name
        ]

    def left(self, wire: Wire, code: int | None = None) -> None:
        """A connection is over."""
        self.wires.remove(wire)
        self.note(self.closed, code)

    def say(self, said: Said) -> None:
        """Say something unasked, on the newest connection that is open."""
        self._loop.run(self.wires[-1].say(said))

    def answer(self, data: bytes) -> Saying:
        try:
            message = json.loads(data)
        except ValueError:
            message = data
        return self.script(message)

    def start(self, serve: "Serve") -> None:
        self.target = self._loop.run(serve(self, self._stack))

    def stop(self) -> None:
        self._loop.run(self._stack.aclose())


# Starts a stand-in on a wire; returns how a command line names it.
Serve = Callable[[StandIn, AsyncExitStack], Coroutine[Any, Any, tuple[str, ...]]]


async def _serve_web(app: web.Application, stack: AsyncExitStack, port: int = 0) -> int:
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, "127.0.0.1", port).start()
    found: int = runner.addresses[0][1]
    return found


def _headers(request: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


class _Socket:
    def __init__(self, socket: web.WebSocketResponse) -> None:
        self.socket = socket

    async def say(self, said: Said) -> None:
        if isinstance(said, Close):
            await self.socket.close(code=said.code)
        elif isinstance(said, Binary):
            await self.socket.send_bytes(said.data)
        else:
            assert isinstance(said, bytes), said
            await self.socket.send_frame(said, WSMsgType.TEXT)


def websocket(*, port: int = 0, protocols: tuple[str, ...] = ("mcp",), refuses: int | None = None) -> Serve:
    """A WebSocket server; `refuses` is the status with which it refuses every upgrade."""

    async def serve(stand_in: StandIn, stack: AsyncExitStack) -> tuple[str, ...]:
        async def handle(request: web.Request) -> web.StreamResponse:
            stand_in.note(stand_in.opened, _headers(request))
            if refuses is not None:
                return web.Response(status=refuses)
            socket = web.WebSocketResponse(protocols=protocols, timeout=0.5)
            await socket.prepare(request)
            wire = _Socket(socket)
            stand_in.wires.append(wire)
            async for frame in socket:
                data = frame.data if isinstance(frame.data, bytes) else frame.data.encode()
                stand_in.note(stand_in.heard, Heard(data))
                for said in stand_in.answer(data):
                    await wire.say(said)
            stand_in.left(wire, socket.close_code)
            return socket

        app = web.Application()
        app.router.add_get("/", handle)
        return (f"ws://127.0.0.1:{await _serve_web(app, stack, port)}/",)

    return serve


def http(*, path: str = "/mcp", notice: Http | None = None) -> Serve:
    """A Streamable HTTP server. `notice` is its reply to notifications."""

    async def serve(stand_in: StandIn, stack: AsyncExitStack) -> tuple[str, ...]:
        async def handle(request: web.Request) -> web.StreamResponse:
            heard = Heard(await request.read(), _headers(request), request.method)
            stand_in.note(stand_in.heard, heard)
            if request.method != "POST":
                return web.Response(status=405)
            said = stand_in.answer(heard.data)
            if not said and "id" not in heard.message:
                return _reply(notice or Http(202))
            if not said:
                await asyncio.Event().wait()
            if any(isinstance(one, Close) for one in said):
                assert request.transport is not None, "the client is still there"
                request.transport.abort()
                return web.Response()
            if len(said) > 1:
                return await _events(request, said)
            return _reply(said[0])

        app = web.Application(client_max_size=2**26)
        app.router.add_route("*", path, handle)
        return (f"http://127.0.0.1:{await _serve_web(app, stack)}{path}",)

    return serve


def _reply(said: Said) -> web.Response:
    if isinstance(said, Http):
        kind = {"content-type": "application/json"} if said.body else {}
        return web.Response(status=said.status, body=said.body, headers={**kind, **said.headers})
    return web.Response(body=_bytes(said), content_type="application/json")


def _bytes(said: Said) -> bytes:
    data = said.data if isinstance(said, Binary) else said
    assert isinstance(data, bytes), data
    return data


async def _events(request: web.Request, said: Saying) -> web.StreamResponse:
    stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await stream.prepare(request)
    for one in said:
        await stream.write(_event(_bytes(one)))
    return stream


def _event(data: bytes) -> bytes:
    return b"event: message\n" + b"".join(b"data: %b\n" % line for line in data.split(b"\n")) + b"\n"


class _Stream:
    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response
        self.ended = asyncio.Event()

    async def say(self, said: Said) -> None:
        if isinstance(said, Close):
            self.ended.set()
        else:
            await self._response.write(_event(_bytes(said)))


async def http_sse(stand_in: StandIn, stack: AsyncExitStack) -> tuple[str, ...]:
    """The transport of 2024-11-05: GET opens a stream that names the address to post to."""
    streams: dict[str, _Stream] = {}

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        stand_in.note(stand_in.opened, _headers(request))
        name = str(len(stand_in.opened))
        wire = streams[name] = _Stream(response)
        stand_in.wires.append(wire)
        await response.write(f"event: endpoint\ndata: /messages?session={name}\n\n".encode())
        try:
            await wire.ended.wait()
        finally:
            stand_in.left(wire)
        return response

    async def post(request: web.Request) -> web.StreamResponse:
        heard = Heard(await request.read(), _headers(request), "POST")
        stand_in.note(stand_in.heard, heard)
        for said in stand_in.answer(heard.data):
            await streams[request.query["session"]].say(said)
        return web.Response(status=202)

    app = web.Application()
    app.router.add_get("/sse", stream)
    app.router.add_post("/messages", post)
    return (f"http://127.0.0.1:{await _serve_web(app, stack)}/sse",)


class _Pipe:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def say(self, said: Said) -> None:
        if isinstance(said, Close):
            self._writer.close()
        else:
            self._writer.write(_bytes(said) + b"\n")


async def program(stand_in: StandIn, stack: AsyncExitStack) -> tuple[str, ...]:
    """A command: each process that is started connects back to here."""
    tasks: set[asyncio.Task[Any]] = set()

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "runs as one"
        tasks.add(task)
        wire = _Pipe(writer)
        stand_in.note(stand_in.pids, int(await reader.readline()))
        stand_in.wires.append(wire)
        try:
            with contextlib.suppress(ConnectionError):
                while line := await reader.readline():
                    stand_in.note(stand_in.heard, Heard(line.removesuffix(b"\n")))
                    for said in stand_in.answer(line):
                        await wire.say(said)
        finally:
            tasks.discard(task)
            writer.close()
            stand_in.left(wire)

    listener = await asyncio.start_server(handle, "127.0.0.1", 0, limit=2**24)

    async def end() -> None:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    stack.push_async_callback(end)
    port = listener.sockets[0].getsockname()[1]
    # Without site-packages it starts in half the time, and it needs none.
    return ("--", sys.executable, "-I", "-S", str(_PIPE), str(port))


@contextlib.contextmanager
def standing_in(loop: Loop, serve: Serve, script: Script) -> Iterator[StandIn]:
    stand_in = StandIn(loop, script)
    try:
        stand_in.start(serve)
        yield stand_in
    finally:
        stand_in.stop()
