"""Questions from servers in both eras: which are answered, which are refused, and how many are too many."""

import asyncio
import json
from typing import Any

import pytest
from aiohttp import web
from msgspec import Raw
from tests.client.fakes import Json, legacy, modern, result, wait_until, websocket_server

from qortal_mcp.client import (
    AnswerRefused,
    ClientError,
    ClientLimits,
    ElicitRequest,
    Handlers,
    MalformedReply,
    NotSupported,
    Options,
    connect,
    elicitation,
)
from qortal_mcp.protocol.messages import ElicitResult

LIMITS = ClientLimits(
    request_seconds=2, probe_seconds=0.5, goodbye_seconds=0.3, questions=4, input_rounds=3, answer_seconds=0.3
)


async def accept(question: ElicitRequest) -> ElicitResult:
    return ElicitResult(action="accept", content={"said": question.message})


async def refuse(params: Raw) -> object:
    raise AnswerRefused("not today", -1)


async def crash(params: Raw) -> object:
    raise ZeroDivisionError


async def hang(params: Raw) -> object:
    await asyncio.Event().wait()
    return {}


async def as_bytes(params: Raw) -> object:
    return b'{"raw":true}'


class Asking:
    """A server that asks one question when it gets a call of `x`, and replies with the answer."""

    def __init__(self, method: str, params: Any = None, times: int = 1) -> None:
        self.question: Json = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            self.question["params"] = params
        self.times = times
        self.answers: list[Json] = []
        self.waiting: Json | None = None
        self.declared: Json = {}

    def __call__(self, message: Json) -> list[bytes]:
        if message.get("method") == "initialize":
            self.declared = message["params"]["capabilities"]
        if message.get("method") == "x":
            self.waiting = message
            ids = [f"q{number}" for number in range(self.times)]
            return [json.dumps({**self.question, "id": id_}).encode() for id_ in ids]
        if "method" in message:
            return legacy(lambda _: [])(message)
        self.answers.append(message)
        if len(self.answers) < self.times or self.waiting is None:
            return []
        return [result(self.waiting, message)]


FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}
ELICIT: Handlers = elicitation(accept)
ANSWERS = [
    pytest.param("ping", None, {}, {"result": {}}, id="ping"),
    pytest.param(
        "elicitation/create",
        FORM,
        ELICIT,
        {"result": {"action": "accept", "content": {"said": "who?"}}},
        id="answered",
    ),
    pytest.param(
        "elicitation/create",
        FORM,
        {},
        {"error": {"code": -32601, "message": "Method not found"}},
        id="nobody-to-ask",
    ),
    pytest.param(
        "roots/list",
        {},
        ELICIT,
        {"error": {"code": -32601, "message": "Method not found"}},
        id="not-declared",
    ),
    pytest.param("odd/method", {}, {"odd/method": as_bytes}, {"result": {"raw": True}}, id="any-method"),
    pytest.param(
        "odd/method",
        {},
        {"odd/method": refuse},
        {"error": {"code": -1, "message": "not today"}},
        id="refused",
    ),
    pytest.param(
        "odd/method",
        {},
        {"odd/method": crash},
        {"error": {"code": -32603, "message": "Internal error"}},
        id="crashed",
    ),
    pytest.param(
        "odd/method",
        {},
        {"odd/method": hang},
        {"error": {"code": -32603, "message": "Nobody answered in time"}},
        id="too-slow",
    ),
]


@pytest.mark.parametrize(("method", "params", "handlers", "answer"), ANSWERS)
async def test_a_legacy_server_gets_an_answer(
    method: str, params: Any, handlers: Handlers, answer: Json, caplog: pytest.LogCaptureFixture
) -> None:
    server = Asking(method, params)
    options = Options(limits=LIMITS, handlers=handlers)
    async with (
        asyncio.timeout(30),
        websocket_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        reply = await client.request("x")
    assert reply.read(dict[str, Any]) == {"jsonrpc": "2.0", "id": "q0", **answer}
    assert server.declared == ({"elicitation": {}} if handlers is ELICIT else {})


async def test_bad_parameters_of_a_question_are_its_own_fault() -> None:
    server = Asking("elicitation/create", {"message": 5})
    options = Options(limits=LIMITS, handlers=ELICIT)
    async with (
        asyncio.timeout(30),
        websocket_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        await client.request("x")
    assert server.answers[0]["error"]["code"] == -32602


async def test_a_flood_of_questions_is_bounded() -> None:
    running = most = 0
    release = asyncio.Event()

    async def count(params: Raw) -> object:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if most == LIMITS.questions:
            release.set()
        await release.wait()
        running -= 1
        return {}

    server = Asking("odd", {}, times=8)
    options = Options(limits=LIMITS, handlers={"odd": count})
    async with (
        asyncio.timeout(30),
        websocket_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        await client.request("x")
    assert most <= LIMITS.questions
    assert {"result", "error"} >= {kind for answer in server.answers for kind in answer} - {"jsonrpc", "id"}


async def test_a_question_that_is_withdrawn_is_dropped() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def ask(params: Raw) -> object:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return {}

    server = Asking("odd", {})
    sockets: list[web.WebSocketResponse] = []
    options = Options(limits=ClientLimits(), handlers={"odd": ask})
    async with (
        asyncio.timeout(30),
        websocket_server(server, sockets) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        call = asyncio.create_task(client.request("x"))
        await began.wait()
        await sockets[-1].send_json(
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "q0"}}
        )
        await ended.wait()
        call.cancel()
    assert server.answers == []


async def test_a_modern_server_may_not_send_requests_and_gets_no_answer() -> None:
    seen: list[Json] = []

    def script(message: Json) -> list[bytes]:
        seen.append(message)
        return [b'{"jsonrpc":"2.0","id":"q","method":"ping"}', result(message, {})]

    async with asyncio.timeout(30), websocket_server(modern(script)) as url, connect(url) as client:
        await client.request("x")
        await client.request("y")
    assert [message["method"] for message in seen] == ["x", "y"]


def rounds(*bodies: Json) -> tuple[list[Json], Any]:
    """A server that answers calls with these results, one after the other; the calls it got."""
    calls: list[Json] = []

    def script(message: Json) -> list[bytes]:
        calls.append(message)
        return [result(message, bodies[min(len(calls), len(bodies)) - 1])]

    return calls, modern(script)


def asks(state: Any = None, **questions: Any) -> Json:
    body: Json = {"resultType": "input_required"}
    if questions:
        body["inputRequests"] = questions
    if state is not None:
        body["requestState"] = state
    return body


QUESTION = {"method": "elicitation/create", "params": FORM}
DONE: Json = {"resultType": "complete", "content": []}


async def test_a_retry_carries_the_answers_and_the_state_as_it_came() -> None:
    calls, script = rounds(asks("s\u00e9 1", a=QUESTION), asks(b=QUESTION), asks("only state"), DONE)
    options = Options(limits=LIMITS, handlers=ELICIT)
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url, options=options) as client:
        await client.call_tool("t", {"x": 1})
    answer = {"action": "accept", "content": {"said": "who?"}}
    carried = [
        {key: call["params"][key] for key in ("inputResponses", "requestState") if key in call["params"]}
        for call in calls
    ]
    assert carried == [
        {},
        {"inputResponses": {"a": answer}, "requestState": "s\u00e9 1"},
        {"inputResponses": {"b": answer}},
        {"requestState": "only state"},
    ]
    assert all(call["params"]["arguments"] == {"x": 1} for call in calls)
    assert len({call["id"] for call in calls}) == 4
    meta = calls[0]["params"]["_meta"]
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {}}


ODD: list[Any] = [
    pytest.param("tools/call", asks("again"), MalformedReply, id="for-ever"),
    pytest.param("tools/call", asks(), MalformedReply, id="asks-nothing"),
    pytest.param("tools/call", asks(**{f"q{n}": QUESTION for n in range(5)}), MalformedReply, id="too-many"),
    pytest.param("tools/list", asks(a=QUESTION), MalformedReply, id="may-not-ask"),
    pytest.param(
        "tools/call", asks(a={"method": "roots/list", "params": {}}), NotSupported, id="not-declared"
    ),
    pytest.param(
        "tools/call", {"resultType": "input_required", "inputRequests": [1]}, MalformedReply, id="no-object"
    ),
]


@pytest.mark.parametrize(("method", "body", "kind"), ODD)
async def test_odd_questions_end_the_request(method: str, body: Json, kind: type[ClientError]) -> None:
    calls, script = rounds(body)
    options = Options(limits=LIMITS, handlers=ELICIT)
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url, options=options) as client:
        with pytest.raises(kind):
            await client.request(method, {"name": "t"})
    assert len(calls) <= LIMITS.input_rounds + 1


async def test_text_that_only_mentions_questions_is_not_a_question() -> None:
    _, script = rounds({**DONE, "content": [{"type": "text", "text": '"resultType":"input_required"'}]})
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url) as client:
        assert "input_required" in (await client.call_tool("t")).text


def notice(method: str, id_: Any, **params: Any) -> bytes:
    meta = {"io.modelcontextprotocol/subscriptionId": id_}
    return json.dumps({"jsonrpc": "2.0", "method": method, "params": {**params, "_meta": meta}}).encode()


ACK = "notifications/subscriptions/acknowledged"
CHANGED = "notifications/tools/list_changed"
BAD_SUBSCRIPTIONS: list[Any] = [
    pytest.param(lambda m: [notice(CHANGED, m["id"])], MalformedReply, id="not-acknowledged-first"),
    pytest.param(lambda m: [notice(ACK, m["id"], notifications=5)], MalformedReply, id="odd-acknowledgement"),
    pytest.param(
        lambda m: [notice(ACK, str(m["id"]), notifications={})], ClientError, id="id-of-another-type"
    ),
    pytest.param(lambda m: [result(m, {"resultType": "complete"})], ClientError, id="over-at-once"),
    pytest.param(
        lambda m: [
            json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}).encode()
        ],
        ClientError,
        id="refused",
    ),
]


@pytest.mark.parametrize(("script", "kind"), BAD_SUBSCRIPTIONS)
async def test_a_subscription_that_does_not_begin_well_is_an_error(
    script: Any, kind: type[ClientError]
) -> None:
    from qortal_mcp.protocol.messages import ListenFilter

    options = Options(limits=ClientLimits(request_seconds=0.3, goodbye_seconds=0.3))
    async with (
        asyncio.timeout(30),
        websocket_server(modern(script)) as url,
        connect(url, options=options) as client,
    ):
        with pytest.raises(kind):
            async with client.listen(ListenFilter(toolsListChanged=True)):
                pass


async def test_notices_come_in_order_and_more_than_can_be_kept_end_the_subscription() -> None:
    from qortal_mcp.client import ConnectionLost
    from qortal_mcp.protocol.messages import ListenFilter

    told: list[Json] = []

    def script(message: Json) -> list[bytes]:
        told.append(message)
        if message["method"] == "more":
            return [*(notice(CHANGED, told[0]["id"], n=n) for n in range(20)), result(message, {})]
        return [
            notice(ACK, message["id"], notifications={"toolsListChanged": True}),
            notice(CHANGED, message["id"]),
        ]

    options = Options(limits=ClientLimits(backlog_messages=8, goodbye_seconds=0.3))
    async with (
        asyncio.timeout(30),
        websocket_server(modern(script)) as url,
        connect(url, options=options) as client,
    ):
        async with client.listen(ListenFilter(toolsListChanged=True)) as subscription:
            assert subscription.accepted.toolsListChanged
            assert (await anext(subscription)).method == CHANGED
            await client.request("more")
            with pytest.raises(ConnectionLost, match="faster"):
                async for _ in subscription:
                    pass
        await wait_until(lambda: True)


async def test_a_callback_that_fails_costs_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    def broken(_: object) -> None:
        raise ZeroDivisionError

    def script(message: Json) -> list[bytes]:
        token = message["params"].get("_meta", {}).get("progressToken")
        progress = {
            "jsonrpc": "2.0",
            "method": "notifications/progress",
            "params": {"progressToken": token, "progress": 1},
        }
        return [
            b'{"jsonrpc":"2.0","method":"notifications/odd"}',
            json.dumps(progress).encode(),
            result(message, {}),
        ]

    options = Options(limits=LIMITS, on_notification=broken)
    async with (
        asyncio.timeout(30),
        websocket_server(legacy(script)) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        await client.request("x", progress=broken)
    assert len([record for record in caplog.records if record.message == "a callback failed"]) == 2


async def test_progress_restarts_the_clock() -> None:
    sockets: list[web.WebSocketResponse] = []
    asked: list[Json] = []

    def script(message: Json) -> list[bytes]:
        asked.append(message)
        return []

    options = Options(limits=LIMITS)
    heard = asyncio.Event()
    async with (
        asyncio.timeout(30),
        websocket_server(legacy(script), sockets) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        call = asyncio.create_task(client.request("x", timeout=1, progress=lambda _: heard.set()))
        await wait_until(lambda: bool(asked))
        for step in range(4):
            heard.clear()
            token = asked[0]["params"]["_meta"]["progressToken"]
            params = {"progressToken": token, "progress": step}
            await asyncio.sleep(0.3)
            await sockets[-1].send_json(
                {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
            )
            await heard.wait()
        await sockets[-1].send_bytes(result(asked[0], {"late": True}))
        assert (await call).read(dict[str, bool]) == {"late": True}
