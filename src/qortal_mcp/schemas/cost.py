"""How much work a schema makes, estimated before it is done: a page of `$ref` can ask for more than a machine has."""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

# Schemas of real tools have some kilobytes and nest some ten levels.
_MOST_SCHEMA_CHARS = 256_000
_MOST_PATH_CHARS = 10_000_000
_MOST_NESTING = 200
_SMALL = 200_000
_MOST_STEPS = 20_000
_MOST_FOR_A_VALUE = 100_000
_MOST = 5_000_000
# A text is as much work as this many of its characters for a pattern.
_CHARS_OF_A_VALUE = 32
_HERE_LISTS = ("allOf", "anyOf", "oneOf")
_HERE_MAPS = ("dependentSchemas", "dependencies")
_HERE = ("not", "if", "then", "else")
_REFS = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_BELOW = (
    "additionalProperties",
    "additionalItems",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
)
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
# What is compared or looked up for each value.
_COMPARED = ("enum", "const", "required", "properties", "patternProperties", "dependentRequired", "type")
# Readers differ in whether these part a pointer.
_AMBIGUOUS = ("%2f", "%7e", "%25")


class TooMuch(Exception):
    """The work cannot be estimated, or it is too much."""


class Size(Struct, frozen=True):
    """The values inside a value, the characters of its texts and names, its levels, and the length of all its places."""

    values: int
    chars: int
    levels: int
    paths: int


def size_of(value: Any) -> Size:
    values = chars = levels = paths = 0
    left: list[tuple[int, Any]] = [(0, value)]
    while left:
        levels += 1
        below: list[tuple[int, Any]] = []
        for path, part in left:
            values += 1
            paths += path
            if isinstance(part, str):
                chars += len(part)
            elif isinstance(part, dict):
                chars += sum(map(len, part))
                below += [(path + len(key) + 1, inner) for key, inner in part.items()]
            elif isinstance(part, list):
                below += [(path + 2, inner) for inner in part]
        left = below
    return Size(values, chars, levels, paths)


def is_reasonable(schema: dict[str, Any]) -> bool:
    """Whether a schema can be made ready for judging: a validator writes out the place of each of its parts."""
    return _is_reasonable(size_of(schema))


def _is_reasonable(size: Size) -> bool:
    return size.values + size.chars <= _MOST_SCHEMA_CHARS and size.paths <= _MOST_PATH_CHARS


class Costs:
    """How much work one schema makes, counted once for values of the same depth."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        size = size_of(schema)
        self._is_reasonable = _is_reasonable(size)
        # What real tools declare; what else there is may take megabytes when it is made ready.
        self.is_small = size.values + size.chars + size.paths <= _SMALL
        # By the levels of a value; None: too much.
        self._for_a_value: dict[int, int | None] = {}

    def of(self, value: Any) -> int:
        """About how many comparisons it takes to judge a value; raises TooMuch where it should not be started."""
        if not self._is_reasonable:
            raise TooMuch
        size = size_of(value)
        if size.levels not in self._for_a_value:
            self._for_a_value[size.levels] = self._counted(size.levels)
        for_a_value = self._for_a_value[size.levels]
        if for_a_value is None:
            raise TooMuch
        cost = for_a_value * (size.values + size.chars // _CHARS_OF_A_VALUE)
        if cost > _MOST:
            raise TooMuch
        return cost

    def _counted(self, levels: int) -> int | None:
        try:
            return _Counter(self._schema).cost(self._schema, levels, 0)
        except (TooMuch, RecursionError):
            return None


class _Counter:
    """Counts how often schemas are asked about the values on one way from the root of a value to its leaves."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._root = schema
        self._anchors, self._has_inner_root = _anchors_in(schema)
        # By schema and the levels of the value below; None while it is being counted.
        self._counted: dict[tuple[int, int], int | None] = {}
        self._own: dict[int, int] = {}

    def cost(self, part: Any, levels: int, nesting: int) -> int:
        if not isinstance(part, dict):
            return 1
        key = (id(part), levels)
        if key in self._counted:
            counted = self._counted[key]
            if counted is None:
                raise TooMuch  # it leads to itself without going into the value: endless
            return counted
        if len(self._counted) > _MOST_STEPS or nesting > _MOST_NESTING:
            raise TooMuch
        self._counted[key] = None
        found = 0
        for inner in self._here(part):
            found += self.cost(inner, levels, nesting + 1)
        if any(name in part for name in _UNEVALUATED):
            found *= 2  # asked again to find what they have looked at
        found += self._own_cost(part)
        if levels > 1:
            for inner in _each(part):
                found += self.cost(inner, levels - 1, nesting + 1)
            for several in _apart(part):
                # Each is about another value, so no way goes through two of them.
                most = 0
                for inner in several:
                    most = max(most, self.cost(inner, levels - 1, nesting + 1))
                found += most
        if found > _MOST_FOR_A_VALUE:
            raise TooMuch
        self._counted[key] = found
        return found

    def _own_cost(self, part: dict[str, Any]) -> int:
        if id(part) not in self._own:
            lists = [part[name] for name in _COMPARED if name in part]
            self._own[id(part)] = 1 + sum(
                len(one) if isinstance(one, dict) else size_of(one).values for one in lists
            )
        return self._own[id(part)]

    def _here(self, part: dict[str, Any]) -> Iterator[Any]:
        """The schemas that are asked about the same value."""
        for name in _HERE_LISTS:
            if isinstance(inner := part.get(name), list):
                yield from inner
        for name in _HERE_MAPS:
            if isinstance(inner := part.get(name), dict):
                yield from inner.values()
        for name in _HERE:
            if name in part:
                yield part[name]
        for name in _REFS:
            if isinstance(ref := part.get(name), str):
                yield from self._targets(ref)

    def _targets(self, ref: str) -> list[Any]:
        is_elsewhere = ref != "" and not ref.startswith("#")
        if is_elsewhere or self._has_inner_root or any(odd in ref.lower() for odd in _AMBIGUOUS):
            raise TooMuch  # which part is meant depends on who reads it
        if ref in ("", "#"):
            return [self._root]
        if ref.startswith("#/"):
            return [at_pointer(self._root, ref[2:])]
        return self._anchors.get(unquote(ref[1:]), [])


def _each(part: dict[str, Any]) -> Iterator[Any]:
    """The schemas that may all be asked about one value inside."""
    for name in _BELOW:
        if name in part:
            yield part[name]
    if isinstance(patterns := part.get("patternProperties"), dict):
        yield from patterns.values()
    if isinstance(items := part.get("items"), dict):
        yield items


def _apart(part: dict[str, Any]) -> Iterator[list[Any]]:
    """The schemas of which each is asked about another value inside."""
    if isinstance(properties := part.get("properties"), dict):
        yield list(properties.values())
    for name in ("prefixItems", "items"):
        if isinstance(items := part.get(name), list):
            yield items


def _anchors_in(schema: dict[str, Any]) -> tuple[Mapping[str, list[Any]], bool]:
    """The parts by the names they give themselves, and whether a part is the root of what its references mean."""
    found: dict[str, list[Any]] = {}
    is_old = "draft-04" in str(schema.get("$schema"))
    has_inner_root = False
    left: list[Any] = [schema]
    while left:
        part = left.pop()
        if isinstance(part, list):
            left += part
        if not isinstance(part, dict):
            continue
        for name in _ANCHORS:
            if isinstance(anchor := part.get(name), str):
                found.setdefault(anchor, []).append(part)
        if part is not schema:
            identity = part.get("$id", part.get("id") if is_old else None)
            has_inner_root = has_inner_root or isinstance(identity, str)
        left += part.values()
    return found, has_inner_root


_NOTHING: Any = object()


def finds(schema: Any, pointer: str) -> bool:
    return at_pointer(schema, pointer) is not _NOTHING


def at_pointer(schema: Any, pointer: str) -> Any:
    """The part at a JSON Pointer without its first slash."""
    at = schema
    for step in unquote(pointer).split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, dict) and key in at:
            at = at[key]
        elif isinstance(at, list) and key.isdigit() and len(key) < 6 and int(key) < len(at):
            at = at[int(key)]
        else:
            return _NOTHING
    return at
