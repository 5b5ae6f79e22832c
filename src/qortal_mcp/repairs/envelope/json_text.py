"""The bytes of a message: whatever any client could read becomes correct JSON, one value in each piece."""

import re
from collections.abc import Set
from typing import Any

from msgspec import Raw, Struct

from ...protocol import lenient
from ...protocol.decoding import decoder, has_more_values
from ...protocol.jsonrpc import UNREADABLE
from .. import values
from ..repair import Change

_decode_raw = decoder(Raw)
_decode_items = decoder(list[Raw])
_SURROGATES = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile("[\x00-\x1f]")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_CODES: dict[lenient.Slip, str] = {
    "bom": "bom",
    "invalid-utf8": "invalid-utf8",
    "nan": "json-nan",
    "surrogate": "lone-surrogate",
    "joined": "message-joined",
    "unreadable": "stdout-pollution",
}
# Larger messages are not searched for members that occur twice: it takes longer than everything else.
_SEARCHED_BYTES = 1024 * 1024
# Each becomes a Python object when a message is rewritten. Larger ones are passed on if they are right, else dropped.
_MOST_VALUES = 1_000_000
_MOST_MESSAGES = 1000


class Piece(Struct, frozen=True):
    """One JSON value on one line, and what had to be changed to get it."""

    data: bytes
    changes: tuple[Change, ...] = ()


class Unreadable(Struct, frozen=True):
    """Bytes that are dropped, and the code for what is wrong with them."""

    code: str


def pieces(data: bytes, on: Set[str]) -> list[Piece] | Unreadable:
    """The JSON values in these bytes. `on`: the codes of what may be put right."""
    if not data.strip(b" \t\r\n"):
        return Unreadable("blank-line")
    if is_json(data) and not ("json-duplicate-member" in on and has_repeated_members(data)):
        return [Piece(one_line(data))]
    if has_more_values(data, _MOST_VALUES):
        return Unreadable("stdout-pollution")
    return _reread(data, on)


def _reread(data: bytes, on: Set[str]) -> list[Piece] | Unreadable:
    reading = lenient.read(data, exactly=True)
    # Anything else can be no message: numbers and words at the start of a log line.
    found = [value for value in reading.values if isinstance(value, dict | list)]
    if not found or len(found) > _MOST_MESSAGES:
        return Unreadable("stdout-pollution")
    codes = sorted(_CODES[slip] for slip in reading.slips if slip in _CODES)
    if _has_control_characters(data):
        codes.append("json-control-character")
    if off := [code for code in codes if code not in on]:
        return Unreadable(off[0])
    if "duplicate-key" in reading.slips and "json-duplicate-member" in on:
        codes.append("json-duplicate-member")
    changes = tuple(Change(code=code) for code in codes)
    if "surrogate" in reading.slips:
        found = [_whole(value) for value in found]
    return [Piece(values.write(value), changes) for value in found]


def items(data: bytes) -> list[bytes]:
    """What is in a JSON array; nothing if it is too much."""
    found = _decode_items(data)
    return [bytes(item) for item in found] if len(found) <= _MOST_MESSAGES else []


def is_json(data: bytes) -> bool:
    """Whether it is correct JSON in UTF-8, and not nested too deeply."""
    try:
        _decode_raw(data)
    except UNREADABLE:
        return False
    return is_utf8(data)


def has_repeated_members(data: bytes) -> bool:
    return len(data) <= _SEARCHED_BYTES and lenient.has_repeated_members(data)


def is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def one_line(data: bytes) -> bytes:
    """Correct JSON without line breaks: it can have them only between values."""
    return data.translate(None, b"\r\n") if b"\n" in data or b"\r" in data else data


def _has_control_characters(data: bytes) -> bool:
    text = data.decode("utf-8", "replace")
    return _CONTROL.search(text) is not None and any(
        _CONTROL.search(token.group()) is not None for token in _STRING.finditer(text)
    )


def _whole(value: Any) -> Any:
    """A value without halves of surrogate pairs."""
    if isinstance(value, str):
        return _SURROGATES.sub("\ufffd", value)
    if isinstance(value, dict):
        return {_SURROGATES.sub("\ufffd", name): _whole(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return value
