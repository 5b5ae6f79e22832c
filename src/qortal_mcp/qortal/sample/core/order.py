"""The order in which Core's database returns transactions with the same time.

Core sorts by time alone. The order of rows with the same time depends on how its database sorts,
which is not stable but always the same; so lists of the sample chain are sorted the same way.
"""

import functools
from collections.abc import Sequence
from typing import Any

from ..chain import Chain

# Shorter ranges are left to the insertion sort at the end.
_SHORT = 16

Rows = list[dict[str, Any]]


def by_time(rows: Sequence[dict[str, Any]], *, newest_first: bool = False) -> Rows:
    """Rows, given in the order in which they are stored, sorted by time."""
    sign = -1 if newest_first else 1
    return [rows[place] for place in _sorted_places([sign * row["timestamp"] for row in rows])]


@functools.lru_cache(maxsize=4)
def as_stored(chain: Chain) -> Rows:
    """Confirmed transactions in the order of blocks, and within a block in the order of the block.

    The data has them as Core sorts them by time; this is undone here. A row's place depends on the
    times alone, and their storage order is known: contracts come first in a block, then by time.
    """
    listed: Rows = chain["transactions"]
    shape = sorted(listed, key=lambda row: (row["blockHeight"], row["type"] != "AT", row["timestamp"]))
    stored: Rows = [{}] * len(listed)
    places = _sorted_places([row["timestamp"] for row in shape])
    for row, place in zip(listed, places, strict=True):
        stored[place] = row
    return stored


def _sorted_places(keys: list[int]) -> list[int]:
    """The places of the keys in sorted order: a quicksort around the median of three."""
    order = list(range(len(keys)))
    _quicksort(keys, order, 0, len(order) - 1)
    for end in range(1, len(order)):
        moving, place = order[end], end
        while place and keys[moving] < keys[order[place - 1]]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = moving
    return order


def _quicksort(keys: list[int], order: list[int], first: int, last: int) -> None:
    if last - first <= _SHORT:
        return
    middle = (first + last) // 2
    for low, high in ((first, middle), (first, last), (middle, last)):
        if keys[order[high]] < keys[order[low]]:
            order[low], order[high] = order[high], order[low]
    order[middle], order[last - 1] = order[last - 1], order[middle]
    pivot = keys[order[last - 1]]
    up, down = first, last - 1
    while True:
        up += 1
        while keys[order[up]] < pivot:
            up += 1
        down -= 1
        while keys[order[down]] > pivot:
            down -= 1
        if down < up:
            break
        order[up], order[down] = order[down], order[up]
    order[up], order[last - 1] = order[last - 1], order[up]
    _quicksort(keys, order, first, down)
    _quicksort(keys, order, up + 1, last)
