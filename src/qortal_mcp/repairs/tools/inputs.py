"""inputSchema: whether there is one, and whether its root is an object."""

from collections.abc import Iterator
from typing import Any

from ...protocol.jsonrpc import UNREADABLE
from ...schemas import paths
from .. import values
from ..repair import SAFE, Change, repair
from ..subjects import ToolEntry
from .keywords import TYPES
from .listed import schema_of, tell, tool_of

# Where other APIs, and earlier ideas of this one, have it.
_ELSEWHERE = ("input_schema", "parameters", "params")


@repair(
    "input-schema-missing",
    SAFE,
    ToolEntry,
    makes='input_schema or parameters is renamed if it holds a schema; otherwise {"type": "object"}.',
)
def input_schema_missing(entry: ToolEntry) -> Iterator[Change]:
    """A tool without inputSchema, or whose inputSchema is not an object."""
    tool = tool_of(entry)
    if tool is None or isinstance(tool.get("inputSchema"), dict):
        return
    before = tool.get("inputSchema")
    written = _written(before)
    elsewhere = next((name for name in _ELSEWHERE if _is_schema(tool.get(name))), None)
    if written is not None:
        tool["inputSchema"] = written
    elif elsewhere is not None:
        tool["inputSchema"] = tool.pop(elsewhere)
    else:
        tool["inputSchema"] = {"type": "object"}
    yield Change(path="inputSchema", before=before, after=tool["inputSchema"], keep=written is None)


def _is_schema(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    return value.get("type") == "object" or isinstance(value.get("properties"), dict)


def _written(value: Any) -> dict[str, Any] | None:
    """A schema that was put into a string."""
    if not isinstance(value, str):
        return None
    try:
        schema = values.parsed(value)
    except UNREADABLE:
        return None
    return schema if _is_schema(schema) else None


@repair(
    "input-schema-root-not-object",
    SAFE,
    ToolEntry,
    makes='"type": "object"; a schema that describes something else is told in the description.',
)
def input_schema_root_not_object(entry: ToolEntry) -> Iterator[Change]:
    """An inputSchema whose root is not an object."""
    schema = schema_of(entry, "inputSchema")
    kind = None if schema is None else schema.get("type")
    if schema is None or kind in (None, "object"):
        return
    is_other = kind in TYPES or (isinstance(kind, list) and "object" not in kind)
    if is_other and not isinstance(schema.get("properties"), dict):
        entry.value["inputSchema"] = {"type": "object"}
        tell(entry.value, f"The server describes the arguments as: {values.text_of(schema)}")
        yield Change(path="inputSchema", before=schema, after=entry.value["inputSchema"], keep=True)
    else:
        schema["type"] = "object"
        yield Change(path="inputSchema.type", before=kind, after="object")


@repair("input-schema-type-missing", SAFE, ToolEntry, makes='"type": "object" is added.')
def input_schema_type_missing(entry: ToolEntry) -> Iterator[Change]:
    """An inputSchema without a type."""
    schema = schema_of(entry, "inputSchema")
    if schema is not None and schema.get("type") is None:
        # First, as people write it.
        entry.value["inputSchema"] = {"type": "object", **{k: v for k, v in schema.items() if k != "type"}}
        yield Change(path="inputSchema.type", after="object")


@repair(
    "schema-boolean-property",
    SAFE,
    ToolEntry,
    makes="{} in place of true, and the schema that nothing fits in place of false.",
)
def boolean_property(entry: ToolEntry) -> Iterator[Change]:
    """true or false as the schema of a property, until 2025-11-25."""
    if entry.asked.is_modern:
        return
    for name in ("inputSchema", "outputSchema"):
        schema = schema_of(entry, name) or {}
        properties: Any = schema.get("properties")
        for key, part in properties.items() if isinstance(properties, dict) else ():
            if isinstance(part, bool):
                properties[key] = {} if part else {"not": {}}
                yield Change(path=paths.within(f"{name}.properties", key), before=part, after=properties[key])
