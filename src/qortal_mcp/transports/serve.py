"""Run an HTTP door: bind, say where, serve, and leave in good order. Only here uvicorn is known."""

import asyncio
import contextlib
import gc
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Protocol

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ..limits import DEFAULT, Limits
from .http import AT_ONCE

_KEEP_ALIVE_SECONDS = 75
_SWEEP_SECONDS = 2.0
_BACKLOG = 2048


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one.

    Raises: OSError.
    """
    name = host.strip("[]")
    family = socket.AF_INET6 if ":" in name else socket.AF_INET
    # With the protocol named, asyncio turns off Nagle's algorithm, which would hold back the body of each reply.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((name, port))
        sock.listen(_BACKLOG)
    except BaseException:
        sock.close()
        raise
    return sock


def url_of(sock: socket.socket, path: str = "/mcp") -> str:
    host, port = sock.getsockname()[:2]
    return f"http://[{host}]:{port}{path}" if ":" in host else f"http://{host}:{port}{path}"


class Application(Protocol):
    """An ASGI application that can be asked to let go of what would never end."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None: ...

    async def drain(self) -> None: ...


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP with the two bounds it lacks: how large a head may be, how long a request may take to come."""

    limits = DEFAULT

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._head_bytes = 0
        self._in_head = True
        # When the request that is coming in began to come; None between requests.
        self.since: float | None = self.loop.time()

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            if self.since is None:
                self.since = self.loop.time()
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.limits.header_bytes:
            self._refuse(b"431 Request Header Fields Too Large")

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._head_bytes > self.limits.header_bytes and self._head_size() > self.limits.header_bytes:
            self._refuse(b"431 Request Header Fields Too Large")
            return
        self.scope[AT_ONCE] = self.reply_at_once  # type: ignore[literal-required]
        super().on_headers_complete()

    def reply_at_once(self, scope: Any, request_id: str, body: bytes) -> bool:
        """Send a JSON reply with one write; False where that cannot be done now.

        uvicorn writes head and body of a reply apart, and a write costs as much as all the rest.
        """
        cycle = self.cycle
        if cycle.scope is not scope or cycle.response_started or cycle.disconnected or self.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        heads = b"".join(b"%b: %b\r\n" % header for header in cycle.default_headers)
        self.transport.write(
            b"HTTP/1.1 200 OK\r\n%bcontent-type: application/json\r\ncontent-length: %d\r\nx-request-id: %b\r\n%b\r\n%b"
            % (
                heads,
                len(body),
                request_id.encode(),
                b"" if cycle.keep_alive else b"connection: close\r\n",
                body,
            )
        )
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        return True

    def on_message_complete(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self.since = None
        if self.cycle is not None:
            super().on_message_complete()

    def on_body(self, body: bytes) -> None:
        if self.cycle is not None:
            super().on_body(body)

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 %b\r\nx-request-id: %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                % (status, secrets.token_hex(8).encode())
            )
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP at all."""
        self._refuse(b"400 Bad Request")

    def give_up_if_slow(self, now: float) -> None:
        """Close a connection whose request has been coming for too long."""
        if self.since is not None and now - self.since > self.limits.receive_seconds:
            self._refuse(b"408 Request Timeout")


class _Uvicorn(uvicorn.Server):
    """uvicorn that lets the application drain first, sweeps slow senders, and ends with exit code 0."""

    def __init__(self, config: uvicorn.Config, app: Application, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._app = app
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_started()

    async def on_tick(self, counter: int) -> bool:
        if counter % int(_SWEEP_SECONDS * 10) == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                if isinstance(connection, BoundedProtocol):
                    connection.give_up_if_slow(now)
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for server in self.servers:
            server.close()
        await self._app.drain()
        await super().shutdown(sockets)

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does, but without raising the signal again: a clean stop is a success."""
        handlers = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.should_exit and number == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def _allow_many_connections() -> None:
    """Lift the soft limit on open files to the hard one: each connection is a file."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def run_http(
    app: Application,
    sock: socket.socket,
    *,
    limits: Limits = DEFAULT,
    on_started: Callable[[], None] | None = None,
) -> None:
    """Serve until a signal asks to stop, then answer what is in flight and return."""

    def announce() -> None:
        print(f"Listening on {url_of(sock)}", file=sys.stderr, flush=True)

    _allow_many_connections()
    # What is loaded by now stays for good; looking through it for garbage again and again is wasted.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    protocol = type("Protocol", (BoundedProtocol,), {"limits": limits})
    config = uvicorn.Config(
        app,
        http=protocol,
        ws="websockets-sansio",
        ws_max_size=limits.message_bytes,
        ws_max_queue=16,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(limits.shutdown_seconds) or 1,
        # The last resort: our own bounds answer long before this one does.
        limit_concurrency=4 * limits.connections,
        backlog=_BACKLOG,
    )
    _Uvicorn(config, app, on_started or announce).run(sockets=[sock])
