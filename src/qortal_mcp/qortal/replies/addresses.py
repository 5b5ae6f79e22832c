"""Accounts, what they mint, and with whom they share the rewards."""

from msgspec import Struct

from ..times import Milliseconds
from .plain import Count, plain


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


class RewardShare(Struct):
    """Who mints, and who gets how much of it. A share of one's own is what a node mints with."""

    mintingAccount: str
    recipient: str
    rewardSharePublicKey: str
    # A percentage with two places, such as "25.00".
    sharePercent: str
    minterPublicKey: str = ""

    def __post_init__(self) -> None:
        self.mintingAccount = plain(self.mintingAccount) or ""
        self.recipient = plain(self.recipient) or ""
        self.rewardSharePublicKey = plain(self.rewardSharePublicKey) or ""
        self.sharePercent = plain(self.sharePercent) or ""
        self.minterPublicKey = plain(self.minterPublicKey) or ""


class OnlineAccount(Struct):
    timestamp: Milliseconds
    minterAddress: str
    recipientAddress: str
    rewardSharePublicKey: str
    minterLevel: int = 0
    isMinterMember: bool = False

    def __post_init__(self) -> None:
        self.minterAddress = plain(self.minterAddress) or ""
        self.recipientAddress = plain(self.recipientAddress) or ""
        self.rewardSharePublicKey = plain(self.rewardSharePublicKey) or ""


class OnlineLevel(Struct):
    level: int
    count: Count


class Penalty(Struct):
    address: str
    # Zero or negative.
    blocksMintedPenalty: int

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""


class PenaltyTotals(Struct):
    totalPenalties: Count
    maxPenalty: int | None = None
    minPenalty: int | None = None
    penaltyHash: str | None = None

    def __post_init__(self) -> None:
        self.penaltyHash = plain(self.penaltyHash)


class AccountLevel(Struct):
    address: str
    level: int

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""


class Report(Struct):
    """What an account and its dealings amount to. Amounts are whole QORT here."""

    address: str
    level: int = 0
    blocksMinted: int = 0
    adjustments: int = 0
    penalties: int = 0
    transfer: bool = False
    sponseeCount: int = 0
    arbitraryCount: int = 0
    transferAssetCount: int = 0
    transferPrivsCount: int = 0
    sellCount: int = 0
    sellAmount: int = 0
    buyCount: int = 0
    buyAmount: int = 0

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""


class Mintership(Report):
    """The account's own dealings."""

    # One of its names, not always the primary one.
    name: str | None = None
    balance: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.name = plain(self.name)


class Sponsorship(Report):
    """The dealings of all that the account sponsored."""

    names: list[str] = []
    # Core subtracts names from accounts, so that it falls below zero where some have several.
    nonRegisteredCount: int = 0
    avgBalance: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = [plain(name) or "" for name in self.names]
