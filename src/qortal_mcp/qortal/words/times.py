"""Times: Core counts milliseconds since 1970; people read ISO 8601, and say `7d` for a week ago."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from msgspec import Meta

# The end of the year 9999, the last that a date can hold.
LAST_MS = 253_402_300_799_999
# March 1973. A smaller number is a present-day time in seconds.
_EARLIEST_MS = 10**11
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1))
_AGO = re.compile(r"([0-9]{1,5})([hdwy])")
_HOUR_MS = 3_600_000
_UNIT_MS = {"h": _HOUR_MS, "d": 24 * _HOUR_MS, "w": 7 * 24 * _HOUR_MS, "y": 365 * 24 * _HOUR_MS}

# Of the calendar, UTC.
Interval = Literal["hour", "day", "week"]
INTERVALS_MS: dict[Interval, int] = {
    "hour": _HOUR_MS,
    "day": _UNIT_MS["d"],
    "week": _UNIT_MS["w"],
}
# 1970 began on a Thursday, and weeks begin on a Monday.
_FIRST_MONDAY_MS = 4 * _UNIT_MS["d"]

Milliseconds = Annotated[int, Meta(ge=0, le=LAST_MS, description="Milliseconds since 1970-01-01 UTC.")]
IsoTime = Annotated[str, Meta(description="ISO 8601, UTC.")]


def iso(timestamp_ms: int) -> str:
    # One after the last or before the first is what an exclusive bound may be.
    seconds, ms = divmod(min(max(timestamp_ms, 0), LAST_MS), 1000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03d}Z"


def span(seconds: float) -> str:
    """A length of time in its largest unit, rounded down: `23 hours`."""
    for unit, length in _UNITS:
        if seconds >= length:
            count = int(seconds // length)
            return f"{count:,} {unit}" if count == 1 else f"{count:,} {unit}s"
    return "less than a second"


def milliseconds(text: str) -> int:
    """A time as people write it: milliseconds since 1970, or ISO 8601, which is UTC unless it says otherwise.

    Raises: ValueError, also for what can only be seconds.
    """
    text = text.strip()
    if is_seconds(text):
        raise ValueError("seconds, not milliseconds")
    if text.isascii() and text.isdecimal():
        timestamp_ms = int(text[:16])
    else:
        moment = datetime.fromisoformat(text)
        moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
        timestamp_ms = (moment - _EPOCH) // timedelta(milliseconds=1)
    if not 0 <= timestamp_ms <= LAST_MS:
        raise ValueError("a time before 1970 or after 9999")
    return timestamp_ms


def start_of(interval: Interval, timestamp_ms: int) -> int:
    """When the hour, day or week began that holds a time."""
    begin = _FIRST_MONDAY_MS if interval == "week" else 0
    return timestamp_ms - (timestamp_ms - begin) % INTERVALS_MS[interval]


def ago_ms(text: str) -> int | None:
    """How long ago `24h`, `7d`, `2w` or `1y` is; None for other texts."""
    match = _AGO.fullmatch(text.strip().lower())
    return None if match is None else int(match[1]) * _UNIT_MS[match[2]]


def is_seconds(text: str) -> bool:
    """Whether it is a number too small to be milliseconds."""
    return text.isascii() and text.isdecimal() and int(text[:16]) < _EARLIEST_MS


def is_time(text: str) -> bool:
    if ago_ms(text) is not None:
        return True
    try:
        milliseconds(text)
    except (ValueError, OverflowError):
        return False
    return True
