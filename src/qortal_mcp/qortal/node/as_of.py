"""Provenance: which node an answer comes from, and what its newest block was."""

from typing import Annotated

from msgspec import Meta, Struct

from ..words.times import IsoTime


class AsOf(Struct, frozen=True):
    """Members are null only if the node answered the request but did not report this."""

    node: Annotated[str, Meta(description="Origin of the node, or `sample`.")]
    height: Annotated[int | None, Meta(description="Height of the node's newest block.")]
    time: IsoTime | None
    isSynchronizing: bool | None


class Tip(Struct, frozen=True):
    """The newest block of a node, and when it was requested."""

    as_of: AsOf
    height: int
    # Its signature: a different block of the same height is a different tip.
    block: str
    read_at: float
