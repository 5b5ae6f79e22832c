"""The Qortal server as an HTTP application: MCP, and the routes for operators."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack

import msgspec

from .from_settings import node_of, server_of
from .qortal.manifest import llms_txt, manifest
from .qortal.node.node import Node
from .qortal.server import readiness
from .server.dispatch import Server
from .settings import RATE_BEYOND_LOOPBACK, ListenOptions, NodeOptions, WrongSetting, host_and_port
from .transports.callers import Callers
from .transports.guard import Guard, is_loopback
from .transports.http import HttpApp, Page, Route

# Probes need no token; everything else does.
_OPEN = ("/healthz",)
_encode = msgspec.json.Encoder().encode


def make_app(
    chain: NodeOptions | None = None,
    door: ListenOptions | None = None,
    token: str | None = None,
    *,
    node: Node | None = None,
    beside: Callable[[AsyncExitStack], Awaitable[None]] | None = None,
) -> HttpApp:
    """The application for these settings. Nothing is opened before it starts.

    A node that is given is closed with it; `beside` is what else lives as long.

    Raises: WrongSetting.
    """
    chain, door = chain or NodeOptions(), door or ListenOptions()
    node = node or node_of(chain)
    server = server_of(chain, node, _rate_limit(door))

    async def live(stack: AsyncExitStack) -> None:
        stack.push_async_callback(node.close)
        if beside is not None:
            await beside(stack)
        server.load()
        await node.warm()

    return HttpApp(
        server,
        guard=Guard(hosts=door.allow_host, origins=door.allow_origin, token=token),
        callers=_callers(door, has_token=token is not None),
        routes=_routes(server, node, needs_token=token is not None),
        open_routes=_OPEN,
        lifespan=live,
    )


def _callers(door: ListenOptions, *, has_token: bool) -> Callers:
    try:
        return Callers(has_token=has_token, proxies=door.trusted_proxy)
    except ValueError:
        raise WrongSetting("--trusted-proxy must be an address or a network, such as 10.0.0.0/8.") from None


def _rate_limit(door: ListenOptions) -> float | None:
    if door.rate_limit is not None:
        return door.rate_limit or None
    host, _ = host_and_port(door.listen)
    return None if is_loopback(host) else RATE_BEYOND_LOOPBACK


def _routes(server: Server, node: Node, *, needs_token: bool) -> Mapping[str, Route]:
    described = Page(_encode(manifest(server, needs_token=needs_token)))
    for_models = Page(llms_txt(server, needs_token=needs_token).encode(), "text/plain; charset=utf-8")

    async def ready() -> Page:
        """Whether the chain can be read: 200 only from a healthy node."""
        facts, is_ready = await readiness(node)
        return Page(_encode(facts), status=200 if is_ready else 503)

    return {
        "/healthz": lambda: Page(b'{"status":"ok"}'),
        "/readyz": ready,
        "/metrics": lambda: Page(
            server.metrics.render().encode(), "text/plain; version=0.0.4; charset=utf-8"
        ),
        "/mcp-manifest.json": lambda: described,
        "/llms.txt": lambda: for_models,
    }
