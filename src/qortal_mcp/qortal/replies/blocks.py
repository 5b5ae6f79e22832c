"""Blocks."""

from msgspec import Struct

from ..words.amounts import exact
from ..words.times import Milliseconds
from .plain import Count, Number, Whole, plain

# What Core writes where it cannot tell who minted a block.
_UNKNOWN = "Unknown"


class Block(Struct):
    signature: str
    height: Number
    timestamp: Milliseconds
    version: Whole = 0
    reference: str | None = None
    transactionCount: Count = 0
    totalFees: str = "0"
    transactionsSignature: str | None = None
    minterPublicKey: str | None = None
    minterSignature: str | None = None
    # Core finds out about the minter when it is asked, so these say what holds now.
    minterAddress: str | None = None
    minterLevel: Whole = 0
    atCount: Count = 0
    atFees: str = "0"
    onlineAccountsCount: Count = 0
    onlineAccountsTimestamp: Milliseconds | None = None

    def __post_init__(self) -> None:
        self.signature = plain(self.signature)
        self.reference = plain(self.reference)
        self.transactionsSignature = plain(self.transactionsSignature)
        self.minterPublicKey = plain(self.minterPublicKey)
        self.minterSignature = plain(self.minterSignature)
        self.minterAddress = None if self.minterAddress == _UNKNOWN else plain(self.minterAddress)
        self.totalFees = exact(self.totalFees)
        self.atFees = exact(self.atFees)


class BlockSummary(Struct):
    height: Number
    signature: str
    minterPublicKey: str | None = None
    onlineAccountsCount: Count = 0
    timestamp: Milliseconds | None = None
    transactionCount: Count = 0
    reference: str | None = None

    def __post_init__(self) -> None:
        self.signature = plain(self.signature)
        self.minterPublicKey = plain(self.minterPublicKey)
        self.reference = plain(self.reference)


class Signer(Struct):
    """How many blocks were signed with one key."""

    blockCount: Count
    mintingAccount: str
    mintingAccountPublicKey: str | None = None
    rewardSharePublicKey: str | None = None
    recipientAccount: str | None = None

    def __post_init__(self) -> None:
        self.mintingAccount = plain(self.mintingAccount)
        self.mintingAccountPublicKey = plain(self.mintingAccountPublicKey)
        self.rewardSharePublicKey = plain(self.rewardSharePublicKey)
        self.recipientAccount = plain(self.recipientAccount)


class MintingInfo(Struct):
    """The race for a block, worked out with the levels that hold now."""

    minterLevel: Whole
    timestamp: Milliseconds
    timeDelta: Whole
    # 256 bits.
    keyDistance: int
    maxDistance: str
    keyDistanceRatio: float
    minterPublicKey: str | None = None
    minterAddress: str | None = None
    onlineAccountsCount: Count = 0

    def __post_init__(self) -> None:
        if not 0 <= self.keyDistance < 2**256:
            raise ValueError("a distance of more than 256 bits")
        self.maxDistance = plain(self.maxDistance)
        self.minterPublicKey = plain(self.minterPublicKey)
        self.minterAddress = plain(self.minterAddress)
