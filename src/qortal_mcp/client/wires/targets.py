"""Opens the wire that reaches what a caller names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from ..errors import NotSupported
from ..forgiving import Forgiving
from ..options import Options
from .routes import Route
from .wire import RawWire, Sink

if TYPE_CHECKING:
    from ...server.receiver import Receiver

# `http(s)://…`, `ws(s)://…`, a command with its arguments, or a server in this process.
Target: TypeAlias = "str | Sequence[str] | Receiver"


async def open_wire(target: Target, sink: Sink, options: Options) -> RawWire:
    """Raises: ClientError if the target cannot be reached or is not valid."""
    if isinstance(target, str):
        return await _open_url(target, sink, options)
    if isinstance(target, Sequence):
        from .stdio import StdioWire

        return await StdioWire.open(
            target,
            sink,
            env=options.env,
            cwd=options.cwd,
            observer=options.observer,
            on_stderr=options.on_stderr,
            splitter=options.splitter,
            limits=options.limits,
        )
    from .memory import MemoryWire

    return MemoryWire(target, sink, options.observer)


async def _open_url(url: str, sink: Sink, options: Options) -> RawWire:
    scheme = url.partition(":")[0].lower()
    if scheme in ("http", "https"):
        from .http import HttpWire

        return HttpWire(
            url,
            sink,
            headers=options.headers,
            observer=options.observer,
            limits=options.limits,
            forgiving=_forgiving(options),
            route=_route(options),
        )
    if scheme in ("ws", "wss"):
        from .websocket import WebSocketWire

        return await WebSocketWire.open(
            url,
            sink,
            headers=options.headers,
            observer=options.observer,
            limits=options.limits,
            subprotocol=options.subprotocol,
            route=_route(options),
        )
    raise NotSupported(f"unsupported address: {url}; use http://, https://, ws:// or wss://")


async def open_old_wire(target: Target, sink: Sink, options: Options) -> RawWire:
    """The HTTP+SSE form of an http address.

    Raises: ClientError if it does not have one.
    """
    from .http_sse import HttpSseWire

    if not isinstance(target, str) or not target.lower().startswith("http"):
        raise NotSupported("only http addresses have an HTTP+SSE form")
    return await HttpSseWire.open(
        target,
        sink,
        headers=options.headers,
        observer=options.observer,
        limits=options.limits,
        forgiving=_forgiving(options),
        route=_route(options),
    )


def _forgiving(options: Options) -> Forgiving:
    return Forgiving(options.forgives, options.on_forgiven)


def _route(options: Options) -> Route:
    return Route(proxies=options.proxies, ca_file=options.ca_file)
