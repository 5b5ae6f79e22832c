"""JSON Schemas of servers: walked with a limit, judged without following anything out of them."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

from . import paths
from .cost import Costs, TooMuch, finds, is_reasonable

# Schemas of real tools have some hundred parts; a hostile one has no end.
_MOST_PARTS = 5_000
_MOST_TO_EXPLAIN = 100_000
_MOST_KEPT = 128
# The keywords under which schemas stand: by name, in a list, alone.
MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SINGLE = (
    "items",
    "additionalProperties",
    "unevaluatedProperties",
    "unevaluatedItems",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
)


def children(schema: dict[str, Any], path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and every schema inside it that is an object, with its place."""
    left: list[tuple[str, Any]] = [(path, schema)]
    seen = 0
    while left and seen < _MOST_PARTS:
        seen += 1
        place, part = left.pop()
        if isinstance(part, dict):
            yield place, part
            # No more than will be looked at: the places of a million parts are a gigabyte.
            left += islice(_inner(place, part), _MOST_PARTS - seen)


def _inner(place: str, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name in MAPS:
        if isinstance(inner := part.get(name), dict):
            inside = paths.within(place, name)
            for key, value in inner.items():
                yield paths.within(inside, key), value
    for name in LISTS:
        if isinstance(inner := part.get(name), list):
            inside = paths.within(place, name)
            for at, value in enumerate(inner):
                yield paths.at(inside, at), value
    for name in SINGLE:
        if name in part:
            yield paths.within(place, name), part[name]


def refs(schema: dict[str, Any], path: str) -> Iterator[tuple[str, str]]:
    for place, part in children(schema, path):
        for name in ("$ref", "$dynamicRef"):
            if isinstance(ref := part.get(name), str):
                yield place, ref


def resolves(ref: str, schema: dict[str, Any]) -> bool:
    """Whether a reference stays inside the schema and finds something there."""
    if ref == "#":
        return True
    if ref.startswith("#/"):
        return finds(schema, ref[2:])
    return ref in _names(_Same(schema))


class _Same:
    """A value that equals only itself, to be a key although it can change. It keeps the value alive."""

    def __init__(self, value: dict[str, Any]) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.value is self.value


@lru_cache(maxsize=8)
def _names(schema: _Same) -> frozenset[str]:
    """What parts of a schema call themselves, as a reference writes it. Computed once per schema, which may have 20,000 references."""
    found = set()
    for _, part in children(schema.value, ""):
        found |= {f"#{part[name]}" for name in ("$anchor", "$dynamicAnchor") if name in part}
        if isinstance(identity := part.get("$id"), str):
            found.add(identity)
    return frozenset(found)


class _Refused(Exception):
    pass


def _refuse(uri: str) -> Any:
    # Otherwise a schema of the server under audit could make this machine fetch addresses and files.
    raise _Refused(f"not fetched: {uri}")


def _validator(schema: dict[str, Any]) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(schema, retriever=_refuse)


class _Judge:
    """A schema made ready to judge values."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._schema = schema
        self._validator: Any = None
        self.costs = Costs(schema)

    @property
    def validator(self) -> Any:
        """Only made once it is known that a value can be judged."""
        if self._validator is None:
            self._validator = _validator(self._schema)
        return self._validator


# Those of the tools that are called: a server has some ten of them.
_kept: dict[_Same, _Judge] = {}


def _judge(schema: dict[str, Any]) -> _Judge:
    same = _Same(schema)
    found = _kept.get(same)
    if found is None:
        found = _Judge(schema)
        if found.costs.is_small:
            if len(_kept) >= _MOST_KEPT:
                _kept.clear()
            _kept[same] = found
    return found


def is_valid(schema: dict[str, Any]) -> str:
    """What is wrong with a schema; empty where nothing is, or where that cannot be determined."""
    if not is_reasonable(schema):
        return ""
    if any(not resolves(ref, schema) for _, ref in refs(schema, "")):
        return ""
    try:
        _validator(schema)
    except Exception as exc:  # the library has no common base for what schemas can do wrong
        return str(exc).splitlines()[0][:200]
    return ""


def mismatch(value: Any, schema: dict[str, Any]) -> str:
    """Where a value does not fit its schema; empty where it does, or where that cannot be determined.

    The schema must not change afterwards: the same one is made ready only once.
    """
    try:
        judge = _judge(schema)
        cost = judge.costs.of(value)
        validator = judge.validator
        if validator.is_valid(value):
            return ""
        # To say where takes far longer than to say whether.
        error = next(iter(validator.iter_errors(value)), None) if cost <= _MOST_TO_EXPLAIN else None
    except Exception:
        return ""  # the schema itself is wrong: another check says so; or it is endless
    if error is None:
        return "structuredContent: it does not fit, and is too large to say where"
    place = ""
    for part in error.instance_path:
        place = paths.at(place, part) if isinstance(part, int) else paths.within(place, part)
    return f"structuredContent{place}: {str(error.message)[:200]}"


def can_judge(value: Any, schema: dict[str, Any]) -> bool:
    """Whether a value can be held to a schema in reasonable time. Where not, `mismatch` finds nothing."""
    try:
        _judge(schema).costs.of(value)
    except TooMuch:
        return False
    return True
