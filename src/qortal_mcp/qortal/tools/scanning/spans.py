"""Time spans as blocks: which heights lie after one time and before another, by Core's own index."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import ToolError, invalid_argument
from ...endpoints.blocks import BLOCK_AT_HEIGHT, BLOCK_AT_TIME, FIRST_BLOCK, LAST_BLOCK
from ...node.failures import not_as_expected
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.blocks import Block
from ...words.times import IsoTime, iso, milliseconds


class Span(Struct, frozen=True):
    """Blocks from one height to another, both included; none if the first is above the last."""

    first: int
    last: int
    # Exclusive, in milliseconds, and no further than the chain goes.
    since_ms: int
    until_ms: int
    # The height of the newest block, and the signature of the last one; empty if that is unknown.
    newest: int
    last_signature: str

    @property
    def is_empty(self) -> bool:
        """Whether no block is in it. To Core no blocks would mean any."""
        return self.first > self.last

    @property
    def notes(self) -> list[str]:
        return [NO_BLOCKS] if self.is_empty else []


NO_BLOCKS = "There is no block in this time."


class Covered(Struct):
    """The blocks that an answer is about."""

    fromHeight: Annotated[int | None, Meta(description="Null if there is no block in this time.")]
    toHeight: int | None
    since: Annotated[IsoTime, Meta(description="Only after this time.")]
    until: Annotated[IsoTime, Meta(description="Only before this time.")]


def between(since: str | UnsetType, until: str | UnsetType) -> tuple[int | None, int | None]:
    """The two times in milliseconds, both exclusive; None if not given. Raises: ToolError."""
    since_ms = None if since is UNSET else milliseconds(since)
    until_ms = None if until is UNSET else milliseconds(until)
    if since_ms is not None and until_ms is not None and since_ms >= until_ms:
        raise invalid_argument("Invalid until.", "It must be later than since.")
    return since_ms, until_ms


async def span_of(reading: Reading, since: str | UnsetType, until: str | UnsetType) -> Span:
    """The blocks after `since`, from the first one, and before `until`, to the newest one. Raises: ToolError."""
    since_ms, until_ms = between(since, until)
    newest, before, last = await side_by_side(
        reading.get(LAST_BLOCK),
        newest_at(reading, since_ms),
        newest_at(reading, None if until_ms is None else until_ms - 1),
    )
    if until_ms is None or until_ms > newest.timestamp:
        last = newest
        until_ms = max(newest.timestamp, since_ms or 0) + 1
    if before is None:
        genesis_ms = (await reading.get(FIRST_BLOCK)).timestamp
        since_ms = min(max(since_ms or 0, genesis_ms - 1), until_ms - 1)
    assert since_ms is not None, "without a time there is no block before it"
    first = 1 if before is None else before.height + 1
    last_height, last_signature = (0, "") if last is None else (last.height, last.signature)
    return Span(first, last_height, since_ms, until_ms, newest.height, last_signature)


async def newest_at(reading: Reading, time_ms: int | None) -> Block | None:
    """The newest block at or before a time; None before the first. Raises: ToolError."""
    if time_ms is None or time_ms < 0:
        return None
    try:
        return await reading.get(BLOCK_AT_TIME, timestamp=time_ms)
    except ToolError as exc:
        if exc.code != "NOT_FOUND":
            raise
    # Core leaves out the first block, which was the newest until the second came.
    first = await reading.get(FIRST_BLOCK)
    return first if first.timestamp <= time_ms else None


async def time_within(reading: Reading, span: Span, height: int) -> int:
    """The time of a block of a span, from where the next call goes on.

    Raises: ToolError, also if the node contradicts itself: whoever follows the pages would go in circles.
    """
    try:
        time_ms = (await reading.get(BLOCK_AT_HEIGHT, height=height)).timestamp
    except ToolError as exc:
        if exc.code != "NOT_FOUND":
            raise
        raise not_as_expected() from None
    if not span.since_ms < time_ms < span.until_ms:
        raise not_as_expected()
    return time_ms


def times_alone(since: str | UnsetType, until: str | UnsetType, **heights: object) -> bool:
    """Whether times are given. Raises: ToolError if heights are as well."""
    if since is UNSET and until is UNSET:
        return False
    if given := [name for name, value in heights.items() if value is not UNSET]:
        raise invalid_argument(
            f"Invalid {'until' if since is UNSET else 'since'}.",
            f"Give either times (since, until) or {' and '.join(given)}, not both.",
        )
    return True


def covered(span: Span, last: int, until_ms: int) -> Covered:
    """What was read of a span: up to a height and a time."""
    has_blocks = span.first <= last
    return Covered(
        span.first if has_blocks else None,
        last if has_blocks else None,
        iso(span.since_ms),
        iso(until_ms),
    )
