"""Forms that a person fills in: the schema that MCP allows for one, made of a type, and the answers read into that type."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ..offers.schema import is_object_schema, schema_of
from . import hooks
from .completing import complete
from .recognising import survey

_WORDS = {
    "string": ("minLength", "maxLength", "format", "enum"),
    "integer": ("minimum", "maximum"),
    "number": ("minimum", "maximum"),
    "boolean": (),
}
_ALWAYS = ("type", "title", "description")
_FORMATS = ("email", "uri", "date", "date-time")
# A single value is the only field of its form.
_ONLY = "value"


class Form(Struct, frozen=True):
    """What is asked for, and how the answers are read.

    `read` raises ValidationError for answers that do not fit.
    """

    schema: dict[str, Any]
    read: Callable[[Mapping[str, Any]], Any]


@functools.lru_cache(maxsize=256)
def form_of(kind: Any) -> Form:
    """The form for a Struct, dataclass, TypedDict or pydantic model with plain fields, or for one plain value.

    Raises: TypeError if MCP has no such form.
    """
    name = getattr(kind, "__name__", str(kind))
    try:
        schema, read = _read_by_pydantic(kind) if _needs_pydantic(kind) else _read_by_msgspec(kind)
    except TypeError as exc:
        raise TypeError(f"{name} cannot be asked of a person: {exc}") from None
    if is_object_schema(schema):
        return _form(name, schema, read)
    whole = {"properties": {_ONLY: schema}, "required": [_ONLY]}
    single = _form(name, whole, lambda content: read(content[_ONLY]))
    return Form(single.schema, _with_value(single.read))


def _needs_pydantic(kind: Any) -> bool:
    found = survey(kind)
    return found.needs_pydantic and found.struct is None


def _read_by_msgspec(kind: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    schema = schema_of(kind, of_arguments=True)

    def read(value: Any) -> Any:
        answer = msgspec.convert(value, kind, dec_hook=hooks.read)
        complete(answer)
        return answer

    return schema, read


def _read_by_pydantic(kind: Any) -> tuple[dict[str, Any], Callable[[Any], Any]]:
    from .pydantic_types import read_class, schema_of_class

    def read(value: Any) -> Any:
        try:
            return read_class(kind, value)
        except ValueError as exc:
            raise msgspec.ValidationError(str(exc)) from None

    return schema_of_class(kind, "validation"), read


def _form(name: str, schema: Mapping[str, Any], read: Callable[[Any], Any]) -> Form:
    fields, may_be_null = {}, []
    for field, described in schema.get("properties", {}).items():
        plain = _without_null(described)
        fields[field] = _field(name, field, plain)
        if plain is not described:
            may_be_null.append(field)
    # A form cannot say null: what may be null is left out instead.
    required = [field for field in schema.get("required", ()) if field not in may_be_null]
    unanswered = {field: None for field in may_be_null if field in schema.get("required", ())}
    asked: dict[str, Any] = {"type": "object", "properties": fields}
    if required:
        asked["required"] = required
    return Form(asked, lambda content: read({**unanswered, **content}))


def _with_value(read: Callable[[Mapping[str, Any]], Any]) -> Callable[[Mapping[str, Any]], Any]:
    def checked(content: Mapping[str, Any]) -> Any:
        if _ONLY not in content:
            raise msgspec.ValidationError("the answer has no value")
        return read(content)

    return checked


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    options = schema.get("anyOf", ())
    others = [option for option in options if option != {"type": "null"}]
    if len(others) != 1 or len(others) == len(options):
        return schema
    rest = {key: value for key, value in schema.items() if key != "anyOf" and value is not None}
    return {**others[0], **rest}


def _field(name: str, field: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    kind = schema.get("type")
    if kind not in _WORDS or ("enum" in schema and kind != "string"):
        where = name if field == _ONLY else f"its field {field}"
        raise TypeError(
            f"{name} cannot be asked of a person: {where} is neither a text, a number, true or false, nor a choice of texts, "
            "and a form of MCP has no other fields"
        )
    asked = {word: schema[word] for word in (*_ALWAYS, *_WORDS[kind]) if word in schema}
    if asked.get("format") not in (None, *_FORMATS):
        del asked["format"]  # still checked in the answer
    if kind == "integer" and "exclusiveMinimum" in schema:
        asked["minimum"] = schema["exclusiveMinimum"] + 1
    if kind == "integer" and "exclusiveMaximum" in schema:
        asked["maximum"] = schema["exclusiveMaximum"] - 1
    if isinstance(schema.get("default"), str | int | float):
        asked["default"] = schema["default"]
    return asked
