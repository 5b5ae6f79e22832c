"""From settings to a server: where commands get the chain they read and the tools they offer."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from ..settings import NodeOptions, WrongSetting

if TYPE_CHECKING:
    from ..qortal.node import Node
    from ..server.dispatch import Server
    from .inside import Response

# Most answers take a few hundredths of this; a person who waits longer wonders what for.
_SLOW_SECONDS = 1.0


def node_of(options: NodeOptions) -> "Node":
    """What is asked: nodes in their order, or the sample chain. Nothing is asked yet.

    Raises: WrongSetting.
    """
    from ..qortal.node import Node

    if options.sample:
        return Node.sample()
    try:
        return Node.at(options.node)
    except ValueError as exc:
        raise WrongSetting(f"--node: {exc}.") from None


def check_nodes(options: NodeOptions) -> None:
    """Refuse an address that is none before anybody asks for the node.

    Raises: WrongSetting.
    """
    from ..qortal.origin import origin_of

    if options.sample:
        return
    for url in options.node:
        try:
            origin_of(url)
        except ValueError as exc:
            raise WrongSetting(f"--node: {exc}.") from None


def server_of(
    options: NodeOptions, node: "Node | Callable[[], Node]", rate_limit: float | None = None
) -> "Server":
    """A server over a node, with the toolsets that were chosen.

    Raises: WrongSetting.
    """
    from ..qortal.server import make_server

    try:
        return make_server(node, toolsets=options.toolsets, rate_limit=rate_limit)
    except ValueError as exc:
        raise WrongSetting(f"--toolsets: {exc}.") from None


def ask(
    options: NodeOptions, method: str, params: object, on_slow: Callable[[str], None] | None = None
) -> tuple["Server", "Response"]:
    """One request to a server of one's own, and its reply. `on_slow` hears who lets us wait."""
    from . import inside

    async def run() -> tuple["Server", "Response"]:
        node = node_of(options)
        server = server_of(options, node)
        waiting = on_slow and asyncio.get_running_loop().call_later(
            _SLOW_SECONDS, lambda: on_slow(node.origin)
        )
        try:
            return server, await inside.ask(server, method, params)
        finally:
            if waiting:
                waiting.cancel()
            await node.close()

    return asyncio.run(run())
