"""Envelopes: ids, notifications, what is no message, batches."""

import json
from typing import Any

import pytest
from tests.matrix.conftest import Connect
from tests.matrix.wires import LEGACY, Wire, unique

INVALID_REQUEST, PARSE_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND = -32600, -32700, -32602, -32601

IDS = [
    0,
    -1,
    7,
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    "",
    "0",
    "7",
    "a b",
    'quote " and \\ and / and \n and \t',
    "é 漢 😀",
    "\u2028\u2029\x7f\x00",
    "x" * 1024,
]


def probe(wire: Wire) -> str:
    return "server/discover" if wire.modern else "ping"


@pytest.mark.promise("Messages", "Every reply carries the id of its request, with the same type.")
async def test_an_id_comes_back_with_its_type_and_value(connect: Connect) -> None:
    wire = await connect()
    for id_ in IDS:
        good = await wire.request(probe(wire), id=id_)
        bad = await wire.request("nope", id=id_)
        assert (good.reply["id"], type(good.reply["id"])) == (id_, type(id_))
        assert (bad.reply["id"], type(bad.reply["id"])) == (id_, type(id_))


async def test_an_id_too_long_to_keep_is_refused_with_itself(connect: Connect) -> None:
    wire = await connect()
    answer = await wire.request(probe(wire), id="x" * 1025)
    assert (answer.reply["id"], answer.code) == ("x" * 1025, INVALID_REQUEST)


BAD_IDS = ["null", "true", "false", "1.5", "1e400", "{}", "[]", '["a"]', "-0.5"]


@pytest.mark.promise("Messages", "An id is a string or an integer; anything else is malformed.")
async def test_an_id_of_another_type_is_refused(connect: Connect) -> None:
    wire = await connect()
    for id_ in BAD_IDS:
        message = json.dumps(wire.message("ping", id=1)).replace('"id": 1', f'"id": {id_}', 1)
        post = await wire.raw(message.encode(), wire.headers_of(wire.message("ping")))
        (error,) = await wire.heard(post)
        assert (id_, error["id"], error["error"]["code"]) in (
            (id_, None, INVALID_REQUEST),
            (id_, None, PARSE_ERROR),
        )
        assert await post.status() == (None if wire.lasting else 400)


NOTIFICATIONS: list[Any] = [
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 99}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": [1]}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}},
    {"jsonrpc": "2.0", "method": "notifications/cancelled"},
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": 5},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
    {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
    {"jsonrpc": "2.0", "method": "notifications/nonsense", "params": [1, 2]},
    {"jsonrpc": "2.0", "method": "tools/list"},
    {"jsonrpc": "2.0", "method": "initialize", "params": {}},
    {"jsonrpc": "1.0", "method": "notifications/initialized"},
    {"method": "notifications/initialized"},
    {"jsonrpc": 2, "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "method": "", "params": None},
    {"jsonrpc": "2.0", "result": {}, "id": "nobody asked this"},
    {"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}, "id": 5},
    {"jsonrpc": "2.0", "error": "no object", "id": 5},
    {"jsonrpc": "2.0", "error": {"code": 1, "message": "no"}, "id": None},
]


@pytest.mark.promise(
    "Messages",
    "Nothing answers a notification, whatever is wrong with it; over HTTP it gets status 202 and no body.",
)
async def test_a_notification_is_never_answered_whatever_is_wrong_with_it(connect: Connect) -> None:
    wire = await connect()
    for message in NOTIFICATIONS:
        if "method" not in message and wire.modern and not wire.lasting:
            continue  # see below: a modern client has nothing to answer
        await wire.said_nothing(await wire.post(message))


@pytest.mark.parametrize("transport", ["http", "sessions"])
@pytest.mark.parametrize("revision", ["2026-07-28"])
async def test_a_posted_response_is_refused_in_the_modern_era(connect: Connect) -> None:
    wire = await connect()
    post = await wire.post({"jsonrpc": "2.0", "id": 1, "result": {}})
    (error,) = await wire.heard(post)
    assert (error["error"]["code"], await post.status()) == (INVALID_REQUEST, 400)


NO_MESSAGES: list[tuple[bytes, Any, int]] = [
    (b"{", None, PARSE_ERROR),
    (b"nonsense", None, PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"}}', None, PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}', None, PARSE_ERROR),
    (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', None, PARSE_ERROR),
    (b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', None, PARSE_ERROR),
    (b"5", None, INVALID_REQUEST),
    (b'"ping"', None, INVALID_REQUEST),
    (b"null", None, INVALID_REQUEST),
    (b"true", None, INVALID_REQUEST),
    (b"{}", None, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":"a"}', "a", INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":3,"method":5}', 3, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":3,"method":null}', 3, INVALID_REQUEST),
    (b'{"jsonrpc":"1.0","id":3,"method":"ping"}', 3, INVALID_REQUEST),
    (b'{"id":3,"method":"ping"}', 3, INVALID_REQUEST),
    (b'{"jsonrpc":2.0,"id":3,"method":"ping"}', 3, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":3,"method":"ping","result":{}}', 3, INVALID_REQUEST),
    (b'{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}', 3, INVALID_REQUEST),
]


@pytest.mark.promise("Errors", "A malformed envelope is error -32600, with its id if it has one.")
@pytest.mark.parametrize("revision", ["2024-11-05", "2026-07-28"])
async def test_what_is_no_message_gets_one_error_with_the_id_if_there_is_one(connect: Connect) -> None:
    wire = await connect()
    headers = wire.headers_of(wire.message("ping"))
    for data, id_, code in NO_MESSAGES:
        if wire.transport == "websocket" and b"\xff" in data:
            continue  # a text frame that is not text is the WebSocket layer's to refuse
        post = await wire.raw(data, headers)
        (error,) = await wire.heard(post)
        assert (data, error["id"], error["error"]["code"]) == (data, id_, code)
        assert await post.status() == (None if wire.lasting else 400)


async def test_parameters_that_are_no_object_are_refused(connect: Connect) -> None:
    wire = await connect()
    for params in ([], [1], "text", 5, None, True):
        message = {**wire.message("tools/list"), "params": params}
        wire.remember(message)
        post = await wire.raw(json.dumps(message).encode(), wire.headers_of(wire.message("tools/list")))
        reply = await wire.reply_to(message["id"])
        assert (params, reply["error"]["code"]) == (params, INVALID_PARAMS)
        assert await post.status() == (None if wire.lasting else 400 if wire.modern else 200)


@pytest.mark.promise("Messages", "Members that a message does not need are ignored.")
async def test_unknown_members_do_not_matter(connect: Connect) -> None:
    wire = await connect()
    message = {**wire.message("tools/call", {"name": "gives_text", "extra": 1}), "extra": {"a": [1]}}
    assert (await wire.answer(message)).text == "hi"


async def test_a_second_request_of_an_id_in_flight_is_refused_where_a_connection_lasts(
    connect: Connect,
) -> None:
    wire = await connect()
    mark = unique("twice")
    first = await wire.post(wire.message("tools/call", _args("wait_for", mark=mark), id="same"))
    second = await wire.post(wire.message("tools/call", _args("echo", text="second"), id="same"))
    reply = await wire.reply_to("same")
    remembered = wire.lasting or (wire.transport == "sessions" and not wire.modern)
    if remembered:
        assert reply["error"]["code"] == INVALID_REQUEST
    else:
        assert reply["result"]["content"][0]["text"] == "second"  # ids belong to one POST
    await second.done()
    await wire.call("set_mark", {"mark": mark})
    if wire.lasting:
        assert (await wire.call("echo", {"text": "x"}, id="same")).reply["id"] == "same"
    else:
        await first.done()


def _args(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"name": tool, "arguments": arguments}


@pytest.mark.promise("Messages", "Answers may overtake each other: a slow call does not hold up a fast one.")
async def test_answers_overtake_each_other(connect: Connect) -> None:
    wire = await connect()
    mark = unique("overtaken")
    slow = await wire.post(wire.message("tools/call", _args("wait_for", mark=mark), id="slow"))
    assert (await wire.call("echo", {"text": "fast"})).text == "fast"
    await wire.post(wire.message("tools/call", _args("set_mark", mark=mark), id="release"))
    found = {(await wire.receive())["id"] for _ in range(2)}
    assert found == {"slow", "release"}
    await slow.done()


@pytest.mark.promise(
    "Messages",
    "A batch works in 2025-03-26, the one revision that has batches, and is refused in all others.",
)
async def test_a_batch_is_answered_in_the_one_revision_that_has_batches(connect: Connect) -> None:
    wire = await connect()
    first, second = wire.message("tools/call", _args("echo", text="a")), wire.message("nope")
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    post = await wire.post([first, note, second, 5])
    if wire.revision != "2025-03-26":
        (error,) = await wire.heard(post)
        assert (error["id"], error["error"]["code"]) == (None, INVALID_REQUEST)
        assert await post.status() == (None if wire.lasting else 400)
        return
    (answers,) = await wire.heard_soon(post)
    assert await post.status() == (None if wire.lasting else 200)
    by_id = {answer["id"]: answer for answer in answers}
    assert len(answers) == 3
    assert by_id[first["id"]]["result"]["content"][0]["text"] == "a"
    assert by_id[second["id"]]["error"]["code"] == METHOD_NOT_FOUND
    assert by_id[None]["error"]["code"] == INVALID_REQUEST


@pytest.mark.parametrize("revision", ["2025-03-26"])
async def test_a_batch_of_notifications_is_not_answered(connect: Connect) -> None:
    wire = await connect()
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    response = {"jsonrpc": "2.0", "id": "unasked", "result": {}}
    await wire.said_nothing(await wire.post([note, note, response]))


@pytest.mark.parametrize("revision", ["2025-03-26"])
async def test_a_batch_of_one_is_answered_with_an_array_of_one(connect: Connect) -> None:
    wire = await connect()
    message = wire.message("ping")
    (answers,) = await wire.heard_soon(await wire.post([message]))
    assert answers == [{"jsonrpc": "2.0", "id": message["id"], "result": {}}]


@pytest.mark.parametrize("revision", ["2025-03-26"])
@pytest.mark.parametrize("transport", ["stdio", "http", "sessions", "websocket"])
async def test_work_in_a_batch_is_answered_together(connect: Connect) -> None:
    wire = await connect()
    mark = unique("batched")
    waits = wire.message("tools/call", _args("wait_for", mark=mark))
    sets = wire.message("tools/call", _args("set_mark", mark=mark))
    (answers,) = await wire.heard_soon(await wire.post([waits, sets]))
    assert [answer["result"]["content"][0]["text"] for answer in answers] == [mark] * 2


BAD_BATCHES = [
    pytest.param("[]", id="empty"),
    pytest.param("[" + ",".join(['{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 101) + "]", id="too-many"),
    pytest.param('[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}]', id="handshake"),
]


@pytest.mark.parametrize("data", BAD_BATCHES)
@pytest.mark.parametrize("revision", ["2025-03-26"])
async def test_a_batch_that_cannot_be_one_gets_a_single_error(connect: Connect, data: str) -> None:
    wire = await connect()
    post = await wire.raw(data.encode(), wire.headers_of([]))
    (error,) = await wire.heard(post)
    assert (error["id"], error["error"]["code"]) == (None, INVALID_REQUEST)
    assert await post.status() == (None if wire.lasting else 400)


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("transport", ["memory", "stdio", "websocket"])
async def test_a_batch_before_the_handshake_is_refused(connect: Connect) -> None:
    wire = await connect(shake=False)
    (error,) = await wire.heard(await wire.post([wire.message("ping")]))
    assert error["error"]["code"] == INVALID_REQUEST
