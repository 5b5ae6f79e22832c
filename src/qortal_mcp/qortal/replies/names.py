"""Registered names."""

from ..words.times import Milliseconds
from .reply import Amount, ListedText, LongText, Reply, Text


class NameSummary(Reply):
    name: Text | None = None


class RegisteredName(Reply):
    name: Text
    owner: Text
    registered: Milliseconds
    isForSale: bool = False
    data: LongText | None = None
    updated: Milliseconds | None = None
    salePrice: Amount | None = None


class ListedName(RegisteredName):
    """One of many: only the beginning of its data."""

    data: ListedText | None = None
