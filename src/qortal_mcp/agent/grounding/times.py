"""How dates and times of day are written, and which moments they can stand for."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

from .lookups import Moment
from .numbers import as_ascii
from .vocabulary import MONTHS, MONTHS_WITH_CAPITAL

_MONTH = "(?:" + "|".join(sorted(map(re.escape, MONTHS), key=len, reverse=True)) + r")(?!\w)\.?"
_ORDINAL = r"(?:st|nd|rd|th|er|º|\.)?"
_DATE = (
    r"(?P<iso>\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d))"
    r"|(?P<short>\d{1,2}[./-]\d{1,2}[./-]\d{4}(?!\d))"
    r"|(?P<cjk>\d{4}年\d{1,2}月(?:\d{1,2}日)?)"
    rf"|(?P<d>\d{{1,2}}){_ORDINAL}[ \u00a0]+(?:of |de )?(?P<dm>{_MONTH})(?:,?[ \u00a0]+(?:de )?(?P<dy>\d{{4}})(?!\d))?"
    rf"|(?P<m>{_MONTH})[ \u00a0]+(?P<md>\d{{1,2}})(?![\d:]|[.,]\d){_ORDINAL}(?:,?[ \u00a0]+(?P<my>\d{{4}})(?!\d))?"
    rf"|(?P<om>{_MONTH})[ \u00a0]+(?:de )?(?P<oy>\d{{4}})(?!\d)"
    r"|(?P<ym>\d{4}-\d{2}(?![\d-]))"
)
_ZONE = r"(?:[ \u00a0]?\(?(?:Z\b|UTC|GMT)?(?P<offset{n}>[+−-]\d{{1,2}}(?::?\d{{2}})?(?!\d))?\)?)?"
_CLOCK = (
    r"(?P<h{n}>\d{{1,2}})(?::(?P<mi{n}>\d{{2}})(?::(?P<s{n}>\d{{2}})(?:[.,]\d{{1,9}})?)?(?!\d)(?:[ \u00a0\u202f]?(?P<half{n}>[ap]\.?m\b\.?))?"
    r"|h(?P<fmi{n}>\d{{2}})(?!\w)"
    r"|[ \u00a0\u202f]?(?P<onlyhalf{n}>[ap]\.?m\b\.?)"
    r"|[ \u00a0]?(?P<uhr{n}>Uhr|o'clock)\b)"
) + _ZONE
_BETWEEN = r"(?:T|[ \u00a0]?[,(–—-]?[ \u00a0]?(?:at |um |à |a las |alle |@ )?)"
_TIME = re.compile(
    rf"(?<![\w.,:/-])(?=\w)(?:(?:{_DATE})(?:{_BETWEEN}{_CLOCK.format(n=1)})?|{_CLOCK.format(n=2)})(?![A-Za-z0-9_])",
    re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# 2001 to 2096: in milliseconds as Qortal writes times, and in seconds as most other chains do.
_MILLISECONDS = range(10**12, 4 * 10**12)
_SECONDS = range(10**9, 4 * 10**9)


def find_times(text: str) -> Iterator[tuple[int, int, tuple[Moment, ...]]]:
    """Every date and time of a text: where it stands, and what it can mean."""
    for match in _TIME.finditer(text):
        if moments := _moments(match):
            end = match.start() + len(match[0].rstrip(" (\u00a0"))
            yield match.start(), end, moments


def from_timestamp(number: int) -> datetime | None:
    """The time of a number that looks like a timestamp."""
    if number in _MILLISECONDS:
        return _EPOCH + timedelta(milliseconds=number)
    if number in _SECONDS:
        return _EPOCH + timedelta(seconds=number)
    return None


def moment_of(time: datetime) -> Moment:
    return Moment(time.year, time.month, time.day, time.hour, time.minute, time.second)


def _moments(match: re.Match[str]) -> tuple[Moment, ...]:
    dates = _dates(match)
    has_date = dates != [(None, None, None)]
    if not dates:
        return ()
    clock = _clock(match, 1 if has_date else 2)
    if clock is None:
        return ()
    hour, minute, second, offset = clock
    found = []
    for year, month, day in dates:
        as_written = Moment(year, month, day, hour, minute, second)
        if not _exists(as_written):
            continue
        found.append(as_written)
        if offset and hour is not None:
            found.append(_in_utc(as_written, offset))
    return tuple(found)


def _dates(match: re.Match[str]) -> list[tuple[int | None, int | None, int | None]]:
    if match["iso"] or match["short"] or match["cjk"] or match["ym"]:
        parts = [
            int(part)
            for part in re.findall(r"\d+", match["iso"] or match["short"] or match["cjk"] or match["ym"])
        ]
        if match["short"]:
            return [(parts[2], parts[1], parts[0]), (parts[2], parts[0], parts[1])]
        return [(parts[0], parts[1], parts[2] if len(parts) > 2 else None)]
    name = match["dm"] or match["m"] or match["om"]
    if name is None:
        return [(None, None, None)]
    name = name.removesuffix(".")
    if name in MONTHS_WITH_CAPITAL:
        return []
    year = match["dy"] or match["my"] or match["oy"]
    day = match["d"] or match["md"]
    return [(int(year) if year else None, MONTHS[name.lower()], int(day) if day else None)]


def _clock(match: re.Match[str], n: int) -> tuple[int | None, int | None, int | None, timedelta] | None:
    """Hour, minute, second and distance from UTC; None if there is no such time."""
    if match[f"h{n}"] is None:
        return None, None, None, timedelta()
    hour = int(match[f"h{n}"])
    minutes = match[f"mi{n}"] or match[f"fmi{n}"]
    half = match[f"half{n}"] or match[f"onlyhalf{n}"]
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    seconds = match[f"s{n}"]
    if hour > 23 or int(minutes or 0) > 59 or int(seconds or 0) > 59:
        return None
    offset = _offset(match[f"offset{n}"] or "")
    return hour, int(minutes) if minutes else None, int(seconds) if seconds else None, offset


def _offset(written: str) -> timedelta:
    if not written:
        return timedelta()
    digits = re.sub(r"\D", "", as_ascii(written))
    hours, minutes = (digits[:-2], digits[-2:]) if len(digits) > 2 else (digits, "0")
    distance = timedelta(hours=int(hours), minutes=int(minutes))
    return distance if written[0] == "+" else -distance


def _exists(moment: Moment) -> bool:
    try:
        # A leap year stands in for a year that is not written.
        datetime(moment.year or 2000, moment.month or 1, moment.day or 1)
    except ValueError:
        return False
    return True


def _in_utc(moment: Moment, offset: timedelta) -> Moment:
    zone = timezone(offset) if abs(offset) < timedelta(hours=24) else UTC
    date = (moment.year or 2000, moment.month or 1, moment.day or 1)
    try:
        time = datetime(
            *date, moment.hour or 0, moment.minute or 0, moment.second or 0, tzinfo=zone
        ).astimezone(UTC)
    except (ValueError, OverflowError):
        return moment
    whole = moment_of(time)
    return Moment(*(part if given is not None else None for part, given in zip(whole, moment, strict=True)))
