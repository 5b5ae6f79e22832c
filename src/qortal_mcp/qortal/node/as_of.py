"""Provenance: which node an answer comes from, and what its newest block was."""

from typing import Annotated

from msgspec import Meta, Struct

from ..words.times import IsoTime


class AsOf(Struct, frozen=True):
    """Members are null only where the node answered the question but not this."""

    node: Annotated[str, Meta(description="Origin of the node, or `sample`.")]
    height: Annotated[int | None, Meta(description="Height of the node's newest block.")]
    time: IsoTime | None
    isSynchronizing: bool | None


class Tip(Struct, frozen=True):
    """The newest block of a node, and when we asked for it."""

    as_of: AsOf
    height: int
    # Its signature: another block of the same height is another block.
    block: str
    read_at: float
