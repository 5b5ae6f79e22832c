"""The node itself."""

import asyncio
from typing import Annotated

from msgspec import Meta

from ...server.tool import tool
from ..answers import Answer
from ..endpoints.admin import NODE_INFO, NODE_STATUS
from ..node import Node


class NodeStatusAnswer(Answer):
    height: int
    isSynchronizing: bool
    syncPercent: int | None
    isMintingPossible: bool
    numberOfConnections: int
    version: str | None
    uptime: Annotated[int | None, Meta(description="Milliseconds since the node started.")]


@tool("Node status")
async def get_node_status(node: Node) -> NodeStatusAnswer:
    """Whether the Qortal node is in sync, its block height, peers, version and uptime. Use it first when
    answers look old or fail."""
    reading = node.reading()
    status, info = await asyncio.gather(reading.get(NODE_STATUS), reading.optional(NODE_INFO))
    return NodeStatusAnswer(
        status.height,
        status.isSynchronizing,
        status.syncPercent,
        status.isMintingPossible,
        status.numberOfConnections,
        None if info is None else info.buildVersion,
        None if info is None else info.uptime,
        asOf=reading.as_of,
        notes=reading.notes(),
    )
