"""Accounts, what they mint, and with whom they share the rewards."""

from msgspec import Struct

from ..words.base58 import is_address, is_bytes
from ..words.times import Milliseconds
from .plain import Count, Whole, plain


class Account(Struct):
    address: str
    level: Whole
    blocksMinted: Whole
    flags: Whole = 0
    blocksMintedAdjustment: Whole = 0
    blocksMintedPenalty: Whole = 0
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
    minterLevel: Whole = 0
    isMinterMember: bool = False

    def __post_init__(self) -> None:
        self.minterAddress = plain(self.minterAddress) or ""
        self.recipientAddress = plain(self.recipientAddress) or ""
        self.rewardSharePublicKey = plain(self.rewardSharePublicKey) or ""


class OnlineLevel(Struct):
    level: Whole
    count: Count


class Penalty(Struct):
    address: str
    # Zero or negative.
    blocksMintedPenalty: Whole

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""


class PenaltyTotals(Struct):
    totalPenalties: Count
    maxPenalty: Whole | None = None
    minPenalty: Whole | None = None
    penaltyHash: str | None = None

    def __post_init__(self) -> None:
        self.penaltyHash = plain(self.penaltyHash)


class AccountLevel(Struct):
    address: str
    level: Whole

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""


class Report(Struct):
    """What an account and its dealings amount to. Amounts are whole QORT here."""

    address: str
    level: Whole = 0
    blocksMinted: Whole = 0
    adjustments: Whole = 0
    penalties: Whole = 0
    transfer: bool = False
    sponseeCount: Whole = 0
    arbitraryCount: Whole = 0
    transferAssetCount: Whole = 0
    transferPrivsCount: Whole = 0
    sellCount: Whole = 0
    sellAmount: Whole = 0
    buyCount: Whole = 0
    buyAmount: Whole = 0

    def __post_init__(self) -> None:
        self.address = plain(self.address) or ""


class Mintership(Report):
    """The account's own dealings."""

    # One of its names, not always the primary one.
    name: str | None = None
    balance: Whole = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.name = plain(self.name)


class Sponsorship(Report):
    """The dealings of all that the account sponsored."""

    names: list[str] = []
    # Core subtracts names from accounts, so that it falls below zero where some have several.
    nonRegisteredCount: Whole = 0
    avgBalance: Whole = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names = [plain(name) or "" for name in self.names]


def key_or_false(body: bytes) -> str:
    """Reads a public key; `false` is what Core writes where it knows none. Raises: ValueError."""
    text = body.decode().strip()
    if text != "false" and not is_bytes(text, 32):
        raise ValueError("not a public key")
    return text


def one_address(body: bytes) -> str:
    """Reads an address. Raises: ValueError."""
    text = body.decode().strip()
    if not is_address(text):
        raise ValueError("not an address")
    return text
