"""The Qortal server as an HTTP application: MCP, the console, and the routes for operators."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec

from .console.setup import ConsoleSetup
from .console.site import console_site
from .door import OPEN_ROUTES, callers_of, guard_of, operator_routes, rate_of
from .from_settings import metrics_file_of, node_of, server_of
from .qortal.manifest import llms_txt, manifest
from .qortal.node.node import Node
from .qortal.server import readiness
from .server.dispatch import Server
from .settings import ListenOptions, NodeOptions, WatchOptions, host_and_port
from .transports.http import HttpApp, Page, Route

if TYPE_CHECKING:
    from .one_of_several import OneOfSeveral
    from .store.store import Store

_encode = msgspec.json.Encoder().encode


def make_app(
    chain: NodeOptions | None = None,
    door: ListenOptions | None = None,
    token: str | None = None,
    *,
    node: Node | None = None,
    console: ConsoleSetup | None = None,
    beside: Callable[[AsyncExitStack], Awaitable[None]] | None = None,
    watching: WatchOptions | None = None,
    store: "Store | None" = None,
    among: "OneOfSeveral | None" = None,
) -> HttpApp:
    """The application for these settings. Nothing is opened before it starts.

    A node that is given is closed with it, and a store is opened and closed with it; `console` says what its page may do; `beside` is
    what else lives as long; `among` others, it serves what they serve.

    Raises: WrongSetting.
    """
    chain, door = chain or NodeOptions(), door or ListenOptions()
    watching = watching or WatchOptions()
    node = node or node_of(chain, watching, store, among)
    rate_limit = rate_of(door, host_and_port(door.listen)[0])
    server = server_of(chain, node, rate_limit, watching, store, among)
    if store is not None:
        server.metrics.include(store.metrics)
    metrics_file = metrics_file_of(watching, server.metrics, node.look) if among is None else None

    async def live(stack: AsyncExitStack) -> None:
        if store is not None:
            store.open()
            stack.push_async_callback(store.close)
        stack.push_async_callback(node.close)
        if metrics_file is not None:
            await stack.enter_async_context(metrics_file)
        if beside is not None:
            await beside(stack)
        server.load()
        await node.warm()
        node.learn_chain()

    return _kind_of_app(watching)(
        server,
        guard=guard_of(door, token),
        callers=callers_of(door, token),
        routes=_routes(
            server, node, node.look if among is None else among.look, needs_token=token is not None
        ),
        open_routes=OPEN_ROUTES,
        site=console_site(server, node, chain, console or ConsoleSetup(), needs_token=token is not None),
        lifespan=live,
    )


def _kind_of_app(watching: WatchOptions) -> type[HttpApp]:
    if watching.otlp is None:
        return HttpApp
    from .tracing.http import TracedHttpApp

    return TracedHttpApp


def _routes(
    server: Server, node: Node, look: Callable[[], Awaitable[None]], *, needs_token: bool
) -> Mapping[str, Route]:
    described = Page(_encode(manifest(server, needs_token=needs_token)))
    for_models = Page(llms_txt(server, needs_token=needs_token).encode(), "text/plain; charset=utf-8")

    async def ready() -> Page:
        """Whether the chain can be read: 200 only from a healthy node."""
        facts, is_ready = await readiness(node)
        return Page(_encode(facts), status=200 if is_ready else 503)

    return {
        **operator_routes(server.metrics, ready, look),
        "/mcp-manifest.json": lambda: described,
        "/llms.txt": lambda: for_models,
    }
