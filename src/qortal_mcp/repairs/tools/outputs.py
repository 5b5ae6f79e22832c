"""outputSchema: what clients of a handshake can read of it."""

from collections.abc import Iterator
from typing import Any

from ...protocol.jsonrpc import UNREADABLE
from ...schemas.json_schema import children, refs, resolves
from .. import values
from ..repair import ALL, SAFE, Change, repair
from ..subjects import ToolEntry
from .listed import schema_of
from .references import target_of

# They say nothing about a value.
_SILENT = {"$schema", "$id", "$comment", "title", "description"}
# Where a schema is moved that describes something else than an object.
_WITHIN = "#/properties/result"
_MOST_PARTS = 4_000


@repair(
    "output-schema-removed",
    ALL,
    ToolEntry,
    makes="The member is left out, so that no client refuses a result.",
)
def output_schema_removed(entry: ToolEntry) -> Iterator[Change]:
    """Any outputSchema."""
    if schema_of(entry, "outputSchema") is not None:
        yield Change(path="outputSchema", before=entry.value.pop("outputSchema"))


@repair(
    "output-schema-root-not-object",
    SAFE,
    ToolEntry,
    makes='"type": "object" is added; a schema of something else is put under "result", and so are the tool\'s results.',
)
def output_schema_root_not_object(entry: ToolEntry) -> Iterator[Change]:
    """An outputSchema whose root is not an object, until 2025-11-25."""
    schema = schema_of(entry, "outputSchema")
    if schema is None or entry.asked.is_modern or schema.get("type") == "object":
        return
    if "type" not in schema and schema.keys() <= _SILENT:
        yield Change(path="outputSchema", before=entry.value.pop("outputSchema"))
    elif "type" not in schema and _is_of_object(schema, schema):
        entry.value["outputSchema"] = {"type": "object", **schema}
        yield Change(path="outputSchema.type", after="object")
    elif (wrapped := _wrapped(schema)) is not None:
        entry.value["outputSchema"] = wrapped
        entry.is_wrapped = True
        yield Change(path="outputSchema", before=schema, after=wrapped)
    else:
        yield Change(path="outputSchema", before=entry.value.pop("outputSchema"))


def _is_of_object(schema: Any, root: dict[str, Any]) -> bool:
    """Whether everything that fits a schema is an object."""
    if not isinstance(schema, dict):
        return False
    if "type" in schema:
        return bool(schema["type"] == "object")
    ref = schema.get("$ref")
    if isinstance(ref, str) and schema is root:
        target = target_of(root, ref)
        return target is not root and _is_of_object(target, root)
    parts = next((schema[name] for name in ("anyOf", "oneOf") if name in schema), None)
    if isinstance(parts, list) and schema is root:
        return bool(parts) and all(_is_of_object(part, root) for part in parts)
    return isinstance(schema.get("properties"), dict)


def _wrapped(schema: dict[str, Any]) -> dict[str, Any] | None:
    """The schema of an object with the described value under `result`. None: its references cannot be moved."""
    try:
        inner = values.read(values.write(schema))
    except UNREADABLE:
        return None
    inner.pop("$id", None)
    dialect = inner.pop("$schema", None)
    parts = 0
    for _, part in children(inner, ""):
        parts += 1
        for name in ("$ref", "$dynamicRef"):
            ref = part.get(name)
            if isinstance(ref, str) and (ref == "#" or ref.startswith("#/")):
                part[name] = _WITHIN + ref[1:]
    wrapped = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    if dialect is not None:
        wrapped["$schema"] = dialect
    if parts >= _MOST_PARTS or not all(resolves(ref, wrapped) for _, ref in refs(wrapped, "")):
        return None
    return wrapped
