"""What is listed of a tool, for the repairs of it."""

from collections.abc import Iterator
from typing import Any

from ..subjects import ToolEntry

# Longer additions would be most of what a model reads of the tool.
_MOST_TOLD_CHARS = 2_000


def tool_of(entry: ToolEntry) -> dict[str, Any] | None:
    """The tool, unless it is not one or is left out by now."""
    return entry.value if isinstance(entry.value, dict) and not entry.is_lost else None


def schema_of(entry: ToolEntry, name: str) -> dict[str, Any] | None:
    tool = tool_of(entry)
    schema = None if tool is None else tool.get(name)
    return schema if isinstance(schema, dict) else None


def schemas_of(entry: ToolEntry) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in ("inputSchema", "outputSchema"):
        if (schema := schema_of(entry, name)) is not None:
            yield name, schema


def tell(tool: dict[str, Any], sentence: str) -> None:
    """Adds a sentence to the description, where a model reads it."""
    if len(sentence) > _MOST_TOLD_CHARS:
        sentence = f"{sentence[:_MOST_TOLD_CHARS]}…"
    described = tool.get("description")
    is_described = isinstance(described, str) and described
    tool["description"] = f"{described}\n\n{sentence}" if is_described else sentence
