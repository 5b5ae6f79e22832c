"""Contracts (ATs)."""

from base64 import b64encode
from typing import Annotated

from ..limits import CONTRACT_DATA_BYTES
from ..words.times import Milliseconds
from .reply import Amount, Chars, Count, Number, Reply, Text, Whole


class ContractState(Reply):
    ATAddress: Text
    creatorPublicKey: Text
    creation: Milliseconds
    isSleeping: bool = False
    isFinished: bool = False
    hadFatalError: bool = False
    isFrozen: bool = False
    frozenBalance: Amount | None = None


class Contract(ContractState, kw_only=True):
    codeHash: Text
    version: Whole = 0
    assetId: Number = 0
    sleepUntilHeight: Count | None = None


class RunningContract(ContractState, kw_only=True):
    codeHash58: Text
    # A dash where Core does not know the code.
    atName: Text | None = None


class DataSegment(Reply):
    size: Count
    # The beginning of it, in Base64.
    base64: Annotated[str, Chars(CONTRACT_DATA_BYTES * 2, shows_data=True)]


def data_segment(body: bytes) -> DataSegment:
    """Reads the bytes of a contract's memory."""
    return DataSegment(len(body), b64encode(body[:CONTRACT_DATA_BYTES]).decode())
