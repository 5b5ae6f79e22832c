"""JSON as people write it into the files of their clients: with comments, and commas before a closing bracket."""

import re
from typing import Any

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE

# A string stays as it is; a comment in one is not a comment.
# Possessive: a string without an end is not tried in other ways.
_STRING = rb'"(?:[^"\\\n]|\\.)*+(?:"|(?=\n)|\Z)'
_COMMENT = re.compile(_STRING + rb"|//[^\n]*|/\*(?:[^*]|\*(?!/))*+(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(_STRING + rb"|,(?=\s*+[}\]])", re.DOTALL)
_PLACE = re.compile(r"\(byte (\d+)\)")
_PLAINER = {"object keys must be strings": "the name of a member must be in quotation marks"}
_MARK = b"\xef\xbb\xbf"


class NotJson(Exception):
    """What is wrong, with line and column."""


def read(data: bytes) -> Any:
    """Raises: NotJson."""
    plain = data.replace(_MARK, b"   ", 1) if data.startswith(_MARK) else data
    plain = strict(plain)
    try:
        return decode(plain)
    except UnicodeDecodeError:
        raise NotJson("it is not UTF-8") from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    except UNREADABLE as exc:
        raise NotJson(_explained(str(exc), plain)) from None


def without_comments(data: bytes) -> bytes:
    """The same with blanks for comments."""
    return data if _is_plain(data) else _COMMENT.sub(_blank, data)


def strict(data: bytes) -> bytes:
    """The same as plain JSON. Every byte keeps its place, so that errors and changes can name it."""
    return data if _is_plain(data) else _COMMA.sub(_blank, _COMMENT.sub(_blank, data))


def _is_plain(data: bytes) -> bool:
    """Most files are, and looking for comments in a large one takes seconds."""
    try:
        decode(data)
    except (*UNREADABLE, UnicodeDecodeError, RecursionError):
        return False
    return True


def _blank(match: re.Match[bytes]) -> bytes:
    found = match[0]
    is_open = found.startswith(b"/*") and not (found.endswith(b"*/") and len(found) > 3)
    return found if found.startswith(b'"') or is_open else re.sub(rb"[^\n]", b" ", found)


def _explained(message: str, data: bytes) -> str:
    place = _PLACE.search(message)
    at = int(place[1]) if place is not None else len(data)
    before = data[:at]
    line = before.count(b"\n") + 1
    column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
    reason = _PLACE.sub("", message).strip().removeprefix("JSON is malformed: ").removesuffix(":")
    reason = _PLAINER.get(reason, reason)
    if place is None:
        reason = "it ends too early"
    return f"line {line}, column {column}: {reason}"
