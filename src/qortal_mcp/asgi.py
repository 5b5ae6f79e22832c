"""The Qortal server as an ASGI application: the MCP door with the routes for operators beside it.

`qortal_mcp.asgi:app` takes its settings from the environment, for any ASGI server; `make_app` takes them as
arguments. `qortal-mcp serve` runs the same application, and bounds what an ASGI server leaves open.

Where it can be reached from is the ASGI server's decision, which nobody here hears of: set QORTAL_MCP_TOKEN.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack

import msgspec

from .cli.chain import node_of, server_of
from .qortal.manifest import llms_txt, manifest
from .qortal.node import Node
from .qortal.server import readiness
from .server.dispatch import Server
from .settings import (
    RATE_BEYOND_LOOPBACK,
    ListenOptions,
    NodeOptions,
    WrongSetting,
    host_and_port,
    read,
    refuse_unknown_variables,
    token,
)
from .transports.guard import Guard, is_loopback
from .transports.http import HttpApp, Page, Route

# What a probe needs comes without a token; everything else is for those who have one.
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

    A node that is given is closed with it; `beside` is what else shall live as long.

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
        routes=_routes(server, node, needs_token=token is not None),
        open_routes=_OPEN,
        lifespan=live,
    )


def _rate_limit(door: ListenOptions) -> float | None:
    if door.rate_limit is not None:
        return door.rate_limit or None
    host, _ = host_and_port(door.listen)
    return None if is_loopback(host) else RATE_BEYOND_LOOPBACK


def _routes(server: Server, node: Node, *, needs_token: bool) -> Mapping[str, Route]:
    described = Page(_encode(manifest(server, needs_token=needs_token)))
    for_models = Page(llms_txt(server, needs_token=needs_token).encode(), "text/plain; charset=utf-8")

    async def ready() -> Page:
        """Whether the chain can be read: 200 only from a node that answers and is up to date."""
        facts = await readiness(node)
        is_ready = facts["height"] is not None and not facts["isSynchronizing"]
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


def __getattr__(name: str) -> HttpApp:
    """`app` is made when somebody asks for it: importing this module reads no environment.

    Raises: WrongSetting, one sentence without what led to it: an ASGI server shows it to an operator.
    """
    if name != "app":
        raise AttributeError(name)
    try:
        found = _app_of(os.environ)
    except WrongSetting as exc:
        raise WrongSetting(str(exc)) from None
    globals()["app"] = found
    return found


def _app_of(environ: Mapping[str, str]) -> HttpApp:
    refuse_unknown_variables(environ)
    door = read(ListenOptions, {}, environ)
    return make_app(read(NodeOptions, {}, environ), door, token(door, environ))
