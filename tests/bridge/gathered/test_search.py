"""`--tools-by-search`: four tools in place of all definitions find, describe and call every other."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.bridge.gathered.shelves import Client, Shelf, fronted, gathering
from tests.bridge.talking import text_of

from qortal_mcp import Server, ServerOptions, tool
from qortal_mcp.bridge.gathered.finding.by_search import check_read_only
from qortal_mcp.bridge.gathered.finding.search import Searched, fields_of, first_sentence, found
from qortal_mcp.server import ToolError

Json = dict[str, Any]
ERAS = [pytest.param(False, id="legacy"), pytest.param(True, id="modern")]


@tool("Create an issue")
def create_issue(title: str, labels: str = "") -> str:
    """Opens a new issue in a repository. Needs a title."""
    return f"{title} {labels}"


@tool("Chat")
def post_message(channel: str) -> str:
    """Posts a message. It may be about an issue."""
    return channel


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    servers = {
        "ann": Shelf("Ann"),
        "hub": Server("hub", tools=[post_message, create_issue], options=ServerOptions()),
    }
    front = gathering(servers, by_search=True, hidden=["ann__links"])
    async with fronted(front, is_modern=request.param) as client:
        yield client


async def find(client: Client, **arguments: Any) -> Json:
    found: Json = (await client.call("find_tools", **arguments))["structuredContent"]
    return found


@pytest.mark.promise(
    "Bridge",
    "`--tools-by-search` offers four tools in place of all definitions, and every tool can still be called.",
)
async def test_exactly_four_tools_are_listed_and_everything_else_stays(client: Client) -> None:
    tools = (await client.ask("tools/list"))["result"]["tools"]
    assert [one["name"] for one in tools] == [
        "find_tools",
        "describe_tool",
        "call_read_only_tool",
        "call_tool",
    ]
    hints = {one["name"]: one["annotations"] for one in tools}
    assert all(hints[name]["readOnlyHint"] for name in ("find_tools", "describe_tool", "call_read_only_tool"))
    assert hints["call_tool"]["destructiveHint"] is True
    for one in tools:
        assert one["inputSchema"]["type"] == "object"
        assert all(part["description"] for part in one["inputSchema"]["properties"].values())
    assert await client.names("prompts/list", "prompts") == ["ann__greet"]
    assert await client.names("resources/list", "resources", "uri") == ["ann+note://a"]


async def test_words_find_tools_and_the_best_match_comes_first(client: Client) -> None:
    answer = await find(client, query="create issue")
    assert [one["name"] for one in answer["tools"]] == ["hub__create_issue", "hub__post_message"]
    assert answer["tools"][0] == {
        "name": "hub__create_issue",
        "about": "Opens a new issue in a repository.",
        "readOnly": False,
    }
    assert (await find(client, query="labels"))["tools"][0]["name"] == "hub__create_issue"
    assert (await find(client, query="look"))["tools"][0]["readOnly"] is True
    assert (await find(client, query="word", server="ann", limit=1))["matches"] == 2
    assert (await find(client, query="links"))["tools"] == []


async def test_without_a_query_the_servers_are_listed(client: Client) -> None:
    assert await find(client) == {"servers": [{"server": "ann", "tools": 5}, {"server": "hub", "tools": 2}]}
    assert len((await find(client, server="hub"))["tools"]) == 2
    refused = await client.call("find_tools", server="eve")
    assert refused["isError"] is True
    assert text_of(refused) == "There is no server 'eve'. There are: ann, hub."


async def test_a_tool_is_described_in_full(client: Client) -> None:
    found = (await client.call("describe_tool", name="hub__create_issue"))["structuredContent"]
    assert found["inputSchema"]["required"] == ["title"]
    assert (await client.call("describe_tool", name="hub__nothing"))["isError"] is True


async def test_results_are_those_of_the_tool(client: Client) -> None:
    result = await client.call("call_tool", name="hub__create_issue", arguments={"title": "A", "labels": "b"})
    assert result["structuredContent"] == {"result": "A b"}
    result = await client.call("call_read_only_tool", name="ann__look", arguments={"word": "x"})
    assert text_of(result) == "Ann looks at x"


async def test_what_does_not_declare_itself_read_only_is_refused_there(client: Client) -> None:
    refused = await client.call("call_read_only_tool", name="ann__write", arguments={"word": "x"})
    assert refused["isError"] is True
    assert text_of(refused) == "Refused. ann__write does not declare itself read-only; use call_tool."


@pytest.mark.parametrize("name", ["ann__look", "find", "ann__links"])
async def test_no_other_name_can_be_called(client: Client, name: str) -> None:
    assert (await client.ask("tools/call", {"name": name}))["error"]["code"] == -32602


async def test_a_hidden_tool_cannot_be_called_this_way_either(client: Client) -> None:
    answer = await client.ask("tools/call", {"name": "call_tool", "arguments": {"name": "ann__links"}})
    assert "Unknown tool: ann__links" in answer["error"]["message"]


@pytest.mark.parametrize(
    "arguments", [{}, {"name": 5}, {"name": "ann__look", "other": 1}], ids=["missing", "type", "unknown"]
)
async def test_wrong_arguments_are_explained(client: Client, arguments: Json) -> None:
    refused = (await client.ask("tools/call", {"name": "call_tool", "arguments": arguments}))["result"]
    assert refused["isError"] is True
    assert text_of(refused).startswith("Invalid arguments.")


def test_tools_without_texts_or_schemas_do_not_stop_a_search() -> None:
    definition = {"name": "a__x", "title": 5, "description": None, "inputSchema": {"properties": []}}
    odd = [Searched("a", definition, fields_of(definition))]
    assert found(odd, "x", 5) == (odd, 1)
    assert found(odd, "!!!", 5) == ([], 0)


def test_a_tool_that_is_listed_twice_is_read_only_only_if_both_say_so() -> None:
    definition: Json = {"name": "a__x"}
    reads: Json = {**definition, "annotations": {"readOnlyHint": True}}
    for both in ([definition, reads], [reads, definition]):
        with pytest.raises(ToolError):
            check_read_only([Searched("a", one, fields_of(one)) for one in both], "a__x")
    check_read_only([Searched("a", reads, fields_of(reads))] * 2, "a__x")


def test_a_first_sentence_is_one_line_and_short() -> None:
    assert first_sentence("One\n two. Three.") == "One two."
    assert len(first_sentence("word " * 1000)) <= 250
