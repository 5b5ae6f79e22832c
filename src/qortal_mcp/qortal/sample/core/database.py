"""How Core's database puts rows in order and compares text, where that shows in an answer."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

# Parts of this size or smaller are left to the last step, which keeps equal rows in order.
_SMALL = 16


def in_order(rows: Sequence[T], key: Callable[[T], Any], *, reverse: bool = False) -> list[T]:
    """Rows by a key. In longer lists the database's quicksort moves equal rows around, always the same way."""
    ordered = list(rows)
    keys = [key(row) for row in ordered]

    def before(left: Any, right: Any) -> bool:
        return bool(left > right if reverse else left < right)

    def swap(one: int, other: int) -> None:
        ordered[one], ordered[other] = ordered[other], ordered[one]
        keys[one], keys[other] = keys[other], keys[one]

    def split(low: int, high: int) -> tuple[int, int]:
        """Splits a range at the median of its ends and its middle; returns where the lower part ends and the upper begins."""
        middle = (low + high) // 2
        for first, second in ((low, middle), (low, high), (middle, high)):
            if before(keys[second], keys[first]):
                swap(first, second)
        swap(middle, high - 1)
        median, up, down = keys[high - 1], low + 1, high - 2
        while True:
            while before(keys[up], median):
                up += 1
            while before(median, keys[down]):
                down -= 1
            if down < up:
                swap(up, high - 1)
                return down, up + 1
            swap(up, down)
            up, down = up + 1, down - 1

    ranges = [(0, len(ordered) - 1)]
    while ranges:
        low, high = ranges.pop()
        if high - low > _SMALL:
            lower_end, upper = split(low, high)
            ranges += [(low, lower_end), (upper, high)]
    # Python's own sort keeps equal rows in order too.
    places = sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)
    return [ordered[place] for place in places]


def like(text: str | None, pattern: str) -> bool:
    """LIKE, with its wildcards, ignoring case. Each % first matches nothing, and more if that fails."""
    if text is None:
        return False
    text, pattern = text.lower(), pattern.lower()
    place = at = 0
    last_percent, tried = -1, 0
    while place < len(text):
        if at < len(pattern) and pattern[at] == "%":
            last_percent, tried = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("_", text[place]):
            place, at = place + 1, at + 1
        elif last_percent >= 0:
            tried += 1
            place, at = tried, last_percent + 1
        else:
            return False
    return not pattern[at:].strip("%")
