"""A list that Core can neither sort nor filter as asked, read to its end."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ..endpoints.record import Endpoint
from ..limits import LIMIT, SCAN_AT_ONCE, SCAN_REQUESTS
from ..node.node import Reading
from ..node.side_by_side import side_by_side

T = TypeVar("T")


async def whole_list(
    reading: Reading, endpoint: Endpoint[list[T]], key: Callable[[T], Hashable], **values: Any
) -> tuple[list[T], bool]:
    """All rows in Core's order, each once by its key, and whether these are all: one call reads only so many.

    Its pages are kept until the next block, so the next call of a series finds them in memory. Raises: ToolError.
    """
    rows: dict[Hashable, T] = {}
    asked, at_once = 0, 1
    while asked < SCAN_REQUESTS and reading.has_room:
        pages = await side_by_side(
            *(
                reading.get(endpoint, limit=LIMIT, offset=page * LIMIT, **values)
                for page in range(asked, asked + at_once)
            )
        )
        known = len(rows)
        for row in (row for page in pages for row in page):
            rows.setdefault(key(row), row)
        # A node that returns the same rows for every offset would be asked again and again.
        if len(rows) == known or any(len(page) < LIMIT for page in pages):
            return list(rows.values()), True
        asked += at_once
        at_once = min(2 * at_once, SCAN_AT_ONCE, SCAN_REQUESTS - asked)
    return list(rows.values()), False


def note_on_part(noun: str, rows: list[T], is_whole: bool) -> list[str]:
    """What to say where only the beginning of a list was read."""
    return [] if is_whole else [f"Only the first {len(rows):,} {noun} by name were read; there are more."]
