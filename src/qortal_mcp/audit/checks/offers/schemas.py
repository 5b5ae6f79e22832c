"""The JSON Schemas of tools: whether they are valid, and whether every client can read them."""

import re
from collections.abc import Iterator
from typing import Any

from ....protocol.headers import header_params
from ....schemas.json_schema import children, is_valid, refs, resolves
from ...judging.check import (
    ADVICE,
    IN_LEGACY,
    IN_MODERN,
    MUST,
    PORTABILITY,
    Check,
    Defect,
    check,
    count_note,
)
from ...subjects import Listing, Tool

_SCHEMA = "server/tools: schemas are JSON Schema"
_UNIONS = ("anyOf", "oneOf", "allOf")
_SCHEMAS = ("inputSchema", "outputSchema")
# What model providers accept as the name of an argument.
_PROPERTY = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_DIALECTS = ("json-schema.org/draft/2020-12/schema",)


def _schemas(tool: Tool) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in _SCHEMAS:
        schema = tool.tool.get(name) if isinstance(tool.tool, dict) else None
        if isinstance(schema, dict):
            yield name, schema


@check(
    "schema-malformed",
    MUST,
    Tool,
    clause=_SCHEMA,
    expected="A valid schema: properties is an object of schemas, required a list of names.",
    fix="Leave out keywords without a value; check the schema with a JSON Schema 2020-12 validator.",
)
def schema_malformed(tool: Tool) -> Iterator[Defect]:
    """A schema that is not valid."""
    for name, schema in _schemas(tool):
        for path, part in children(schema, name):
            properties, required = part.get("properties", {}), part.get("required", [])
            if not isinstance(properties, dict):
                yield Defect(path=f"{path}.properties", evidence=properties, case="in-props-array")
                return
            if not isinstance(required, list) or not all(isinstance(one, str) for one in required):
                yield Defect(path=f"{path}.required", evidence=part.get("required"), case="in-required-null")
                return
        wrong = is_valid(schema)
        if wrong:
            yield Defect(path=name, evidence=schema, note=wrong)


@check(
    "schema-ref-unresolvable",
    MUST,
    Tool,
    clause=_SCHEMA,
    expected="Every $ref points into the same schema.",
    fix="Add the missing definition under $defs, or write the definition where it is used.",
)
def schema_ref_unresolvable(tool: Tool) -> Iterator[Defect]:
    """A $ref that points nowhere, or to another document."""
    for name, schema in _schemas(tool):
        for path, ref in refs(schema, name):
            if not resolves(ref, schema):
                case = "in-badref" if name == "inputSchema" else "os-badref"
                yield Defect(path=f"{path}.$ref", evidence=ref, case=case)


@check(
    "schema-has-refs",
    PORTABILITY,
    Tool,
    clause=_SCHEMA,
    expected="There is no $ref: several clients and model providers do not follow them.",
    fix="Write the definitions where they are used.",
)
def schema_has_refs(tool: Tool) -> Iterator[Defect]:
    """A schema with $ref."""
    for name, schema in _schemas(tool):
        found = list(refs(schema, name))
        if found and all(resolves(ref, schema) for _, ref in found):
            path, ref = found[0]
            is_input = name == "inputSchema"
            yield Defect(
                path=f"{path}.$ref",
                evidence=ref,
                note=count_note(found),
                # Model providers never see output schemas.
                severity=None if is_input else ADVICE,
                case="in-ref" if is_input else "os-ref",
            )


@check(
    "schema-top-level-union",
    PORTABILITY,
    Tool,
    clause=_SCHEMA,
    expected="inputSchema has no anyOf, oneOf or allOf at its root: model providers reject the whole request.",
    fix="Merge the branches into one object, and say in the description which members belong together.",
)
def schema_top_level_union(tool: Tool) -> Iterator[Defect]:
    """anyOf, oneOf or allOf at the root of inputSchema."""
    for name, schema in _schemas(tool):
        if name == "inputSchema" and "type" in schema:
            for union in _UNIONS:
                if union in schema:
                    yield Defect(path=f"{name}.{union}", evidence=schema[union])


@check(
    "schema-boolean-property",
    MUST,
    Tool,
    revisions=IN_LEGACY,
    clause="schema: Tool.inputSchema.properties (until 2025-11-25)",
    expected="A property's schema is an object.",
    fix="Write {} in place of true.",
)
def schema_boolean_property(tool: Tool) -> Iterator[Defect]:
    """true or false as the schema of a property."""
    for name, schema in _schemas(tool):
        properties = schema.get("properties")
        for key, part in properties.items() if isinstance(properties, dict) else ():
            if isinstance(part, bool):
                yield Defect(path=f"{name}.properties.{key}", evidence=part)


@check(
    "schema-array-without-items",
    PORTABILITY,
    Tool,
    clause=_SCHEMA,
    expected="An array says what its items are: Gemini and OpenAI reject arrays that do not.",
    fix='Add "items".',
)
def schema_array_without_items(tool: Tool) -> Iterator[Defect]:
    """An array of unknown items among the arguments."""
    for name, schema in _schemas(tool):
        for path, part in children(schema, name) if name == "inputSchema" else ():
            if part.get("type") == "array" and not {"items", "prefixItems"} & part.keys() and path != name:
                yield Defect(path=path, evidence=part)


@check(
    "schema-type-union",
    PORTABILITY,
    Tool,
    clause=_SCHEMA,
    expected="An argument has one type: Gemini rejects lists of types.",
    fix="Make the argument optional instead of allowing null, or use anyOf.",
)
def schema_type_union(tool: Tool) -> Iterator[Defect]:
    """A list of types among the arguments."""
    for name, schema in _schemas(tool):
        for path, part in children(schema, name) if name == "inputSchema" else ():
            if isinstance(part.get("type"), list):
                yield Defect(path=f"{path}.type", evidence=part["type"])


@check(
    "schema-dialect",
    PORTABILITY,
    Listing,
    only="tools/list",
    clause="basic: JSON Schema 2020-12 is the default dialect",
    expected="There is no $schema, or it names 2020-12: clients must support only that dialect.",
    fix="Remove $schema.",
)
def schema_dialect(listing: Listing) -> Iterator[Defect]:
    """Schemas in a dialect other than 2020-12."""
    found = [
        (f"tool {tool.get('name')}: {name}.$schema", dialect)
        for tool in listing.items
        for name in _SCHEMAS
        if isinstance(schema := tool.get(name), dict)
        and isinstance(dialect := schema.get("$schema"), str)
        and not dialect.rstrip("#").endswith(_DIALECTS)
    ]
    # One library writes them all, so one is reported.
    for path, dialect in found[:1]:
        case = "in-draft07" if "inputSchema" in path else "os-draft07"
        yield Defect(path=path, evidence=dialect, note=count_note(found), case=case)


@check(
    "schema-property-name",
    PORTABILITY,
    Tool,
    clause=_SCHEMA,
    expected="Argument names consist of A-Z a-z 0-9 _ . and -, and have at most 64 characters.",
    fix="Rename the argument; keep the other spelling as its title.",
)
def schema_property_name(tool: Tool) -> Iterator[Defect]:
    """An argument whose name model providers reject."""
    for name, schema in _schemas(tool):
        properties = schema.get("properties")
        for key in properties if isinstance(properties, dict) and name == "inputSchema" else ():
            if _PROPERTY.fullmatch(key) is None:
                yield Defect(path=f"{name}.properties", evidence=key)


@check(
    "header-annotation-invalid",
    MUST,
    Tool,
    revisions=IN_MODERN,
    clause="2026-07-28 basic/transports: custom headers",
    expected="x-mcp-header is the name of a header, used once, on a property of type string, integer or boolean.",
    fix="Correct the annotation or remove it: clients leave out a tool whose annotation is wrong.",
)
def header_annotation_invalid(tool: Tool) -> Iterator[Defect]:
    """An x-mcp-header annotation that is not valid."""
    schema = tool.tool.get("inputSchema") if isinstance(tool.tool, dict) else None
    if not isinstance(schema, dict):
        return
    try:
        header_params(schema)
    except ValueError as exc:
        yield Defect(path="inputSchema", evidence=schema, note=str(exc))


CHECKS: tuple[Check[Any], ...] = (
    schema_malformed,
    schema_ref_unresolvable,
    schema_has_refs,
    schema_top_level_union,
    schema_boolean_property,
    schema_array_without_items,
    schema_type_union,
    schema_dialect,
    schema_property_name,
    header_annotation_invalid,
)
