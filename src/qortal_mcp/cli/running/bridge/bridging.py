"""A bridge, or a front of several servers, at work: for the client that started it, or for all that come over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ....bridge.bridge import Bridge
from ....bridge.way import Way
from ....from_settings import metrics_file_of, watched_of
from ....limits import DEFAULT as LIMITS
from ....server.options import ServerOptions, Watched
from ....settings import WatchOptions
from ....settings.bridging import BridgeListenOptions
from .. import failures

if TYPE_CHECKING:
    from ....audit.evidence import Transport
    from ....bridge.gathered.gathering import Gathering
    from ....bridge.gathered.member import Source
    from .capture_file import CaptureFile
    from .several_servers import Chosen

log = logging.getLogger(__name__)

_encode = msgspec.json.Encoder().encode
_UNWATCHED = Watched()


def bridge_of(
    way: Way,
    rate_limit: float | None = None,
    capture: CaptureFile | None = None,
    transport: Transport = "stdio",
    error_key: str | None = None,
    watched: Watched = _UNWATCHED,
) -> Bridge:
    """`error_key` is where the failures of the bridge itself are marked in `_meta`."""
    longest = way.client.limits.longest_seconds
    # The bridge has clocks of its own for every call: the server's would only be in the way.
    limits = replace(LIMITS, call_seconds=2 * max(longest, way.timeout, way.start_timeout))
    options = ServerOptions(limits=limits, rate_limit=rate_limit, error_key=error_key, watched=watched)
    if capture is None:
        return Bridge(way, options)
    from ....bridge.capture.watched import WatchedBridge

    return WatchedBridge(way, options, capture.capture, transport)


class OneServer:
    """A bridge to one server, perhaps with a file for what goes through it."""

    def __init__(self, way: Way, capture: CaptureFile | None = None) -> None:
        self._way = way
        self._capture = capture

    def front(
        self,
        rate_limit: float | None = None,
        transport: Transport = "stdio",
        watched: Watched = _UNWATCHED,
    ) -> Bridge:
        return bridge_of(self._way, rate_limit, self._capture, transport, watched=watched)

    async def set_up(self, stack: AsyncExitStack, front: Bridge | Gathering) -> None:
        """What has to be closed at the end: the connections first, so that the capture holds how they ended."""
        if self._capture is not None:
            await stack.enter_async_context(self._capture)
        stack.push_async_callback(front.shut)


class SeveralServers:
    """One front of several servers, which follows the file that names them."""

    def __init__(self, chosen: Chosen, servers: Mapping[str, Source], *, by_search: bool) -> None:
        self._chosen = chosen
        self._servers = servers
        self._by_search = by_search

    def front(
        self,
        rate_limit: float | None = None,
        transport: Transport = "stdio",
        watched: Watched = _UNWATCHED,
    ) -> Gathering:
        from ....bridge.gathered.gathering import Gathering

        return Gathering(
            self._servers,
            ServerOptions(rate_limit=rate_limit, watched=watched),
            by_search=self._by_search,
            hidden=self._chosen.repair.hide_tool,
            is_shared=self._chosen.server.shared,
        )

    async def set_up(self, stack: AsyncExitStack, front: Bridge | Gathering) -> None:
        from .rereading import Rereading

        stack.push_async_callback(front.shut)
        if self._chosen.file is not None and not isinstance(front, Bridge):
            await stack.enter_async_context(Rereading(front, self._chosen))


def serve_client(behind: OneServer | SeveralServers, watching: WatchOptions) -> int:
    """Serve stdin and stdout until the client is done, or has waited in vain for the only server."""
    from ....transports.stdio import serve_fds, take_stdout
    from ..serve.listening import say

    front = behind.front(watched=watched_of(watching))
    metrics_file = metrics_file_of(watching, front.metrics)

    async def run(wire: int) -> bool:
        async with AsyncExitStack() as stack:
            await behind.set_up(stack, front)
            if metrics_file is not None:
                await stack.enter_async_context(metrics_file)
            await serve_fds(front, 0, wire, stop=front.never_reached, on_signal=front.stop_waiting)
        return front.never_reached.is_set() and not front.was_reached

    if os.isatty(0):
        say("Waiting for a client on stdin. Try --check, or --listen HOST:PORT.")
    in_vain = asyncio.run(run(take_stdout()))
    return failures.UNDETERMINED if in_vain else failures.GOOD


def serve_clients(
    behind: OneServer | SeveralServers,
    listen: str,
    door: BridgeListenOptions,
    token: str | None,
    watching: WatchOptions,
) -> int:
    """Serve HTTP and WebSocket until a signal asks to stop."""
    from ....door import OPEN_ROUTES, callers_of, check_host, guard_of, operator_routes, rate_of
    from ....transports.http import HttpApp, Page
    from ....transports.serve import run_http, url_of
    from ..serve.listening import announce, bound, resolved, say

    host, port = resolved(listen)
    check_host(host, door, token)
    front = behind.front(rate_of(door, host), "websocket", watched_of(watching))
    metrics_file = metrics_file_of(watching, front.metrics)

    def ready() -> Page:
        facts, is_ready = front.facts()
        return Page(_encode(facts), status=200 if is_ready else 503)

    async def live(stack: AsyncExitStack) -> None:
        await behind.set_up(stack, front)
        if metrics_file is not None:
            await stack.enter_async_context(metrics_file)
        front.connect_early()

    app = HttpApp(
        front,
        guard=guard_of(door, token),
        callers=callers_of(door, token),
        sessions=True,
        routes=operator_routes(front.metrics, ready),
        open_routes=OPEN_ROUTES,
        lifespan=live,
    )
    sock = bound((host, port), listen)

    def started() -> None:
        announce(url_of(sock))
        say(f"WebSocket clients: {url_of(sock, '/ws').replace('http', 'ws', 1)}")

    run_http(
        app,
        sock,
        limits=front.limits,
        on_started=started,
        metrics=front.metrics,
        drain_seconds=door.drain_seconds,
    )
    return failures.GOOD
