"""Hours, days and weeks of the calendar (UTC) as blocks, by Core's index of times."""

from msgspec import Struct

from ...limits import SCAN_AT_ONCE
from ...node.node import Reading
from ...node.side_by_side import a_few_at_once
from ...words.times import INTERVALS_MS, Interval, start_of
from ..scanning.spans import Span, newest_at


class Period(Struct, frozen=True):
    """The part of an hour, day or week that lies in a span. It has no block if the first is above the last."""

    begins_ms: int
    first: int
    last: int
    # Exclusive.
    until_ms: int


async def periods_of(reading: Reading, span: Span, by: Interval, at_most: int) -> list[Period]:
    """The first of the periods that a span touches, the empty ones too. Raises: ToolError."""
    length = INTERVALS_MS[by]
    # From the first moment that belongs to the span.
    begins = list(range(start_of(by, span.since_ms + 1), span.until_ms, length)[:at_most])
    ends = [min(begin + length, span.until_ms) for begin in begins]
    blocks = await a_few_at_once((newest_at(reading, end - 1) for end in ends), SCAN_AT_ONCE)
    periods, first = [], span.first
    for begin, end, block in zip(begins, ends, blocks, strict=True):
        last = span.last if end == span.until_ms else min(0 if block is None else block.height, span.last)
        periods.append(Period(begin, first, last, end))
        first = max(first, last + 1)
    return periods
