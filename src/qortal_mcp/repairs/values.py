"""JSON as a tree that can be changed and written again without losing a digit.

Objects are dicts, arrays lists, texts str; integers are int of any size, and every other number is kept as it was
written (`Raw`). Only what a repair changes differs afterwards.
"""

from typing import Any

import msgspec
from msgspec import Raw

from ..protocol.decoding import decode_exactly
from ..protocol.jsonrpc import UNREADABLE

_encode = msgspec.json.Encoder().encode


def read(data: bytes | Raw) -> Any:
    """Raises: one of UNREADABLE."""
    return decode_exactly(data)


def write(value: Any) -> bytes:
    return _encode(value)


def copied(value: Any) -> Any:
    """A value that stays as it is when parts of the original change."""
    if not isinstance(value, dict | list):
        return value
    try:
        return read(write(value))
    except UNREADABLE:  # nested as deeply as can just be read
        return value


def text_of(value: Any) -> str:
    """A value as compact JSON, for a text block."""
    return _encode(value).decode()


def is_number(value: Any) -> bool:
    return isinstance(value, int | Raw) and not isinstance(value, bool)


def parsed(text: str) -> Any:
    """The value of a text that is JSON.

    Raises: one of UNREADABLE.
    """
    try:
        return read(text.encode())
    except UnicodeEncodeError as exc:  # half a surrogate pair
        raise UNREADABLE[0](str(exc)) from None
