"""What Core answers, typed where it arrives.

Core may grow, so unknown members are allowed. It drops members that are null, so those have a default.
Amounts are put right here; text by strangers is made printable and cut here, once, before anyone sees it.
"""

from typing import Annotated

from msgspec import Meta, Struct

from ..text import printable, shortened
from .amounts import exact
from .limits import TEXT_CHARS
from .times import Milliseconds

Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]


def plain(text: str | None) -> str | None:
    """A stranger's text, safe to show."""
    return None if text is None else printable(shortened(text, TEXT_CHARS))


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


class LastBlock(Struct):
    signature: str
    height: Count
    timestamp: Milliseconds


class Account(Struct):
    address: str
    level: int
    blocksMinted: int
    flags: int = 0
    blocksMintedAdjustment: int = 0
    blocksMintedPenalty: int = 0
    publicKey: str | None = None

    def __post_init__(self) -> None:
        self.publicKey = plain(self.publicKey)


class NameSummary(Struct):
    name: str | None = None

    def __post_init__(self) -> None:
        self.name = plain(self.name)


class AssetBalance(Struct):
    assetId: int
    balance: str
    assetName: str | None = None

    def __post_init__(self) -> None:
        self.balance = exact(self.balance)
        self.assetName = plain(self.assetName)


class Asset(Struct):
    assetId: int
    name: str

    def __post_init__(self) -> None:
        self.name = plain(self.name) or ""


class TradeOffer(Struct):
    qortalAtAddress: str
    qortalCreator: str
    qortAmount: str
    expectedForeignAmount: str
    foreignBlockchain: str
    mode: str
    creationTimestamp: Milliseconds
    creatorPresenceExpiry: Milliseconds | None = None

    def __post_init__(self) -> None:
        self.qortalAtAddress = plain(self.qortalAtAddress) or ""
        self.qortalCreator = plain(self.qortalCreator) or ""
        self.foreignBlockchain = plain(self.foreignBlockchain) or ""
        self.mode = plain(self.mode) or ""
        self.qortAmount = exact(self.qortAmount)
        self.expectedForeignAmount = exact(self.expectedForeignAmount)


class Publication(Struct):
    """An ARBITRARY transaction: something was put on QDN, or changed there."""

    signature: str
    timestamp: Milliseconds
    creatorAddress: str
    service: int
    size: Count = 0
    name: str | None = None
    identifier: str | None = None
    blockHeight: Count | None = None

    def __post_init__(self) -> None:
        self.signature = plain(self.signature) or ""
        self.creatorAddress = plain(self.creatorAddress) or ""
        self.name = plain(self.name)
        self.identifier = plain(self.identifier)
