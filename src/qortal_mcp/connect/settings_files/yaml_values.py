"""Values of YAML that stand on one line: plain and quoted texts, numbers, truth values, and flow collections of them."""

import re
from typing import Any

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE

_PLAIN_VALUES: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]{1,300}")
_SINGLE = re.compile(r"'(?:[^']|'')*'")
_DOUBLE = re.compile(r'"(?:[^"\\]|\\.)*"')
_PLAIN_IN_FLOW = re.compile(r"[^\s,\[\]{}'\"&*!|>%@`#][^,\[\]{}#]*")
_COMMENT = re.compile(r"(?:\s+#.*)?\s*\Z")
# A double-quoted text of YAML has more escapes than JSON.
_ESCAPES = {"0": "\0", "a": "\a", "v": "\v", "e": "\x1b", " ": " ", "N": "\x85", "_": "\xa0", "L": "\u2028"}
_ESCAPES |= {"P": "\u2029", "'": "'", "\t": "\t", "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_ESCAPES |= {'"': '"', "/": "/", "\\": "\\"}
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_DEEPEST = 20


class NotOneLine(Exception):
    """The reason, as the end of a sentence."""


def read(text: str) -> Any:
    """The value of what follows a colon or a dash; a comment may come after it.

    Raises: NotOneLine.
    """
    first = text[:1]
    if first in ("'", '"', "[", "{"):
        value, end = _flow(text, 0, 0)
        if not _COMMENT.match(text, end):
            raise NotOneLine("there is more after the value")
        return value
    if first in ("&", "*", "!"):
        raise NotOneLine("anchors, aliases and tags are not read here")
    if first in ("%", "@", "`", "]", "}", ",") or text[:2] in ("? ", "- "):
        raise NotOneLine("no value begins like this")
    plain = re.split(r"(?<!\s)\s+#", text, maxsplit=1)[0].rstrip()
    if re.search(r":(\s|\Z)", plain):
        raise NotOneLine("a colon in a text needs quotation marks")
    return _plain(plain)


def _plain(text: str) -> Any:
    if text in _PLAIN_VALUES:
        return _PLAIN_VALUES[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return text


def _flow(text: str, start: int, depth: int) -> tuple[Any, int]:
    """The value that begins there, and where it ends."""
    if depth > _DEEPEST:
        raise NotOneLine("it is nested too deeply")
    first = text[start : start + 1]
    if first == "[":
        return _sequence(text, start, depth)
    if first == "{":
        return _mapping(text, start, depth)
    return _scalar(text, start)


def _scalar(text: str, start: int) -> tuple[Any, int]:
    if found := _DOUBLE.match(text, start):
        return double_quoted(found[0]), found.end()
    if found := _SINGLE.match(text, start):
        return single_quoted(found[0]), found.end()
    if text[start : start + 1] in ("'", '"'):
        raise NotOneLine("a quotation mark is not closed on its line")
    if found := _PLAIN_IN_FLOW.match(text, start):
        return _plain(found[0].strip()), found.end()
    raise NotOneLine("a value is missing, or is of a kind that is not read here")


def _sequence(text: str, start: int, depth: int) -> tuple[list[Any], int]:
    items: list[Any] = []
    place = _blanks(text, start + 1)
    while text[place : place + 1] != "]":
        value, place = _flow(text, place, depth + 1)
        items.append(value)
        place = _next(text, place, "]")
    return items, place + 1


def _mapping(text: str, start: int, depth: int) -> tuple[dict[str, Any], int]:
    members: dict[str, Any] = {}
    place = _blanks(text, start + 1)
    while text[place : place + 1] != "}":
        found = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s,\[\]{}:'\"]+)\s*:\s").match(
            text, place
        )
        if found is None:
            raise NotOneLine("a name with a colon and a blank is missing")
        value, place = _flow(text, _blanks(text, found.end()), depth + 1)
        name = key(found[1])
        if name in members:
            raise NotOneLine("a name is there twice")
        members[name] = value
        place = _next(text, place, "}")
    return members, place + 1


def _next(text: str, place: int, end: str) -> int:
    place = _blanks(text, place)
    if text[place : place + 1] == ",":
        return _blanks(text, place + 1)
    if text[place : place + 1] != end:
        raise NotOneLine("a list or an object is not closed on its line")
    return place


def _blanks(text: str, place: int) -> int:
    while text[place : place + 1] == " ":
        place += 1
    return place


def key(text: str) -> str:
    """The name that is written before a colon."""
    if text.startswith('"'):
        return double_quoted(text)
    return single_quoted(text) if text.startswith("'") else text


def single_quoted(text: str) -> str:
    return text[1:-1].replace("''", "'")


def double_quoted(text: str) -> str:
    """Raises: NotOneLine."""
    try:
        found = decode(text.encode())
        if isinstance(found, str):
            return found
    except (*UNREADABLE, UnicodeError, RecursionError):
        pass
    return _ESCAPED.sub(_unescaped, text[1:-1])


def _unescaped(match: re.Match[str]) -> str:
    digits = match[1] or match[2] or match[3]
    if digits:
        code = int(digits, 16)
        if code > 0x10FFFF:
            raise NotOneLine("an escape does not exist")
        return chr(code)
    if match[4] not in _ESCAPES:
        raise NotOneLine("an escape does not exist")
    return _ESCAPES[match[4]]
