"""Schemas that are not valid: keywords whose value has the wrong shape."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Raw

from ...protocol.decoding import decode
from ...protocol.jsonrpc import UNREADABLE
from ...schemas import paths
from ...schemas.json_schema import LISTS, MAPS, SINGLE, children, is_valid
from .. import values
from ..repair import ABSENT, SAFE, Change, repair
from ..subjects import ToolEntry
from .listed import schemas_of

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
# What programming languages call them.
_MEANT = {
    "str": "string",
    "text": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "list": "array",
    "tuple": "array",
    "none": "null",
}


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_count(value: Any) -> bool:
    return isinstance(value, Raw) or (values.is_number(value) and value >= 0)


def _is_pattern(value: Any) -> bool:
    return isinstance(value, str) and not is_valid({"pattern": value})


_SHAPES: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("title", "description", "format", "$comment", "$id", "$schema"), _is_text),
    **dict.fromkeys(("$ref", "$dynamicRef", "$anchor", "$dynamicAnchor"), _is_text),
    **dict.fromkeys(("contentEncoding", "contentMediaType"), _is_text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_flag),
    **dict.fromkeys(("enum", "examples"), _is_list),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), values.is_number),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _is_count),
    **dict.fromkeys(("minProperties", "maxProperties", "minContains", "maxContains"), _is_count),
    "multipleOf": lambda value: isinstance(value, Raw) or (values.is_number(value) and value > 0),
    "pattern": _is_pattern,
}


def is_wrong(schema: dict[str, Any]) -> bool:
    """Whether a schema is not valid in its own dialect."""
    try:
        # Without `Raw`, which no validator knows.
        return bool(is_valid(decode(values.write(schema))))
    except (*UNREADABLE, ValueError):
        return False


@repair(
    "schema-malformed",
    SAFE,
    ToolEntry,
    makes="A keyword with a value of the wrong kind is left out, or becomes what was meant; a schema in such a place becomes {}.",
)
def schema_malformed(entry: ToolEntry) -> Iterator[Change]:
    """A schema that is not valid: properties is null or a list, items is a list of words, required is null…"""
    for name, schema in list(schemas_of(entry)):
        if not is_wrong(schema):
            continue
        yield from _corrected(schema, name)
        if "$schema" in schema and is_wrong(schema):
            yield Change(path=f"{name}.$schema", before=schema.pop("$schema"))
            yield from _corrected(schema, name)
        if not is_wrong(schema):
            continue
        if name == "inputSchema":
            entry.value[name] = {"type": "object"}
            yield Change(path=name, before=schema, after=entry.value[name], keep=True)
        else:
            yield Change(path=name, before=entry.value.pop(name))


def _corrected(schema: dict[str, Any], name: str) -> Iterator[Change]:
    # The walk goes into a part after it has been corrected.
    for place, part in children(schema, name):
        for key in list(part):
            after = _right(part, key)
            before = part[key]
            if after is before:
                continue
            if after is ABSENT:
                del part[key]
            else:
                part[key] = after
            yield Change(path=paths.within(place, key), before=before, after=after, keep=True)


def _right(part: dict[str, Any], key: str) -> Any:
    """What belongs in place of a keyword's value: the value itself if it is right, ABSENT if nothing does."""
    value = part[key]
    if key in MAPS:
        return _map(key, value)
    if key in LISTS:
        return _list(value)
    if key in SINGLE:
        return value if isinstance(value, dict | bool) else _schema(value)
    if key == "type":
        return _type(value)
    if key == "required":
        return _names(value)
    if key == "dependentRequired":
        return _dependent(value)
    is_right = _SHAPES.get(key)
    return value if is_right is None or is_right(value) else ABSENT


def _schema(value: Any) -> Any:
    """A schema in place of what is not one: a type by its name, or the items of an older dialect one by one."""
    if isinstance(value, list) and value and all(isinstance(one, dict | bool) for one in value):
        return value[0] if len(value) == 1 else {"anyOf": value}
    kind = _type(value) if isinstance(value, str) else ABSENT
    return {} if kind is ABSENT else {"type": kind}


def _map(key: str, value: Any) -> Any:
    if key == "properties" and isinstance(value, list):
        named = [one for one in value if isinstance(one, dict) and isinstance(one.get("name"), str)]
        value = {one["name"]: {k: v for k, v in one.items() if k != "name"} for one in named}
    if not isinstance(value, dict):
        return {} if key == "properties" else ABSENT
    good = {
        name: one if isinstance(one, dict | bool) else _schema(one)
        for name, one in value.items()
        if key != "patternProperties" or _is_pattern(name)
    }
    is_same = len(good) == len(value) and all(good[name] is value[name] for name in good)
    return value if is_same else good


def _list(value: Any) -> Any:
    if not isinstance(value, list) or not value:
        return ABSENT
    if all(isinstance(one, dict | bool) for one in value):
        return value
    return [one if isinstance(one, dict | bool) else _schema(one) for one in value]


def _type(value: Any) -> Any:
    if isinstance(value, list):
        kinds = list(dict.fromkeys(kind for kind in map(_type, value) if isinstance(kind, str)))
        return value if kinds == value and kinds else kinds or ABSENT
    if not isinstance(value, str) or value in TYPES:
        return value if isinstance(value, str) else ABSENT
    word = value.strip().lower()
    return word if word in TYPES else _MEANT.get(word, ABSENT)


def _names(value: Any) -> Any:
    if not isinstance(value, list):
        return ABSENT
    names = list(dict.fromkeys(name for name in value if isinstance(name, str)))
    return value if names == value else names


def _dependent(value: Any) -> Any:
    if not isinstance(value, dict):
        return ABSENT
    good = {name: _names(names) for name, names in value.items()}
    if all(good[name] is value[name] for name in good):
        return value
    return {name: names for name, names in good.items() if names is not ABSENT}
