"""The part of YAML that settings files use, read line by line, with the place of each member.

Block mappings and sequences, values on one line, and block texts. What goes beyond that (anchors, tags, texts and flow
collections over several lines, several documents) is refused with its place: a file is never changed by guessing.
"""

import re
from typing import Any

from msgspec import Struct

from . import yaml_values
from .mistakes import NotUnderstood
from .yaml_values import NotOneLine

_KEY = re.compile(
    r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^']|'')*'|[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^:#]|:(?=\S)|(?<=\S)#)*+)\s*:(?:[ \t]+|\Z)"
)
_BLOCK_TEXT = re.compile(r"[|>](?:[+-]?[1-9]?|[1-9][+-])(?:\s+#.*)?\Z")
_DEEPEST = 50


class Member(Struct, frozen=True):
    """One member of a mapping: its lines, from the start of the first to the start of what follows, without blank lines and comments."""

    key: str
    value: "Mapping | Any"
    # Offsets in the text; where the value is written begins after the colon.
    start: int
    after_colon: int
    end_of_line: int
    end: int
    indent: int


class Mapping(Struct, frozen=True):
    """A block mapping."""

    members: tuple[Member, ...]

    def get(self, key: str) -> Member | None:
        return next((one for one in self.members if one.key == key), None)


class _Line(Struct, frozen=True):
    number: int
    start: int
    indent: int
    content: str
    # Of the text without what ends the line, and with it.
    end: int
    next: int


def read(text: str) -> Mapping:
    """Raises: NotUnderstood."""
    return _Reader(text).document()


def plain(value: Any) -> Any:
    """A mapping as a dictionary."""
    if isinstance(value, Mapping):
        return {one.key: plain(one.value) for one in value.members}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._all = _lines(text)
        self._lines = [line for line in self._all if line.content and not line.content.startswith("#")]
        self._at = 0
        # Where the last line ends that was taken.
        self._end = 0

    def document(self) -> Mapping:
        if self._line() is not None and self._lines[0].content == "---":
            self._at = 1
        first = self._line()
        if first is None:
            return Mapping(())
        if first.indent != 0:
            raise self._mistake(first, "the first name must begin the line")
        found = self._mapping(0, 0)
        rest = self._line()
        if rest is not None:
            raise self._mistake(rest, "its indentation does not fit the lines above")
        return found

    def _line(self) -> _Line | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _take(self, line: _Line) -> None:
        self._at += 1
        self._end = line.next

    def _mistake(self, line: _Line, why: str, column: int = 0) -> NotUnderstood:
        return NotUnderstood(f"line {line.number}, column {line.indent + column + 1}: {why}")

    def _mapping(self, indent: int, depth: int) -> Mapping:
        members: dict[str, Member] = {}
        while (line := self._line()) is not None and line.indent == indent:
            member = self._member(line, depth)
            if member.key in members:
                raise self._mistake(line, "the name is there twice")
            members[member.key] = member
        return Mapping(tuple(members.values()))

    def _member(self, line: _Line, depth: int) -> Member:
        if depth > _DEEPEST:
            raise self._mistake(line, "it is nested too deeply")
        found = _KEY.match(line.content)
        if found is None:
            raise self._mistake(line, "here a name with a colon is expected")
        self._take(line)
        value = self._value(line, line.content[found.end() :], found.end(), depth)
        return Member(
            key=self._key(line, found[1].rstrip()),
            value=value,
            start=line.start,
            after_colon=line.start + line.indent + len(found[0].rstrip()),
            end_of_line=line.end,
            end=self._end,
            indent=line.indent,
        )

    def _key(self, line: _Line, written: str) -> str:
        try:
            return yaml_values.key(written)
        except NotOneLine as exc:
            raise self._mistake(line, str(exc)) from None

    def _value(self, line: _Line, rest: str, column: int, depth: int) -> Any:
        if not rest or rest.startswith("#"):
            return self._below(line, depth)
        if _BLOCK_TEXT.match(rest):
            return self._block_text(line, rest)
        try:
            value = yaml_values.read(rest)
        except NotOneLine as exc:
            raise self._mistake(line, str(exc), column) from None
        following = self._line()
        if following is not None and following.indent > line.indent:
            raise self._mistake(following, "a value over several lines is not read here")
        return value

    def _below(self, line: _Line, depth: int) -> Any:
        """The value that begins on the next line; nothing, if that line is not further in."""
        following = self._line()
        if following is None or following.indent < line.indent:
            return None
        is_item = _is_item(following)
        if following.indent == line.indent:
            return self._sequence(following.indent, depth + 1) if is_item and not _is_item(line) else None
        if is_item:
            return self._sequence(following.indent, depth + 1)
        return self._mapping(following.indent, depth + 1)

    def _sequence(self, indent: int, depth: int) -> list[Any]:
        items: list[Any] = []
        while (line := self._line()) is not None and line.indent == indent and _is_item(line):
            if depth > _DEEPEST:
                raise self._mistake(line, "it is nested too deeply")
            inner = line.content[1:].lstrip(" ")
            column = len(line.content) - len(inner)
            if _KEY.match(inner) or _is_item_text(inner):
                # What follows the dash is a line of its own, further in.
                self._lines[self._at] = _Line(
                    line.number, line.start, indent + column, inner, line.end, line.next
                )
                if _is_item_text(inner):
                    items.append(self._sequence(indent + column, depth + 1))
                else:
                    items.append(self._mapping(indent + column, depth + 1))
                continue
            self._take(line)
            items.append(self._value(line, inner, column, depth))
        return items

    def _block_text(self, line: _Line, header: str) -> str:
        """Everything that is further in, as it is: only whether it stays the same matters."""
        taken: list[_Line] = []
        for number in range(line.number, len(self._all)):
            one = self._all[number]
            if one.content and one.indent <= line.indent:
                break
            taken.append(one)
        last = max((number for number, one in enumerate(taken, 1) if one.content), default=0)
        # Blank lines at its end belong to it if it keeps them, or if they are further in.
        if "+" not in header and not any(one.end > one.start for one in taken[last:]):
            del taken[last:]
        if taken:
            self._end = taken[-1].next
        while (following := self._line()) is not None and following.start < self._end:
            self._at += 1
        # Without a line end at the end of the file, it has none either.
        ends = "" if "-" in header.partition("#")[0] or not taken else self._text[taken[-1].end : self._end]
        return "\n".join([header, *(self._text[one.start : one.end] for one in taken)]) + ends


def _is_item(line: _Line) -> bool:
    return _is_item_text(line.content)


def _is_item_text(content: str) -> bool:
    return content == "-" or content.startswith("- ")


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    start = 0
    for number, whole in enumerate(_split(text), 1):
        body = whole.rstrip("\r\n")
        content = body.strip(" ")
        indent = len(body) - len(body.lstrip(" "))
        line = _Line(number, start, indent, content.rstrip("\t "), start + len(body), start + len(whole))
        _refuse(line)
        found.append(line)
        start += len(whole)
    return found


def _split(text: str) -> list[str]:
    """At line feeds alone: `splitlines` also splits at characters that are part of a text."""
    return re.findall(r"[^\n]*\n|[^\n]+\Z", text)


def _refuse(line: _Line) -> None:
    where = f"line {line.number}, column {line.indent + 1}"
    if line.content.startswith("\t"):
        raise NotUnderstood(f"{where}: a tab cannot indent a line")
    is_marker = re.match(r"(---|\.\.\.)(\s|\Z)", line.content) is not None
    if line.indent == 0 and (
        (is_marker and (line.number > 1 or line.content != "---")) or line.content.startswith("%")
    ):
        raise NotUnderstood(f"{where}: several documents and directives are not read here")
