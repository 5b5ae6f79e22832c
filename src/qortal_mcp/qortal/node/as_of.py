"""Provenance: which node an answer comes from, and what its newest block was."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ..words.times import IsoTime


class AsOf(Struct, frozen=True):
    """Members are null only if the node answered the request but did not report this."""

    node: Annotated[str, Meta(description="Origin of the node, or `sample`.")]
    height: Annotated[int | None, Meta(description="Height of the node's newest block.")]
    time: IsoTime | None
    isSynchronizing: bool | None
    confirmedBy: Annotated[
        list[str] | UnsetType,
        Meta(description="With --confirm: the nodes that gave this answer; empty if only one did."),
    ] = UNSET


class Seen(Struct, frozen=True):
    """Where a part of an answer comes from, and what there is to say about that."""

    as_of: AsOf
    # How old the newest block was, if that was too old.
    behind_seconds: float | None = None
    # How far in the future the newest block was, if that was too far.
    ahead_seconds: float | None = None
    # Whether it is data of the sample chain.
    is_sample: bool = False

    @property
    def is_unremarkable(self) -> bool:
        return not (
            self.is_sample
            or self.behind_seconds is not None
            or self.ahead_seconds is not None
            or self.as_of.height is None
        )


class Tip(Struct, frozen=True):
    """The newest block of a node, and when it was requested."""

    seen: Seen
    height: int
    # Its signature: a different block of the same height is a different tip.
    block: str
    # In milliseconds.
    timestamp: int
    read_at: float
