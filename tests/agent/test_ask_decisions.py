"""What was decided about an agent with tools, decision by decision, through the agent and the command."""

import asyncio
import json
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from tests.agent.asked import BOTH, ONE_CALL, free_port, talking, then
from tests.agent.conftest import Ask
from tests.agent.scripted_endpoint import Reply, ScriptedEndpoint, calls, refuses, says
from tests.agent.tool_servers import OPTIONS, Era, Shop, over_http, tool
from tests.cli.running import ALICE, run
from tests.client.conftest import EVERYTHING, served, websocket_of
from tests.client.everything import make
from tests.client.fakes import Json, legacy, modern, result
from tests.door import Door, open_door

from qortal_mcp.agent.tools.server import Target, ToolServer
from qortal_mcp.cli.main import main
from qortal_mcp.client import connect
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS, select

HELLO = Path(__file__).parents[2] / "examples" / "hello.py"


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample") as running:
        yield running


@pytest.mark.promise("Asking a model", "No tool is known beforehand: each server is asked for its tools.")
@BOTH
@pytest.mark.parametrize("era", [legacy, modern])
async def test_a_tool_that_nobody_knew_before_is_offered_and_called(era: Era, streaming: bool) -> None:
    shop = Shop("zorble")
    script = [calls(("zorble", {"n": 1})), says("It zorbled.")]
    async with over_http(era(shop)) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert talk.offered(0) == ["zorble"]
    assert [call["arguments"] for call in shop.calls] == [{"n": 1}]
    assert (run.answer, run.ended) == ("It zorbled.", "answer")


@pytest.mark.promise(
    "Asking a model", "A tool that a server adds is used at the next question, without a restart."
)
@BOTH
@pytest.mark.parametrize("era", [legacy, modern])
async def test_a_tool_that_is_added_is_used_at_the_next_question(era: Era, streaming: bool) -> None:
    shop = Shop("old")
    script = then(says("Nothing to do."))
    async with over_http(era(shop)) as url, talking(script, url, streaming=streaming) as talk:
        await talk.ask()
        shop.tools.append(tool("new"))
        await talk.ask("And now?")
    assert [talk.offered(at) for at in (0, 1)] == [["old"], ["old", "new"]]


POINT = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "A city.", "minLength": 1, "enum": ["Köln", "Oslo"]},
        "days": {"type": ["integer", "null"], "minimum": 1, "maximum": 7, "default": 3},
        "where": {"anyOf": [POINT, {"type": "null"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
REFERRING = {
    "type": "object",
    "properties": {"where": {"$ref": "#/$defs/Point"}},
    "$defs": {"Point": POINT},
}


@pytest.mark.promise("Asking a model", "Name, description and schema of a tool reach the model without loss.")
@BOTH
async def test_a_tool_becomes_a_function_without_loss(streaming: bool) -> None:
    shop = Shop()
    shop.tools = [tool("weather", description="The weather.\nUse it for days.", inputSchema=SCHEMA)]
    async with over_http(legacy(shop)) as url, talking([says("Hi.")], url, streaming=streaming) as talk:
        await talk.ask()
    assert talk.server.chats[0].body["tools"] == [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "The weather.\nUse it for days.",
                "parameters": SCHEMA,
            },
        }
    ]


async def test_our_own_tools_reach_the_model_as_the_server_lists_them() -> None:
    node = Node.sample()
    async with connect(make_server(node)) as client:
        listed = {tool.name: (tool.description, tool.inputSchema) for tool in await client.list_tools()}
    server = ToolServer(make_server(node), label="qortal", options=OPTIONS, is_ours=True)
    async with talking([says("Hi.")], server) as talk:
        await talk.ask()
    await node.close()
    sent = [one["function"] for one in talk.server.chats[0].body["tools"]]
    assert {one["name"]: (one["description"], one["parameters"]) for one in sent} == listed
    assert set(listed) == {name for toolset in select() for name in TOOLSETS[toolset].tools}


@pytest.mark.parametrize(
    ("listed", "name", "parameters"),
    [
        ({"name": "files.read/all"}, "files_read_all", {"type": "object", "properties": {}}),
        ({"inputSchema": {"type": "object"}}, "t", {"type": "object", "properties": {}}),
        ({"inputSchema": None}, "t", {"type": "object", "properties": {}}),
        ({"inputSchema": REFERRING}, "t", {"type": "object", "properties": {"where": POINT}}),
    ],
    ids=["name", "no-properties", "no-schema", "references"],
)
async def test_what_models_refuse_is_rewritten_and_the_server_is_called_by_its_own_name(
    listed: Json, name: str, parameters: Json
) -> None:
    shop = Shop()
    shop.tools = [tool("t", **listed) if "name" not in listed else {**tool("t"), **listed}]
    async with over_http(legacy(shop)) as url, talking([calls((name, {})), says("Done.")], url) as talk:
        await talk.ask()
    (function,) = [one["function"] for one in talk.server.chats[0].body["tools"]]
    assert (function["name"], function["parameters"]) == (name, parameters)
    assert [call["name"] for call in shop.calls] == [shop.tools[0]["name"]]


@pytest.mark.promise(
    "Asking a model", "A tool is called with `tools/call` alone; a list cannot route calls elsewhere."
)
async def test_a_tool_that_names_an_endpoint_of_its_own_is_called_as_any_other() -> None:
    shop, elsewhere = Shop(), ScriptedEndpoint()
    shop.tools = [tool("t", endpoint=f"{elsewhere.base_url}/weather", method="GET", url=elsewhere.base_url)]
    with elsewhere:
        async with over_http(legacy(shop)) as url, talking(ONE_CALL, url) as talk:
            await talk.ask()
    assert elsewhere.requests == []
    assert talk.given() == [("t {}", True)]
    assert "endpoint" not in json.dumps(talk.server.chats[0].body["tools"])


@pytest.mark.promise(
    "Asking a model", "Without any tools the model still answers, the answer says so, and the exit code is 3."
)
@BOTH
def test_without_tools_the_answer_says_so_and_the_exit_code_too(ask: Ask, streaming: bool) -> None:
    port = free_port()
    down = f"127.0.0.1:{port} cannot be reached: connection refused."
    words = ("What is new?", "--server", f"http://127.0.0.1:{port}/mcp")
    with ScriptedEndpoint(lambda request: says("I cannot look it up."), streams=streaming) as server:
        ended, as_json = ask(server, *words), ask(server, *words, "--json")
    assert ended.code == as_json.code == 3
    assert ended.out == (
        f"I cannot look it up.\n\n[No tools were available, so nothing here was looked up. {down}]\n"
    )
    assert ended.err == f"Note: {down}\n"
    shown = as_json.json
    assert (shown["ended"], shown["notices"]) == ("no-tools", [down])
    assert shown["servers"] == [{"name": f"127.0.0.1:{port}", "problem": down}]
    # An empty list is refused by endpoints.
    assert all("tools" not in request.body for request in server.chats)


@pytest.mark.promise(
    "Asking a model", "`--trace` shows how many tools were found, and a retry is a note of its own."
)
def test_the_trace_says_what_was_found_and_what_was_tried_again(ask: Ask) -> None:
    script: list[Reply] = [refuses(503, "loading", retry_after_ms="1"), says("Hello.")]
    with ScriptedEndpoint(script) as server:
        command = f"{sys.executable} {HELLO}"
        ended = ask(server, "Greet me", "--sample", "--server", command, "--trace")
    lines = ended.err.splitlines()
    assert lines[0] == "Note: The model's endpoint is busy (503); trying again in 0.001 s."
    found = sum(len(TOOLSETS[toolset].tools) for toolset in select())
    assert f"Tools: {found} of qortal, 1 of hello" in lines


@pytest.mark.promise("Asking a model", "A tool that is gone is reported to the model, which goes on.")
@BOTH
async def test_a_tool_that_is_gone_is_reported_and_the_model_goes_on(streaming: bool) -> None:
    shop = Shop("stays", "goes")
    script = [calls(("goes", {})), calls(("goes", {"n": 2}), ("stays", {})), says("One is gone.")]

    def forget(message: Json) -> bytes:
        del shop.tools[1:]
        return shop.echo(message)

    shop.answer = forget
    async with over_http(legacy(shop)) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert talk.given() == [
        ("Unknown tool: goes (-32602)", False),
        ("There is no tool goes. The tools are: stays.", False),
        ("stays {}", True),
    ]
    assert [talk.offered(at) for at in range(3)] == [["stays", "goes"], ["stays"], ["stays"]]
    assert (run.answer, run.ended) == ("One is gone.", "answer")


@pytest.mark.promise(
    "Asking a model", "Several servers are used together; a name that two of them have is told apart."
)
@BOTH
async def test_several_servers_are_used_together(streaming: bool) -> None:
    one, two = Shop("search", "here"), Shop("search")
    script = [calls(("b__search", {}), ("here", {}), ("a__search", {})), says("Done.")]
    async with over_http(legacy(one)) as first, over_http(modern(two)) as second:
        servers = [
            ToolServer(url, label=label, options=OPTIONS) for url, label in ((first, "a"), (second, "b"))
        ]
        async with talking(script, *servers, streaming=streaming) as talk:
            run = await talk.ask()
    assert talk.offered(0) == ["a__search", "here", "b__search"]
    assert [call["name"] for call in one.calls] == ["here", "search"]
    assert [call["name"] for call in two.calls] == ["search"]
    assert [(call.tool, call.server) for call in run.calls] == [
        ("b__search", "b"),
        ("here", "a"),
        ("a__search", "a"),
    ]


@BOTH
async def test_an_agent_is_tested_with_a_made_up_list_and_a_made_up_model(streaming: bool) -> None:
    shop = Shop()
    shop.tools = [tool("moon_phase", description="The phase of the moon.")]
    shop.answer = lambda message: result(message, {"content": [{"type": "text", "text": "waning, 37 %"}]})
    script = [calls(("moon_phase", {})), says("It is waning, 37 %, and 4711 people watch.")]
    async with over_http(legacy(shop)) as url, talking(script, url, streaming=streaming) as talk:
        run = await talk.ask("How is the moon?")
    assert [claim.text for claim in run.grounding.not_from_a_tool] == ["4711"]
    assert [(source.tool, source.server) for source in run.sources] == [("moon_phase", "fake")]


CALLS = [
    pytest.param("get_balance", [f"address={ALICE}"], 0, id="good"),
    pytest.param("get_balance", ["address=12345"], 1, id="bad"),
    pytest.param("get_node_status", [], 0, id="no-arguments"),
    pytest.param("get_name", ["name=no-such-name"], 1, id="not-found"),
]


@pytest.mark.promise(
    "Tools and their results",
    "A result is text and structured content that say the same; an error is text alone.",
)
@pytest.mark.parametrize(("name", "arguments", "code"), CALLS)
def test_text_and_structure_say_the_same_and_an_error_is_text_alone(
    capsys: pytest.CaptureFixture[str], name: str, arguments: list[str], code: int
) -> None:
    assert main(["call", name, *arguments, "--sample", "--raw"]) == code
    found = json.loads(capsys.readouterr().out)
    texts = [block["text"] for block in found["content"] if block["type"] == "text"]
    assert found["isError"] is bool(code)
    if code:
        assert "structuredContent" not in found
        assert texts
    else:
        assert [json.loads(text) for text in texts] == [found["structuredContent"]]


ORDER = [
    pytest.param({"structuredContent": {"n": 1}, "isError": True}, "the text", False, id="error-first"),
    pytest.param({"structuredContent": {"n": 1}}, '{"n":1}', True, id="structure-next"),
    pytest.param({}, "the text", True, id="text-last"),
]


@BOTH
@pytest.mark.parametrize(("members", "text", "ok"), ORDER)
async def test_the_error_comes_first_then_the_structure_then_the_text(
    members: Json, text: str, ok: bool, streaming: bool
) -> None:
    shop = Shop("t")
    value = {"content": [{"type": "text", "text": "the text"}], **members}
    shop.answer = lambda message: result(message, value)
    async with over_http(legacy(shop)) as url, talking(ONE_CALL, url, streaming=streaming) as talk:
        run = await talk.ask()
    assert talk.given() == [(text, ok)]
    assert [call.ok for call in run.calls] == [ok]


def test_there_is_no_second_way_to_call_a_tool(door: Door) -> None:
    for path in ("/tools", "/weather", "/tools/get_node_status", "/message", "/call"):
        assert door.send(method="GET", path=path).status in (404, 405)
        assert door.send(b"{}", path=path).status in (404, 405)


@pytest.mark.promise(
    "Transports", "Standard HTTP tools are enough: one POST of JSON lists or calls, without a handshake."
)
def test_one_post_lists_and_one_post_calls_success_and_error(door: Door) -> None:
    def ask(method: str, params: Any) -> Any:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        answer = door.send(body)
        assert (answer.status, answer.headers["content-type"].partition(";")[0]) == (200, "application/json")
        return answer.json["result"]

    assert "get_balance" in [one["name"] for one in ask("tools/list", {})["tools"]]
    good = ask("tools/call", {"name": "validate_address", "arguments": {"address": ALICE}})
    assert good["structuredContent"] == {"isValid": True}
    bad = ask("tools/call", {"name": "get_balance", "arguments": {"address": "12345"}})
    assert (bad["isError"], bad["content"][0]["text"]) == (True, "Invalid Qortal address.")


def target_on(wire: str, url: str) -> Target:
    if wire == "memory":
        return make()
    if wire == "stdio":
        return [sys.executable, EVERYTHING]
    return url if wire == "http" else websocket_of(url)


@pytest.mark.promise("Asking a model", "The same tools are offered and give the same results on every wire.")
async def test_the_same_tools_are_offered_on_every_wire() -> None:
    seen = []
    for wire in ("memory", "stdio", "http", "websocket"):
        with served() if wire in ("http", "websocket") else nullcontext("") as url:
            target = target_on(wire, url)
            script = [calls(("add", {"a": 1, "b": 2}), ("fail", {})), says("Done.")]
            async with asyncio.timeout(20), talking(script, target) as talk:
                await talk.ask()
                seen.append((talk.server.chats[0].body["tools"], talk.given()))
    assert seen[0][1] == [('{"result":3}', True), ("Nothing there.", False)]
    assert all(one == seen[0] for one in seen)


@pytest.mark.promise("Library", "A tool in ten lines is found and used by `ask`.")
@BOTH
def test_a_tool_in_ten_lines_is_used(streaming: bool) -> None:
    lines = [line for line in HELLO.read_text().splitlines() if line.strip()]
    assert len(lines) <= 10
    script = [calls(("hello", {"name": "Ann"})), says("It says: Hello, Ann!")]
    with ScriptedEndpoint(script, streams=streaming) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "OPENAI_MODEL": "scripted", "OPENAI_API_KEY": ""}
        ended = run("ask", "Greet Ann", "--server", f"{sys.executable} {HELLO}", "--trace", env=env)
    assert (ended.code, ended.out) == (0, "It says: Hello, Ann!\n")
    assert ended.err.splitlines()[0] == 'hello {"name":"Ann"} ok'
    assert [one["function"]["name"] for one in server.chats[0].body["tools"]] == ["hello"]
    assert server.chats[0].body["tools"][0]["function"]["description"].startswith("Greets a person by name.")


@pytest.mark.promise(
    "Asking a model",
    "Below the answer stand its sources, each with tool, node, height and time, and what no tool returned.",
)
@BOTH
def test_a_question_shows_its_tools_its_answer_and_its_sources(ask: Ask, streaming: bool) -> None:
    script = [
        calls(("get_balance", {"address": ALICE})),
        says("It has 1001427.50833805 QORT and 31337 friends."),
    ]
    with ScriptedEndpoint(script, streams=streaming) as server:
        ended = ask(server, "What does Alice have?", "--sample")
    assert (ended.code, ended.out) == (0, "It has 1001427.50833805 QORT and 31337 friends.\n")
    blank, sources, source, ungrounded = ended.err.splitlines()
    assert (blank, sources) == ("", "Sources:")
    assert source.startswith("  get_balance · ")
    assert " · height " in source
    assert ungrounded == "Not from a tool: 31337"
