"""The node itself, and the network as it sees it."""

from typing import Annotated

from msgspec import Meta, Struct

from ..condition import condition_of
from ..endpoints.addresses import ONLINE_LEVELS
from ..endpoints.admin import ACTIVITY, NODE_INFO, NODE_STATUS
from ..endpoints.network import PEERS, SUPPLY
from ..endpoints.transactions import UNIT_FEE
from ..health import Problem, is_healthy, problems_of, verdict, why_no_minting
from ..node.node import Node, Reading
from ..node.side_by_side import side_by_side
from ..replies.admin import NodeStatus
from ..replies.network import Peers
from ..words.amounts import written
from .answers import Amount, Answer
from .read_only import tool


class PeerCounts(Struct):
    total: int
    inbound: int | None
    outbound: int | None
    data: Annotated[int | None, Meta(description="Peers for QDN data.")]


class NodeStatusAnswer(Answer):
    isHealthy: Annotated[bool, Meta(description="No serious problem: its answers can be relied on.")]
    verdict: str
    problems: Annotated[list[Problem], Meta(description="The gravest first.")]
    height: int
    isSynchronizing: bool
    syncPercent: int | None
    isMintingPossible: bool
    numberOfConnections: int
    version: str | None
    uptime: Annotated[int | None, Meta(description="Milliseconds since the node started.")]
    isTestNet: Annotated[bool | None, Meta(description="Whether its chain is a test network.")]
    tipAgeSeconds: Annotated[
        int | None,
        Meta(description="Age of the newest block. Null for the sample chain, which stands still."),
    ]
    clockDriftSeconds: Annotated[
        int | None, Meta(description="How far the node's clock is ahead of this machine's. Null if unknown.")
    ]
    peers: PeerCounts
    whyNoMinting: Annotated[str | None, Meta(description="As far as the node tells. Null if it can mint.")]


@tool("Node status")
async def get_node_status(node: Node) -> NodeStatusAnswer:
    """Whether the Qortal node is healthy and in sync, and what to do if not; height, peers, version, uptime. Use
    it first if answers look stale or fail."""
    reading = node.reading()
    status, info, peers = await side_by_side(
        reading.get(NODE_STATUS), reading.optional(NODE_INFO), reading.optional(PEERS)
    )
    facts = await condition_of(node, reading, status, info)
    problems = problems_of(facts)
    age = facts.tip_age_seconds
    return NodeStatusAnswer(
        is_healthy(problems),
        verdict(facts, problems),
        problems,
        status.height,
        status.isSynchronizing,
        status.syncPercent,
        status.isMintingPossible,
        status.numberOfConnections,
        facts.version,
        None if info is None else info.uptime,
        facts.is_test_net,
        None if age is None else max(0, int(age)),
        facts.drift_seconds,
        _peers(status, peers),
        why_no_minting(facts),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


def _peers(status: NodeStatus, peers: Peers | None) -> PeerCounts:
    return PeerCounts(
        status.numberOfConnections,
        None if peers is None else peers.inboundConnections,
        None if peers is None else peers.outboundConnections,
        status.numberOfDataConnections,
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
        _peers(status, peers),
        fees,
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _fees(reading: Reading) -> Fees | None:
    payment, name = await side_by_side(
        reading.optional(UNIT_FEE, txType="PAYMENT"), reading.optional(UNIT_FEE, txType="REGISTER_NAME")
    )
    return None if payment is None or name is None else Fees(written(payment), written(name))
