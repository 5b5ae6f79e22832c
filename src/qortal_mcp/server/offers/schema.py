"""JSON Schemas from types, in a form that every client and model provider accepts.

No `$ref`, no names of ours, `type: object` at the root. Schemas that a person wrote stay as they are.
"""

from typing import Any

import msgspec

_REFS = "#/$defs/"
# msgspec repeats class names as titles: decoration that a model pays for in tokens.
_DECORATION = frozenset({"title"})
# What every integer keeps to says nothing.
_WIDEST = {"minimum": -(2**63), "maximum": 2**63 - 1}


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of a type with every reference written out."""
    (schema,), parts = msgspec.json.schema_components([kind], ref_template=_REFS + "{name}")
    inlined = _inline(schema, parts, ())
    assert isinstance(inlined, dict), "a schema of a type is an object"
    return inlined


def is_object_schema(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object"


def wrapped(schema: dict[str, Any]) -> dict[str, Any]:
    """The object that carries a value which is no object itself."""
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def _inline(node: Any, parts: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_inline(item, parts, inside) for item in node]
    if not isinstance(node, dict):
        return node
    reference = node.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix(_REFS)
        if name in inside:
            raise TypeError(f"{name} contains itself; a portable schema cannot say that")
        rest = {key: value for key, value in node.items() if key != "$ref"}
        return _inline({**parts[name], **rest}, parts, (*inside, name))
    plain = {
        key: value if key in ("default", "enum", "const", "examples") else _members(key, value, parts, inside)
        for key, value in node.items()
        if key not in _DECORATION and not (key in _WIDEST and value == _WIDEST[key])
    }
    return _join_types(_typed_enum(plain))


def _typed_enum(schema: dict[str, Any]) -> dict[str, Any]:
    """A choice of words says that it is text: some model providers ask for a type everywhere."""
    choices = schema.get("enum")
    if choices and "type" not in schema and all(isinstance(choice, str) for choice in choices):
        return {"type": "string", **schema}
    return schema


def _members(key: str, value: Any, parts: dict[str, Any], inside: tuple[str, ...]) -> Any:
    if key == "properties":  # names here are the author's, `title` among them
        return {name: _inline(schema, parts, inside) for name, schema in value.items()}
    return _inline(value, parts, inside)


def _join_types(schema: dict[str, Any]) -> dict[str, Any]:
    """`anyOf` of a plain type and null as a list of types: shorter, and known to more readers."""
    options = schema.get("anyOf")
    if not options or not all(isinstance(option.get("type"), str) for option in options):
        return schema
    null = {"type": "null"}
    others = [option for option in options if option != null]
    if len(others) != 1 or len(options) != 2 or "enum" in others[0]:
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**others[0], "type": [others[0]["type"], "null"], **rest}
