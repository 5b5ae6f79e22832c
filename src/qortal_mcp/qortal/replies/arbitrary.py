"""QDN: published data."""

from msgspec import Struct

from ..times import Milliseconds
from .plain import Count, plain


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
