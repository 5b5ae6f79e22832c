"""Bridges and servers in the process of the test, at HTTP and WebSocket addresses on loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack

import uvicorn
from msgspec import Struct

from qortal_mcp.bridge.bridge import Bridge
from qortal_mcp.bridge.way import Way
from qortal_mcp.cli.running.bridge.bridging import bridge_of
from qortal_mcp.client.limits import ClientLimits
from qortal_mcp.client.options import Options
from qortal_mcp.client.wires.targets import Target
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.server.receiver import Receiver
from qortal_mcp.transports.http import HttpApp
from qortal_mcp.transports.serve import bind, url_of

Lifespan = Callable[[AsyncExitStack], Awaitable[None]]


class Front(Struct, frozen=True):
    """Where clients find a bridge."""

    bridge: Bridge
    http: str

    @property
    def websocket(self) -> str:
        return websocket_of(self.http)


def websocket_of(url: str) -> str:
    """The address for WebSockets of a server whose address for HTTP is given."""
    return url.replace("http://", "ws://").removesuffix("/mcp") + "/ws"


@contextlib.asynccontextmanager
async def serving(receiver: Receiver, lifespan: Lifespan | None = None) -> AsyncIterator[str]:
    """The address for HTTP of a server or a bridge, with sessions."""
    sock = bind("127.0.0.1", 0)
    app = HttpApp(receiver, sessions=True, lifespan=lifespan)
    config = uvicorn.Config(app, lifespan="on", log_config=None, access_log=False)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[sock])
    try:
        yield url_of(sock)
    finally:
        # Not by uvicorn's own shutdown, which waits a tenth of a second whatever there is to wait for.
        for listener in server.servers:
            listener.close()
        await app.drain()
        for connection in list(server.server_state.connections):
            connection.shutdown()
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)
        await server.lifespan.shutdown()


def way_to(target: Target, repairs: Repairs, *, timeout: float = 2.0, start_timeout: float = 10.0) -> Way:
    """The way to a server of a test: nothing takes long there."""
    return Way(
        target=target,
        name="the server",
        repairs=repairs,
        timeout=timeout,
        start_timeout=start_timeout,
        client=Options(limits=ClientLimits(exit_seconds=0.5, goodbye_seconds=0.5)),
    )


@contextlib.asynccontextmanager
async def bridged(
    target: Target, level: str = "safe", without: Iterable[str] = (), **times: float
) -> AsyncIterator[Front]:
    """A bridge to a server, as `bridge --listen` serves it."""
    bridge = bridge_of(way_to(target, Repairs(level, without), **times))

    async def live(stack: AsyncExitStack) -> None:
        stack.push_async_callback(bridge.shut)

    async with serving(bridge, live) as url:
        yield Front(bridge, url)
