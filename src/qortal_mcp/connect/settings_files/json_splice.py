"""One member put into a text of JSON, or taken out of it, in the text's own indentation. Comments stay where they are."""

import json
import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from ..rendering import json_text
from . import relaxed_json
from .json_members import Member, Object, inside, the_only
from .splice import Splice, line_end

_INDENTED = re.compile(rb"^([ \t]+)\S", re.MULTILINE)
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


class _Style(Struct, frozen=True):
    """How what is put in is laid out: on lines of its own, or on one line."""

    indent: str
    unit: str
    newline: str
    on_one_line: bool

    def member(self, key: str, value: Any) -> str:
        return f"{json.dumps(key, ensure_ascii=False)}: {self.value(value)}"

    def value(self, value: Any) -> str:
        if self.on_one_line:
            return json.dumps(value, ensure_ascii=False)
        return json_text(value, self.indent, self.unit).replace("\n", self.newline)


def put(data: bytes, path: Sequence[str], name: str, value: Any) -> Splice:
    """Adds or replaces the member `name` below the path. Raises: NotUnderstood."""
    plain = relaxed_json.strict(data)
    found, missing = inside(plain, path)
    for key in reversed((*missing[1:], name) if missing else ()):
        value = {key: value}
    key = missing[0] if missing else name
    member = the_only(plain, found, key)
    if member is not None:
        # The name stays as it is, and with it the comments behind it.
        text = _style(data, plain, found).value(value)
        return Splice(member.value_start, member.value_end, text.encode())
    return _added(data, plain, found, key, value)


def take(data: bytes, path: Sequence[str], name: str) -> Splice | None:
    """Removes the member; None if it is not there. Raises: NotUnderstood."""
    plain = relaxed_json.strict(data)
    found, missing = inside(plain, path)
    member = None if missing else the_only(plain, found, name)
    if member is None:
        return None
    return _removed(data, found, member)


def _style(data: bytes, plain: bytes, found: Object) -> _Style:
    newline = line_end(data)
    base = _indent_of_line(data, found.start)
    inner = [one for one in found.members if _begins_line(plain, one.start)]
    if inner:
        indent = _indent_of_line(data, inner[-1].start)
        unit = indent[len(base) :] if indent.startswith(base) and indent != base else _unit(data)
        return _Style(indent, unit, newline, False)
    # What stands on one line stays on one, but an empty object in a file of several lines is opened.
    is_narrow = bool(found.members) or (found.start > 0 and b"\n" not in data.strip())
    unit = _unit(data)
    return _Style(base + unit, unit, newline, is_narrow)


def _added(data: bytes, plain: bytes, found: Object, key: str, value: Any) -> Splice:
    style = _style(data, plain, found)
    text = style.member(key, value)
    close = found.end - 1
    if not found.members:
        return _first(data, found, text, style)
    after = found.members[-1].value_end
    comma = relaxed_json.without_comments(data)[after:close].find(b",")
    # Behind the last value there may be a comma and comments of its line; they stay with it.
    start = after if comma < 0 else after + comma + 1
    rest = _rest_of_line(data[start:close])
    kept = rest.decode("utf-8", "surrogatepass")
    end = start + len(rest)
    if style.on_one_line:
        blank = f"{style.newline}{style.indent}" if "//" in kept else " "
        lead = "" if comma >= 0 else ","
        new = f"{lead}{kept}{blank}{text}" if "//" in kept else f"{kept}{lead}{blank}{text}"
        return Splice(start, end, new.encode("utf-8", "surrogatepass"))
    lead = "" if comma >= 0 else ","
    ending = "," if comma >= 0 else ""
    closing = "" if b"\n" in data[end:close] else style.newline + _indent_of_line(data, found.start)
    new = f"{lead}{kept}{style.newline}{style.indent}{text}{ending}{closing}"
    return Splice(start, end if not closing else close, new.encode("utf-8", "surrogatepass"))


def _first(data: bytes, found: Object, text: str, style: _Style) -> Splice:
    """Into an object without members, which may hold comments."""
    start, close = found.start + 1, found.end - 1
    kept = data[start:close].rstrip().decode("utf-8", "surrogatepass")
    if style.on_one_line and not kept:
        return Splice(start, close, text.encode("utf-8", "surrogatepass"))
    base = _indent_of_line(data, found.start)
    new = f"{kept}{style.newline}{style.indent}{text}{style.newline}{base}"
    return Splice(start, close, new.encode("utf-8", "surrogatepass"))


def _rest_of_line(data: bytes) -> bytes:
    """Blanks and comments up to the end of the line; nothing, if the line has none."""
    place = 0
    while True:
        blanks = re.compile(rb"[ \t]*").match(data, place)
        assert blanks is not None, "it may be empty"
        comment = _COMMENT.match(data, blanks.end())
        if comment is None:
            return data[:place]
        place = comment.end()
        if data[comment.start() : comment.start() + 2] == b"//":
            return data[:place].rstrip(b"\r")


def _removed(data: bytes, found: Object, member: Member) -> Splice:
    close = found.end - 1
    bare = relaxed_json.without_comments(data)
    following = re.compile(rb"\s*,").match(bare, member.value_end)
    at = found.members.index(member)
    if following is not None or at == 0:
        start, end = member.start, following.end() if following is not None else member.value_end
        return Splice(*_with_its_line(data, start, end, close), b"")
    # The last one: the comma before it goes too, and what is written around that comma stays.
    before = found.members[at - 1].value_end
    comma = bare.index(b",", before)
    gap = data[comma + 1 : member.start]
    kept = data[before:comma] + gap.rstrip()
    ends_line = re.compile(rb"[ \t\r]*\n").match(data, member.value_end, close) is not None
    if b"\n" in gap[len(gap.rstrip()) :] and not ends_line:
        kept += line_end(data).encode()  # what follows would be part of a comment at the end of it
    return Splice(before, member.value_end, kept)


def _with_its_line(data: bytes, start: int, end: int, close: int) -> tuple[int, int]:
    """The same with the line that it leaves empty."""
    line = data.rfind(b"\n", 0, start) + 1
    rest = re.compile(rb"[ \t]*(\r?\n|\Z)").match(data, end, close)
    if not data[line:start].strip() and rest is not None:
        return line, rest.end()
    if not data[line:start].strip() and not data[end:close].strip():
        return line, end
    blank = re.compile(rb"[ \t]+").match(data, end, close)
    return start, blank.end() if blank is not None else end


def _begins_line(plain: bytes, start: int) -> bool:
    line = plain.rfind(b"\n", 0, start) + 1
    return not plain[line:start].strip() and line > 0


def _indent_of_line(data: bytes, place: int) -> str:
    line = data.rfind(b"\n", 0, place) + 1
    found = re.compile(rb"[ \t]*").match(data, line)
    assert found is not None, "it may be empty"
    return found[0].decode()


def _unit(data: bytes) -> str:
    found = _INDENTED.search(data)
    return found[1].decode() if found is not None else "  "
