"""Trades against foreign coins."""

from msgspec import Struct

from ..amounts import exact
from ..times import Milliseconds
from .plain import plain


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
