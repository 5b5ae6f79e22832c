"""What the messages of each revision look like: reads the table in shapes.txt and judges values by it."""

import base64
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
TABLE = Path(__file__).with_name("shapes.txt")

# What our server also says to clients of revisions before the one that brought it: no known client minds, and
# people and models of older clients get more to read.
SAID_TO_ALL = {"Implementation": {"title"}, "Tool": {"outputSchema"}, "CallToolResult": {"structuredContent"}}


class Shape(msgspec.Struct, frozen=True):
    """What a value may be."""


class Plain(Shape, frozen=True):
    """A value without parts; `low` and `high` bound a number."""

    name: str
    low: int | None = None
    high: int | None = None


class Constant(Shape, frozen=True):
    value: str | int


class Named(Shape, frozen=True):
    """What the table has under this name."""

    name: str


class ListOf(Shape, frozen=True):
    item: Shape
    at_most: int | None = None


class Member(msgspec.Struct, frozen=True):
    name: str
    shape: Shape
    is_required: bool


class Object(Shape, frozen=True):
    """An object with these members; `others` is what members without a name of their own must be."""

    members: frozenset[Member]
    others: Shape | None = None


class OneOf(Shape, frozen=True):
    options: frozenset[Shape]


class AllOf(Shape, frozen=True):
    parts: frozenset[Shape]


ANY, OBJECT = Plain("any"), Plain("object")
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s\"<>\\^`{|}]*")
_URI_TEMPLATE = re.compile(r"([^\s\"<>\\^`{|}]|\{[+#./;?&]?[\w.,:*%]+\})*")
_TOKEN = re.compile(r'\s*("[^"]*"|-?\d*\.\.\d*|-?\d+|[$\w*][\w./-]*\??|[][{}|&:,])')


def _is_base64(value: str) -> bool:
    try:
        base64.b64decode(value, validate=True)
    except ValueError:
        return False
    return True


_PLAIN: dict[str, Any] = {
    "any": lambda value: True,
    "object": lambda value: isinstance(value, dict),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "uri": lambda value: isinstance(value, str) and _URI.fullmatch(value),
    "uri-template": lambda value: isinstance(value, str) and _URI_TEMPLATE.fullmatch(value),
    "base64": lambda value: isinstance(value, str) and _is_base64(value),
}


class _Reader:
    """Reads the type of one line."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        assert "".join(self._tokens) == re.sub(r"\s", "", text), text

    def _take(self, *wanted: str) -> str | None:
        if self._tokens and (not wanted or self._tokens[0] in wanted):
            return str(self._tokens.pop(0))
        return None

    def whole(self) -> Shape:
        found = self._one_of()
        assert not self._tokens, self._tokens
        return found

    def _one_of(self) -> Shape:
        options = [self._all_of()]
        while self._take("|"):
            options.append(self._all_of())
        return options[0] if len(options) == 1 else OneOf(frozenset(options))

    def _all_of(self) -> Shape:
        parts = [self._single()]
        while self._take("&"):
            parts.append(self._single())
        return parts[0] if len(parts) == 1 else AllOf(frozenset(parts))

    def _single(self) -> Shape:
        token = self._take()
        assert token is not None
        if token == "[":
            item = self._one_of()
            assert self._take("]")
            return ListOf(item, self._range()[1])
        if token == "{":
            return self._object()
        if token.startswith('"') or token.lstrip("-").isdigit():
            return Constant(msgspec.json.decode(token))
        if token in _PLAIN:
            return Plain(token, *self._range())
        return Named(token)

    def _range(self) -> tuple[int | None, int | None]:
        if not self._tokens or ".." not in self._tokens[0]:
            return None, None
        low, _, high = self._tokens.pop(0).partition("..")
        return (int(low) if low else None), (int(high) if high else None)

    def _object(self) -> Shape:
        members, others = set(), None
        while not self._take("}"):
            name = self._take()
            assert name is not None
            assert self._take(":")
            shape = self._one_of()
            if name == "*":
                others = shape
            else:
                members.add(_member(name, shape))
            self._take(",")
        return Object(frozenset(members), others)


def _member(name: str, shape: Shape) -> Member:
    return Member(name.removesuffix("?"), shape, not name.endswith("?"))


def _revisions(span: str) -> tuple[str, ...]:
    """What `a..b`, `a..`, `..b`, `a` and nothing stand for."""
    first, dots, last = span.partition("..")
    last = last if dots else first
    found = tuple(each for each in REVISIONS if (first or each) <= each <= (last or each))
    assert found, span
    return found


@cache
def _table() -> dict[str, dict[str, Shape]]:
    """Revision, then name, then shape."""
    found: dict[str, dict[str, Shape]] = {revision: {} for revision in REVISIONS}
    name = ""
    for line in TABLE.read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        cells = [*re.split(r"\s{2,}", line.strip()), ""]
        if line.startswith(" "):
            member = _member(cells[0], _Reader(cells[1]).whole())
            for revision in _revisions(cells[2]):
                if isinstance(so_far := found[revision].get(name), Object):
                    assert member.name not in {each.name for each in so_far.members}, line
                    found[revision][name] = Object(so_far.members | {member})
            continue
        name, _, alias = cells[0].partition(" = ")
        for revision in _revisions(cells[1]):
            assert name not in found[revision], line
            found[revision][name] = _Reader(alias).whole() if alias else Object(frozenset())
    return found


def names(revision: str) -> tuple[str, ...]:
    """Everything that this revision has a name for."""
    return tuple(_table()[revision])


def shape_of(revision: str, name: str) -> Shape | None:
    return _table()[revision].get(name)


@cache
def _foreign(revision: str, name: str) -> frozenset[str]:
    """Members that the same thing has in other revisions only."""

    def members(shape: Shape | None) -> set[str]:
        return {member.name for member in shape.members} if isinstance(shape, Object) else set()

    anywhere = set().union(*(members(shape_of(each, name)) for each in REVISIONS))
    # Up to 2025-06-18 the shapes of messages leave the envelope out.
    allowed = {"jsonrpc", "id"} | SAID_TO_ALL.get(name, set())
    return frozenset(anywhere - members(shape_of(revision, name)) - allowed)


def faults(revision: str, shape: Shape, value: object, at: str = "") -> Iterator[str]:
    """What is wrong with a value, each with its place."""
    match shape:
        case Plain(name, low, high):
            if not _PLAIN[name](value):
                yield f"{at or 'it'} is not {name}"
            elif isinstance(value, int | float) and (
                (low is not None and value < low) or (high is not None and value > high)
            ):
                yield f"{at or 'it'} is out of bounds"
        case Constant(constant):
            if value != constant or isinstance(value, bool):
                yield f"{at or 'it'} is not {constant!r}"
        case Named(name):
            found = shape_of(revision, name)
            assert found is not None, f"the table of {revision} has no {name}"
            if isinstance(value, dict):
                for foreign in _foreign(revision, name) & set(value):
                    yield f"{at}.{foreign} is not of this revision"
            yield from faults(revision, found, value, at)
        case ListOf(item, at_most):
            if not isinstance(value, list):
                yield f"{at or 'it'} is not a list"
                return
            if at_most is not None and len(value) > at_most:
                yield f"{at or 'it'} has more than {at_most} items"
            for number, each in enumerate(value):
                yield from faults(revision, item, each, f"{at}[{number}]")
        case Object(members, others):
            yield from _faults_of_object(revision, members, others, value, at)
        case OneOf(options):
            if all(any(faults(revision, option, value, at)) for option in options):
                yield f"{at or 'it'} fits none of its kinds"
        case AllOf(parts):
            for part in parts:
                yield from faults(revision, part, value, at)


def _faults_of_object(
    revision: str, members: frozenset[Member], others: Shape | None, value: object, at: str
) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at or 'it'} is not object"
        return
    for member in members:
        if member.name in value:
            yield from faults(revision, member.shape, value[member.name], f"{at}.{member.name}")
        elif member.is_required:
            yield f"{at}.{member.name} is missing"
    if others is not None:
        for name in set(value) - {member.name for member in members}:
            yield from faults(revision, others, value[name], f"{at}.{name}")
