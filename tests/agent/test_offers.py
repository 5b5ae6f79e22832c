"""Tools as a model is offered them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.agent.tool_servers import Shop, over_http, tool, toolbox
from tests.client.fakes import Json, legacy

from qortal_mcp.agent.model.messages import Function
from qortal_mcp.agent.tools.offer import Tool, offered
from qortal_mcp.agent.tools.server import ToolServer
from qortal_mcp.qortal import tools as own_tools
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

GOLDEN = json.loads(Path(own_tools.__file__).with_name("definitions.json").read_text(encoding="utf-8"))
ALLOWED = re.compile(r"[A-Za-z0-9_-]{1,64}")


async def functions(*tools: Json) -> list[Function]:
    """What is offered of the tools that a server lists."""
    shop = Shop()
    shop.tools = list(tools)
    async with over_http(legacy(shop)) as url, toolbox(url) as box:
        return [offer.function for offer in box.offers.values()]


async def parameters(schema: Any) -> Json:
    [function] = await functions(tool("t", inputSchema=schema))
    return function.parameters


async def test_our_own_tools_are_offered_without_loss() -> None:
    node = Node.sample()
    async with toolbox(ToolServer(make_server(node, toolsets="all"), is_ours=True)) as box:
        assert len(box.offers) > 10
        for name, offer in box.offers.items():
            wanted = GOLDEN[name]
            assert offer.function == Function(
                name=name, description=wanted["description"], parameters=wanted["inputSchema"]
            )
    await node.close()


RICH = {
    "type": "object",
    "title": "Trip",
    "properties": {
        "days": {"type": "integer", "minimum": 1, "maximum": 14, "default": 3},
        "ratio": {"type": "number", "exclusiveMinimum": 0.5},
        "place": {"type": ["string", "null"], "description": "Ein Ort, z. B. „Köln“.", "examples": ["Köln"]},
        "how": {"enum": ["car", "train"]},
        "stops": {"type": "array", "items": {"type": "object", "properties": {"x": {"const": 1}}}},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
    },
    "required": ["days"],
    "additionalProperties": False,
}


async def test_a_schema_that_endpoints_accept_stays_as_it_is() -> None:
    assert await parameters(RICH) == RICH


REWRITTEN = [
    pytest.param({"type": "object"}, {"type": "object", "properties": {}}, id="no-properties"),
    pytest.param({}, {"type": "object", "properties": {}}, id="empty"),
    pytest.param(None, {"type": "object", "properties": {}}, id="null"),
    pytest.param(
        {"type": "object", "properties": {"a": {"type": "array"}}},
        {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        id="array-without-items",
    ),
    pytest.param(
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/A"}},
            "$defs": {"A": {"type": "string", "minLength": 1}},
        },
        {"type": "object", "properties": {"a": {"type": "string", "minLength": 1}}},
        id="references",
    ),
    pytest.param(
        {"anyOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "integer"}}}]},
        {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}},
        id="union-at-the-top",
    ),
]


@pytest.mark.parametrize(("schema", "wanted"), REWRITTEN)
async def test_a_schema_that_endpoints_refuse_is_rewritten(schema: Any, wanted: Json) -> None:
    assert await parameters(schema) == wanted


async def test_what_a_union_demands_is_told_in_the_description() -> None:
    [function] = await functions(tool("t", inputSchema={"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}))
    assert function.description.startswith("Does t.")
    assert '[{"required":["a"]},{"required":["b"]}]' in function.description


DESCRIPTIONS = [
    pytest.param({"description": "Words."}, "Words.", id="own"),
    pytest.param({"description": None, "title": "A title"}, "A title", id="title"),
    pytest.param({"description": " ", "title": "A title"}, "A title", id="blank"),
    pytest.param({"description": None}, "", id="none"),
    pytest.param({"description": "a\u202eb\x1b"}, "a\\u{202E}b\\u{001B}", id="hidden-characters"),
    pytest.param({"description": "x" * 5000}, "x" * 4000 + "… [1000 more characters]", id="long"),
]


@pytest.mark.parametrize(("members", "wanted"), DESCRIPTIONS)
async def test_a_description_can_be_shown(members: Json, wanted: str) -> None:
    [function] = await functions(tool("t", **members))
    assert function.description == wanted


async def test_descriptions_of_arguments_can_be_shown() -> None:
    found = await parameters({"type": "object", "properties": {"a": {"description": "a\u200bb"}}})
    assert found["properties"]["a"]["description"] == "a\\u{200B}b"


async def test_of_two_tools_with_one_name_the_first_is_offered() -> None:
    found = await functions(tool("a"), tool("a", description="Another."), tool("x.y"), tool("x/y"))
    assert [(one.name, one.description) for one in found] == [
        ("a", "Does a."),
        ("x_y", "Does x.y."),
        ("x_y_2", "Does x/y."),
    ]


async def test_a_schema_with_a_number_beyond_all_bounds_is_left_out() -> None:
    def script(message: Json) -> list[bytes]:
        listed = (
            b'{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"maximum":1e999}}}}]}'
        )
        return [b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (message["id"], listed)]

    async with over_http(legacy(script)) as url, toolbox(url) as box:
        assert box.offers["t"].parameters == {"type": "object", "properties": {}}


async def test_a_bad_entry_does_not_cost_the_others() -> None:
    found = await functions(tool("a"), {"description": "no name"}, tool(""), tool("b"))
    assert [function.name for function in found] == ["a", "b"]


def one(name: str) -> Tool:
    return Tool(name=name, own_name=name, description="", parameters={})


def names(*servers: tuple[str, list[str]]) -> list[str]:
    return list(offered([(label, [one(name) for name in given]) for label, given in servers]))


NAMES = [
    pytest.param([("a", ["x"]), ("b", ["y"])], ["x", "y"], id="different"),
    pytest.param([("a", ["x", "z"]), ("b", ["x"])], ["a__x", "z", "b__x"], id="shared"),
    pytest.param([("a", ["x"]), ("a", ["x"])], ["a__x", "a2__x"], id="same-label"),
    pytest.param([("日本", ["x"]), ("!", ["x"])], ["server__x", "server2__x"], id="nothing-left-of-a-label"),
    pytest.param([("a", ["x", "b__x"]), ("b", ["x"])], ["a__x", "a__b__x", "b__x"], id="like-another"),
    pytest.param([("a", ["B__y"]), ("b", ["x"])], ["a__B__y", "x"], id="like-another-in-capitals"),
    pytest.param([("a", ["x", "a__x"]), ("b", ["x"])], ["a__x_2", "a__x", "b__x"], id="taken"),
    pytest.param(
        [("a", ["x" * 64]), ("b", ["x" * 64])],
        ["a__" + "x" * 52 + "_3e4c81e2", "b__" + "x" * 52 + "_cab6100b"],
        id="long",
    ),
    pytest.param([("a b/c", ["x"]), ("d" * 50, ["x"])], ["a_b_c__x", "d" * 24 + "__x"], id="odd-labels"),
]


@pytest.mark.parametrize(("servers", "wanted"), NAMES)
def test_a_name_is_unique_and_says_its_server_only_if_it_must(servers: Any, wanted: list[str]) -> None:
    assert names(*servers) == wanted


@given(
    st.lists(
        st.tuples(
            st.text(max_size=70), st.lists(st.from_regex(ALLOWED, fullmatch=True), max_size=4, unique=True)
        ),
        max_size=4,
    )
)
def test_every_tool_is_offered_under_a_name_that_endpoints_accept(
    servers: list[tuple[str, list[str]]],
) -> None:
    found = names(*servers)
    assert len(found) == sum(len(given) for _, given in servers)
    assert all(ALLOWED.fullmatch(name) for name in found)
