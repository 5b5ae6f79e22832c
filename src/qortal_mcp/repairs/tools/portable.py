"""Valid schemas that some clients and model providers refuse."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from ...schemas.json_schema import children
from .. import values
from ..repair import ALL, SAFE, Change, repair
from ..subjects import ToolEntry
from .listed import schema_of, schemas_of, tell
from .references import target_of

_CURRENT_DIALECT = "json-schema.org/draft/2020-12/schema"
_UNIONS = {"anyOf": "at least one of", "oneOf": "exactly one of", "allOf": "all of"}
# With nothing else in its parts, a schema is the same when they are written into it.
_MERGED_WHOLE = {"type", "properties", "required", "title", "description"}
# Unions of real tools have some ten parts and are not nested.
_MOST_PARTS = 200
_MOST_NESTING = 8


@repair("schema-dialect", ALL, ToolEntry, makes="$schema is left out.")
def dialect(entry: ToolEntry) -> Iterator[Change]:
    """A schema in a dialect other than 2020-12."""
    for name, schema in schemas_of(entry):
        named = schema.get("$schema")
        if isinstance(named, str) and not named.rstrip("#").endswith(_CURRENT_DIALECT):
            yield Change(path=f"{name}.$schema", before=schema.pop("$schema"))


@repair(
    "schema-top-level-union",
    SAFE,
    ToolEntry,
    makes="The properties of all parts are merged into one object; the description says what belongs together.",
)
def top_level_union(entry: ToolEntry) -> Iterator[Change]:
    """anyOf, oneOf or allOf at the root of inputSchema."""
    schema = schema_of(entry, "inputSchema")
    found = [] if schema is None else [name for name in _UNIONS if name in schema]
    if schema is None or not found:
        return
    _merge(schema)
    for name in found:
        parts = schema.pop(name)
        if not (name == "allOf" and _is_merged_whole(parts)):
            tell(
                entry.value,
                f"The arguments must match {_UNIONS[name]} these schemas: {values.text_of(parts)}",
            )
        yield Change(path=f"inputSchema.{name}", before=parts)


def _is_merged_whole(parts: Any) -> bool:
    return isinstance(parts, list) and all(
        isinstance(part, dict) and part.keys() <= _MERGED_WHOLE for part in parts
    )


class _Arguments(Struct):
    """What a schema and its unions say of arguments: each schema of each, and which are always required."""

    properties: dict[str, list[Any]]
    required: list[str]


def _merge(schema: dict[str, Any]) -> None:
    own = schema.get("properties")
    own = own if isinstance(own, dict) else {}
    all_of_them = _Gathering(schema).arguments(schema, 0)
    merged = {
        name: own.get(name, found[0] if len(found) == 1 else {"anyOf": found})
        for name, found in all_of_them.properties.items()
    }
    if merged:
        schema["properties"] = merged
    if all_of_them.required:
        schema["required"] = all_of_them.required


class _Gathering:
    """Goes through nested unions, with a limit."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._left = _MOST_PARTS

    def arguments(self, schema: dict[str, Any], nesting: int) -> _Arguments:
        properties, required = schema.get("properties"), schema.get("required")
        found = _Arguments(
            properties={
                name: [part] for name, part in (properties if isinstance(properties, dict) else {}).items()
            },
            required=[
                name for name in (required if isinstance(required, list) else ()) if isinstance(name, str)
            ],
        )
        for union in _UNIONS:
            parts = schema.get(union)
            if isinstance(parts, list) and nesting < _MOST_NESTING:
                self._add(found, parts, union, nesting)
        return found

    def _add(self, found: _Arguments, parts: list[Any], union: str, nesting: int) -> None:
        required: list[list[str]] = []
        for part in parts:
            if self._left <= 0:
                return
            self._left -= 1
            inner = self.arguments(self._resolved(part), nesting + 1)
            required.append(inner.required)
            for name, schemas in inner.properties.items():
                known = found.properties.setdefault(name, [])
                known += [one for one in schemas if one not in known]
        if union == "allOf":
            more = [name for names in required for name in names]
        else:
            more = (
                [name for name in required[0] if all(name in names for names in required)] if required else []
            )
        found.required = list(dict.fromkeys([*found.required, *more]))

    def _resolved(self, part: Any) -> dict[str, Any]:
        if not isinstance(part, dict):
            return {}
        ref = part.get("$ref")
        if not isinstance(ref, str):
            return part
        target = target_of(self._root, ref)
        return {**target, **part} if isinstance(target, dict) else part


@repair(
    "schema-type-union",
    ALL,
    ToolEntry,
    makes="null is left out of the list; if more than one type is left, anyOf takes its place.",
)
def type_union(entry: ToolEntry) -> Iterator[Change]:
    """A list of types among the arguments."""
    schema = schema_of(entry, "inputSchema")
    for place, part in () if schema is None else children(schema, "inputSchema"):
        kinds = part.get("type")
        if not isinstance(kinds, list):
            continue
        left = [kind for kind in kinds if kind != "null"] or kinds[:1]
        del part["type"]
        if len(left) == 1:
            part["type"] = left[0]
        elif left and "anyOf" not in part:
            part["anyOf"] = [{"type": kind} for kind in left]
        yield Change(path=f"{place}.type", before=kinds)


@repair("schema-array-without-items", ALL, ToolEntry, makes='"items": {} is added.')
def array_without_items(entry: ToolEntry) -> Iterator[Change]:
    """An array of unknown items among the arguments."""
    schema = schema_of(entry, "inputSchema")
    for place, part in () if schema is None else children(schema, "inputSchema"):
        if part.get("type") == "array" and not {"items", "prefixItems"} & part.keys():
            part["items"] = {}
            yield Change(path=f"{place}.items", after={})
