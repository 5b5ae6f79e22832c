"""Read untrusted input even if it is not correct JSON, and report what was wrong.

`jsonrpc.read` refuses it; this reads as much as any client could, so that a defect can be named instead of
"not readable". Pure, and bounded by its input: no bytes make anything here raise.
"""

import json
import re
from typing import Any, Literal

from msgspec import Raw, Struct

# What was wrong with the bytes around a value.
Slip = Literal[
    "bom",  # a byte order mark before the first character
    "invalid-utf8",
    "nan",  # NaN, Infinity or -Infinity: not JSON
    "surrogate",  # half of a surrogate pair, which UTF-8 cannot encode
    "joined",  # several values in one piece
    "duplicate-key",
    "unreadable",  # the rest is not JSON at all
]
_BOM = b"\xef\xbb\xbf"
_BLANKS = re.compile(r"[ \t\r\n]*")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Strings (an unterminated one takes the rest) and brackets: each character is scanned once.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
# Python refuses to write integers that are much longer.
_LONGEST_INTEGER = 1000
# The decoder is recursive: anything deeper than this is refused untried.
_DEEPEST = 200


class Reading(Struct, frozen=True):
    """The JSON values found in a piece of bytes, in order, and the slips found on the way."""

    values: tuple[Any, ...] = ()
    slips: frozenset[Slip] = frozenset()


class _Reader:
    def __init__(self, exactly: bool) -> None:
        self.slips: set[Slip] = set()
        self._exactly = exactly
        self._decoder = json.JSONDecoder(
            parse_constant=self._constant,
            parse_float=_as_written if exactly else None,
            parse_int=_integer if exactly else None,
            object_pairs_hook=self._members,
            strict=False,
        )

    def _constant(self, name: str) -> float | None:
        self.slips.add("nan")
        return None if self._exactly else float(name.replace("Infinity", "inf"))

    def _members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) < len(pairs):
            self.slips.add("duplicate-key")
        return members

    def read(self, text: str) -> list[Any]:
        values = []
        at = _after_blanks(text, 0)
        while at < len(text):
            try:
                value, at = self._decoder.raw_decode(text, at)
            except (ValueError, RecursionError):
                # ValueError also covers integers with more digits than Python reads.
                self.slips.add("unreadable")
                break
            values.append(value)
            at = _after_blanks(text, at)
        return values


def _as_written(number: str) -> Raw:
    return Raw(number.encode())


def _integer(digits: str) -> int | Raw:
    return _as_written(digits) if len(digits) > _LONGEST_INTEGER or digits == "-0" else int(digits)


def _after_blanks(text: str, at: int) -> int:
    found = _BLANKS.match(text, at)
    return at if found is None else found.end()


def read(data: bytes, *, exactly: bool = False) -> Reading:
    """Every value in these bytes, read as leniently as possible.

    With `exactly` they can be written again: numbers keep their digits (`Raw`), and NaN and Infinity are None.
    """
    reader = _Reader(exactly)
    if data.startswith(_BOM):
        reader.slips.add("bom")
        data = data[len(_BOM) :]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        reader.slips.add("invalid-utf8")
        text = data.decode("utf-8", "replace")
    if _is_too_deep(text):
        return Reading((), frozenset({*reader.slips, "unreadable"}))
    values = reader.read(text)
    if len(values) > 1:
        reader.slips.add("joined")
    # An escaped half of a pair is pure ASCII on the wire and shows only in the value.
    if "\\ud" in text.lower() and any(has_surrogate(value) for value in values):
        reader.slips.add("surrogate")
    return Reading(tuple(values), frozenset(reader.slips))


def _is_too_deep(text: str) -> bool:
    depth = 0
    for token in _TOKEN.finditer(text):
        first = token.group()[0]
        if first in "[{":
            depth += 1
            if depth > _DEEPEST:
                return True
        elif first != '"':
            depth -= 1
    return False


def has_surrogate(value: Any) -> bool:
    """Whether any text in the value cannot be written as UTF-8."""
    return any(_SURROGATE.search(text) is not None for text in texts(value))


def texts(value: Any) -> list[str]:
    """All texts in a value, member names included."""
    found: list[str] = []
    left = [value]
    while left:
        part = left.pop()
        if isinstance(part, str):
            found.append(part)
        elif isinstance(part, dict):
            found += part
            left += part.values()
        elif isinstance(part, list):
            left += part
    return found


def has_repeated_members(data: bytes) -> bool:
    """Whether an object in correct JSON has the same member twice."""
    try:
        _find_repeated(data.decode())
    except _Repeated:
        return True
    except (ValueError, RecursionError):
        return False
    return False


class _Repeated(Exception):
    pass


def _check_members(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _Repeated


# Numbers are not read: whatever is fast and takes every text will do.
_find_repeated = json.JSONDecoder(object_pairs_hook=_check_members, parse_int=len, parse_float=len).decode
