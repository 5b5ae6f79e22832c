"""JSON Schemas of strangers in words. They may be anything: nested without end, refer to themselves, not be schemas."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from ....repairs import values
from ..schemas import PLAIN
from .written import label, prose

# Deeper than this, and after this many, nobody reads on.
_DEEPEST = 3
_MOST_WORDS = 6
_MOST_REQUIRED = 1000
_MOST_FIELDS = 200
_MOST_REFERENCES = 8
_ABOUT_CHARS = 1000
_TYPE_CHARS = 160


class Schema(msgspec.Struct, frozen=True):
    """A part of a schema, with the whole to look references up in."""

    part: Any
    whole: Any
    depth: int = 0

    def inner(self, part: Any) -> "Schema":
        return Schema(part, self.whole, self.depth + 1)

    @property
    def members(self) -> dict[str, Any]:
        """The keywords, with references into the same schema followed; none if it is not an object."""
        part = self.part
        for _ in range(_MOST_REFERENCES):
            if not isinstance(part, dict):
                return {}
            reference = part.get("$ref")
            if not isinstance(reference, str):
                return part
            part = _looked_up(self.whole, reference)
        return {}

    def remark(self, name: str) -> Any:
        """A keyword that may stand beside a reference, too."""
        own = self.part.get(name) if isinstance(self.part, dict) else None
        return self.members.get(name) if own is None else own

    @property
    def properties(self) -> dict[str, Any]:
        found = self.members.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> frozenset[str]:
        found = self.members.get("required")
        return frozenset(_texts(found, _MOST_REQUIRED)) if isinstance(found, list) else frozenset()


def schema_of(tool: dict[str, Any], member: str) -> Schema:
    return Schema(tool.get(member), tool.get(member))


def takes_only_text(schema: Schema) -> bool:
    """Whether every value of it is a text, or null."""
    members = schema.members
    kinds = members.get("type")
    if kinds is not None:
        return kinds == "string" or (
            isinstance(kinds, list) and set(_texts(kinds)) | {"null"} == {"string", "null"}
        )
    choices = members.get("anyOf") or members.get("oneOf")
    if isinstance(choices, list) and schema.depth < _DEEPEST:
        inner = [schema.inner(one) for one in choices[:_MOST_WORDS]]
        some = [one for one in inner if one.members.get("type") != "null"]
        return bool(some) and all(takes_only_text(one) for one in some)
    enum = members.get("enum")
    return isinstance(enum, list) and bool(enum) and all(isinstance(value, str) for value in enum)


def in_words(schema: Schema) -> str:
    """A schema in a few words: `integer, 1 to 100`, `list of text`, `one of a, b`."""
    # How deep it stands itself does not count.
    return label(_in_words(Schema(schema.part, schema.whole, 1)), _TYPE_CHARS)


def _in_words(schema: Schema) -> str:
    members = schema.members
    if schema.depth > _DEEPEST or not members:
        return "any value"
    if isinstance(enum := members.get("enum"), list) and enum:
        more = ", …" if len(enum) > _MOST_WORDS else ""
        return "one of " + ", ".join(_value(value) for value in enum[:_MOST_WORDS]) + more
    if "const" in members:
        return _value(members["const"])
    for name in ("anyOf", "oneOf"):
        if isinstance(choices := members.get(name), list) and choices:
            words = dict.fromkeys(_in_words(schema.inner(one)) for one in choices[:_MOST_WORDS])
            return " or ".join(words)
    kinds = members.get("type")
    if isinstance(kinds, list):
        found = [_one_type(kind, schema) for kind in _texts(kinds)[:_MOST_WORDS]]
        return " or ".join(found) or "any value"
    if isinstance(kinds, str):
        return _one_type(kinds, schema)
    return "object" if schema.properties else "any value"


def _one_type(kind: str, schema: Schema) -> str:
    members = schema.members
    if kind == "array" and isinstance(members.get("items"), dict):
        return f"list of {_in_words(schema.inner(members['items']))}"
    words = PLAIN.get(kind, label(kind, 40))
    if kind == "string" and values.is_number(most := members.get("maxLength")):
        return f"{words}, at most {_value(most)} characters"
    return words + (_range(members) if kind in ("integer", "number") else "")


def _range(members: dict[str, Any]) -> str:
    low, high = (members.get(name) for name in ("minimum", "maximum"))
    has_low, has_high = values.is_number(low), values.is_number(high)
    if has_low and has_high:
        return f", {_value(low)} to {_value(high)}"
    if has_low:
        return f", from {_value(low)}"
    return f", up to {_value(high)}" if has_high else ""


Field = tuple[str, str, str]


def arguments(schema: Schema) -> Iterator[tuple[str, str, str, str, list[Field]]]:
    """Name, type, default, meaning and inner fields of each argument; for a required one the default is `required`."""
    required, left = schema.required, _MOST_FIELDS
    for name, part in islice(schema.properties.items(), _MOST_FIELDS):
        inner = schema.inner(part)
        default = inner.remark("default")
        inside = list(islice(_inside(inner, label(name)), left))
        left -= len(inside)
        yield (
            label(name),
            in_words(inner),
            "required" if name in required else "" if default is None else _value(default),
            prose(inner.remark("description"), _ABOUT_CHARS),
            inside,
        )


def fields(schema: Schema, inside: str = "") -> Iterator[Field]:
    """Path, type and meaning of each field of an answer, the inner ones after the outer."""
    if schema.depth > _DEEPEST:
        return
    required = schema.required
    for name, part in islice(schema.properties.items(), _MOST_FIELDS):
        inner = schema.inner(part)
        path, words = f"{inside}{label(name)}", in_words(inner)
        about = prose(inner.remark("description"), _ABOUT_CHARS)
        yield path, words if name in required else f"{words}, optional", about
        yield from _inside(inner, path)


def _inside(schema: Schema, path: str) -> Iterator[Field]:
    """The fields of an object, or of the objects in a list."""
    yield from fields(schema, f"{path}.")
    items = schema.members.get("items")
    if isinstance(items, dict):
        yield from fields(schema.inner(items), f"{path}[].")


def all_fields(schema: Schema) -> list[Field]:
    """The fields of an answer, as many as somebody may read."""
    return list(islice(fields(schema), _MOST_FIELDS))


def _value(value: Any) -> str:
    """A value that stands in a schema."""
    if isinstance(value, str):
        return label(value, 60) if value else '""'
    try:
        return label(values.text_of(value)[:200], 60)
    except RecursionError:
        return "…"


def _texts(found: list[Any], most: int = _MOST_WORDS) -> list[str]:
    return [one for one in found[:most] if isinstance(one, str)]


def _looked_up(whole: Any, reference: str) -> dict[str, Any]:
    """The part of a schema that a reference names; nothing for one that leads elsewhere."""
    if not reference.startswith("#"):
        return {}
    for step in reference[1:].split("/")[1:_MOST_REFERENCES]:
        name = step.replace("~1", "/").replace("~0", "~")
        whole = whole.get(name) if isinstance(whole, dict) else None
    return whole if isinstance(whole, dict) else {}
