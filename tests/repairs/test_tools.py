"""Lists of tools that are wrong, and what a client gets to see of them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.audit.cases import BY_NAME
from tests.audit.stub import ABSENT, LEGACY, MODERN, RIGHT, Ask, changed, replies_to, tools_of

from qortal_mcp.repairs import values
from qortal_mcp.repairs.chosen import DROPPED, REPAIRED, Page, Repairs
from qortal_mcp.repairs.subjects import Asked
from qortal_mcp.schemas.json_schema import is_valid

Json = dict[str, Any]
LEVELS = ("safe", "all")
NEWEST = "2025-11-25"


def asked(revision: str = NEWEST) -> Asked:
    return Asked(revision=revision, is_modern=revision == MODERN, method="tools/list")


def repaired(result: Any, level: str = "safe", revision: str = NEWEST, **more: Any) -> Page:
    return Repairs(level, **more).page(Raw(json.dumps(result).encode()), "tools", asked(revision))


def codes(page: Page) -> list[str]:
    return list(dict.fromkeys(change.code for change in page.changes))


def seen(page: Page) -> Any:
    """The list as a client reads it."""
    return json.loads(values.write(page.value))


def tool(**members: Any) -> Json:
    return {"name": "t", "description": "Does it.", "inputSchema": {"type": "object"}, **members}


def listed(value: Json, level: str = "safe", revision: str = NEWEST) -> tuple[Json, list[str]]:
    """One tool after its repairs, and the codes of these."""
    page = repaired({"tools": [value]}, level, revision)
    return seen(page)["tools"][0], codes(page)


def schema(value: Any, level: str = "safe") -> Any:
    return listed(tool(inputSchema=value), level)[0]["inputSchema"]


# Members of the tool that the server bends, as they are listed; by case, at `safe` and at `all`. None: as it is.
Row = tuple[str, Json | None, Json | None]
_OBJECT = {"type": "object"}
_DESCRIBED = {"description": "t (the server does not describe this tool)"}
_TOLD = "The tool in question.\n\n"
_ANY_OF = {
    "description": _TOLD
    + 'The arguments must match at least one of these schemas: [{"required":["x"]},{"type":"object"}]',
    "inputSchema": {"type": "object", "properties": {"x": {"type": "string"}}},
}
_ANY_OF_OBJECTS = {
    "description": _TOLD
    + 'The arguments must match at least one of these schemas: [{"type":"object"},{"type":"object"}]',
    "inputSchema": _OBJECT,
}
_ARRAY = {
    "description": _TOLD
    + 'The server describes the arguments as: {"type":"array","items":{"type":"string"}}',
    "inputSchema": _OBJECT,
}


def _of(x: Json) -> Json:
    return {"inputSchema": {"type": "object", "properties": {"x": x}}}


def _wrapped(inner: Json) -> Json:
    return {"outputSchema": {"type": "object", "properties": {"result": inner}, "required": ["result"]}}


_NO_OUTPUT: Json = {"outputSchema": ABSENT}
TOOLS: list[Row] = [
    ("tool-title-null", {"title": ABSENT}, {"title": ABSENT}),
    ("tool-annotations-null", {"annotations": ABSENT}, {"annotations": ABSENT}),
    ("tool-description-null", {"description": ABSENT}, _DESCRIBED),
    ("tool-meta-null", {"_meta": ABSENT}, {"_meta": ABSENT}),
    ("tool-outputschema-null", _NO_OUTPUT, _NO_OUTPUT),
    ("tool-no-description", None, _DESCRIBED),
    ("tool-extra", None, None),
    ("tool-annotations-list", {"annotations": ABSENT}, {"annotations": ABSENT}),
    ("list-desc-array", {"description": "a\nb"}, {"description": "a\nb"}),
    ("list-annotations-extra", {"annotations": {"readOnlyHint": True}}, {"annotations": {"readOnlyHint": True}}),
    ("in-missing", {"inputSchema": _OBJECT}, {"inputSchema": _OBJECT}),
    ("in-null", {"inputSchema": _OBJECT}, {"inputSchema": _OBJECT}),
    ("in-snake", {"inputSchema": _OBJECT, "input_schema": ABSENT}, {"inputSchema": _OBJECT, "input_schema": ABSENT}),
    ("in-parameters", {"inputSchema": _OBJECT, "parameters": ABSENT}, {"inputSchema": _OBJECT, "parameters": ABSENT}),
    ("in-empty", {"inputSchema": _OBJECT}, {"inputSchema": _OBJECT}),
    ("in-notype", _of({"type": "string"}), _of({"type": "string"})),
    ("in-array", _ARRAY, _ARRAY),
    ("in-ref", None, _of({"type": "string"})),
    ("in-badref", _of({}), _of({})),
    ("in-anyof", _ANY_OF, _ANY_OF),
    ("in-anyof-notype", _ANY_OF_OBJECTS, _ANY_OF_OBJECTS),
    ("in-boolprop", _of({}), _of({})),
    ("in-noitems", None, _of({"type": "array", "items": {}})),
    ("in-typelist", None, _of({"type": "string"})),
    ("in-draft07", None, {"inputSchema": _OBJECT}),
    ("in-required-null", {"inputSchema": {"type": "object", "properties": {}}}, {"inputSchema": {"type": "object", "properties": {}}}),
    ("in-props-array", {"inputSchema": {"type": "object", "properties": {}}}, {"inputSchema": {"type": "object", "properties": {}}}),
    ("in-no-type-of-json", _of({"type": "string"}), _of({"type": "string"})),
    ("in-propkey", None, None),
    ("name-space", None, {"name": "t_two"}),
    ("name-dot", None, {"name": "t_two"}),
    ("name-slash", None, {"name": "t_two"}),
    ("name-unicode", None, {"name": "t_st"}),
    ("name-65", None, {"name": "t" + "a" * 54 + "_dce53765"}),
    ("name-130", None, {"name": "t" + "a" * 54 + "_eee6548e"}),
    ("sc-array-os", _wrapped({"type": "array", "items": {"type": "string"}}), _NO_OUTPUT),
    ("sc-string-os", _wrapped({"type": "string"}), _NO_OUTPUT),
    ("sc-number-os", _wrapped({"type": "number"}), _NO_OUTPUT),
    ("sc-null-os", _wrapped({"type": "null"}), _NO_OUTPUT),
    ("os-ok", None, _NO_OUTPUT),
    ("os-array", _wrapped({"type": "array", "items": {}}), _NO_OUTPUT),
    ("os-notype", {"outputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}, _NO_OUTPUT),
    ("os-draft07", None, _NO_OUTPUT),
    ("os-2020", None, _NO_OUTPUT),
    ("os-ref", None, _NO_OUTPUT),
    ("os-badref", _NO_OUTPUT, _NO_OUTPUT),
]  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(("name", "safe", "everything"), [pytest.param(*row, id=row[0]) for row in TOOLS])
def test_a_broken_tool_is_listed_as(
    name: str, safe: Json | None, everything: Json | None, level: str
) -> None:
    bent, good = tools_of(BY_NAME[name].server, NEWEST)
    page = repaired({"tools": [bent, good]}, level)
    expected = safe if level == "safe" else everything
    assert seen(page)["tools"][0] == changed(bent, expected or {})
    assert (expected is not None) == any(change.path.startswith("tools[0]") for change in page.changes)
    healthy = good if level == "safe" else {k: v for k, v in good.items() if k != "outputSchema"}
    assert seen(page)["tools"][1:] == [healthy]


@pytest.mark.parametrize("name", [row[0] for row in TOOLS if row[1] is not None])
def test_each_repair_has_the_code_that_the_audit_has_for_it(name: str) -> None:
    page = repaired({"tools": tools_of(BY_NAME[name].server, NEWEST)})
    assert BY_NAME[name].code in codes(page)
    assert seen(page)["_meta"][REPAIRED] == codes(page)


@pytest.mark.parametrize("revision", [*LEGACY, MODERN])
def test_a_right_list_comes_out_as_it_came(revision: str) -> None:
    result = {"tools": tools_of(RIGHT, revision), "nextCursor": "p2", "_meta": {"x/y": 1}}
    page = repaired(result, "safe", revision)
    assert (seen(page), page.changes, page.names) == (result, (), {})
    at_all = repaired(result, "all", revision)
    assert set(codes(at_all)) <= {"output-schema-removed"}


def test_the_list_of_a_tool_server_of_thirty_survives_its_worst_tools() -> None:
    """B30."""
    good = [tool(name=f"tool_{number}") for number in range(29)]
    broken: Json = {
        "name": "broken",
        "title": None,
        "description": "Draws.",
        "params": {"x": "number"},
        "inputSchema": {
            "type": "object",
            "properties": {
                "a": {"type": "object", "properties": None},
                "b": {"type": "array", "items": ["type", "number"]},
            },
            "anyOf": [{"required": ["a"]}, {"properties": {"c": {"type": "string"}}, "required": ["c"]}],
        },
    }
    page = repaired([None, broken, *good, {"name": 7}])
    value = seen(page)
    assert value["tools"] == [
        {
            "name": "broken",
            "description": "Draws.\n\nThe arguments must match at least one of these schemas: "
            '[{"required":["a"]},{"properties":{"c":{"type":"string"}},"required":["c"]}]',
            "inputSchema": {
                "type": "object",
                "properties": {
                    "a": {"type": "object", "properties": {}},
                    "b": {"type": "array", "items": {}},
                    "c": {"type": "string"},
                },
            },
        },
        *good,
    ]
    assert value["_meta"][REPAIRED] == [
        "tools-list-not-wrapped",
        "tool-malformed",
        "optional-null",
        "tool-params-member",
        "schema-malformed",
        "schema-top-level-union",
    ]
    dropped = value["_meta"][DROPPED]
    assert dropped["tools[1].params"] == {"x": "number"}
    assert dropped["tools[31]"] == {"name": 7}


def test_a_missing_schema_is_an_object() -> None:
    """B30."""
    value = listed({"name": "t", "description": "d"})
    assert value == (
        {"name": "t", "description": "d", "inputSchema": {"type": "object"}},
        ["input-schema-missing"],
    )


def test_a_schema_is_found_under_the_names_of_other_apis() -> None:
    arguments = {"type": "object", "properties": {"x": {"type": "string"}}}
    for name in ("input_schema", "parameters", "params"):
        value, _ = listed({"name": "t", name: arguments})
        assert value == {"name": "t", "inputSchema": arguments}
    value, _ = listed({"name": "t", "inputSchema": json.dumps(arguments)})
    assert value["inputSchema"] == arguments
    value, found = listed(tool(parameters=arguments, input_schema=arguments))
    assert (value, found) == (tool(parameters=arguments, input_schema=arguments), [])


PAGES = [
    pytest.param([tool()], {"tools": [tool()]}, ["tools-list-not-wrapped"], id="bare"),
    pytest.param({"tools": {"t": {"inputSchema": {"type": "object"}}}}, {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}, ["tools-list-not-wrapped"], id="by-name"),
    pytest.param({"tools": None}, {"tools": []}, ["tools-list-not-wrapped"], id="null"),
    pytest.param(None, {"tools": []}, ["tools-list-not-wrapped"], id="nothing"),
    pytest.param({}, {"tools": []}, ["tools-list-not-wrapped"], id="empty"),
    pytest.param({"items": [tool()]}, {"tools": [tool()]}, ["tools-list-not-wrapped"], id="other-member"),
    pytest.param({"data": {"tools": [tool()]}}, {"tools": [tool()]}, ["tools-list-not-wrapped"], id="nested"),
    pytest.param({"status": "starting"}, {"status": "starting"}, [], id="not-a-list"),
    pytest.param({"error": "Unknown method"}, {"error": "Unknown method"}, [], id="error"),
    pytest.param({"tools": [], "nextCursor": None}, {"tools": []}, ["optional-null"], id="list-cursor-null"),
    pytest.param({"tools": [], "nextCursor": 2}, {"tools": [], "nextCursor": "2"}, ["cursor-not-string"], id="cursor-number"),
    pytest.param({"tools": [], "nextCursor": False}, {"tools": []}, ["cursor-not-string"], id="cursor-false"),
    pytest.param({"tools": [], "nextCursor": ""}, {"tools": [], "nextCursor": ""}, [], id="list-cursor-empty"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "expected", "found"), PAGES)
def test_a_list_ends_up_in_its_member(result: Any, expected: Json, found: list[str]) -> None:
    page = repaired(result)
    value = seen(page)
    value.pop("_meta", None)
    assert (value, codes(page)) == (expected, found)


@pytest.mark.parametrize(
    "name", ["list-bare-array", "list-cursor-null", "list-cursor-empty", "list-one-bad", "list-dup"]
)
def test_a_broken_list_comes_out_whole(name: str) -> None:
    ask = Ask({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, NEWEST)
    [reply] = replies_to(BY_NAME[name].server, ask)
    page = repaired(reply["result"], "all")
    assert BY_NAME[name].code in codes(page)
    names = [one["name"] for one in seen(page)["tools"]]
    assert names == (["t", "t_2", "ok"] if name == "list-dup" else ["t", "ok"])
    assert "nextCursor" not in seen(page)


def test_an_empty_cursor_is_left_out_at_all() -> None:
    page = repaired({"tools": [], "nextCursor": ""}, "all")
    assert "nextCursor" not in seen(page)
    assert codes(page) == ["cursor-empty-string"]


def test_names_are_mapped_and_never_collide() -> None:
    names = ["a b", "a/b", "a_b", "a.b", "a_b", "", "漢字", "漢語", "x" * 65, "x" * 66]
    page = repaired({"tools": [tool(name=name) for name in names]}, "all")
    shown = [one["name"] for one in seen(page)["tools"]]
    assert shown[:5] == ["a_b", "a_b_2", "a_b_3", "a_b_4", "a_b_5"]
    assert len(set(shown)) == len(shown) == len(names) - 1
    assert [page.names[one] for one in shown] == [name for name in names if name]
    assert all(len(one) <= 64 and one.isascii() for one in shown)
    assert page.names == repaired({"tools": [tool(name=name) for name in names]}, "all").names


def test_names_of_earlier_pages_are_taken() -> None:
    taken = {"t"}
    page = Repairs("all").page(Raw(json.dumps({"tools": [tool()]}).encode()), "tools", asked(), taken)
    assert seen(page)["tools"][0]["name"] == "t_2"
    assert taken == {"t", "t_2"}
    assert page.names == {"t_2": "t"}


def test_ten_thousand_tools_of_one_name_are_named_quickly() -> None:
    page = repaired({"tools": [tool() for _ in range(10_000)]}, "all")
    assert len({one["name"] for one in seen(page)["tools"]}) == 10_000


def test_without_the_repair_a_name_stays() -> None:
    page = repaired({"tools": [tool(name="t two")]}, "all", without=["tool-name-charset"])
    assert seen(page)["tools"][0]["name"] == "t two"


SCHEMAS = [
    pytest.param({"type": "object", "properties": {"x": "string"}}, {"type": "object", "properties": {"x": {"type": "string"}}}, id="type-for-schema"),
    pytest.param({"type": "object", "properties": {"x": {"type": "any"}}}, {"type": "object", "properties": {"x": {}}}, id="any"),
    pytest.param({"type": "OBJECT", "properties": {"x": {"type": "STRING"}}}, {"type": "object", "properties": {"x": {"type": "string"}}}, id="capitals"),
    pytest.param({"type": "object", "properties": [{"name": "x", "type": "int"}]}, {"type": "object", "properties": {"x": {"type": "integer"}}}, id="list-of-named"),
    pytest.param({"type": "object", "properties": {"x": {"required": True}}}, {"type": "object", "properties": {"x": {}}}, id="required-inside"),
    pytest.param({"type": "object", "required": ["x", "x", 3]}, {"type": "object", "required": ["x"]}, id="required-twice"),
    pytest.param({"type": "object", "properties": {"x": {"minimum": "1", "enum": "a", "description": 5}}}, {"type": "object", "properties": {"x": {}}}, id="wrong-kinds"),
    pytest.param({"type": "object", "properties": {"x": {"pattern": "("}}}, {"type": "object", "properties": {"x": {}}}, id="not-a-pattern"),
    pytest.param({"type": "object", "properties": {"x": {"items": [{"type": "string"}, {"type": "null"}]}}}, {"type": "object", "properties": {"x": {"items": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}}, id="items-of-draft-07"),
    pytest.param({"type": "object", "$schema": "https://example.com/s", "properties": {"x": {}}}, {"type": "object", "properties": {"x": {}}}, id="unknown-dialect"),
    pytest.param({"type": ["object", "null"], "properties": {}}, {"type": "object", "properties": {}}, id="nullable-root"),
    pytest.param({"type": "object", "properties": {"x": {"minimum": 1.50}}}, {"type": "object", "properties": {"x": {"minimum": 1.5}}}, id="decimals"),
    pytest.param({"type": None}, {"type": "object"}, id="null-type"),
    pytest.param([], {"type": "object"}, id="a-list"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), SCHEMAS)
def test_a_schema_becomes_valid(before: Any, after: Json) -> None:
    assert schema(before) == after


def test_digits_of_a_schema_stay() -> None:
    body = b'{"tools":[{"name":"t","title":null,"inputSchema":{"type":"object","properties":{"x":{"minimum":1.50,"maximum":123456789012345678901234567890}}}}]}'
    page = Repairs("all").page(Raw(body), "tools", asked())
    assert b'{"minimum":1.50,"maximum":123456789012345678901234567890}' in values.write(page.value)


def test_old_dialects_are_left_alone_where_they_are_valid() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"x": {"type": "array", "items": [{"type": "string"}]}},
    }
    assert listed(tool(inputSchema=old)) == (tool(inputSchema=old), [])
    assert schema(old, "all") == {
        "type": "object",
        "properties": {"x": {"type": "array", "items": {"type": "string"}}},
    }


UNIONS = [
    pytest.param(
        {"oneOf": [{"$ref": "#/$defs/A"}, {"properties": {"kind": {"const": "b"}, "y": {}}, "required": ["kind", "y"]}],
         "$defs": {"A": {"properties": {"kind": {"const": "a"}, "x": {}}, "required": ["kind", "x"]}}},
        {"kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "x": {}, "y": {}}, ["kind"], "exactly one of", id="one-of"),
    pytest.param(
        {"type": "object", "properties": {"x": {"type": "string"}}, "allOf": [{"properties": {"x": {}, "y": {}}, "required": ["y"]}, {"required": ["x"]}]},
        {"x": {"type": "string"}, "y": {}}, ["y", "x"], "", id="all-of"),
    pytest.param(
        {"anyOf": [{"anyOf": [{"properties": {"deep": {}}}]}, True, 5, {"type": "string"}]},
        {"deep": {}}, None, "at least one of", id="nested"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "properties", "required", "words"), UNIONS)
def test_no_argument_of_a_union_is_lost(before: Json, properties: Json, required: Any, words: str) -> None:
    value, found = listed(tool(inputSchema=before))
    after = value["inputSchema"]
    assert "schema-top-level-union" in found
    assert not {"anyOf", "oneOf", "allOf"} & after.keys()
    assert (after["type"], after["properties"], after.get("required")) == ("object", properties, required)
    assert words in value["description"]
    assert (value["description"] == "Does it.") == (words == "")


def test_references_are_written_out_and_end() -> None:
    tree = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/Node", "description": "The root."}, "b": {"$ref": "#leaf"}},
        "$defs": {
            "Node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}},
            "Leaf": {"$anchor": "leaf", "type": "string"},
        },
    }
    page = repaired({"tools": [tool(inputSchema=tree)]}, "all")
    assert seen(page)["tools"][0]["inputSchema"] == {
        "type": "object",
        "properties": {
            "a": {"type": "object", "properties": {"next": {}}, "description": "The root."},
            "b": {"type": "string"},
        },
    }
    assert seen(page)["_meta"][DROPPED]["tools[0].inputSchema.$defs"] == tree["$defs"]


def test_a_reference_at_the_root_is_written_out() -> None:
    value = {"$ref": "#/$defs/A", "$defs": {"A": {"type": "object", "properties": {"x": {"type": "string"}}}}}
    assert schema(value)["type"] == "object"
    assert schema(value, "all") == {"type": "object", "properties": {"x": {"type": "string"}}}


def test_a_schema_that_would_grow_without_end_stays_as_it_is() -> None:
    bomb = {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/d0"}},
        "$defs": {
            **{
                f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcd"}} for n in range(20)
            },
            "d20": {},
        },
    }
    assert schema(bomb, "all") == bomb


def test_lists_of_types_become_one_type_or_any_of() -> None:
    value = {"type": "object", "properties": {"x": {"type": ["string", "array", "null"]}}}
    assert schema(value, "all")["properties"] == {
        "x": {"anyOf": [{"type": "string"}, {"type": "array", "items": {}}]}
    }


def test_a_wrapped_schema_keeps_its_references() -> None:
    output = {
        "type": "array",
        "items": {"$ref": "#/$defs/X"},
        "$defs": {"X": {"anyOf": [{"$ref": "#"}, {"type": "string"}]}},
    }
    page = repaired({"tools": [tool(outputSchema=output)]})
    assert seen(page)["tools"][0]["outputSchema"] == {
        "type": "object",
        "properties": {
            "result": {
                "type": "array",
                "items": {"$ref": "#/properties/result/$defs/X"},
                "$defs": {"X": {"anyOf": [{"$ref": "#/properties/result"}, {"type": "string"}]}},
            }
        },
        "required": ["result"],
    }
    assert page.wrapped == {"t"}


def test_a_renamed_tool_is_wrapped_under_its_new_name() -> None:
    page = repaired(
        {"tools": [tool(name="a b", outputSchema={"type": "array"})]},
        "all",
        without=["output-schema-removed"],
    )
    assert page.wrapped == {"a_b"}


@pytest.mark.parametrize("output", [{"type": "array"}, {"type": "string"}, {}])
def test_modern_clients_get_any_output_schema(output: Json) -> None:
    page = repaired({"tools": [tool(outputSchema=output)]}, "safe", MODERN)
    assert (seen(page)["tools"], page.changes) == ([tool(outputSchema=output)], ())


def test_modern_clients_get_boolean_properties() -> None:
    value = tool(inputSchema={"type": "object", "properties": {"x": True}})
    assert listed(value, "safe", MODERN) == (value, [])


def test_an_output_schema_that_says_nothing_is_left_out() -> None:
    assert "outputSchema" not in listed(tool(outputSchema={"title": "Anything"}))[0]


def test_at_all_no_output_schema_is_listed_and_nothing_is_wrapped() -> None:
    page = repaired(
        {"tools": [tool(outputSchema={"type": "array"}), tool(name="u", outputSchema={"type": "object"})]},
        "all",
    )
    assert all("outputSchema" not in one for one in seen(page)["tools"])
    assert page.wrapped == frozenset()
    assert seen(page)["_meta"][DROPPED]["tools[1].outputSchema"] == {"type": "object"}


@pytest.mark.parametrize(
    ("hint", "meant"),
    [("TRUE", True), ("false", False), (1, True), (0, False), ("maybe", None), ([], None), (None, None)],
)
def test_hints_become_booleans_or_go(hint: Any, meant: bool | None) -> None:
    value, _ = listed(tool(annotations={"readOnlyHint": hint, "title": "T"}))
    assert value["annotations"] == {"title": "T", **({} if meant is None else {"readOnlyHint": meant})}


_WORDS = st.sampled_from(
    ["type", "properties", "items", "anyOf", "allOf", "$ref", "$defs", "required", "enum", "x", "name", "#", "#/$defs/x", "object", "array"]
)  # fmt: skip
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-2, 2) | _WORDS | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)
_TOOLS = st.dictionaries(
    st.sampled_from(
        ["name", "title", "description", "annotations", "inputSchema", "outputSchema", "params", "_meta"]
    ),
    _VALUES,
    max_size=6,
).map(lambda members: {"name": "t", **members})


@settings(max_examples=300, deadline=None)
@given(
    st.lists(_TOOLS | _VALUES, max_size=3) | _VALUES,
    st.sampled_from(LEVELS),
    st.sampled_from([NEWEST, MODERN]),
)
def test_whatever_is_listed_is_repaired_once_and_never_raises(tools: Any, level: str, revision: str) -> None:
    page = repaired({"tools": tools} if isinstance(tools, list) else tools, level, revision)
    again = repaired(seen(page), level, revision)
    assert again.changes == ()
    for one in seen(page)["tools"] if isinstance(page.value, dict) and "tools" in page.value else ():
        assert one["inputSchema"]["type"] == "object"
        assert is_valid(one["inputSchema"]) == is_valid(one.get("outputSchema", {})) == ""


def test_a_deep_schema_does_no_harm() -> None:
    deep: Any = {"type": "array"}
    for _ in range(150):
        deep = {"anyOf": [{"type": "object", "properties": {"x": deep}}, None]}
    page = repaired({"tools": [tool(inputSchema=deep, outputSchema=deep), tool(name="ok")]}, "all")
    assert [one["name"] for one in seen(page)["tools"]] == ["t", "ok"]


def test_a_tool_that_is_left_out_is_kept_as_the_server_sent_it() -> None:
    sent = {"name": "", "title": None, "inputSchema": {"properties": {"x": True}}}
    page = repaired({"tools": [sent]}, "all")
    assert codes(page) == ["tool-name-empty"]
    assert page.value["_meta"][DROPPED] == {"tools[0]": sent}


def test_what_was_taken_out_does_not_change_with_what_was_made_of_it() -> None:
    union = [{"properties": {"x": {"type": ["string", "null"]}}}]
    page = repaired({"tools": [tool(inputSchema={"type": "object", "anyOf": union})]}, "all")
    assert "schema-type-union" in codes(page)
    assert page.value["_meta"][DROPPED]["tools[0].inputSchema.anyOf"] == union
