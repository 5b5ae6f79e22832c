"""Which tools are called, and with what: only with leave, and never with made-up arguments where something may change."""

import math
from collections.abc import Iterable, Mapping, Set
from typing import Any

from msgspec import Struct

from . import json_schema
from .evidence import Gap

# Deeper arguments are not made up.
_DEEPEST = 6


class Call(Struct, frozen=True):
    tool: str
    arguments: Mapping[str, Any]


class Leave(Struct, frozen=True, kw_only=True):
    """What an audit may call: `named` calls always, `all_read_only` with arguments made from the schema."""

    named: tuple[Call, ...] = ()
    all_read_only: bool = False
    # False: not even what declares itself read-only and needs no arguments.
    by_itself: bool = True


def choose(
    tools: Iterable[Mapping[str, Any]], leave: Leave, at_most: int, harmless: Set[str] = frozenset()
) -> tuple[list[Call], list[Gap]]:
    """The calls to make of a list of tools, and what is left out and why.

    `harmless` are tools that declared themselves read-only elsewhere: the oldest revision has no word for it.
    """
    listed = {tool["name"]: tool for tool in tools if isinstance(tool.get("name"), str)}
    calls = [call for call in leave.named if call.tool in listed]
    gaps = [
        Gap(f"tool {call.tool}", "it is not in the list of tools", weighs=True)
        for call in leave.named
        if call.tool not in listed
    ]
    named = {call.tool for call in leave.named}
    refused, needy = [], []
    for name, tool in listed.items():
        if name in named or not leave.by_itself:
            continue
        if not is_read_only(tool) and name not in harmless:
            refused.append(name)
        elif (arguments := _arguments(tool, leave)) is None:
            needy.append(name)
        else:
            calls.append(Call(name, arguments))
    if refused:
        why = "not called, as they do not declare readOnlyHint; name them with --call"
        gaps.append(Gap(f"{len(refused)} of {len(listed)} tools", f"{why}: {_some(refused)}"))
    if needy:
        how = "name them with --call" if leave.all_read_only else "name them with --call, or use --call-all"
        gaps.append(
            Gap(
                f"{len(needy)} of {len(listed)} tools",
                f"not called, as they need arguments; {how}: {_some(needy)}",
            )
        )
    if len(calls) > at_most:
        gaps.append(Gap("tools", f"only {at_most} of {len(calls)} were called"))
    return calls[:at_most], gaps


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")


def is_read_only(tool: Mapping[str, Any]) -> bool:
    """Whether a tool declares that it changes nothing. Only the boolean counts."""
    annotations = tool.get("annotations")
    return isinstance(annotations, Mapping) and annotations.get("readOnlyHint") is True


def _arguments(tool: Mapping[str, Any], leave: Leave) -> Mapping[str, Any] | None:
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict):
        return {}
    required = schema.get("required")
    needs = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    if not needs and json_schema.mismatch({}, schema) == "":
        return {}
    if not leave.all_read_only:
        return None
    made = minimal(schema)
    if not isinstance(made, dict) or json_schema.mismatch(made, schema):
        return None
    return made


class _CannotTell(Exception):
    pass


def minimal(schema: dict[str, Any]) -> Any:
    """The smallest value that fits a schema; None where that cannot be told."""
    try:
        return _value(schema, schema, 0)
    except _CannotTell:
        return None


def _value(schema: Any, root: dict[str, Any], depth: int) -> Any:
    if schema is True or schema == {}:
        return "a"
    if not isinstance(schema, dict) or depth > _DEEPEST:
        raise _CannotTell
    for given in ("const", "default"):
        if given in schema:
            return schema[given]
    for several in ("enum", "examples"):
        if isinstance(schema.get(several), list) and schema[several]:
            return schema[several][0]
    if isinstance(ref := schema.get("$ref"), str):
        return _value(_followed(ref, root), root, depth + 1)
    for union in ("anyOf", "oneOf", "allOf"):
        if "type" not in schema and isinstance(schema.get(union), list) and schema[union]:
            return _value(schema[union][0], root, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    return _of_kind(kind, schema, root, depth)


def _of_kind(kind: Any, schema: dict[str, Any], root: dict[str, Any], depth: int) -> Any:
    if kind == "object" or (kind is None and "properties" in schema):
        properties = schema.get("properties")
        required = schema.get("required")
        if not isinstance(properties, dict) or not isinstance(required, list):
            return {}
        names = [name for name in required if isinstance(name, str)]
        return {name: _value(properties.get(name, True), root, depth + 1) for name in names}
    if kind == "array":
        count = schema.get("minItems", 0)
        if not isinstance(count, int) or not 0 <= count <= 10:
            raise _CannotTell
        return [_value(schema.get("items", True), root, depth + 1) for _ in range(count)]
    if kind == "string":
        if "pattern" in schema or "format" in schema:
            raise _CannotTell
        least = schema.get("minLength", 1)
        return "a" * (least if isinstance(least, int) and 1 <= least <= 1000 else 1)
    if kind in ("integer", "number"):
        return _number(schema)
    if kind == "boolean":
        return False
    if kind == "null":
        return None
    raise _CannotTell


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
    raise _CannotTell


def _bound(schema: dict[str, Any], name: str) -> int | float | None:
    value = schema.get(name)
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return value if is_number else None


def _followed(ref: str, root: dict[str, Any]) -> Any:
    if not ref.startswith("#/"):
        raise _CannotTell
    at: Any = root
    for step in ref[2:].split("/"):
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(at, dict) or key not in at:
            raise _CannotTell
        at = at[key]
    return at
