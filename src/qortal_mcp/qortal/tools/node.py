"""The node itself, and the network as it sees it."""

from typing import Annotated

from msgspec import Meta, Struct

from ..endpoints.addresses import ONLINE_LEVELS
from ..endpoints.admin import ACTIVITY, NODE_INFO, NODE_STATUS
from ..endpoints.network import PEERS, SUPPLY
from ..endpoints.transactions import UNIT_FEE
from ..node.node import Node, Reading
from ..node.side_by_side import side_by_side
from ..words.amounts import written
from .answers import Amount, Answer
from .read_only import tool


class NodeStatusAnswer(Answer):
    height: int
    isSynchronizing: bool
    syncPercent: int | None
    isMintingPossible: bool
    numberOfConnections: int
    version: str | None
    uptime: Annotated[int | None, Meta(description="Milliseconds since the node started.")]
    isTestNet: Annotated[bool | None, Meta(description="Whether its chain is a test network.")]


@tool("Node status")
async def get_node_status(node: Node) -> NodeStatusAnswer:
    """Whether the Qortal node is in sync, its block height, peers, version and uptime. Use it first if
    answers look stale or fail."""
    reading = node.reading()
    status, info = await side_by_side(reading.get(NODE_STATUS), reading.optional(NODE_INFO))
    return NodeStatusAnswer(
        status.height,
        status.isSynchronizing,
        status.syncPercent,
        status.isMintingPossible,
        status.numberOfConnections,
        None if info is None else info.buildVersion,
        None if info is None else info.uptime,
        None if info is None else info.isTestNet,
        asOf=reading.as_of,
        notes=reading.notes(),
    )


class Day(Struct):
    blockCount: int
    transactionCount: int
    transactionCountByType: dict[str, int]
    namesRegistered: int
    assetsIssued: int


class LevelCount(Struct):
    level: Annotated[int, Meta(description="Effective for minting; founders count as 10.")]
    count: int


class OnlineMinters(Struct):
    total: int
    byLevel: Annotated[list[LevelCount], Meta(description="Only levels with minters online.")]


class PeerCounts(Struct):
    total: int
    inbound: int | None
    outbound: int | None
    data: Annotated[int | None, Meta(description="Peers for QDN data.")]


class Fees(Struct):
    payment: Amount
    registerName: Amount
    unit: str = "QORT"


class NetworkOverview(Answer):
    """Parts are null if the node does not return them."""

    last24Hours: Day | None
    circulatingSupplyQort: Annotated[
        str | None, Meta(description="Exact; block rewards so far, without the first block's payouts.")
    ]
    onlineMinters: OnlineMinters | None
    peers: PeerCounts
    fees: Fees | None


@tool("Network overview")
async def get_network_overview(node: Node) -> NetworkOverview:
    """The Qortal network at a glance: activity of the last 24 hours, circulating supply, online minters by
    level, peers and usual fees."""
    reading = node.reading()
    status, activity, supply, levels, peers, fees = await side_by_side(
        reading.get(NODE_STATUS),
        reading.optional(ACTIVITY),
        reading.optional(SUPPLY),
        reading.optional(ONLINE_LEVELS),
        reading.optional(PEERS),
        _fees(reading),
    )
    day = minters = None
    if activity is not None:
        day = Day(
            activity.blockCount,
            activity.totalTransactionCount,
            activity.transactionCountByType,
            activity.namesRegistered,
            activity.assetsIssued,
        )
    if levels is not None:
        held = [LevelCount(row.level, row.count) for row in levels if row.count]
        minters = OnlineMinters(sum(row.count for row in held), held)
    return NetworkOverview(
        day,
        supply,
        minters,
        PeerCounts(
            status.numberOfConnections,
            None if peers is None else peers.inboundConnections,
            None if peers is None else peers.outboundConnections,
            status.numberOfDataConnections,
        ),
        fees,
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _fees(reading: Reading) -> Fees | None:
    payment, name = await side_by_side(
        reading.optional(UNIT_FEE, txType="PAYMENT"), reading.optional(UNIT_FEE, txType="REGISTER_NAME")
    )
    return None if payment is None or name is None else Fees(written(payment), written(name))
