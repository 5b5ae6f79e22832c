"""Single values as people read them: times, amounts, yes and no. Pure; `view` does the layout."""

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from msgspec import Raw

from ...text import visible

NOTHING = "–"

_AMOUNT = re.compile(r"(-?)(\d+)\.(\d{8})")
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
_ISO_TIME = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z")
# 2001-09-09 in milliseconds. A smaller number in a field with such a name is not a time.
_EARLIEST_MS = 10**12
_DURATIONS_MS = frozenset({"uptime"})


def shown(name: str, value: Any, decimals: int | None = None) -> str:
    """One value of a field, readable. `decimals` gives all amounts of a column the same number of decimals."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and _is_moment(name, value):
        return f"{datetime.fromtimestamp(value / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    if isinstance(value, int) and name in _DURATIONS_MS:
        return _duration(value // 1000)
    if not isinstance(value, str):
        return str(value)
    if _AMOUNT.fullmatch(value):
        return _amount(value, decimals)
    if time := _ISO_TIME.fullmatch(value):
        return f"{time[1]} {time[2]} UTC"
    return visible(value) if value else '""'


def as_written(name: str, value: Any, decimals: int | None = None) -> str:
    """One value of somebody else's field: what it is, and no more. Numbers that are not integers come as `Raw`."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Raw):
        return bytes(value).decode()
    return (visible(value) if value else '""') if isinstance(value, str) else str(value)


def is_written_number(value: Any) -> bool:
    """Whether it is right-aligned in a column: a number, or a text that is one with decimals."""
    if isinstance(value, str):
        return _DECIMAL.fullmatch(value) is not None
    return isinstance(value, int | Raw) and not isinstance(value, bool)


def _is_moment(name: str, value: int) -> bool:
    return name.lower().endswith("timestamp") and _EARLIEST_MS <= value < 100 * _EARLIEST_MS


def _duration(seconds: int) -> str:
    """The two largest units of a time span."""
    parts: list[str] = []
    for unit, size in (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count or parts or unit == "s":
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def is_number(value: Any) -> bool:
    """Whether it is right-aligned in a column."""
    if isinstance(value, str):
        return _AMOUNT.fullmatch(value) is not None
    return isinstance(value, int | float) and not isinstance(value, bool)


def decimals_of(values: list[Any]) -> int | None:
    """The decimals that the amounts of a column need; None if there are no amounts."""
    needed = [
        len(match[3].rstrip("0"))
        for value in values
        if isinstance(value, str) and (match := _AMOUNT.fullmatch(value))
    ]
    return max(needed, default=None)


def _amount(text: str, decimals: int | None) -> str:
    """With thousands separated and without trailing zeros. Still exact."""
    match = _AMOUNT.fullmatch(text)
    assert match is not None, "the caller has checked"
    fraction = match[3].rstrip("0")
    if decimals is not None:
        fraction = fraction.ljust(decimals, "0")
    return f"{match[1]}{int(match[2]):,}" + (f".{fraction}" if fraction else "")


def on_the_point(numbers: list[str]) -> list[str]:
    """The numbers of a column with blanks behind them, so that their decimal points stand below each other."""
    behind = [0 if text == NOTHING else len(text) - len(text.partition(".")[0]) for text in numbers]
    most = max(behind, default=0)
    return [
        text if text == NOTHING else text + " " * (most - size)
        for text, size in zip(numbers, behind, strict=True)
    ]


def short_times(times: list[str]) -> list[str]:
    """Readable times without what all of them repeat: the zone, and midnight. Other texts stay as they are."""
    for end in (" UTC", " 00:00:00"):
        if all(text.endswith(end) for text in times):
            times = [text.removesuffix(end) for text in times]
    return times


def without_echoes(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without times in milliseconds that it also has in readable form, such as `timestamp` with `time`."""
    return {name: value for name, value in record.items() if not _is_echo(name, value, record)}


def _is_echo(name: str, value: Any, record: Mapping[str, Any]) -> bool:
    """`timestamp` next to `time`, `tipTimestamp` next to `tipTime`, `registered` next to `registeredTime`."""
    if name == "timestamp":
        return "time" in record
    if name.endswith("Timestamp"):
        return name.removesuffix("Timestamp") + "Time" in record
    return f"{name}Time" in record and (value is None or type(value) is int)


def as_arguments(values: Mapping[str, Any]) -> str:
    """A mapping as `key=value` words that a shell and `call` read back unchanged."""
    import shlex

    return " ".join(shlex.quote(f"{name}={_as_argument(value)}") for name, value in values.items())


def _as_argument(value: Any) -> str:
    if isinstance(value, str) and not _is_json(value):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
