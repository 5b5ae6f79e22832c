"""JSON Schemas from types, in a form that every client and model provider accepts.

No `$ref`, no names of ours, `type: object` at the root. Schemas that a person wrote stay as they are.
"""

from typing import Any

_REFS = "#/$defs/"
# What OpenAPI adds to a union: it refers to definitions, and the options say the same.
_LEFT_OUT = frozenset({"discriminator"})
# Members that hold values, not schemas.
_VALUES = frozenset({"default", "enum", "const", "examples"})
_NULL = {"type": "null"}
# What every integer keeps to says nothing.
_WIDEST = {"minimum": -(2**63), "maximum": 2**63 - 1}


def schema_of(kind: Any, *, of_arguments: bool = False) -> dict[str, Any]:
    """The schema of a type with every reference written out.

    Arguments say more, for the sake of those who write them, and less in one way: a value or null is elsewhere a list of two types,
    which is short, but Gemini refuses such lists among arguments.

    Raises: TypeError if the type contains itself, or something that JSON cannot carry.
    """
    from ..kinds import hooks  # not needed to start
    from ..kinds.components import components

    describe = hooks.describe if of_arguments else hooks.describe_answer
    schema, parts = components(kind, _REFS + "{name}", describe, of_arguments=of_arguments)
    return inlined(schema, parts, joins_types=not of_arguments)


def inlined(schema: dict[str, Any], parts: dict[str, Any], *, joins_types: bool) -> dict[str, Any]:
    """A schema with its references into `parts` written out.

    Raises: TypeError if one of them contains itself.
    """
    whole = _Inlining(parts, joins_types).schema(schema, ())
    assert isinstance(whole, dict), "a schema of a type is an object"
    return whole


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
            if key not in _LEFT_OUT and not (key in _WIDEST and value == _WIDEST[key])
        }
        typed = _typed_enum(_common_words(_with_items(plain)))
        return _join_types(typed) if self._joins_types else typed

    def _member(self, key: str, value: Any, inside: tuple[str, ...]) -> Any:
        if key == "properties":  # names here are the author's, `title` among them
            return {name: self.schema(schema, inside) for name, schema in value.items()}
        return self.schema(value, inside)


def _without(schema: dict[str, Any], left_out: str) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != left_out}


def _with_items(schema: dict[str, Any]) -> dict[str, Any]:
    """A list says what its items are in the one way that every reader knows, a list of a fixed length too."""
    if "prefixItems" in schema:
        options: list[Any] = []
        for part in schema["prefixItems"]:
            option = _without(part, "default")
            if option not in options:
                options.append(option)
        items = options[0] if len(options) == 1 else {"anyOf": options}
        return {**_without(schema, "prefixItems"), "items": items}
    if schema.get("type") == "array" and "items" not in schema:
        return {**schema, "items": {}}
    return schema


def _common_words(schema: dict[str, Any]) -> dict[str, Any]:
    """`enum` for `const` and `anyOf` for `oneOf`, which fewer readers know."""
    if "const" in schema:
        schema = {**_without(schema, "const"), "enum": [schema["const"]]}
    if "oneOf" in schema and "anyOf" not in schema:
        schema = {**_without(schema, "oneOf"), "anyOf": schema["oneOf"]}
    return schema


def _typed_enum(schema: dict[str, Any]) -> dict[str, Any]:
    """A choice says what its values are: some model providers ask for a type everywhere."""
    choices = schema.get("enum")
    if not choices or "type" in schema:
        return schema
    if all(isinstance(choice, str) for choice in choices):
        return {"type": "string", **schema}
    if all(type(choice) is int for choice in choices):
        return {"type": "integer", **schema}
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
