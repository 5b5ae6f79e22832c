"""Accounts and their balances."""

from msgspec import Struct

from .plain import plain


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
