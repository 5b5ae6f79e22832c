"""JSON Schemas from types, in a form that every client and model provider accepts.

No `$ref`, no names of ours, `type: object` at the root. Schemas that a person wrote stay as they are.
"""

from typing import Any

import msgspec

_REFS = "#/$defs/"
# msgspec repeats class names as titles: decoration that a model pays for in tokens.
_DECORATION = frozenset({"title"})
# Members that hold values, not schemas.
_VALUES = frozenset({"default", "enum", "const", "examples"})
_NULL = {"type": "null"}
# What every integer keeps to says nothing.
_WIDEST = {"minimum": -(2**63), "maximum": 2**63 - 1}


def schema_of(kind: Any, *, joins_types: bool = True) -> dict[str, Any]:
    """The schema of a type with every reference written out.

    `joins_types`: a value or null is a list of two types, which is short. Gemini refuses such lists among arguments.
    """
    (schema,), parts = msgspec.json.schema_components([kind], ref_template=_REFS + "{name}")
    inlined = _Inlining(parts, joins_types).schema(schema, ())
    assert isinstance(inlined, dict), "a schema of a type is an object"
    return inlined


def is_object_schema(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object"


def wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """The object that carries a value which is not an object itself."""
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of what a value may be other than null."""
    if "enum" in schema:
        return _typed_enum({**schema, "enum": [choice for choice in schema["enum"] if choice is not None]})
    others = [option for option in schema.get("anyOf", ()) if option != _NULL]
    if len(others) > 1:
        return {**schema, "anyOf": others}
    return {**others[0], **_without(schema, "anyOf")} if others else schema


class _Inlining:
    """Writes references out. `inside` names those that are being written, since a type may contain itself."""

    def __init__(self, parts: dict[str, Any], joins_types: bool) -> None:
        self._parts = parts
        self._joins_types = joins_types

    def schema(self, node: Any, inside: tuple[str, ...]) -> Any:
        if isinstance(node, list):
            return [self.schema(item, inside) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref")
        if isinstance(reference, str):
            name = reference.removeprefix(_REFS)
            if name in inside:
                raise TypeError(f"{name} contains itself; a portable schema cannot say that")
            return self.schema({**self._parts[name], **_without(node, "$ref")}, (*inside, name))
        plain = {
            key: value if key in _VALUES else self._member(key, value, inside)
            for key, value in node.items()
            if key not in _DECORATION and not (key in _WIDEST and value == _WIDEST[key])
        }
        typed = _typed_enum(plain)
        return _join_types(typed) if self._joins_types else typed

    def _member(self, key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if key == "properties":  # names here are the author's, `title` among them
            return {name: self.schema(schema, inside) for name, schema in value.items()}
        return self.schema(value, inside)


def _without(schema: dict[str, Any], left_out: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != left_out}


def _typed_enum(schema: dict[str, Any]) -> dict[str, Any]:
    """A choice of words says that it is text: some model providers ask for a type everywhere."""
    choices = schema.get("enum")
    if choices and "type" not in schema and all(isinstance(choice, str) for choice in choices):
        return {"type": "string", **schema}
    return schema


def _join_types(schema: dict[str, Any]) -> dict[str, Any]:
    """`anyOf` of a plain type and null as a list of types: shorter, and known to more readers."""
    options = schema.get("anyOf")
    if not options or not all(isinstance(option.get("type"), str) for option in options):
        return schema
    others = [option for option in options if option != _NULL]
    if len(others) != 1 or len(options) != 2 or "enum" in others[0]:
        return schema
    return {**others[0], "type": [others[0]["type"], "null"], **_without(schema, "anyOf")}
