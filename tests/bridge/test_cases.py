"""Wrong answers to calls, through the real command: stdio in front, a WebSocket behind."""

from collections.abc import Iterator

import pytest
from tests.bridge.cases import CALLS, CASES, failed, good
from tests.bridge.fronts import Stdio, call, dropped, marks, request, stdio, without_marks
from tests.bridge.scripts import Close, Json, compact, error, result, serving, text, tool
from tests.bridge.standins import Loop, StandIn, standing_in, websocket

OTHERS = {"hangs": (), "answers": [text("ok")]}
LEVELS = ("safe", "all", "none")


SCRIPT = serving({**CALLS, **OTHERS}, notifications__odd=[error(-32601, "Method not found: $METHOD", "null")])


@pytest.fixture(scope="module")
def server(loop: Loop) -> Iterator[StandIn]:
    with standing_in(loop, websocket(), SCRIPT) as found:
        yield found


@pytest.fixture(scope="module")
def slow_server(loop: Loop) -> Iterator[StandIn]:
    with standing_in(loop, websocket(), SCRIPT) as found:
        yield found


@pytest.fixture(scope="module")
def levels_server(loop: Loop) -> Iterator[StandIn]:
    with standing_in(loop, websocket(), SCRIPT) as found:
        yield found


@pytest.fixture(scope="module", params=LEVELS)
def at_level(request: pytest.FixtureRequest, levels_server: StandIn) -> Iterator[tuple[Stdio, str]]:
    with stdio("--repair", request.param, *levels_server.target) as front:
        yield front, request.param


@pytest.fixture(scope="module")
def client(server: StandIn) -> Iterator[Stdio]:
    with stdio(*server.target) as front:
        yield front


@pytest.fixture(scope="module")
def impatient(slow_server: StandIn) -> Iterator[Stdio]:
    with stdio("--timeout", "0.5", *slow_server.target) as front:
        yield front


def answered(id_: object, outcome: Json) -> Json:
    return {"jsonrpc": "2.0", "id": id_, **outcome}


def said(id_: object, outcome: Json) -> bytes:
    return compact(answered(id_, outcome)).encode()


@pytest.mark.promise(
    "Bridge", "A result in the wrong shape arrives as a right one, and says in `_meta` what was repaired."
)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("at_level", ["safe", "all"], indirect=True)
def test_a_wrong_answer_arrives_as_a_right_one(
    at_level: tuple[Stdio, str], levels_server: StandIn, name: str
) -> None:
    front, level = at_level
    before = len(levels_server.calls(name))
    lines = len(front.lines)
    front.send(request(2, "tools/call", {"name": name, "arguments": {"lines": 1}}))
    front.wait_for(lambda: len(front.lines) > lines)
    answer = front.messages[lines]
    assert without_marks(answer) == answered(2, CASES[name].gets(level))
    (asked,) = levels_server.calls(name)[before:]
    sent = {"name": name, "arguments": {"lines": 1}}
    assert asked == {"jsonrpc": "2.0", "id": asked["id"], "method": "tools/call", "params": sent}
    if level == "safe" and CASES[name].codes:
        assert marks(answer) == list(CASES[name].codes)
    # Nothing more than that one line: a later one is the answer to a later question.
    front.send(request("after", "ping"))
    front.wait_for(lambda: len(front.lines) > lines + 1)
    assert front.messages[lines + 1 :] == [answered("after", {"result": {}})]


AS_THEY_CAME: dict[str, Json] = {
    "bare-result": {"result": {"count": 1, "logs": ["a"]}},
    "failure-as-protocol-error": {"error": {"code": -32602, "message": "Patch not found: x"}},
    "content-type-object": {"result": {"content": [{"type": "object", "object": {"isValid": False}}]}},
    "list-as-structured-content": {
        "result": {"content": [{"type": "text", "text": "[1,2]"}], "structuredContent": [1, 2]}
    },
    "result-empty": {"result": {}},
}


@pytest.mark.promise("Bridge", "With `--repair none` results pass as they are.")
@pytest.mark.parametrize("name", AS_THEY_CAME)
@pytest.mark.parametrize("at_level", ["none"], indirect=True)
def test_without_repairs_an_answer_passes_as_it_came(at_level: tuple[Stdio, str], name: str) -> None:
    answer = call(at_level[0], name)
    assert answer == answered(answer["id"], AS_THEY_CAME[name])


@pytest.mark.promise("Bridge", "What a repair takes out of a result is kept in its `_meta`.")
def test_what_is_taken_out_is_kept(client: Stdio) -> None:
    assert dropped(call(client, "list-as-structured-content")) == {"structuredContent": [1, 2]}
    kept = dropped(call(client, "structured-content-on-error"))
    assert kept == {"structuredContent": {"error": "Node unreachable"}}
    assert dropped(call(client, "failure-as-protocol-error")) == {
        "error": {"code": -32602, "message": "Patch not found: x"}
    }


@pytest.mark.promise("Bridge", "A repair can be switched off by its code.")
def test_a_repair_can_be_switched_off_by_its_code(levels_server: StandIn) -> None:
    off = ("--without-repair", "result-bare-payload", "--without-repair", "tool-failure-as-protocol-error")
    with stdio(*off, *levels_server.target) as front:
        bare = call(front, "failure-as-protocol-error")
        assert bare["error"] == {"code": -32602, "message": "Patch not found: x"}
        still = call(front, "content-type-object")
        assert without_marks(still) == answered(still["id"], CASES["content-type-object"].safe)
        assert "structuredContent" not in call(front, "bare-result")["result"]


def test_each_repair_is_logged_once_for_each_tool(client: Stdio) -> None:
    for _ in range(3):
        call(client, "bare-result")
        call(client, "doubly-wrapped")
    call(client, "result-string")

    def logged(name: str) -> int:
        lines = client.err.splitlines()
        return sum("result-bare-payload" in line and f'"{name}"' in line for line in lines)

    client.wait_for(lambda: "result-not-object" in client.err)
    assert (logged("bare-result"), logged("doubly-wrapped")) == (1, 1)


@pytest.mark.promise("Bridge", "A tool that the server does not list is unknown: it is not asked for it.")
def test_a_tool_that_is_not_listed_is_unknown_without_asking(client: Stdio, server: StandIn) -> None:
    answer = call(client, "nope")
    assert answer["error"] == {"code": -32602, "message": "Unknown tool: nope"}
    assert server.calls("nope") == []


def test_a_call_without_a_name_is_refused_without_asking(client: Stdio, server: StandIn) -> None:
    before = len(server.heard)
    answer = client.ask("tools/call", {"arguments": {}})
    assert answer["error"] == {"code": -32602, "message": "Missing tool name"}
    assert server.heard[before:] == []


@pytest.mark.promise("Bridge", "Every answer has the id of its request, in the same type.")
@pytest.mark.parametrize("id_", ["7", 0, 7, -1, 2**53, "ø"], ids=repr)
def test_an_answer_has_the_id_of_its_request(client: Stdio, id_: int | str) -> None:
    client.send(request(id_, "tools/call", {"name": "right-result", "arguments": {}}))
    assert client.answer(id_) == answered(id_, CASES["right-result"].safe)


def _asked(server: StandIn, name: str, count: int) -> Json:
    """The newest call of a tool, once there are so many."""
    server.wait_for(lambda: len(server.calls(name)) == count)
    return server.calls(name)[-1]


def test_an_id_of_another_type_is_not_matched(impatient: Stdio, slow_server: StandIn) -> None:
    count = len(slow_server.calls("hangs"))
    impatient.send(request("typed", "tools/call", {"name": "hangs"}))
    asked = _asked(slow_server, "hangs", count + 1)
    slow_server.say(said(str(asked["id"]), good("ok")))
    answer = impatient.answer("typed")
    assert answer["result"]["isError"] is True
    assert "timed out" in answer["result"]["content"][0]["text"]
    impatient.wait_for(lambda: "rpc-id-type-changed" in impatient.err)


def test_an_id_of_another_type_is_restored_at_all(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), SCRIPT) as server,
        stdio("--repair", "all", *server.target) as front,
    ):
        count = len(server.calls("hangs"))
        front.send(request("typed", "tools/call", {"name": "hangs"}))
        asked = _asked(server, "hangs", count + 1)
        server.say(said(str(asked["id"]), good("ok")))
        assert without_marks(front.answer("typed")) == answered("typed", good("ok"))


@pytest.mark.promise("Bridge", "What a server says in reply to a notification never reaches the client.")
def test_a_reply_to_a_notification_is_not_passed_on(client: Stdio, server: StandIn) -> None:
    before, lines = len(server.heard), len(client.lines)
    count = len(server.calls("hangs"))
    client.send(request("busy", "tools/call", {"name": "hangs"}))
    asked = _asked(server, "hangs", count + 1)
    client.send({"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": 1}})
    server.wait_for(lambda: "notifications/odd" in server.methods(before))
    sent = server.messages("notifications/odd")[-1]
    assert sent == {"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": 1}}
    server.say(said(asked["id"], good("late")))
    assert client.answer("busy") == answered("busy", good("late"))
    client.wait_for(lambda: "notification-answered" in client.err)
    assert len(client.lines) == lines + 1


def test_a_cancelled_call_is_cancelled_behind_and_not_answered(client: Stdio, server: StandIn) -> None:
    lines, count = len(client.lines), len(server.calls("hangs"))
    client.send(request(2, "tools/call", {"name": "hangs"}))
    asked = _asked(server, "hangs", count + 1)
    client.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}})
    server.wait_for(lambda: bool(server.messages("notifications/cancelled")))
    assert server.messages("notifications/cancelled")[-1]["params"]["requestId"] == asked["id"]
    server.say(error(-32601, "Method not found: notifications/cancelled", "null"))
    server.say(said(asked["id"], good("late")))
    assert call(client, "answers")["result"] == good("ok")["result"]
    assert len(client.lines) == lines + 1


@pytest.mark.promise("Bridge", "`ping` is answered by the bridge itself.")
def test_a_ping_is_answered_without_asking(client: Stdio, server: StandIn) -> None:
    before = len(server.heard)
    client.send(request(3, "ping"))
    assert client.answer(3) == answered(3, {"result": {}})
    assert server.heard[before:] == []


def test_an_unreadable_request_for_a_list_is_an_error(loop: Loop) -> None:
    says = [error(-32700, "Parse error: x", "null")]
    with (
        standing_in(loop, websocket(), serving(tools__list=says)) as server,
        stdio(*server.target) as front,
    ):
        answer = front.ask("tools/list", {})
        assert answer["error"] == {"code": -32603, "message": "upstream: Parse error: x"}


def test_an_unreadable_request_among_several_ends_by_the_clock(
    impatient: Stdio, slow_server: StandIn
) -> None:
    count = len(slow_server.calls("hangs"))
    for id_ in ("one", "two"):
        impatient.send(request(id_, "tools/call", {"name": "hangs"}))
    _asked(slow_server, "hangs", count + 2)
    slow_server.say(error(-32700, "Parse error: x", "null"))
    for id_ in ("one", "two"):
        assert "timed out" in impatient.answer(id_)["result"]["content"][0]["text"]
    impatient.wait_for(lambda: "rpc-error-id-null" in impatient.err)


@pytest.mark.promise(
    "Bridge", "A call that gets no answer in time fails with `isError`; a late answer is dropped."
)
def test_a_call_without_an_answer_times_out_and_a_late_one_is_dropped(
    impatient: Stdio, slow_server: StandIn
) -> None:
    count = len(slow_server.calls("hangs"))
    lines = len(impatient.lines)
    answer = call(impatient, "hangs")
    assert (
        answer["result"]
        == failed("The server timed out: no answer within 0.5 s (--timeout). Whether it ran is not known.")[
            "result"
        ]
    )
    asked = _asked(slow_server, "hangs", count + 1)
    slow_server.say(said(asked["id"], good("late")))
    assert call(impatient, "answers")["result"] == good("ok")["result"]
    assert len(impatient.lines) == lines + 2


@pytest.mark.promise("Bridge", "Answers in another order than the requests reach the right ones.")
def test_answers_in_reverse_order_reach_their_requests(client: Stdio, server: StandIn) -> None:
    count = len(server.calls("hangs"))
    for id_ in ("first", "second"):
        client.send(request(id_, "tools/call", {"name": "hangs", "arguments": {"id": id_}}))
    _asked(server, "hangs", count + 2)
    for asked in reversed(server.calls("hangs")[count:]):
        words = asked["params"]["arguments"]["id"]
        server.say(said(asked["id"], good(words)))
    for id_ in ("first", "second"):
        assert client.answer(id_) == answered(id_, good(id_))
    ids = [one["id"] for one in client.messages if one.get("id") in ("first", "second")]
    assert ids == ["second", "first"]


@pytest.mark.promise(
    "Bridge", "A call longer than `--request-bytes` is not sent: it fails, and the text names both sizes."
)
def test_a_call_that_is_too_long_is_not_sent(levels_server: StandIn) -> None:
    with stdio("--request-bytes", "4096", *levels_server.target) as front:
        before = len(levels_server.calls("answers"))
        answer = call(front, "answers", {"text": "x" * 5000})
        assert answer["result"]["isError"] is True
        words = answer["result"]["content"][0]["text"]
        assert "4096" in words
        assert any(5000 < int(word) < 5200 for word in words.split() if word.isdigit())
        assert call(front, "answers", {"text": "x" * 3000})["result"] == good("ok")["result"]
        (asked,) = levels_server.calls("answers")[before:]
        assert len(asked["params"]["arguments"]["text"]) == 3000


@pytest.mark.promise(
    "Bridge", "A lost connection fails the calls that wait on it; the next call finds a new connection."
)
@pytest.mark.parametrize("close", [1000, 1001, 1011])
def test_a_lost_connection_is_opened_again(loop: Loop, close: int) -> None:
    with (
        standing_in(loop, websocket(), serving(OTHERS)) as server,
        stdio(*server.target) as front,
    ):
        front.send(request(2, "tools/call", {"name": "hangs"}))
        server.wait_for(lambda: bool(server.calls("hangs")))
        server.say(Close(close))
        assert front.answer(2) == answered(2, failed("Connection to the server was lost before it answered."))
        assert call(front, "answers")["result"] == good("ok")["result"]
        assert server.methods() == [
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
            "initialize",
            "notifications/initialized",
            "tools/list",
            "tools/call",
        ]
        first, again = server.messages("initialize")
        assert first["params"] == again["params"]
        assert front.process.poll() is None


def test_a_line_that_is_not_a_message_is_refused_without_asking(client: Stdio, server: StandIn) -> None:
    before, lines = len(server.heard), len(client.lines)
    client.send(b"oops", b"", b"   ")
    client.wait_for(lambda: len(client.lines) > lines)
    assert call(client, "answers")["result"] == good("ok")["result"]
    refused, _ = client.messages[lines:]
    assert refused["error"]["code"] == -32700
    assert server.methods(before) == ["tools/call"]


def test_progress_reaches_the_client_under_its_own_token(loop: Loop) -> None:
    progress = (
        b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":$TOKEN,"progress":1}}'
    )
    with (
        standing_in(loop, websocket(), serving({"works": [progress, text("ok")]})) as server,
        stdio(*server.target) as front,
    ):
        answer = front.ask("tools/call", {"name": "works", "_meta": {"progressToken": "mine", "other": 1}})
        assert answer["result"] == good("ok")["result"]
        (progressed,) = front.said("notifications/progress")
        assert progressed["params"] == {"progressToken": "mine", "progress": 1}
        (asked,) = server.calls("works")
        assert asked["params"]["_meta"]["progressToken"] != "mine"
        assert asked["params"]["_meta"]["other"] == 1
        assert "_meta" not in server.messages("tools/list")[0].get("params", {})


def test_a_list_as_structured_content_is_wrapped_where_a_schema_is_declared(loop: Loop) -> None:
    schema = {"type": "array", "items": {"type": "integer"}}
    entries = [tool("numbers", outputSchema=schema)]
    says = [result({"content": [{"type": "text", "text": "[1,2]"}], "structuredContent": [1, 2]})]
    script = serving({"numbers": says}, entries=entries)
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        (listed,) = front.ask("tools/list", {})["result"]["tools"]
        assert listed["outputSchema"] == {
            "type": "object",
            "properties": {"result": schema},
            "required": ["result"],
        }
        answer = without_marks(call(front, "numbers"))
        assert answer["result"] == good("[1,2]", structured={"result": [1, 2]})["result"]
