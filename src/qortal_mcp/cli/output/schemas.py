"""JSON Schemas in words: what an argument takes, which fields an answer has."""

from collections.abc import Iterator, Mapping
from typing import Any

# Fields that any tool's answer may have, and what they mean.
COMMON = {
    "asOf": "The node, and the height and time of its newest block when the answer was read.",
    "page": "In lists: how many records are returned, and in next the complete arguments of the next call.",
    "notes": "Optional remarks: a lowered limit, a look-alike name, sample data.",
}

PLAIN = {
    "string": "text",
    "integer": "integer",
    "number": "number",
    "boolean": "true or false",
    "null": "null",
    "object": "object",
    "array": "list",
}


def type_in_words(schema: Mapping[str, Any]) -> str:
    """A schema in a few words: `integer, 1 to 100`, `list of text`, `one of a, b`."""
    if "enum" in schema:
        return "one of " + ", ".join(str(value) for value in schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "anyOf" in schema:
        return " or ".join(type_in_words(option) for option in schema["anyOf"])
    kinds = schema.get("type", "any value")
    if isinstance(kinds, list):
        return " or ".join(_one_type(kind, schema) for kind in kinds)
    return _one_type(kinds, schema)


def _one_type(kind: str, schema: Mapping[str, Any]) -> str:
    if kind == "array" and schema.get("items"):
        return f"list of {type_in_words(schema['items'])}{_size(schema)}"
    words = PLAIN.get(kind, kind)
    if kind == "string" and "maxLength" in schema:
        return f"{words}, at most {schema['maxLength']} characters"
    return words + (_range(schema) if kind in ("integer", "number") else "")


def _size(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minItems"), schema.get("maxItems")
    if high is None:
        return ""
    return f" ({high} of them)" if low == high else f" (at most {high})"


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f", {low} to {high}"
    if low is not None:
        return f", from {low}"
    return f", up to {high}" if high is not None else ""


def arguments(schema: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    """Name, type, default and meaning of each argument; for a required one the default is `required`."""
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        default = part.get("default")
        written = (
            "" if default is None else str(default).lower() if isinstance(default, bool) else str(default)
        )
        yield (
            name,
            type_in_words(part),
            "required" if name in required else written,
            part.get("description", ""),
        )


def fields(schema: Mapping[str, Any], inside: str = "") -> Iterator[tuple[str, str, str]]:
    """Path, type and meaning of each field of an answer, the inner ones after the outer."""
    required = schema.get("required", ())
    for name, part in schema.get("properties", {}).items():
        path = f"{inside}{name}"
        words = type_in_words(part)
        yield path, words if name in required else f"{words}, optional", part.get("description", "")
        if "properties" in part:
            yield from fields(part, f"{path}.")
        elif "properties" in part.get("items", {}):
            yield from fields(part["items"], f"{path}[].")


def without_common(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an answer without the fields that all answers have."""
    own = {name: part for name, part in schema["properties"].items() if name not in COMMON}
    return {**schema, "properties": own}
