"""Asking the client back: requests in the legacy era, `input_required` and sealed state in the modern one."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from tests.matrix.conftest import Connect
from tests.matrix.subject import ERROR_KEY
from tests.matrix.wires import MODERN, Answer, Wire

INVALID_PARAMS, MISSING_CAPABILITY = -32602, -32021

ANSWERS: dict[str, Any] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "sampling/createMessage": {
        "role": "assistant",
        "content": {"type": "text", "text": "hello"},
        "model": "small",
    },
    "roots/list": {"roots": [{"uri": "file:///one"}, {"uri": "file:///two", "name": "Two"}]},
}


def can_ask(wire: Wire) -> bool:
    """Without a session no answer of a legacy client could find its question."""
    return wire.modern or wire.transport != "http"


async def converse(
    wire: Wire, method: str, params: dict[str, Any], answers: dict[str, Any] = ANSWERS
) -> tuple[Answer, list[str]]:
    """Make a request and answer what it asks, in the way of the revision; also which methods it asked."""
    asked: list[str] = []

    def answering(name: str, result: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def respond(params: dict[str, Any]) -> dict[str, Any]:
            asked.append(name)
            return {"result": result}

        return respond

    for name, result in answers.items():
        wire.answers[name] = answering(name, result)
    answer = await wire.request(method, params)
    while "result" in answer.reply and answer.result.get("resultType") == "input_required":
        assert set(answer.result) == {"resultType", "inputRequests", "requestState", "_meta"}
        requests = answer.result["inputRequests"]
        asked += [request["method"] for request in requests.values()]
        more = {
            "inputResponses": {key: answers[request["method"]] for key, request in requests.items()},
            "requestState": answer.result["requestState"],
        }
        answer = await wire.request(method, {**params, **more})
    return answer, asked


def tool(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


TALKS = [
    ("asks_person", {}, "accept Ann", ["elicitation/create"]),
    ("asks_model", {}, "small: hello", ["sampling/createMessage"]),
    ("asks_roots", {}, "file:///one file:///two", ["roots/list"]),
    ("asks_all", {}, "model roots who", ["elicitation/create", "roots/list", "sampling/createMessage"]),
    ("asks_twice", {"topic": "x"}, "accept Ann, accept Ann", ["elicitation/create"] * 2),
]


@pytest.mark.promise(
    "Library",
    "A tool may ask the person at the client back where revision and transport allow it, and a client is never asked for what it did not declare.",
)
async def test_a_tool_gets_the_answers_it_asks_for(connect: Connect) -> None:
    wire = await connect()
    for name, arguments, words, methods in TALKS:
        answer, asked = await converse(wire, "tools/call", tool(name, **arguments))
        if not can_ask(wire):
            assert answer.result["_meta"][ERROR_KEY]["code"] == "NOT_SUPPORTED"
        elif wire.revision < "2025-06-18" and "elicitation/create" in methods:
            assert answer.result["isError"]
            assert "too old" in str(answer.result["content"])
        else:
            assert (answer.text, sorted(asked)) == (words, methods)


async def test_a_prompt_can_ask_too(connect: Connect) -> None:
    wire = await connect()
    answer, _ = await converse(wire, "prompts/get", {"name": "asking"})
    if can_ask(wire) and wire.revision >= "2025-06-18":
        assert answer.result["messages"][0]["content"]["text"] == "accept Ann"
    else:
        assert answer.code == -32603


@pytest.mark.parametrize("action", ["decline", "cancel"])
@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", MODERN])
async def test_a_person_may_say_no(connect: Connect, action: str) -> None:
    wire = await connect()
    answer, _ = await converse(
        wire, "tools/call", tool("asks_person"), {"elicitation/create": {"action": action}}
    )
    if can_ask(wire):
        assert answer.text == f"{action} -"


@pytest.mark.promise(
    "Library",
    "A tool may ask the person at the client back where revision and transport allow it, and a client is never asked for what it did not declare.",
)
async def test_a_client_is_not_asked_for_what_it_did_not_declare(connect: Connect) -> None:
    wire = await connect(capabilities={"roots": {}})
    for name, capability in (("asks_person", "elicitation"), ("asks_model", "sampling")):
        answer = await wire.call(name, {})
        assert answer.before == []
        if wire.modern:
            assert (answer.code, answer.status) == (MISSING_CAPABILITY, None if wire.lasting else 400)
            assert answer.error["data"] == {"requiredCapabilities": {capability: {}}}
        else:
            assert answer.result["_meta"][ERROR_KEY]["code"] == "NOT_SUPPORTED"
    answer = await wire.call("needs_sampling")
    assert answer.code == MISSING_CAPABILITY


REFUSALS = [
    pytest.param({"error": {"code": -1, "message": "User rejected sampling"}}, "CLIENT_ERROR", id="refused"),
    pytest.param({"error": "nonsense"}, "CLIENT_ERROR", id="unreadable-error"),
    pytest.param({"result": {"role": "assistant"}}, "CLIENT_ERROR", id="half-an-answer"),
    pytest.param({"result": 5}, "CLIENT_ERROR", id="no-object"),
]


@pytest.mark.parametrize(("answer", "code"), REFUSALS)
@pytest.mark.parametrize("tool_name", ["asks_model", "asks_all"])
@pytest.mark.parametrize("revision", ["2025-06-18"])
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
async def test_a_client_that_refuses_makes_the_tool_fail_with_a_reason(
    connect: Connect, answer: dict[str, Any], code: str, tool_name: str
) -> None:
    wire = await connect()
    for method in ANSWERS:
        wire.answers[method] = lambda params: answer
    result = (await wire.call(tool_name, {})).result
    assert result["isError"]
    assert result["_meta"][ERROR_KEY]["code"] == code


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-11-25"])
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
async def test_a_client_that_does_not_answer_makes_the_tool_fail_in_time(connect: Connect) -> None:
    wire = await connect(limits={"ask_seconds": 0.1, "call_seconds": 0.05})
    result = (await wire.call("asks_model", {})).result
    assert result["_meta"][ERROR_KEY] == {"code": "TIMEOUT", "retryable": True}


@pytest.mark.parametrize("revision", ["2025-06-18"])
@pytest.mark.parametrize("transport", ["memory", "stdio", "sessions", "websocket"])
async def test_a_question_has_an_id_that_nobody_can_guess(connect: Connect) -> None:
    wire = await connect()
    ids = set()
    for _ in range(3):
        message = wire.message("tools/call", tool("asks_roots"))
        await wire.post(message)
        question = await wire.receive()
        ids.add(question["id"])
        # An answer under another id changes nothing.
        await (await wire.post({"jsonrpc": "2.0", "id": "guess", "result": {"roots": []}})).done()
        await wire.post({"jsonrpc": "2.0", "id": question["id"], "result": ANSWERS["roots/list"]})
        assert "file:///one" in str(await wire.reply_to(message["id"]))
    assert len(ids) == 3
    assert all(isinstance(id_, str) and len(id_) >= 20 for id_ in ids)


@pytest.mark.parametrize("revision", ["2025-06-18"])
@pytest.mark.parametrize("transport", ["sessions"])
async def test_another_session_cannot_answer(connect: Connect) -> None:
    wire, other = await connect(), await connect()
    message = wire.message("tools/call", tool("asks_roots"))
    await wire.post(message)
    question = await wire.receive()
    await (await other.post({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": []}})).done()
    await wire.post({"jsonrpc": "2.0", "id": question["id"], "result": ANSWERS["roots/list"]})
    assert "file:///one" in str(await wire.reply_to(message["id"]))


async def first_round(wire: Wire, topic: str = "x") -> dict[str, Any]:
    result = (await wire.call("asks_twice", {"topic": topic})).result
    assert result["resultType"] == "input_required"
    return result


def retry(state: Any, topic: str = "x", **responses: Any) -> dict[str, Any]:
    return {**tool("asks_twice", topic=topic), "inputResponses": responses, "requestState": state}


ACCEPT = ANSWERS["elicitation/create"]


@pytest.mark.promise(
    "Library",
    "The server keeps nothing between the rounds of a question in 2026-07-28, and a state that it did not make is refused.",
)
@pytest.mark.parametrize("revision", [MODERN])
async def test_the_server_keeps_nothing_between_rounds(connect: Connect) -> None:
    """The retry goes over another connection and is understood by its state alone."""
    wire, other = await connect(), await connect()
    if wire.transport == "stdio":
        other = wire  # two processes do not share a key
    state = (await first_round(wire))["requestState"]
    second = (await other.request("tools/call", retry(state, first=ACCEPT))).result
    assert list(second["inputRequests"]) == ["second"]
    assert second["inputRequests"]["second"]["params"]["message"] == "Second, accept Ann?"
    last = await wire.request("tools/call", retry(second["requestState"], second=ACCEPT))
    assert last.text == "accept Ann, accept Ann"


def changed(state: str) -> str:
    raw = bytearray(base64.urlsafe_b64decode(state))
    raw[-3] ^= 1
    return base64.urlsafe_b64encode(raw).decode()


BAD_STATES = [
    pytest.param(changed, id="tampered"),
    pytest.param(lambda state: state[:-4], id="cut"),
    pytest.param(lambda state: state + "AAAA", id="longer"),
    pytest.param(lambda state: "", id="empty"),
    pytest.param(lambda state: "nonsense", id="nonsense"),
    pytest.param(lambda state: "é", id="not-ascii"),
    pytest.param(lambda state: 5, id="number"),
    pytest.param(lambda state: None, id="null"),
    pytest.param(lambda state: [state], id="array"),
]


@pytest.mark.promise(
    "Library",
    "The server keeps nothing between the rounds of a question in 2026-07-28, and a state that it did not make is refused.",
)
@pytest.mark.parametrize("spoil", BAD_STATES)
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_state_that_is_not_ours_is_refused(connect: Connect, spoil: Any) -> None:
    wire = await connect()
    state = (await first_round(wire))["requestState"]
    answer = await wire.request("tools/call", retry(spoil(state), first=ACCEPT))
    assert (answer.code, answer.status) == (INVALID_PARAMS, None if wire.lasting else 400)


@pytest.mark.parametrize("revision", [MODERN])
async def test_a_state_belongs_to_one_call_with_its_arguments(connect: Connect) -> None:
    wire = await connect()
    state = (await first_round(wire))["requestState"]
    assert (await wire.request("tools/call", retry(state, "y", first=ACCEPT))).code == INVALID_PARAMS
    foreign = {**tool("asks_person"), "requestState": state, "inputResponses": {"who": ACCEPT}}
    assert (await wire.request("tools/call", foreign)).code == INVALID_PARAMS
    prompt = {"name": "asking", "requestState": state, "inputResponses": {"who": ACCEPT}}
    assert (await wire.request("prompts/get", prompt)).code == INVALID_PARAMS


@pytest.mark.parametrize("revision", [MODERN])
@pytest.mark.parametrize("transport", ["memory", "http"])
async def test_a_state_that_is_too_old_is_refused(connect: Connect) -> None:
    wire = await connect(limits={"state_seconds": 0.001})
    state = (await first_round(wire))["requestState"]
    await wire.call("finish_soon", {"key": "a moment"})
    assert (await wire.request("tools/call", retry(state, first=ACCEPT))).code == INVALID_PARAMS


RESPONSES: list[Any] = [[], "text", 5, None]


@pytest.mark.parametrize("responses", RESPONSES)
@pytest.mark.parametrize("revision", [MODERN])
async def test_responses_that_are_no_object_are_refused(connect: Connect, responses: Any) -> None:
    wire = await connect()
    params = {**tool("asks_person"), "inputResponses": responses}
    assert (await wire.request("tools/call", params)).code == INVALID_PARAMS


UNUSABLE: list[Any] = [{}, {"who": 5}, {"who": {}}, {"who": {"action": "maybe"}}, {"other": ACCEPT}]


@pytest.mark.parametrize("responses", UNUSABLE)
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_missing_or_unusable_answer_is_asked_for_again(connect: Connect, responses: Any) -> None:
    wire = await connect()
    params = {**tool("asks_person"), "inputResponses": responses}
    result = (await wire.request("tools/call", params)).result
    assert list(result["inputRequests"]) == ["who"]


@pytest.mark.parametrize("revision", [MODERN])
@pytest.mark.parametrize("transport", ["memory", "http"])
async def test_answers_too_large_to_carry_along_are_refused(connect: Connect) -> None:
    wire = await connect(limits={"state_bytes": 200})
    state = (await first_round(wire))["requestState"]
    large = {"action": "accept", "content": {"name": "x" * 500}}
    assert (await wire.request("tools/call", retry(state, first=large))).code == INVALID_PARAMS
