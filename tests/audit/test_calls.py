"""Which tools an audit calls: never one that may change something, unless a person named it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.audit.evidence import Gap
from qortal_mcp.audit.visiting.calls import Call, Permission, ReadOnlyClaims, choose, minimal
from qortal_mcp.schemas.json_schema import mismatch

NEEDS = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
NEEDS_NOTHING = {"type": "object", "properties": {}}
EVERYTHING = Permission(all_read_only=True)


def tool(name: str, annotations: Any = None, schema: Any = NEEDS_NOTHING) -> dict[str, Any]:
    more = {} if annotations is None else {"annotations": annotations}
    return {"name": name, "inputSchema": schema, **more}


READ_ONLY = {"readOnlyHint": True}
# Everything but the boolean true.
NOT_READ_ONLY: list[Any] = [
    None,
    {},
    {"readOnlyHint": False},
    {"readOnlyHint": "true"},
    {"readOnlyHint": 1},
    [],
    "readOnlyHint",
]


def chosen(tools: list[Any], permission: Permission, at_most: int) -> tuple[list[Call], list[Gap]]:
    """The calls of a server that was looked at once."""
    claims = ReadOnlyClaims()
    claims.add(tools, revision="2025-11-25")
    return choose(tools, permission, at_most, claims)


@pytest.mark.promise("Audit", "No tool that may change something is called unless a person names it.")
@pytest.mark.parametrize("annotations", NOT_READ_ONLY, ids=str)
@pytest.mark.parametrize("permission", [Permission(), EVERYTHING], ids=["by itself", "call-all"])
def test_a_tool_that_may_change_something_is_never_called_unnamed(
    annotations: Any, permission: Permission
) -> None:
    for schema in (NEEDS_NOTHING, NEEDS, None):
        calls, gaps = chosen([tool("t", annotations, schema)], permission, 10)
        assert calls == []
        assert "do not declare readOnlyHint" in gaps[0].reason


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.promise("Audit", "No tool that may change something is called unless a person names it.")
@given(annotations=_JSON, schema=_JSON, name=st.text(min_size=1, max_size=8))
def test_whatever_a_tool_says_only_the_boolean_opens_it(annotations: Any, schema: Any, name: str) -> None:
    is_permitted = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
    calls, _ = chosen([{"name": name, "annotations": annotations, "inputSchema": schema}], EVERYTHING, 10)
    assert not calls or is_permitted


def test_a_named_call_is_made_with_the_arguments_given_and_no_others() -> None:
    permission = Permission(named=(Call("wipe", {"disk": "d"}),), all_read_only=True)
    calls, _ = chosen([tool("wipe", None, NEEDS)], permission, 10)
    assert calls == [Call("wipe", {"disk": "d"})]


def test_a_tool_that_declared_itself_read_only_may_be_called_where_no_revision_can_say_so() -> None:
    claims = ReadOnlyClaims()
    claims.add([tool("look", READ_ONLY)], revision="2025-11-25")
    claims.add([tool("look")], revision="2024-11-05")
    assert choose([tool("look")], Permission(), 10, claims)[0] == [Call("look", {})]


@pytest.mark.parametrize("other", [None, {"readOnlyHint": False}, {"destructiveHint": True}])
def test_a_tool_that_takes_its_word_back_anywhere_is_not_called_again(other: Any) -> None:
    claims = ReadOnlyClaims()
    claims.add([tool("wipe", other)], revision="2025-06-18")
    claims.add([tool("wipe", READ_ONLY)], revision="2025-11-25")
    assert choose([tool("wipe", READ_ONLY)], EVERYTHING, 10, claims)[0] == []


def test_two_tools_of_a_name_must_both_be_read_only() -> None:
    both = [tool("t", {"readOnlyHint": False}), tool("t", READ_ONLY)]
    assert chosen(both, EVERYTHING, 10)[0] == []
    assert chosen(both[::-1], EVERYTHING, 10)[0] == []


def test_arguments_are_made_up_only_with_leave() -> None:
    assert chosen([tool("find", READ_ONLY, NEEDS)], Permission(), 10)[0] == []
    assert chosen([tool("find", READ_ONLY, NEEDS)], EVERYTHING, 10)[0] == [Call("find", {"a": "a"})]


def test_no_more_tools_are_called_than_allowed_and_that_is_said() -> None:
    calls, gaps = chosen([tool(f"t{at}", READ_ONLY) for at in range(5)], Permission(), 3)
    assert len(calls) == 3
    assert gaps[-1].reason == "only 3 of 5 were called"


MADE = [
    ({"type": "object"}, {}),
    ({"type": "object", "properties": {"a": {"type": "integer", "minimum": 3}}, "required": ["a"]}, {"a": 3}),
    ({"type": "object", "properties": {"a": {"enum": ["x", "y"]}}, "required": ["a"]}, {"a": "x"}),
    (
        {"type": "object", "properties": {"a": {"type": "string", "default": "d"}}, "required": ["a"]},
        {"a": "d"},
    ),
    (
        {"type": "object", "properties": {"a": {"type": "string", "examples": ["e"]}}, "required": ["a"]},
        {"a": "e"},
    ),
    ({"type": "object", "properties": {"a": {"type": ["null", "boolean"]}}, "required": ["a"]}, {"a": False}),
    (
        {
            "type": "object",
            "properties": {"a": {"type": "array", "items": {"type": "number"}, "minItems": 2}},
            "required": ["a"],
        },
        {"a": [1, 1]},
    ),
    (
        {
            "type": "object",
            "$defs": {"k": {"type": "string", "minLength": 3}},
            "properties": {"a": {"$ref": "#/$defs/k"}},
            "required": ["a"],
        },
        {"a": "aaa"},
    ),
    ({"type": "object", "properties": {"b": {"type": "string"}}}, {}),
    (
        {
            "type": "object",
            "properties": {"a": {"exclusiveMinimum": 2.5, "type": "number"}},
            "required": ["a"],
        },
        {"a": 3.5},
    ),
    (
        {"type": "object", "properties": {"a": {"maximum": -2, "type": "integer"}}, "required": ["a"]},
        {"a": -2},
    ),
]


@pytest.mark.parametrize(("schema", "value"), MADE, ids=str)
def test_the_smallest_arguments_fit_their_schema(schema: dict[str, Any], value: Any) -> None:
    assert minimal(schema) == value
    assert mismatch(value, schema) == ""


GUESSWORK = [
    {"type": "string", "pattern": "^Q.*$"},
    {"type": "string", "format": "uri"},
    {"$ref": "https://example.org/schema"},
    {"$ref": "#/$defs/none"},
    {"type": "nonsense"},
    {"type": "array", "minItems": 11},
    False,
]


@pytest.mark.parametrize("part", GUESSWORK, ids=str)
def test_what_would_be_guesswork_is_not_called(part: Any) -> None:
    schema = {"type": "object", "properties": {"a": part}, "required": ["a"]}
    assert minimal(schema) is None
    calls, gaps = chosen([tool("t", READ_ONLY, schema)], EVERYTHING, 10)
    assert calls == []
    assert "they need arguments; name them with --call: t" in gaps[0].reason


def test_a_schema_without_end_is_not_followed_for_ever() -> None:
    endless = {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
    assert minimal(endless) is None


@given(
    schema=st.dictionaries(
        st.sampled_from(["type", "required", "properties", "enum", "$ref", "minimum"]), _JSON
    )
)
def test_any_schema_gives_arguments_that_fit_or_none(schema: dict[str, Any]) -> None:
    calls, _ = chosen([tool("t", READ_ONLY, schema)], EVERYTHING, 10)
    for call in calls:
        assert isinstance(call.arguments, dict)
