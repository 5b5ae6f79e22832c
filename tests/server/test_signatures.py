"""Tools as people write them, offered as they are: they work, or they are refused with a sentence."""

import json
from typing import Any

import jsonschema_rs
import pytest
from interop.signatures import SIGNATURES, Signature

from qortal_mcp import Server, tool
from qortal_mcp.client import connect

TAKEN = [pytest.param(each, id=each.function.__name__) for each in SIGNATURES if not each.refused]
REFUSED = [pytest.param(each, id=each.function.__name__) for each in SIGNATURES if each.refused]
SERVER = Server("signatures", "1.0", tools=[tool(each.function) for each in SIGNATURES if not each.refused])


def test_there_are_more_than_twenty_of_them() -> None:
    assert len(TAKEN) >= 20
    assert len({each.function for each in SIGNATURES}) == len(SIGNATURES)


@pytest.mark.promise(
    "Library",
    "Tools take and return dataclasses, Enums, TypedDicts, NamedTuples, tuples, sets, dates, decimals, UUIDs, paths and pydantic models, alone and nested.",
)
@pytest.mark.parametrize("signature", TAKEN)
@pytest.mark.parametrize("era", ["modern", "legacy"])
async def test_a_function_as_people_write_it_is_a_tool(signature: Signature, era: Any) -> None:
    name = signature.function.__name__
    async with connect(SERVER, era=era) as client:
        listed = {each.name: each for each in (await client.list_tools()).items}
        answer = await client.call_tool(name, signature.arguments)
    assert not answer.is_error, answer.text
    assert answer.structured == signature.answer
    # The call fits what the tool lists, and so does the answer.
    jsonschema_rs.validate(listed[name].inputSchema, signature.arguments)
    jsonschema_rs.validate(listed[name].outputSchema or {}, answer.structured)


@pytest.mark.parametrize("signature", REFUSED)
def test_a_function_that_cannot_be_a_tool_is_refused_with_what_to_write_instead(signature: Signature) -> None:
    with pytest.raises(TypeError) as caught:
        tool(signature.function)
    assert signature.function.__name__ in str(caught.value)
    assert signature.refused in str(caught.value)


def _parts(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [part for each in schema for part in _parts(each)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(part for each in schema.values() for part in _parts(each))]


@pytest.mark.parametrize("signature", TAKEN)
async def test_every_schema_is_portable(signature: Signature) -> None:
    async with connect(SERVER) as client:
        (listed,) = [
            each for each in (await client.list_tools()).items if each.name == signature.function.__name__
        ]
    for schema in (listed.inputSchema, listed.outputSchema or {}):
        assert schema["type"] == "object"
        assert not {"anyOf", "oneOf", "allOf"} & schema.keys()
        assert "$" not in json.dumps(schema).replace('$"', "")
        for part in _parts(schema):
            assert not {"prefixItems", "discriminator", "oneOf"} & part.keys()
            if part.get("type") == "array":
                assert isinstance(part["items"], dict)
