"""The node itself."""

from msgspec import field

from ..words.times import Milliseconds
from .reply import Count, Reply, Text, Whole


class NodeStatus(Reply):
    height: Count
    isSynchronizing: bool
    isMintingPossible: bool
    numberOfConnections: Count
    # Nodes for QDN data, which Core counts since 6.0.
    numberOfDataConnections: Count | None = None
    syncPercent: Whole | None = None


class NodeInfo(Reply):
    """The node's id is left out: it tells which node of the network this is."""

    buildVersion: Text
    uptime: Count
    isTestNet: bool | None = None
    # Absent until a time server has answered the node.
    currentTimestamp: Milliseconds | None = None


class Activity(Reply):
    """What happened in the last 24 hours."""

    blockCount: Count
    assetsIssued: Count
    namesRegistered: Count
    totalTransactionCount: Count
    transactionCountByType: dict[Text, Count] = field(default_factory=dict)
