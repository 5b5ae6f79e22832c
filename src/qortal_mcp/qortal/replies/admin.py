"""The node itself."""

from msgspec import Struct

from .plain import Count, plain


class NodeStatus(Struct):
    height: Count
    isSynchronizing: bool
    isMintingPossible: bool
    numberOfConnections: Count
    syncPercent: int | None = None


class NodeInfo(Struct):
    buildVersion: str
    uptime: Count

    def __post_init__(self) -> None:
        self.buildVersion = plain(self.buildVersion) or ""
