"""Lists of tools, dialects and the options that choose among tools, through the real command."""

import json
from typing import Any

import pytest
from tests.bridge.cases import good
from tests.bridge.fronts import Stdio, call, dropped, marks, request, stdio, without_marks
from tests.bridge.scripts import HANDSHAKE, Json, Saying, error, result, serving, text, tool
from tests.bridge.standins import Loop, standing_in, websocket


def listed(front: Stdio) -> list[Json]:
    found: list[Json] = without_marks(front.ask("tools/list", {}))["result"]["tools"]
    return found


def _without(entry: Json, member: str) -> Json:
    return {name: value for name, value in entry.items() if name != member}


BROKEN: dict[str, tuple[Json, Json]] = {
    "properties-null": (
        tool("properties-null", inputSchema={"type": "object", "properties": None}),
        tool("properties-null", inputSchema={"type": "object", "properties": {}}),
    ),
    "items-list": (
        tool(
            "items-list",
            inputSchema={
                "type": "object",
                "properties": {"position": {"type": "array", "items": ["type", "number"]}},
            },
        ),
        tool(
            "items-list",
            inputSchema={"type": "object", "properties": {"position": {"type": "array", "items": {}}}},
        ),
    ),
    "schema-missing": (_without(tool("schema-missing"), "inputSchema"), tool("schema-missing")),
    "params-member": (tool("params-member", params={"a": "string"}), tool("params-member")),
    "title-null": (tool("title-null", title=None), tool("title-null")),
}


@pytest.mark.promise("Bridge", "One broken tool never hides the others: 30 of them arrive, all usable.")
@pytest.mark.parametrize("level", ["safe", "all"])
def test_broken_entries_are_repaired_and_hide_no_others(loop: Loop, level: str) -> None:
    plain = [tool(f"plain-{number}") for number in range(30 - len(BROKEN))]
    entries: list[Any] = [*(before for before, _ in BROKEN.values()), 7, *plain]
    says = {entry["name"]: [text("ok")] for entry in (*(after for _, after in BROKEN.values()), *plain)}
    script = serving(says, entries=entries)
    with (
        standing_in(loop, websocket(), script) as server,
        stdio("--repair", level, *server.target) as front,
    ):
        assert listed(front) == [*(after for _, after in BROKEN.values()), *plain]
        for name in says:
            assert call(front, name)["result"] == good("ok")["result"]


def test_what_is_taken_out_of_a_list_is_kept(loop: Loop) -> None:
    entries = [BROKEN["params-member"][0]]
    script = serving({"params-member": [text("ok")]}, entries=entries)
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        answer = front.ask("tools/list", {})
        assert marks(answer) == ["tool-params-member"]
        assert dropped(answer) == {"tools[0].params": {"a": "string"}}


@pytest.mark.parametrize("level", ["safe", "all"])
def test_alternatives_on_top_of_a_schema_are_told_in_the_description(loop: Loop, level: str) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    script = serving({"either": [text("ok")]}, entries=[tool("either", inputSchema=schema)])
    with (
        standing_in(loop, websocket(), script) as server,
        stdio("--repair", level, *server.target) as front,
    ):
        (entry,) = listed(front)
        assert entry["inputSchema"] == _without(schema, "anyOf")
        assert entry["description"].startswith("A tool.")
        assert '"required"' in entry["description"] or "required" in entry["description"]


def test_a_bare_array_is_a_list(loop: Loop) -> None:
    script = serving({"answers": [text("ok")]}, tools__list=[result([tool("answers")])])
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        assert listed(front) == [tool("answers")]
        assert call(front, "answers")["result"] == good("ok")["result"]


def paged(message: Any) -> Saying:
    """A server whose tools are on two pages."""
    params = message.get("params") or {} if isinstance(message, dict) else {}
    page = {"tools": [tool("two")]} if "cursor" in params else {"tools": [tool("one")], "nextCursor": "2"}
    return serving({"one": [text("first")], "two": [text("second")]}, tools__list=[result(page)])(message)


def test_pages_are_passed_on_as_pages(loop: Loop) -> None:
    with standing_in(loop, websocket(), paged) as server, stdio(*server.target) as front:
        page = front.ask("tools/list", {})["result"]
        assert page == {"tools": [tool("one")], "nextCursor": "2"}
        assert front.ask("tools/list", {"cursor": "2"})["result"] == {"tools": [tool("two")]}
        assert call(front, "two")["result"] == good("second")["result"]


def test_pages_are_one_page_at_all(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), paged) as server,
        stdio("--repair", "all", *server.target) as front,
    ):
        assert without_marks(front.ask("tools/list", {}))["result"] == {"tools": [tool("one"), tool("two")]}
        assert call(front, "two")["result"] == good("second")["result"]
        front.wait_for(lambda: "tools-list-paginated" in front.err)


def old_dialect(message: Any) -> Saying:
    """A server that knows only list_tools and call_tool."""
    refuses = [error(-32601, "Method not found")]
    called = (message.get("params") or {}).get("name")
    return serving(
        tools__list=refuses,
        tools__call=refuses,
        list_tools=[result({"tools": [tool("answers"), tool("bare")]})],
        call_tool=[text("ok") if called == "answers" else result({"n": 1})],
    )(message)


@pytest.mark.promise(
    "Bridge", "A server that knows only `list_tools` and `call_tool` is asked in those words."
)
def test_old_names_of_methods_are_found_once_and_remembered(loop: Loop) -> None:
    with standing_in(loop, websocket(), old_dialect) as server, stdio(*server.target) as front:
        assert listed(front) == [tool("answers"), tool("bare")]
        answer = front.ask("tools/call", {"name": "answers", "arguments": {"a": 1}})
        assert answer["result"] == good("ok")["result"]
        assert without_marks(call(front, "bare"))["result"] == good('{"n":1}', {"n": 1})["result"]
        (sent,) = server.calls("answers")
        assert sent == {
            "jsonrpc": "2.0",
            "id": sent["id"],
            "method": "call_tool",
            "params": {"name": "answers", "arguments": {"a": 1}},
        }
        assert len(server.messages("tools/list")) == 1
        assert server.messages("tools/call") == []
        front.wait_for(lambda: "method-old-name" in front.err)


def test_without_that_repair_a_server_is_not_asked_in_old_words(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), old_dialect) as server,
        stdio("--without-repair", "method-old-name", *server.target) as front,
    ):
        assert front.ask("tools/list", {})["error"]["code"] == -32601
        assert server.messages("list_tools") == []


@pytest.mark.parametrize("said", ["there are two tools", 2, True])
def test_a_list_that_is_not_an_object_is_an_error_and_calls_still_work(loop: Loop, said: Any) -> None:
    script = serving({"answers": [text("ok")]}, tools__list=[result(said)])
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        assert front.ask("tools/list", {})["error"] == {
            "code": -32603,
            "message": "The server's answer cannot be read: the list of tools is not an object.",
        }
        assert call(front, "answers")["result"] == good("ok")["result"]


def test_without_its_repair_a_list_that_is_not_an_object_passes_as_it_came(loop: Loop) -> None:
    script = serving({"answers": [text("ok")]}, tools__list=[result("there are two tools")])
    with (
        standing_in(loop, websocket(), script) as server,
        stdio("--without-repair", "tools-list-not-wrapped", *server.target) as front,
    ):
        assert front.ask("tools/list", {})["result"] == "there are two tools"


HINTED = [
    tool("reads", annotations={"readOnlyHint": True}),
    tool("writes", annotations={"readOnlyHint": False}),
    tool("says-nothing"),
]
SAYS = {entry["name"]: [text("ok")] for entry in HINTED}


@pytest.mark.promise(
    "Bridge", "With `--read-only` only tools that declare themselves read-only are listed and can be called."
)
def test_read_only_offers_only_what_declares_itself_so(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), serving(SAYS, entries=HINTED)) as server,
        stdio("--read-only", *server.target) as front,
    ):
        assert listed(front) == HINTED[:1]
        assert call(front, "reads")["result"] == good("ok")["result"]
        for name in ("writes", "says-nothing"):
            assert call(front, name)["error"] == {"code": -32602, "message": f"Unknown tool: {name}"}
            assert server.calls(name) == []


@pytest.mark.promise("Bridge", "A tool hidden with `--hide-tool` is neither listed nor can it be called.")
def test_a_hidden_tool_is_neither_listed_nor_called(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), serving(SAYS, entries=HINTED)) as server,
        stdio("--hide-tool", "writes", "--hide-tool", "reads", *server.target) as front,
    ):
        assert listed(front) == HINTED[2:]
        for name in ("writes", "reads"):
            assert call(front, name)["error"] == {"code": -32602, "message": f"Unknown tool: {name}"}
            assert server.calls(name) == []


def test_a_tool_that_may_write_is_not_called_while_the_list_is_unknown(loop: Loop) -> None:
    script = serving(SAYS, tools__list=[error(-32603, "not now")])
    with (
        standing_in(loop, websocket(), script) as server,
        stdio("--read-only", *server.target) as front,
    ):
        assert call(front, "writes")["error"]["code"] == -32602
        assert server.calls("writes") == []


@pytest.mark.promise("Bridge", "With `--printable` hidden characters in the server's texts can be seen.")
def test_hidden_characters_are_shown_on_demand(loop: Loop) -> None:
    hidden = "a\u202eb\x1b[31m\u200bc\n\tø"
    entries = [tool("says", description=hidden)]
    with (
        standing_in(loop, websocket(), serving({"says": [text(hidden)]}, entries=entries)) as server,
        stdio("--printable", *server.target) as front,
    ):
        shown = "a\\u{202e}b\\u{001b}[31m\\u{200b}c\n\tø"
        (entry,) = listed(front)
        assert entry["description"].lower() == shown
        assert call(front, "says")["result"]["content"][0]["text"].lower() == shown
    with (
        standing_in(loop, websocket(), serving({"says": [text(hidden)]}, entries=entries)) as server,
        stdio(*server.target) as front,
    ):
        assert call(front, "says")["result"] == good(hidden)["result"]


@pytest.mark.promise("Bridge", "Names that clients refuse are replaced, and the server is asked by its own.")
def test_a_name_that_clients_refuse_is_mapped_and_mapped_back(loop: Loop) -> None:
    script = serving({"get weather/now!": [text("ok")]})
    with (
        standing_in(loop, websocket(), script) as server,
        stdio("--repair", "all", *server.target) as front,
    ):
        (entry,) = listed(front)
        assert entry["name"].replace("_", "").replace("-", "").isalnum()
        assert call(front, entry["name"])["result"] == good("ok")["result"]
        (sent,) = server.calls("get weather/now!")
        assert sent["params"] == {"name": "get weather/now!", "arguments": {}}


def test_numbers_keep_their_digits_on_the_way(loop: Loop) -> None:
    digits = '{"n":1.10,"big":12345678901234567890,"e":1e400,"z":-0.0}'
    raw = f'{{"jsonrpc":"2.0","id":$ID,"result":{{"content":[],"structuredContent":{digits}}}}}'.encode()
    bare = f'{{"jsonrpc":"2.0","id":$ID,"result":{digits}}}'.encode()
    script = serving({"right": [raw], "bare": [bare]})
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        for number, name in enumerate(("right", "bare"), 2):
            params = f'{{"name":"{name}","arguments":{digits}}}'
            front.send(f'{{"jsonrpc":"2.0","id":{number},"method":"tools/call","params":{params}}}'.encode())
            front.answer(number)
            assert digits.encode() in front.lines[-1]
            assert digits.encode() in server.heard[-1].data


def test_other_methods_and_errors_of_the_server_are_passed_on(loop: Loop) -> None:
    handshake = {**HANDSHAKE, "capabilities": {"tools": {}, "resources": {}, "prompts": {}}}
    script = serving(
        handshake=handshake,
        resources__list=[result({"resources": [{"uri": "a:b", "name": "n"}]})],
        resources__read=[error(-32002, "Resource not found")],
        prompts__get=[result({"messages": []})],
        x__odd=[result({"mine": [1]})],
    )
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        assert front.ask("resources/list", {})["result"] == {"resources": [{"uri": "a:b", "name": "n"}]}
        refused = front.ask("resources/read", {"uri": "a:c"})
        assert refused["error"] == {"code": -32002, "message": "Resource not found"}
        assert front.ask("prompts/get", {"name": "p"})["result"] == {"messages": []}
        assert front.ask("x/odd", {"a": [1]})["result"] == {"mine": [1]}
        assert server.messages("x/odd")[0]["params"] == {"a": [1]}
        missing = front.ask(
            "completion/complete", {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {}}
        )
        assert missing["error"]["code"] in (-32601, -32602)


def test_a_request_of_the_server_reaches_the_client_whose_call_is_open(loop: Loop) -> None:
    asks = b'{"jsonrpc":"2.0","id":"s1","method":"roots/list"}'
    with (
        standing_in(loop, websocket(), serving({"asks": [asks]})) as server,
        stdio(*server.target, hello=False) as front,
    ):
        opening = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"roots": {}},
            "clientInfo": {"name": "c", "version": "1"},
        }
        front.ask("initialize", opening)
        front.send(
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            request("call", "tools/call", {"name": "asks"}),
        )
        front.wait_for(lambda: bool(front.said("roots/list")))
        (asked,) = front.said("roots/list")
        front.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})
        server.wait_for(lambda: any(b'"s1"' in one.data for one in server.heard))
        (answer,) = (one.message for one in server.heard if b'"s1"' in one.data)
        assert answer == {"jsonrpc": "2.0", "id": "s1", "result": {"roots": []}}
        (open_call,) = server.calls("asks")
        server.say(json.dumps({"jsonrpc": "2.0", "id": open_call["id"], **good("done")}).encode())
        assert front.answer("call")["result"] == good("done")["result"]
