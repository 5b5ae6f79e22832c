"""Which lists are series: one row for each moment, with figures. Pure; `charts` draws them.

The rule is about the data, never about the name of a tool. A list is a series if
- it has three rows or more,
- one member is a time in every row, and these times only rise or only fall: one row for each moment,
- every other member is a number, a further time, yes or no, or the same in all rows, such as a unit.
A text that differs (an address, a signature) makes rows events, not a series. Heights and ids are numbers that
count nothing, so they are allowed and are not figures.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any, NamedTuple

from msgspec import Raw

_LEAST_ROWS = 3
# Rows with more members than this are no figures of anything; each member is looked up in every row.
_MOST_MEMBERS = 200
# Longer numbers are not measured: they would take long, and no chart has room for them.
_NUMBER = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,2})?")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}(?:-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})?)?)?"
)
_MOMENT_NAMES = ("time", "timestamp", "date")
_NOT_FIGURES = ("height", "id", "ids")
# From 2001 on, in seconds and in milliseconds.
_SECONDS = range(10**9, 10**11)
_MILLISECONDS = range(10**12, 10**14)
_CANDLE = ("open", "high", "low", "close")

Figure = Decimal | None


class Series(NamedTuple):
    """The figures of a list by the moment they belong to, oldest first."""

    # The member that is the time.
    axis: str
    moments: list[datetime]
    figures: dict[str, list[Figure]]

    @property
    def are_candles(self) -> bool:
        """Whether four of the figures are the prices of a period: the first, the highest, the lowest, the last."""
        if not all(name in self.figures for name in _CANDLE):
            return False
        rows = zip(*(self.figures[name] for name in _CANDLE), strict=True)
        return all(_is_candle(row) for row in rows)


def series_of(rows: Sequence[Any]) -> Series | None:
    """None if it is not one."""
    if len(rows) < _LEAST_ROWS or not all(isinstance(row, Mapping) for row in rows):
        return None
    axis: str | None = None
    moments: list[datetime] = []
    figures: dict[str, list[Figure]] = {}
    names = dict.fromkeys(name for row in rows for name in row)
    if len(names) > _MOST_MEMBERS:
        return None
    for name in names:
        column = [row.get(name) for row in rows]
        if times := _moments(name, column):
            if axis is None and _is_one_way(times):
                axis, moments = name, times
        elif numbers := _figures(column):
            if not _is_identity(name):
                figures[name] = numbers
        elif not _says_nothing(column):
            return None
    if axis is None or not figures:
        return None
    if moments[0] > moments[-1]:
        return Series(axis, moments[::-1], {name: found[::-1] for name, found in figures.items()})
    return Series(axis, moments, figures)


def cut_periods(series: Series, span: Any) -> str:
    """Which periods of a series are covered in part only, by the `range` of the answer it is in; empty if none is."""
    if not isinstance(span, Mapping):
        return ""
    since, until = _read_moment(str(span.get("since"))), _read_moment(str(span.get("until")))
    if since is None or until is None:
        return ""
    first, last = series.moments[0], series.moments[-1]
    step = min(later - earlier for earlier, later in pairwise(series.moments))
    are_cut = {"first": first < since < first + step, "last": last < until < last + step}
    which = " and ".join(name for name, is_cut in are_cut.items() if is_cut)
    if not which:
        return ""
    words = f"The {which} periods are" if " and " in which else f"The {which} period is"
    return f"{words} not whole: the range is {since:%Y-%m-%d %H:%M} to {until:%Y-%m-%d %H:%M} UTC."


def is_quantity(name: str, value: Any) -> bool:
    """Whether it could be added up: a number, or a text that is one, which is not a height, an id or a time."""
    return _figure(value) is not None and not _is_identity(name) and _moment(name, value) is None


def slots_of(moments: Sequence[datetime]) -> list[int]:
    """Where each moment stands in units of the smallest step, so that a day without a row leaves a gap."""
    if all(moment.day == 1 and _is_midnight(moment) for moment in moments):
        months = [moment.year * 12 + moment.month for moment in moments]
        return [month - months[0] for month in months]
    step = min(later - earlier for earlier, later in pairwise(moments))
    return [round((moment - moments[0]) / step) for moment in moments]


def are_days(moments: Sequence[datetime]) -> bool:
    """Whether the date says all of each."""
    return all(map(_is_midnight, moments))


def _is_midnight(moment: datetime) -> bool:
    return not (moment.hour or moment.minute or moment.second or moment.microsecond)


def _moments(name: str, column: list[Any]) -> list[datetime] | None:
    """None if one of them is not a time."""
    found: list[datetime] = []
    for value in column:
        if (moment := _moment(name, value)) is None:
            return None
        found.append(moment)
    return found


def _figures(column: list[Any]) -> list[Figure] | None:
    """None if one of them is neither a number nor missing."""
    found = [None if value is None else _figure(value) for value in column]
    are_numbers = all((one is None) == (value is None) for one, value in zip(found, column, strict=True))
    return found if are_numbers and any(one is not None for one in found) else None


def _figure(value: Any) -> Figure:
    if isinstance(value, bool) or not isinstance(value, int | float | str | Raw):
        return None
    if isinstance(value, int) and abs(value) >= 10**40:
        return None
    text = bytes(value).decode() if isinstance(value, Raw) else str(value)
    return Decimal(text) if _NUMBER.fullmatch(text) else None


def _moment(name: str, value: Any) -> datetime | None:
    if isinstance(value, str):
        return _read_moment(value)
    if isinstance(value, bool) or not isinstance(value, int) or not name.lower().endswith(_MOMENT_NAMES):
        return None
    if value in _SECONDS:
        return datetime.fromtimestamp(value, UTC)
    return datetime.fromtimestamp(value / 1000, UTC) if value in _MILLISECONDS else None


def _read_moment(text: str) -> datetime | None:
    if not _MOMENT.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(f"{text}-01" if len(text) == len("2026-11") else text)
        return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):  # there is no such day, or it is not of this calendar elsewhere
        return None


def _is_one_way(moments: list[datetime]) -> bool:
    pairs = list(pairwise(moments))
    return all(one < next_ for one, next_ in pairs) or all(one > next_ for one, next_ in pairs)


def _is_identity(name: str) -> bool:
    """`height`, `fromHeight`, `from_height`, `assetId`, but not `paid`."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return bool(words) and words[-1].lower() in _NOT_FIGURES


def _says_nothing(column: list[Any]) -> bool:
    present = [value for value in column if value is not None]
    return all(isinstance(value, bool) for value in present) or all(value == column[0] for value in column)


def _is_candle(prices: tuple[Figure, ...]) -> bool:
    known = [price for price in prices if price is not None]
    if len(known) < len(prices):
        return not known
    first, high, low, last = known
    return low <= min(first, last) and max(first, last) <= high
