"""Blocks."""

from msgspec import Struct

from ..times import Milliseconds
from .plain import Count


class LastBlock(Struct):
    signature: str
    height: Count
    timestamp: Milliseconds
