"""Run an HTTP server: bind, announce the address, serve, and shut down cleanly.

uvicorn is imported only here and in `bounds/`.
"""

import asyncio
import contextlib
import gc
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import msgspec
import uvicorn

from ..limits import DEFAULT, Limits
from ..metrics import Metrics, names
from .bounds import uvicorn_parts
from .signals import stop_signals
from .sockets import BACKLOG, bind, numeric, url_of

if TYPE_CHECKING:
    from .arrivals import Arrivals

__all__ = ["Application", "Bounded", "bind", "numeric", "run_http", "url_of"]

_KEEP_ALIVE_SECONDS = 75
_SWEEP_SECONDS = 2.0
# As often as uvicorn looks whether it was asked to stop.
_LOOK_SECONDS = 0.1
# Calls in flight get this time to finish, and their answers the same time to be sent.
_DRAIN_FACTOR = 2
# What a shell says of a program that Ctrl-C has ended.
_INTERRUPTED = 130

log = logging.getLogger(__name__)


class Application(Protocol):
    """An ASGI application that can be asked to end what would never end by itself."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None: ...

    def leave(self) -> None:
        """Tell balancers that it will stop soon. Called in a signal handler."""

    async def drain(self) -> None: ...


@runtime_checkable
class Bounded(Protocol):
    """A connection that knows how long it may wait. See `bounds/`."""

    def sweep(self, now: float) -> None: ...

    def give_up(self) -> None: ...


class _Uvicorn(uvicorn.Server):
    """uvicorn, but it leaves in order: it says so, serves on for a while, lets the application drain, and exits with code 0.

    It also sweeps slow senders.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        app: Application,
        limits: Limits,
        on_started: Callable[[], None],
        arrivals: "Arrivals | None",
        drain_seconds: float,
    ) -> None:
        super().__init__(config)
        self._arrivals = arrivals
        self._app = app
        self._limits = limits
        self._on_started = on_started
        self._drain_seconds = drain_seconds
        # When it stops, if it was asked to and still serves.
        self._leaves_at: float | None = None
        self._has_said_leaving = False

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        # The application may wait for something as it starts, such as a database, and be asked to stop meanwhile.
        starting = asyncio.create_task(super().startup(sockets))
        while not starting.done() and not self.should_exit:
            await asyncio.wait([starting], timeout=_LOOK_SECONDS)
        if not starting.done():
            starting.cancel()
            return
        await starting
        if self._arrivals is not None:
            self._arrivals.begin(self._connection, self._no_more_arrivals, self._say_leaving)
        self._on_started()

    def _connection(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    def _no_more_arrivals(self) -> None:
        self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        if self._arrivals is not None:
            self._arrivals.report(len(self.server_state.connections))
        if counter % int(_SWEEP_SECONDS * 10) == 0:
            now = asyncio.get_running_loop().time()
            for connection in self._bounded():
                connection.sweep(now)
        if self._leaves_at is not None and not self._has_said_leaving:
            self._has_said_leaving = True
            log.info("leaving: asked to stop", extra={"qortal_mcp.seconds": self._drain_seconds})
        if self._leaves_at is not None and time.monotonic() >= self._leaves_at:
            self.should_exit = True
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._arrivals is None:
            log.info("stopping")
        for server in self.servers:
            server.close()
        try:
            async with asyncio.timeout(_DRAIN_FACTOR * self._limits.shutdown_seconds):
                await self._app.drain()
        except TimeoutError:
            log.warning("some clients did not read their answers in time")
        for connection in self._bounded():
            connection.give_up()
        await super().shutdown(sockets)

    def _bounded(self) -> list[Bounded]:
        return [each for each in self.server_state.connections if isinstance(each, Bounded)]

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """As uvicorn does, but without raising the signal again: a clean stop is a success."""
        if self._arrivals is not None:  # whoever hands them over has the signals, and says when it is over
            yield
            return
        handlers = {number: signal.signal(number, self._stop) for number in stop_signals()}
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self.should_exit and number == signal.SIGINT:
            os._exit(_INTERRUPTED)  # somebody at a terminal has asked twice
        is_first = self._leaves_at is None and not self.should_exit
        # Balancers are stopped for by SIGTERM; whoever sits at a terminal, or asks twice, means now.
        if is_first and number == signal.SIGTERM and self._drain_seconds and self.started:
            self._leaves_at = time.monotonic() + self._drain_seconds
            self._say_leaving()
        else:
            self._app.leave()
            self.should_exit = True

    def _say_leaving(self) -> None:
        """Everybody is still served, but balancers hear that it will stop, and connections end with the next answer."""
        self._app.leave()
        if (crowd := getattr(self.config.http, "crowd", None)) is not None:
            crowd.is_leaving = True


def _allow_many_connections() -> int:
    """Raise the soft limit on open files to the hard one, since each connection is a file. Returns what is allowed now."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return sys.maxsize
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft


def _connections(limits: Limits) -> tuple[Any, Any]:
    """The connection classes to serve with: ours, or uvicorn's own if ours would not work."""
    if absent := uvicorn_parts.missing():
        log.warning(
            "this version of uvicorn is not supported: header sizes and slow or silent clients are NOT limited; "
            "install the version that qortal-mcp requires",
            extra={"qortal_mcp.uvicorn": uvicorn.__version__, "qortal_mcp.missing": ", ".join(absent)},
        )
        return "auto", "auto"
    from .bounds.crowd import Crowd
    from .bounds.http import BoundedProtocol
    from .bounds.websocket import BoundedWebSocket

    shared = {"crowd": Crowd(limits)}
    return type("Protocol", (BoundedProtocol,), shared), type("WebSocket", (BoundedWebSocket,), shared)


def run_http(
    app: Application,
    sock: "socket.socket | Arrivals",
    *,
    limits: Limits = DEFAULT,
    on_started: Callable[[], None] | None = None,
    metrics: Metrics | None = None,
    drain_seconds: float = 0.0,
) -> None:
    """Serve until a signal asks to stop, then answer what is in flight and return.

    Connections come from a socket that listens, or are handed over one by one; then their end is what asks to stop. After SIGTERM it serves on
    for `drain_seconds` before that, each connection for one more request. How many connections are open is shown in `metrics`.

    Raises: what kept the application from starting.
    """

    arrivals, sockets = (None, [sock]) if isinstance(sock, socket.socket) else (sock, [])

    def announce() -> None:
        for each in sockets:
            print(f"Listening on {url_of(each)}", file=sys.stderr, flush=True)

    # Clients that send nothing must leave room for those that do.
    files = _allow_many_connections()
    limits = msgspec.structs.replace(
        limits, unfinished_heads=min(limits.unfinished_heads, max(1, files // 2))
    )
    # What is loaded by now stays for good; scanning it for garbage again and again is a waste.
    gc.collect()
    gc.freeze()
    protocol, websocket = _connections(limits)
    config = uvicorn.Config(
        app,
        http=protocol,
        ws=websocket,
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
        # The last resort: our own limits apply long before this one does.
        limit_concurrency=4 * limits.connections,
        backlog=BACKLOG,
    )
    server = _Uvicorn(config, app, limits, on_started or announce, arrivals, drain_seconds)
    if metrics is not None:
        metrics.show(names.HTTP_CONNECTIONS, lambda: len(server.server_state.connections))
    try:
        server.run(sockets=sockets)
    except SystemExit:  # uvicorn's way to say that the application did not start
        failed: Exception | None = getattr(app, "failed_start", None)
        if failed is None:
            raise
        raise failed from failed.__cause__
