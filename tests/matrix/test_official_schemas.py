"""Our table of shapes says what the official JSON Schemas say. Collected where MCP_SCHEMAS names their folder."""

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.matrix.shapes import (
    ANY,
    OBJECT,
    REVISIONS,
    AllOf,
    Constant,
    ListOf,
    Member,
    Named,
    Object,
    OneOf,
    Plain,
    Shape,
    names,
    shape_of,
)

# What says nothing about the shape of a value.
PROSE = {"description", "title", "default"}
# Names that some revisions have for what their servers never send.
NOT_SENT = {"ClientCapabilities", "EnumSchema", "JSONRPCResponse", "RequestParams"}
FORMATS = {"uri": "uri", "uri-template": "uri-template", "byte": "base64"}


@cache
def definitions(revision: str) -> dict[str, Any]:
    schema = json.loads((Path(os.environ["MCP_SCHEMAS"]) / f"{revision}.json").read_text())
    found: dict[str, Any] = schema.get("$defs") or schema["definitions"]
    return found


class Schemas:
    """Reads the schemas of one revision as shapes; a keyword that it does not know is an error."""

    def __init__(self, revision: str) -> None:
        self._definitions = definitions(revision)

    def named(self, name: str) -> Shape:
        return self.shape(self._definitions[name])

    def shape(self, schema: dict[str, Any]) -> Shape:
        match {key: value for key, value in schema.items() if key not in PROSE}:
            case {**nothing} if not nothing:
                return ANY
            case {"$ref": reference, **rest} if not rest:
                return self._reference(reference.rpartition("/")[2])
            case {"anyOf": options, **rest} if not rest:
                return OneOf(frozenset(self._flat(options)))
            case {"allOf": parts, **rest}:
                return AllOf(frozenset(map(self.shape, [*parts, rest] if rest else parts)))
            case {"const": value, **rest} if not set(rest) - {"type"}:
                return Constant(value)
            case {"enum": values, **rest} if not set(rest) - {"type"}:
                return OneOf(frozenset(map(Constant, values)))
            case {"type": list(types), **rest}:
                return OneOf(frozenset(self.shape({"type": each, **rest}) for each in types))
            case {"type": "array", "items": item, **rest} if not set(rest) - {"maxItems"}:
                return ListOf(self.shape(item), rest.get("maxItems"))
            case {"type": "object", **rest} if not set(rest) - {
                "properties",
                "required",
                "additionalProperties",
            }:
                return self._object(rest)
            case {"type": str(kind), **rest} if not set(rest) - {"format", "minimum", "maximum"}:
                name = FORMATS[rest["format"]] if "format" in rest else kind
                return Plain(name, rest.get("minimum"), rest.get("maximum"))
            case other:
                raise AssertionError(f"cannot be read: {other}")

    def _flat(self, options: list[dict[str, Any]]) -> Iterator[Shape]:
        for each in map(self.shape, options):
            yield from each.options if isinstance(each, OneOf) else (each,)

    def _reference(self, name: str) -> Shape:
        # A name for any object adds nothing to the table.
        target = {key: value for key, value in self._definitions[name].items() if key not in PROSE}
        return OBJECT if target == {"type": "object"} else Named(name)

    def _object(self, schema: dict[str, Any]) -> Shape:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        assert set(required) <= set(properties), schema
        others = schema.get("additionalProperties", {})
        rest = None if others in ({}, True) else self.shape(others)
        if not properties and rest is None:
            return OBJECT
        members = {Member(name, self.shape(each), name in required) for name, each in properties.items()}
        return Object(frozenset(members), rest)


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_table_has_what_the_official_schema_has(revision: str) -> None:
    schemas = Schemas(revision)
    ours = {name: shape_of(revision, name) for name in names(revision)}
    theirs = {name: schemas.named(name) for name in ours if name in definitions(revision)}
    assert ours == theirs


def test_the_table_leaves_out_only_what_a_revision_does_not_have() -> None:
    anywhere = {name for revision in REVISIONS for name in names(revision)}
    for revision in REVISIONS:
        left_out = anywhere & set(definitions(revision)) - set(names(revision))
        assert left_out <= NOT_SENT, revision
