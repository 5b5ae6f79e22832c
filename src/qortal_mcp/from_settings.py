"""From settings to a node and a server: what the commands and the ASGI application both start with."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from .settings import NodeOptions, WrongSetting, seconds

if TYPE_CHECKING:
    from .qortal.node.node import Node
    from .server.dispatch import Server


def node_of(options: NodeOptions) -> "Node":
    """The nodes in their order, or the sample chain. No request is made yet.

    Raises: WrongSetting.
    """
    from .qortal.limits import NodeLimits
    from .qortal.node.node import Node

    if options.sample:
        return Node.sample()
    try:
        return Node.at(options.node, NodeLimits(max_tip_age_seconds=seconds(options.max_tip_age)))
    except ValueError as exc:
        raise WrongSetting(f"--node: {exc}.") from None


def check_nodes(options: NodeOptions) -> None:
    """Refuse an invalid address before the node is needed.

    Raises: WrongSetting.
    """
    from .qortal.node.origin import origin_of

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
    """A server over a node, with the chosen toolsets.

    Raises: WrongSetting.
    """
    from .qortal.server import make_server

    try:
        return make_server(node, toolsets=options.toolsets, rate_limit=rate_limit)
    except ValueError as exc:
        raise WrongSetting(f"--toolsets: {exc}.") from None
