"""A bridge at work: for the client that started the process, or for all that come over HTTP and WebSocket."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from ...bridge.bridge import Bridge
from ...bridge.way import Way
from ...limits import DEFAULT as LIMITS
from ...server.options import ServerOptions
from ...settings import BridgeListenOptions
from . import failures

if TYPE_CHECKING:
    from ...audit.evidence import Transport
    from .capture_file import CaptureFile

log = logging.getLogger(__name__)

_encode = msgspec.json.Encoder().encode


def bridge_of(
    way: Way,
    rate_limit: float | None = None,
    capture: CaptureFile | None = None,
    transport: Transport = "stdio",
    error_key: str | None = None,
) -> Bridge:
    """`error_key` is where the failures of the bridge itself are marked in `_meta`."""
    longest = way.client.limits.longest_seconds
    # The bridge has clocks of its own for every call: the server's would only be in the way.
    limits = replace(LIMITS, call_seconds=2 * max(longest, way.timeout, way.start_timeout))
    options = ServerOptions(limits=limits, rate_limit=rate_limit, error_key=error_key)
    if capture is None:
        return Bridge(way, options)
    from ...bridge.capture.watched import WatchedBridge

    return WatchedBridge(way, options, capture.capture, transport)


def serve_client(way: Way, capture: CaptureFile | None = None) -> int:
    """Serve stdin and stdout until the client is done, or has waited in vain for the server."""
    from ...transports.stdio import serve_fds, take_stdout
    from .listening import say

    async def run(wire: int) -> bool:
        bridge = bridge_of(way, capture=capture)
        async with AsyncExitStack() as stack:
            await _set_up(stack, bridge, capture)
            await serve_fds(bridge, 0, wire, stop=bridge.never_reached, on_signal=bridge.stop_waiting)
        return bridge.never_reached.is_set() and not bridge.was_reached

    if os.isatty(0):
        say("Waiting for a client on stdin. Try --check, or --listen HOST:PORT.")
    in_vain = asyncio.run(run(take_stdout()))
    return failures.UNDETERMINED if in_vain else failures.GOOD


async def _set_up(stack: AsyncExitStack, bridge: Bridge, capture: CaptureFile | None) -> None:
    """What has to be closed at the end: the connections first, so that the capture holds how they ended."""
    if capture is not None:
        await stack.enter_async_context(capture)
    stack.push_async_callback(bridge.shut)


def serve_clients(
    way: Way,
    listen: str,
    door: BridgeListenOptions,
    token: str | None,
    capture: CaptureFile | None = None,
) -> int:
    """Serve HTTP and WebSocket until a signal asks to stop."""
    from ...door import OPEN_ROUTES, callers_of, check_host, guard_of, operator_routes, rate_of
    from ...transports.http import HttpApp, Page
    from ...transports.serve import run_http, url_of
    from .listening import announce, bound, resolved, say

    host, port = resolved(listen)
    check_host(host, door, token)
    bridge = bridge_of(way, rate_of(door, host), capture, "websocket")

    def ready() -> Page:
        facts, is_ready = bridge.facts()
        return Page(_encode(facts), status=200 if is_ready else 503)

    async def live(stack: AsyncExitStack) -> None:
        await _set_up(stack, bridge, capture)
        bridge.connect_early()

    app = HttpApp(
        bridge,
        guard=guard_of(door, token),
        callers=callers_of(door, token),
        sessions=True,
        routes=operator_routes(bridge.metrics, ready),
        open_routes=OPEN_ROUTES,
        lifespan=live,
    )
    sock = bound((host, port), listen)

    def started() -> None:
        announce(url_of(sock))
        say(f"WebSocket clients: {url_of(sock, '/ws').replace('http', 'ws', 1)}")

    run_http(app, sock, limits=bridge.limits, on_started=started)
    return failures.GOOD
