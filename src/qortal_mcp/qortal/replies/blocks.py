"""Blocks."""

from ..words.times import Milliseconds
from .reply import Amount, Count, Number, Ratio, Reply, Text, Whole

# What Core writes where it cannot tell who minted a block.
_UNKNOWN = "Unknown"


class Block(Reply):
    signature: Text
    height: Number
    timestamp: Milliseconds
    version: Whole = 0
    reference: Text | None = None
    transactionCount: Count = 0
    totalFees: Amount = "0"
    transactionsSignature: Text | None = None
    minterPublicKey: Text | None = None
    minterSignature: Text | None = None
    # Core finds out about the minter when it is asked, so these say what holds now.
    minterAddress: Text | None = None
    minterLevel: Whole = 0
    atCount: Count = 0
    atFees: Amount = "0"
    onlineAccountsCount: Count = 0
    onlineAccountsTimestamp: Milliseconds | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.minterAddress == _UNKNOWN:
            self.minterAddress = None


class BlockSummary(Reply):
    height: Number
    signature: Text
    timestamp: Milliseconds | None = None
    transactionCount: Count = 0


class Signer(Reply):
    """How many blocks were signed with one key."""

    blockCount: Count
    mintingAccount: Text
    rewardSharePublicKey: Text | None = None
    recipientAccount: Text | None = None


class MintingInfo(Reply):
    """The race for a block, worked out with the levels that hold now."""

    minterLevel: Whole
    timestamp: Milliseconds
    timeDelta: Whole
    # 256 bits.
    keyDistance: int
    maxDistance: Text
    keyDistanceRatio: Ratio

    def __post_init__(self) -> None:
        if not 0 <= self.keyDistance < 2**256:
            raise ValueError("a distance of more than 256 bits")
        super().__post_init__()
