"""Reads the condition of a node: what it says about itself, its newest block and its clock."""

from .health import Condition
from .node.as_of import Tip
from .node.node import Node, Reading
from .replies.admin import NodeInfo, NodeStatus


async def condition_of(node: Node, reading: Reading, status: NodeStatus, info: NodeInfo | None) -> Condition:
    """What `health` judges, from a status that was just read. Raises: ToolError."""
    tip = await reading.tip()
    is_sample = reading.is_sample
    lead = None if info is None or is_sample else await reading.clock_lead_seconds()
    return Condition(
        height=status.height,
        is_synchronizing=status.isSynchronizing,
        is_minting_possible=status.isMintingPossible,
        peers=status.numberOfConnections,
        sync_percent=status.syncPercent,
        data_peers=status.numberOfDataConnections,
        version=None if info is None else info.buildVersion,
        is_test_net=None if info is None else info.isTestNet,
        is_sample=is_sample,
        tip_age_seconds=None if tip is None or is_sample else _age(node, tip),
        has_clock=None if info is None else info.currentTimestamp is not None,
        drift_seconds=None if lead is None else round(lead),
        max_tip_age_seconds=node.limits.max_tip_age_seconds,
        max_tip_lead_seconds=node.limits.max_tip_lead_seconds,
    )


def _age(node: Node, tip: Tip) -> float:
    """Negative for a block in the future."""
    ahead = tip.seen.ahead_seconds
    return node.age_seconds(tip) if ahead is None else -ahead
