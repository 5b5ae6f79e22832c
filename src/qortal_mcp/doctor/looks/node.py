"""One node: whether it can be reached, and what it says about itself."""

import time
from collections.abc import Awaitable
from typing import TypeVar

from msgspec import Struct

from ...qortal.condition import condition_of
from ...qortal.endpoints.admin import NODE_INFO, NODE_STATUS
from ...qortal.health import Condition
from ...qortal.node.failures import NodeFailure
from ...qortal.node.node import Node
from ...qortal.node.side_by_side import side_by_side
from ...server.tool_errors import ToolError
from ...settings import NodeOptions, seconds
from .. import limits

T = TypeVar("T")


class NodeFacts(Struct, frozen=True, kw_only=True):
    """`condition`, or else `failure`."""

    failure: ToolError | None = None
    condition: Condition | None = None
    # How long it took to say how it is.
    milliseconds: int = 0
    # The sample chain of this program, not one that a node serves.
    is_built_in: bool = False


async def look(url: str, options: NodeOptions) -> NodeFacts:
    """A node at an address that was found to be valid."""
    return await _look_at(Node.at([url], limits.of_node(seconds(options.max_tip_age))))


async def look_at_sample() -> NodeFacts:
    return await _look_at(Node.sample(), is_built_in=True)


async def _look_at(node: Node, *, is_built_in: bool = False) -> NodeFacts:
    started = time.monotonic()
    reading = node.reading()
    try:
        status, info = await side_by_side(reading.get(NODE_STATUS), _or_none(reading.get(NODE_INFO)))
        milliseconds = int((time.monotonic() - started) * 1000)
        condition = await condition_of(node, reading, status, info)
    except ToolError as exc:
        return NodeFacts(failure=exc)
    finally:
        await node.close()
    return NodeFacts(condition=condition, milliseconds=milliseconds, is_built_in=is_built_in)


async def _or_none(answer: Awaitable[T]) -> T | None:
    """What a node does not tell hides nothing else."""
    try:
        return await answer
    except NodeFailure:
        return None
