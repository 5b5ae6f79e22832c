"""The node itself."""

from msgspec import Struct

from ..words.times import Milliseconds
from .plain import Count, Whole, plain


class NodeStatus(Struct):
    height: Count
    isSynchronizing: bool
    isMintingPossible: bool
    numberOfConnections: Count
    # Nodes for QDN data, which Core counts since 6.0.
    numberOfDataConnections: Count | None = None
    syncPercent: Whole | None = None


class NodeInfo(Struct):
    """The node's id is left out: it tells which node of the network this is."""

    buildVersion: str
    uptime: Count
    # The time by the network's clocks; None until the node has found it out.
    currentTimestamp: Milliseconds | None = None
    # In seconds, unlike all other times.
    buildTimestamp: Count | None = None
    isTestNet: bool = False
    type: str | None = None

    def __post_init__(self) -> None:
        self.buildVersion = plain(self.buildVersion)
        self.type = plain(self.type)


class Activity(Struct):
    """What happened in the last 24 hours."""

    blockCount: Count
    assetsIssued: Count
    namesRegistered: Count
    totalTransactionCount: Count
    transactionCountByType: dict[str, Count] = {}

    def __post_init__(self) -> None:
        self.transactionCountByType = {
            plain(kind): count for kind, count in self.transactionCountByType.items()
        }
