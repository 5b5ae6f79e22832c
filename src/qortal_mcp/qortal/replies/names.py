"""Registered names."""

from typing import ClassVar

from msgspec import Struct

from ..limits import CONTENT_CHARS, LISTED_TEXT_CHARS
from ..words.amounts import exact
from ..words.times import Milliseconds
from .plain import plain


class NameSummary(Struct):
    name: str | None = None

    def __post_init__(self) -> None:
        self.name = plain(self.name)


class RegisteredName(Struct):
    data_chars: ClassVar[int] = CONTENT_CHARS

    name: str
    owner: str
    registered: Milliseconds
    isForSale: bool = False
    data: str | None = None
    updated: Milliseconds | None = None
    salePrice: str | None = None

    def __post_init__(self) -> None:
        self.name = plain(self.name)
        self.owner = plain(self.owner)
        self.data = plain(self.data, self.data_chars)
        self.salePrice = None if self.salePrice is None else exact(self.salePrice)


class ListedName(RegisteredName):
    """One of many: only the beginning of its data."""

    data_chars: ClassVar[int] = LISTED_TEXT_CHARS
