"""Contracts (ATs)."""

from base64 import b64encode

from msgspec import Struct

from ..limits import CONTRACT_DATA_BYTES
from ..words.amounts import exact
from ..words.times import Milliseconds
from .plain import Count, Number, Whole, plain


class ContractState(Struct):
    ATAddress: str
    creatorPublicKey: str
    creation: Milliseconds
    isSleeping: bool = False
    isFinished: bool = False
    hadFatalError: bool = False
    isFrozen: bool = False
    frozenBalance: str | None = None

    def __post_init__(self) -> None:
        self.ATAddress = plain(self.ATAddress) or ""
        self.creatorPublicKey = plain(self.creatorPublicKey) or ""
        if self.frozenBalance is not None:
            self.frozenBalance = exact(self.frozenBalance)


class Contract(ContractState, kw_only=True):
    codeHash: str
    version: Whole = 0
    assetId: Number = 0
    sleepUntilHeight: Count | None = None
    # The machine's own clock, made of a height and a position in the block.
    sleepUntilMessageTimestamp: Whole | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.codeHash = plain(self.codeHash) or ""


class RunningContract(ContractState, kw_only=True):
    codeHash58: str
    # A dash where Core does not know the code.
    atName: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.codeHash58 = plain(self.codeHash58) or ""
        self.atName = plain(self.atName)


class DataSegment(Struct):
    size: Count
    # The beginning of it, in Base64.
    base64: str


def data_segment(body: bytes) -> DataSegment:
    """Reads the bytes of a contract's memory."""
    return DataSegment(len(body), b64encode(body[:CONTRACT_DATA_BYTES]).decode())
