"""Assets, who holds them and how they are traded."""

from msgspec import Struct

from ..amounts import exact
from .plain import plain


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
