"""Which tools are called, and with what: only with permission, and never with made-up arguments where something may change."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ...protocol.versions import ANNOTATIONS
from ...schemas import json_schema
from ...schemas.cost import size_of
from ..evidence import Gap

# Deeper arguments are not made up.
_DEEPEST = 6
# Nor larger ones: a small schema can ask for a thousand members with a thousand members each.
_MOST_PARTS = 1_000
_MOST_CHARS = 100_000


class Call(Struct, frozen=True):
    tool: str
    arguments: Mapping[str, Any]


class Permission(Struct, frozen=True, kw_only=True):
    """What an audit may call: `named` calls always, `all_read_only` with arguments made from the schema."""

    named: tuple[Call, ...] = ()
    all_read_only: bool = False
    # False: not even what declares itself read-only and needs no arguments.
    by_itself: bool = True


class ReadOnlyClaims:
    """What tools declared in the revisions looked at so far. One list without the claim is enough to doubt a tool."""

    def __init__(self) -> None:
        self._read_only: set[str] = set()
        self._doubtful: set[str] = set()

    def add(self, tools: Iterable[Mapping[str, Any]], *, revision: str) -> None:
        for tool in tools:
            name = tool.get("name")
            if not isinstance(name, str):
                continue
            if is_read_only(tool):
                self._read_only.add(name)
            elif revision >= ANNOTATIONS or "annotations" in tool:
                self._doubtful.add(name)

    def is_read_only(self, name: str) -> bool:
        """Whether it said so wherever there is a word for it; the oldest revision has none."""
        return name in self._read_only and name not in self._doubtful


def choose(
    tools: Iterable[Mapping[str, Any]], permission: Permission, at_most: int, claims: ReadOnlyClaims
) -> tuple[list[Call], list[Gap]]:
    """The calls to make of a list of tools, and what is left out and why."""
    listed = {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str)}
    calls = [call for call in permission.named if call.tool in listed]
    gaps = [
        Gap(f"tool {call.tool}", "it is not in the list of tools", weighs=True)
        for call in permission.named
        if call.tool not in listed
    ]
    named = {call.tool for call in permission.named}
    refused, needy = [], []
    for name, tool in listed.items():
        if name in named or not permission.by_itself:
            continue
        if not claims.is_read_only(name):
            refused.append(name)
        elif (arguments := _arguments(tool, permission)) is None:
            needy.append(name)
        else:
            calls.append(Call(name, arguments))
    if refused:
        why = "not called, as they do not declare readOnlyHint; name them with --call"
        gaps.append(Gap(f"{len(refused)} of {len(listed)} tools", f"{why}: {_some(refused)}"))
    if needy:
        how = (
            "name them with --call"
            if permission.all_read_only
            else "name them with --call, or use --call-all"
        )
        gaps.append(
            Gap(
                f"{len(needy)} of {len(listed)} tools",
                f"not called, as they need arguments; {how}: {_some(needy)}",
            )
        )
    if len(calls) > at_most:
        gaps.append(Gap("tools", f"only {at_most} of {len(calls)} were called", weighs=True))
    return calls[:at_most], gaps


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def is_read_only(tool: Mapping[str, Any]) -> bool:
    """Whether a tool declares that it changes nothing. Only the boolean counts."""
    annotations = tool.get("annotations")
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True


def _arguments(tool: Mapping[str, Any], permission: Permission) -> Mapping[str, Any] | None:
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return {}
    required = schema.get("required")
    needs = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    if not needs and json_schema.mismatch({}, schema) == "":
        return {}
    if not permission.all_read_only:
        return None
    made = minimal(schema)
    if not isinstance(made, dict) or json_schema.mismatch(made, schema):
        return None
    return made


class _Undetermined(Exception):
    pass


def minimal(schema: dict[str, Any]) -> Any:
    """The smallest value that fits a schema; None where that cannot be determined."""
    try:
        return _Maker(schema).value(schema, 0)
    except _Undetermined:
        return None


class _Maker:
    """Makes one value, and gives up where it grows too large."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root
        self._parts = _MOST_PARTS
        self._chars = _MOST_CHARS

    def _spend(self, parts: int, chars: int) -> None:
        self._parts -= parts
        self._chars -= chars
        if self._parts < 0 or self._chars < 0:
            raise _Undetermined

    def _given(self, value: Any) -> Any:
        size = size_of(value)
        self._spend(size.values, size.chars)
        return value

    def value(self, schema: Any, depth: int) -> Any:
        self._spend(1, 0)
        if schema is True or schema == {}:
            return "a"
        if not isinstance(schema, dict) or depth > _DEEPEST:
            raise _Undetermined
        for given in ("const", "default"):
            if given in schema:
                return self._given(schema[given])
        for several in ("enum", "examples"):
            if isinstance(schema.get(several), list) and schema[several]:
                return self._given(schema[several][0])
        if isinstance(ref := schema.get("$ref"), str):
            return self.value(_followed(ref, self._root), depth + 1)
        for union in ("anyOf", "oneOf", "allOf"):
            if "type" not in schema and isinstance(schema.get(union), list) and schema[union]:
                return self.value(schema[union][0], depth + 1)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "null")
        return self._of_kind(kind, schema, depth)

    def _of_kind(self, kind: Any, schema: dict[str, Any], depth: int) -> Any:
        if kind == "object" or (kind is None and "properties" in schema):
            properties = schema.get("properties")
            required = schema.get("required")
            if not isinstance(properties, dict) or not isinstance(required, list):
                return {}
            names = [name for name in required if isinstance(name, str)]
            self._spend(0, sum(map(len, names)))
            return {name: self.value(properties.get(name, True), depth + 1) for name in names}
        if kind == "array":
            count = schema.get("minItems", 0)
            if not isinstance(count, int) or not 0 <= count <= 10:
                raise _Undetermined
            return [self.value(schema.get("items", True), depth + 1) for _ in range(count)]
        if kind == "string":
            if "pattern" in schema or "format" in schema:
                raise _Undetermined
            least = schema.get("minLength", 1)
            length = least if isinstance(least, int) and 1 <= least <= 1000 else 1
            self._spend(0, length)
            return "a" * length
        if kind in ("integer", "number"):
            return _number(schema)
        if kind == "boolean":
            return False
        if kind == "null":
            return None
        raise _Undetermined


def _number(schema: dict[str, Any]) -> Any:
    least, above = _bound(schema, "minimum"), _bound(schema, "exclusiveMinimum")
    most, below = _bound(schema, "maximum"), _bound(schema, "exclusiveMaximum")
    tries = [least, None if above is None else above + 1, 1, most, None if below is None else below - 1]
    for tried in tries:
        if tried is None:
            continue
        value = math.ceil(tried) if schema.get("type") != "number" else tried
        is_in = (least is None or value >= least) and (above is None or value > above)
        if is_in and (most is None or value <= most) and (below is None or value < below):
            return value
    raise _Undetermined


def _bound(schema: dict[str, Any], name: str) -> int | float | None:
    value = schema.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


def _followed(ref: str, root: dict[str, Any]) -> Any:
    if not ref.startswith("#/"):
        raise _Undetermined
    at: Any = root
    for step in ref[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(at, dict) or key not in at:
            raise _Undetermined
        at = at[key]
    return at
