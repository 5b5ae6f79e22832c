"""Several servers with the same names behind one front: each gets what is meant for it, and its answers say whose they are."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.bridge.behind import until
from tests.bridge.gathered.shelves import Client, Shelf, fronted, gathering
from tests.bridge.talking import text_of

ERAS = [pytest.param(False, id="legacy"), pytest.param(True, id="modern")]


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A client in front of two servers that have everything under the same names."""
    async with fronted(
        gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")}), is_modern=request.param
    ) as client:
        yield client


async def test_everything_is_listed_under_the_name_of_its_server_in_the_order_of_the_servers(
    client: Client,
) -> None:
    own = ["look", "write", "hold", "report", "ask", "links"]
    assert await client.names("tools/list", "tools") == [
        *(f"ann__{name}" for name in own),
        *(f"bob__{name}" for name in own),
    ]
    assert await client.names("prompts/list", "prompts") == ["ann__greet", "bob__greet"]
    assert await client.names("resources/list", "resources", "uri") == ["ann+note://a", "bob+note://a"]
    assert await client.names("resources/templates/list", "resourceTemplates", "uriTemplate") == [
        "ann+note://b/{word}",
        "bob+note://b/{word}",
    ]


async def test_titles_and_descriptions_stay_as_they_are(client: Client) -> None:
    first = (await client.ask("tools/list"))["result"]["tools"][0]
    assert (first["title"], first["description"]) == ("Look", "Looks at the shelf. Changes nothing.")
    assert first["annotations"]["readOnlyHint"] is True


async def test_a_call_goes_to_the_server_of_its_prefix(client: Client) -> None:
    assert text_of(await client.call("ann__look", word="x")) == "Ann looks at x"
    assert (await client.call("bob__look", word="y"))["structuredContent"] == {"result": "Bob looks at y"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("bob__looks", "Unknown tool: bob__looks. Did you mean bob__look", id="near"),
        pytest.param("look", "Unknown tool: look. Did you mean ann__look, bob__look?", id="no-server"),
        pytest.param(
            "eve__look", "Unknown tool: eve__look. Did you mean ann__look, bob__look?", id="unknown-server"
        ),
        pytest.param("xyz", "Unknown tool: xyz", id="nothing-like-it"),
    ],
)
async def test_an_unknown_tool_is_refused_with_the_nearest_names(
    client: Client, name: str, message: str
) -> None:
    await client.ask("tools/list")
    error = (await client.ask("tools/call", {"name": name, "arguments": {}}))["error"]
    assert error["code"] == -32602
    assert error["message"].startswith(message)


async def test_prompts_resources_and_completions_come_from_their_own_server(client: Client) -> None:
    answer = await client.ask("prompts/get", {"name": "bob__greet", "arguments": {"who": "you"}})
    text, embedded = (message["content"] for message in answer["result"]["messages"])
    assert text["text"] == "Bob greets you"
    assert embedded["resource"]["uri"] == "bob+note://a"
    (contents,) = (await client.ask("resources/read", {"uri": "ann+note://b/w"}))["result"]["contents"]
    assert (contents["uri"], contents["text"]) == ("ann+note://b/w", "Ann on w")
    ref = {"type": "ref/prompt", "name": "ann__greet"}
    answer = await client.ask("completion/complete", {"ref": ref, "argument": {"name": "who", "value": "z"}})
    assert answer["result"]["completion"]["values"] == ["Ann-z"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        pytest.param("prompts/get", {"name": "greet"}, id="prompt"),
        pytest.param("resources/read", {"uri": "note://a"}, id="resource"),
        pytest.param("resources/read", {"uri": "eve+note://a"}, id="resource-of-nobody"),
        pytest.param("completion/complete", {"ref": {"type": "ref/prompt", "name": "x"}}, id="completion"),
        pytest.param("tools/list", {"cursor": "x"}, id="cursor"),
    ],
)
async def test_what_no_server_has_is_refused(client: Client, method: str, params: dict[str, object]) -> None:
    assert (await client.ask(method, params))["error"]["code"] in (-32602, -32002)


async def test_a_missing_resource_is_named_as_the_client_knows_it(client: Client) -> None:
    error = (await client.ask("resources/read", {"uri": "bob+note://zzz"}))["error"]
    assert error["data"]["uri"] == "bob+note://zzz"


async def test_links_and_embedded_resources_of_a_result_can_be_read_here(client: Client) -> None:
    text, link, embedded = (await client.call("bob__links"))["content"]
    assert text["text"].endswith("note://a")
    assert link["uri"] == embedded["resource"]["uri"] == "bob+note://a"
    answer = await client.ask("resources/read", {"uri": link["uri"]})
    assert answer["result"]["contents"][0]["text"] == "note of Bob"


async def test_progress_reaches_the_call_it_belongs_to(client: Client) -> None:
    await client.call("bob__report", meta={"progressToken": "t"})
    (progress,) = [one["params"] for one in client.told if one["method"] == "notifications/progress"]
    assert (progress["progressToken"], progress["message"]) == ("t", "Bob")


async def test_a_cancelled_call_ends_on_its_server() -> None:
    bob = Shelf("Bob")
    async with fronted(gathering({"ann": Shelf("Ann"), "bob": bob})) as client:
        await client.start("tools/call", {"name": "bob__hold"}, id_="h")
        async with asyncio.timeout(5):
            await bob.held.wait()
            await client.notify("notifications/cancelled", {"requestId": "h"})
            await until(lambda: bob.cancelled)
        assert text_of(await client.call("bob__look")) == "Bob looks at "


async def test_a_ping_is_answered_here() -> None:
    async with fronted(gathering({})) as client:
        assert (await client.ask("ping"))["result"] == {}
        assert (await client.ask("tools/list"))["result"] == {"tools": []}


async def test_the_front_introduces_itself_and_its_servers(client: Client) -> None:
    if client.is_modern:
        answer = (await client.ask("server/discover"))["result"]
        assert answer["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "qortal-mcp-bridge"
    else:
        answer = await _handshake()
        assert answer["serverInfo"]["name"] == "qortal-mcp-bridge"
    assert answer["capabilities"] == {
        "tools": {"listChanged": True},
        "prompts": {"listChanged": True},
        "resources": {"listChanged": True, "subscribe": True},
        "completions": {},
        "logging": {},
    }
    assert "ann: This is Ann." in answer["instructions"]
    assert "bob: This is Bob." in answer["instructions"]


async def _handshake() -> dict[str, Any]:
    front = gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")})
    client = Client(front)
    try:
        answer: dict[str, Any] = (await client.open())["result"]
        return answer
    finally:
        await client.close()
        await front.shut()
