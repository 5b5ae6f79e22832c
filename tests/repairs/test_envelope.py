"""From the bytes of a server to messages: what comes out, at which level, and what is left alone."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.audit.cases import SERVERS
from tests.audit.stub import Ask, encoded, replies_to
from tests.cost import is_linear

from qortal_mcp.protocol import jsonrpc
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.repairs.envelope import ENVELOPE
from qortal_mcp.repairs.envelope.message import Message

SAFE, ALL, NONE = Repairs("safe"), Repairs("all"), Repairs("none")
Waiting = dict[jsonrpc.RequestId, str]
CALL: Waiting = {2: "tools/call"}
LIST: Waiting = {2: "tools/list"}
TWO: Waiting = {2: "tools/call", 3: "tools/call"}
GOOD = {"content": [], "isError": False}
GOOD_REPLY = {"jsonrpc": "2.0", "id": 2, "result": GOOD}


def packed(value: Any) -> bytes:
    return value if isinstance(value, bytes) else json.dumps(value).encode()


def out(messages: list[Message]) -> list[Any]:
    """The messages that are handed on."""
    return [json.loads(one.data) for one in messages if one.data]


def codes(messages: list[Message]) -> list[str]:
    return [change.code for one in messages for change in one.changes]


RIGHT = [
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":{"a":1.50,"b":12345678901234567890123,"c":1E5}}', id="result"),
    pytest.param(b'{"id":2,"result":{},"jsonrpc":"2.0"}', id="other-order"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no","data":[1]}}', id="error"),
    pytest.param('{"jsonrpc":"2.0","id":2,"result":{"a":"é\\ud83d\\ude00\\u2028"}}'.encode(), id="unicode"),
    pytest.param(b'{"jsonrpc":"2.0","method":"notifications/acme","params":{"x":1}}', id="notification"),
    pytest.param(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}', id="without-params"),
    pytest.param(b'{"jsonrpc":"2.0","id":5,"method":"ping"}', id="request"),
    pytest.param(b'{"jsonrpc":"2.0","id":"a","method":"roots/list","params":{}}', id="request-with-params"),
    pytest.param(b'{"jsonrpc":"2.0","method":"notifications/acme","extra":1}', id="extra-member-of-a-notification"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":[1]}', id="result-array"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":null}', id="result-null"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":"text"}', id="result-string"),
]  # fmt: skip


@pytest.mark.parametrize("data", RIGHT)
@pytest.mark.parametrize("repairs", [SAFE, ALL, NONE], ids=lambda one: one.level)
def test_a_right_message_passes_byte_for_byte(repairs: Repairs, data: bytes) -> None:
    (message,) = repairs.messages(data, CALL)
    assert message.data == data
    assert message.changes == ()


def test_the_result_of_a_right_reply_is_read_only_once() -> None:
    (message,) = SAFE.messages(b'{"jsonrpc":"2.0","id":2,"result":{"a":1.50}}', CALL)
    assert isinstance(message.parsed, jsonrpc.Response)
    assert message.parsed.id == 2
    assert bytes(message.parsed.result or b"") == b'{"a":1.50}'


@pytest.mark.parametrize("repairs", [SAFE, ALL, NONE], ids=lambda one: one.level)
def test_a_pretty_printed_message_becomes_one_line_and_nothing_else(repairs: Repairs) -> None:
    """B12."""
    data = b'{\r\n  "jsonrpc": "2.0",\n  "id": 2,\n  "result": {\n    "a": 1.50\n  }\n}\n'
    (message,) = repairs.messages(data, CALL)
    assert message.data == b'{  "jsonrpc": "2.0",  "id": 2,  "result": {    "a": 1.50  }}'
    assert message.changes == ()


# What comes in, what waits, what comes out, the codes.
AT_SAFE = [
    pytest.param(b"", CALL, [], ["blank-line"], id="B13-empty-frame"),
    pytest.param(b"oops", CALL, [], ["stdout-pollution"], id="B13-garbage-frame"),
    pytest.param(
        {"error": {"code": -32601, "message": "Method not found: notifications/cancelled"}, "id": None, "jsonrpc": "2.0"},
        {}, [], ["notification-answered"], id="B8",
    ),
    pytest.param(
        {"error": {"code": -32601, "message": "Method not found: notifications/cancelled"}, "id": None, "jsonrpc": "2.0"},
        CALL, [], ["notification-answered"], id="B8-while-a-request-is-in-flight",
    ),
    pytest.param(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "bad: notifications/x"}},
        CALL, [], ["notification-answered"], id="B8-invalid-notification",
    ),
    pytest.param(
        {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error: x"}, "id": None},
        CALL,
        [{"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": "The server could not read the request: Parse error: x"}], "isError": True}}],
        ["rpc-error-id-null", "rpc-error-id-null"], id="B15-call",
    ),
    pytest.param(
        {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error: x"}, "id": None},
        LIST,
        [{"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "upstream: Parse error: x"}}],
        ["rpc-error-id-null", "rpc-error-id-null"], id="B15-list",
    ),
    pytest.param(
        {"jsonrpc": "2.0", "error": {"code": -32600, "message": "too long"}},
        LIST,
        [{"jsonrpc": "2.0", "id": 2, "error": {"code": -32603, "message": "upstream: too long"}}],
        ["rpc-error-id-null", "rpc-error-id-null"], id="B15-invalid-request-without-id",
    ),
    pytest.param(
        {"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error: x"}, "id": None},
        TWO, [], ["rpc-error-id-null"], id="B15-several-in-flight",
    ),
    pytest.param({**GOOD_REPLY, "error": None}, CALL, [GOOD_REPLY], ["rpc-result-and-error"], id="B25-error-null"),
    pytest.param(
        {"jsonrpc": "2.0", "id": 2, "result": None, "error": {"code": -32000, "message": "x"}},
        CALL, [{"jsonrpc": "2.0", "id": 2, "error": {"code": -32000, "message": "x"}}], ["rpc-result-and-error"],
        id="B25-result-null",
    ),
    pytest.param({**GOOD_REPLY, "error": None, "result": None}, CALL, [{"jsonrpc": "2.0", "id": 2, "result": None}], ["rpc-result-and-error"], id="both-null"),
    pytest.param({**GOOD_REPLY, "error": ""}, CALL, [GOOD_REPLY], ["rpc-result-and-error"], id="error-empty"),
    pytest.param(
        {**GOOD_REPLY, "error": {"code": 1, "message": "x"}},
        CALL, [{"jsonrpc": "2.0", "id": 2, "error": {"code": 1, "message": "x"}}], ["rpc-result-and-error"], id="result-and-error",
    ),
    pytest.param({**GOOD_REPLY, "requestId": "u"}, CALL, [GOOD_REPLY], ["rpc-extra-member"], id="B26"),
    pytest.param(
        {**GOOD_REPLY, "method": "tools/call", "params": {}}, CALL, [GOOD_REPLY], ["rpc-extra-member"] * 2, id="request-repeated",
    ),
    pytest.param({"id": 2, "result": GOOD}, CALL, [GOOD_REPLY], ["rpc-version-missing"], id="jsonrpc-missing"),
    pytest.param({**GOOD_REPLY, "jsonrpc": 2.0}, CALL, [GOOD_REPLY], ["rpc-version-missing"], id="jsonrpc-number"),
    pytest.param(
        {"id": 2, "result": GOOD, "error": None, "x": 1}, CALL, [GOOD_REPLY],
        ["rpc-version-missing", "rpc-result-and-error", "rpc-extra-member"], id="all-at-once",
    ),
    pytest.param([GOOD_REPLY], CALL, [GOOD_REPLY], ["rpc-batch-reply"], id="batch"),
    pytest.param(
        [{"jsonrpc": "2.0", "method": "a"}, GOOD_REPLY], CALL, [{"jsonrpc": "2.0", "method": "a"}, GOOD_REPLY], ["rpc-batch-reply"],
        id="batch-with-a-notification",
    ),
    pytest.param([GOOD_REPLY, GOOD_REPLY], CALL, [GOOD_REPLY], ["rpc-batch-reply", "rpc-duplicate-reply"], id="twice-in-a-batch"),
    pytest.param([], CALL, [], ["stdout-pollution"], id="empty-batch"),
    pytest.param([[GOOD_REPLY]], CALL, [], ["stdout-pollution"], id="batch-in-a-batch"),
    pytest.param(packed(GOOD_REPLY) * 2, CALL, [GOOD_REPLY], ["message-joined", "rpc-duplicate-reply"], id="twice-in-a-piece"),
    pytest.param(
        b'{"jsonrpc":"2.0","method":"a"}' + packed(GOOD_REPLY), CALL, [{"jsonrpc": "2.0", "method": "a"}, GOOD_REPLY],
        ["message-joined"] * 2, id="joined",
    ),
    pytest.param(packed(GOOD_REPLY) + b" bye", CALL, [GOOD_REPLY], ["stdout-pollution"], id="text-after-a-message"),
    pytest.param(b"\xef\xbb\xbf" + packed(GOOD_REPLY), CALL, [GOOD_REPLY], ["bom"], id="bom"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":{"a":"x\xff"}}', CALL, [{"jsonrpc": "2.0", "id": 2, "result": {"a": "x\ufffd"}}], ["invalid-utf8"], id="utf8"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":{"\\udc00":"\\ud800 x"}}', CALL, [{"jsonrpc": "2.0", "id": 2, "result": {"\ufffd": "\ufffd x"}}], ["lone-surrogate"], id="surrogate"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":[NaN,-Infinity]}', CALL, [{"jsonrpc": "2.0", "id": 2, "result": [None, None]}], ["json-nan"], id="nan"),
    pytest.param(b'{"jsonrpc":"2.0","id":2,"result":"a\nb\tc"}', CALL, [{"jsonrpc": "2.0", "id": 2, "result": "a\nb\tc"}], ["json-control-character"], id="control-character"),
    pytest.param({"method": "notifications/acme"}, {}, [{"jsonrpc": "2.0", "method": "notifications/acme"}], ["message-version-missing"], id="notification-without-version"),
    pytest.param({"jsonrpc": "2.0", "method": "a", "params": None}, {}, [{"jsonrpc": "2.0", "method": "a"}], ["params-null"], id="params-null"),
    pytest.param({"jsonrpc": "2.0", "method": "a", "params": [1]}, {}, [{"jsonrpc": "2.0", "method": "a"}], ["params-null"], id="params-array"),
    pytest.param({"jsonrpc": "2.0", "id": None, "method": "ping"}, {}, [], ["request-id-invalid"], id="request-id-null"),
    pytest.param({"jsonrpc": "2.0", "id": None, "method": "notifications/a"}, {}, [{"jsonrpc": "2.0", "method": "notifications/a"}], ["request-id-invalid"], id="notification-id-null"),
    pytest.param({"level": "info", "msg": "started"}, CALL, [], ["stdout-pollution"], id="banner-json"),
    pytest.param(b"17", CALL, [], ["stdout-pollution"], id="number"),
    pytest.param(b"2026-01-01 server started", CALL, [], ["stdout-pollution"], id="log-line"),
    pytest.param({**GOOD_REPLY, "id": 1}, CALL, [], ["rpc-duplicate-reply"], id="second-reply"),
    pytest.param({**GOOD_REPLY, "id": "2"}, CALL, [], ["rpc-id-type-changed"], id="B7-id-type"),
    pytest.param({**GOOD_REPLY, "id": 2.0}, CALL, [], ["rpc-id-type-changed"], id="id-float"),
    pytest.param({**GOOD_REPLY, "id": True}, {1: "tools/call"}, [], ["rpc-id-wrong"], id="id-true-is-not-1"),
    pytest.param({**GOOD_REPLY, "id": 987654}, CALL, [], ["rpc-id-wrong"], id="id-wrong"),
    pytest.param({"jsonrpc": "2.0", "result": GOOD}, CALL, [], ["rpc-id-missing"], id="id-missing"),
    pytest.param({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "x"}}, CALL, [], ["rpc-id-missing"], id="error-id-null"),
    pytest.param({"jsonrpc": "2.0", "id": None, "result": {}}, CALL, [], ["notification-answered"], id="notif-reply-null"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "waiting", "expected", "found"), AT_SAFE)
def test_what_is_wrong_is_put_right_at_safe(
    data: Any, waiting: Waiting, expected: list[Any], found: list[str]
) -> None:
    messages = SAFE.messages(packed(data), waiting, latest=3)
    assert out(messages) == expected
    assert codes(messages) == found
    for message in messages:
        assert not message.data or not isinstance(jsonrpc.read(message.data), jsonrpc.Invalid)


ERRORS = [
    pytest.param("down", {"code": -32603, "message": "down"}, id="string"),
    pytest.param({"code": -32000}, {"code": -32000, "message": "Error -32000"}, id="no-message"),
    pytest.param({"code": "DOWN", "message": "x"}, {"code": -32603, "message": "x", "data": {"code": "DOWN"}}, id="code-text"),
    pytest.param({"code": "-32602", "message": "x"}, {"code": -32602, "message": "x"}, id="code-digits"),
    pytest.param({"code": "A", "message": "x", "data": {"y": 1}}, {"code": -32603, "message": "x", "data": {"y": 1, "code": "A"}}, id="code-text-beside-data"),
    pytest.param({"code": "A", "message": "x", "data": "y"}, {"code": -32603, "message": "x", "data": "y"}, id="code-text-beside-other-data"),
    pytest.param({"message": "x"}, {"code": -32603, "message": "x"}, id="no-code"),
    pytest.param({"code": -1, "message": {"a": 1}}, {"code": -1, "message": '{"a":1}'}, id="message-object"),
    pytest.param({"code": -1, "detail": "why"}, {"code": -1, "detail": "why", "message": "why"}, id="message-elsewhere"),
    pytest.param({}, {"code": -32603, "message": "The server gave no reason"}, id="empty"),
    pytest.param(None, {"code": -32603, "message": "The server gave no reason"}, id="null"),
    pytest.param(True, {"code": -32603, "message": "true"}, id="true"),
    pytest.param([1], {"code": -32603, "message": "[1]"}, id="array"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "expected"), ERRORS)
def test_a_malformed_error_keeps_its_text(error: Any, expected: Any) -> None:
    messages = SAFE.messages(packed({"jsonrpc": "2.0", "id": 2, "error": error}), CALL)
    assert out(messages) == [{"jsonrpc": "2.0", "id": 2, "error": expected}]
    assert codes(messages) == ["rpc-error-malformed"]


RESTORED = [
    pytest.param({"jsonrpc": "2.0", "id": "2", "result": GOOD}, "rpc-id-type-changed", id="type"),
    pytest.param({"jsonrpc": "2.0", "id": 2.0, "result": GOOD}, "rpc-id-type-changed", id="float"),
    pytest.param({"jsonrpc": "2.0", "result": GOOD}, "rpc-id-missing", id="missing"),
    pytest.param({"jsonrpc": "2.0", "id": None, "result": GOOD}, "rpc-id-missing", id="null"),
    pytest.param({"jsonrpc": "2.0", "id": 987654, "result": GOOD}, "rpc-id-wrong", id="wrong"),
    pytest.param({"jsonrpc": "2.0", "id": {"a": 1}, "result": GOOD}, "rpc-id-wrong", id="object"),
]


@pytest.mark.parametrize(("reply", "code"), RESTORED)
def test_an_id_is_restored_at_all_and_only_for_the_only_request(reply: Any, code: str) -> None:
    data = packed(reply)
    restored = ALL.messages(data, CALL, latest=3)
    assert (out(restored), codes(restored)) == ([GOOD_REPLY], [code])
    for messages in (
        ALL.messages(data, TWO, latest=3),
        ALL.messages(data, {}, latest=3),
        ALL.messages(data, CALL, latest=3, lasting=False),
        SAFE.messages(data, CALL, latest=3),
    ):
        assert out(messages) == []
    own = ALL.messages(data, TWO, via=2, latest=3, lasting=False)
    assert (out(own), codes(own)) == ([GOOD_REPLY], [code])


def test_a_late_reply_is_dropped_and_no_mistake() -> None:
    for repairs in (SAFE, ALL, NONE):
        for id_ in (1, "1", 1.0):
            late = packed({**GOOD_REPLY, "id": id_})
            (message,) = repairs.messages(late, CALL, latest=3, given_up={1})
            assert (message.data, message.changes) == (b"", ())
            assert [one.data for one in repairs.messages(late, CALL, via=1, latest=3, given_up={1})] == [b""]


def test_a_reply_in_the_requests_own_exchange_is_its_own_whatever_its_id() -> None:
    messages = ALL.messages(
        packed({**GOOD_REPLY, "id": 1}), CALL, via=2, latest=3, lasting=False, given_up={1}
    )
    assert (out(messages), codes(messages)) == ([GOOD_REPLY], ["rpc-id-wrong"])


def test_a_second_reply_is_never_given_to_another_request() -> None:
    for id_ in (1, "1", 3, "3"):
        messages = ALL.messages(packed({**GOOD_REPLY, "id": id_}), CALL, latest=3)
        assert (out(messages), codes(messages)) == ([], ["rpc-duplicate-reply"])


def test_the_retyped_id_of_another_request_is_not_given_to_the_one_whose_reply_it_came_in() -> None:
    messages = ALL.messages(packed({**GOOD_REPLY, "id": "3"}), TWO, via=2, latest=3)
    assert (out(messages), codes(messages)) == ([], ["rpc-id-type-changed"])


def test_a_second_reply_in_a_requests_own_stream_is_dropped() -> None:
    messages = ALL.messages(packed(GOOD_REPLY), {3: "tools/call"}, via=2, latest=3, lasting=False)
    assert (out(messages), codes(messages)) == ([], ["rpc-duplicate-reply"])


def test_the_empty_reply_to_a_notification_is_not_taken_for_the_result_of_a_request() -> None:
    reply = packed({"jsonrpc": "2.0", "id": None, "result": {}})
    assert codes(ALL.messages(reply, CALL)) == ["notification-answered"]
    assert out(ALL.messages(reply, {2: "ping"})) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]
    assert out(ALL.messages(reply, CALL, via=2)) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


def test_an_error_that_names_the_method_in_flight_is_its_own() -> None:
    reply = packed(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "unknown: tools/list"}}
    )
    assert out(ALL.messages(reply, LIST))[0]["id"] == 2
    assert codes(SAFE.messages(reply, LIST)) == ["rpc-id-missing"]


@pytest.mark.parametrize("code", [-32001, -32600, -32601, 429])
def test_an_error_without_an_id_in_a_requests_own_reply_is_its_error(code: int) -> None:
    error = {"code": code, "message": "Session not found"}
    messages = SAFE.messages(
        packed({"jsonrpc": "2.0", "error": error, "id": None}), TWO, via=3, lasting=False
    )
    assert out(messages) == [{"jsonrpc": "2.0", "id": 3, "error": error}]
    assert codes(messages) == ["rpc-error-id-null"]


def test_a_parse_error_in_a_calls_own_reply_is_a_failed_call() -> None:
    error = {"code": -32700, "message": "x"}
    (message,) = SAFE.messages(
        packed({"jsonrpc": "2.0", "error": error, "id": None}), TWO, via=3, lasting=False
    )
    assert json.loads(message.data)["result"]["isError"] is True
    assert [change.before for change in message.changes if change.kept] == [error]


def test_a_refused_notification_does_no_harm_to_a_request_on_another_exchange() -> None:
    data = packed({"jsonrpc": "2.0", "error": {"code": -32600, "message": "x"}, "id": None})
    assert out(ALL.messages(data, CALL, lasting=False)) == []


def test_a_member_that_occurs_twice_is_reduced_to_the_last_at_all() -> None:
    data = b'{"jsonrpc":"2.0","id":2,"result":{"a":1,"a":2.50}}'
    assert [one.data for one in SAFE.messages(data, CALL)] == [data]
    (message,) = ALL.messages(data, CALL)
    assert message.data == b'{"jsonrpc":"2.0","id":2,"result":{"a":2.50}}'
    assert codes([message]) == ["json-duplicate-member"]


def test_numbers_keep_their_digits_whatever_is_put_right() -> None:
    digits = b'{"a":1.50,"b":1E400,"c":-0,"d":123456789012345678901234567890,"e":%b}' % (b"9" * 5000)
    for data in (
        b'{"id":2,"result":%b}',
        b'\xef\xbb\xbf{"jsonrpc":"2.0","id":2,"result":%b}',
        b'{"jsonrpc":"2.0","id":2,"result":%b,"x":1.0}',
    ):
        (message,) = SAFE.messages(data % digits, CALL)
        assert message.data == b'{"jsonrpc":"2.0","id":2,"result":%b}' % digits
        assert message.changes


def test_what_is_taken_out_of_a_reply_is_kept() -> None:
    (message,) = SAFE.messages(packed({**GOOD_REPLY, "requestId": "u"}), CALL)
    assert [(change.path, change.before, change.kept) for change in message.changes] == [
        ("requestId", "u", True)
    ]


def test_a_reply_too_deep_to_read_still_fails_its_request() -> None:
    data = b'{"jsonrpc":"2.0","id":2,"result":' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    (message,) = SAFE.messages(data, CALL)
    assert message.data == b""
    assert isinstance(message.parsed, jsonrpc.Invalid)
    assert message.parsed.id == 2


def test_a_reply_with_neither_result_nor_error_is_left_to_the_client_to_refuse() -> None:
    data = b'{"jsonrpc":"2.0","id":2}'
    assert [one.data for one in SAFE.messages(data, CALL)] == [data]


def asked(method: str, **params: Any) -> Ask:
    return Ask({"jsonrpc": "2.0", "id": 2, "method": method, "params": params}, "2025-06-18")


def fine(text: str = "fine", **members: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 2, "result": {"content": [{"type": "text", "text": text}], **members}}


def failed(**error: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 2, "error": error}


FINE = fine()
# Each broken server of the audit: what comes of its replies to a call at safe and at all, and the codes at all.
CORPUS: list[tuple[str, Any, Any, list[str]]] = [
    ("right", [FINE], [FINE], []),
    ("error-null", [FINE], [FINE], ["rpc-result-and-error"]),
    ("extra-member", [FINE], [FINE], ["rpc-extra-member"]),
    ("jsonrpc-missing", [FINE], [FINE], ["rpc-version-missing"]),
    ("jsonrpc-1", [FINE], [FINE], ["rpc-version-missing"]),
    ("batch-reply", [FINE], [FINE], ["rpc-batch-reply"]),
    ("id-type", [], [FINE], ["rpc-id-type-changed"]),
    ("id-missing", [], [FINE], ["rpc-id-missing"]),
    ("id-null", [], [FINE], ["rpc-id-missing"]),
    ("id-wrong", [], [FINE], ["rpc-id-wrong"]),
    ("member-twice", [FINE], [FINE], ["json-duplicate-member"]),
    *(
        (name, [reply], [reply], found)
        for name, reply, found in [
            ("rpc-error", failed(code=-32000, message="down", data={"detail": "x"}), []),
            ("rpc-error-nomessage", failed(code=-32000, message="Error -32000"), ["rpc-error-malformed"]),
            ("rpc-error-string", failed(code=-32603, message="down"), ["rpc-error-malformed"]),
            (
                "rpc-error-code-string",
                failed(code=-32603, message="x", data={"code": "DOWN"}),
                ["rpc-error-malformed"],
            ),
            ("result-null-error", failed(code=-32000, message="x"), ["rpc-result-and-error"]),
            ("result-null", {"jsonrpc": "2.0", "id": 2, "result": None}, []),
            ("surrogate", fine("a \ufffd x"), ["lone-surrogate"]),
            ("nan", fine("x", structuredContent={"v": None}), ["json-nan"]),
            ("bad-utf8", fine("\ufffd"), ["invalid-utf8"]),
        ]
    ),
    *(
        (name, [notice, FINE], [notice, FINE], found)
        for name, notice, found in [
            (
                "notice-without-version",
                {"jsonrpc": "2.0", "method": "notifications/acme"},
                ["message-version-missing"],
            ),
            (
                "notif-params-null",
                {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
                ["params-null"],
            ),
            ("unknown-notif", {"jsonrpc": "2.0", "method": "notifications/acme", "params": {"x": 1}}, []),
            ("number-id-request", {"jsonrpc": "2.0", "id": 5, "method": "ping"}, []),
        ]
    ),
    ("null-id-request", [FINE], [FINE], ["request-id-invalid"]),
]


def heard(repairs: Repairs, name: str, ask: Ask) -> list[Message]:
    waiting: Waiting = {2: ask.method}
    replies = replies_to(SERVERS[name], ask)
    return [one for reply in replies for one in repairs.messages(encoded(reply), waiting, latest=2)]


@pytest.mark.parametrize(("name", "at_safe", "at_all", "found"), CORPUS, ids=[row[0] for row in CORPUS])
def test_the_replies_of_each_broken_server(name: str, at_safe: Any, at_all: Any, found: list[str]) -> None:
    ask = asked("tools/call", name="t")
    assert out(heard(SAFE, name, ask)) == at_safe
    messages = heard(ALL, name, ask)
    assert (out(messages), codes(messages)) == (at_all, found)


@pytest.mark.parametrize(("name", "at_safe"), [("init-id-type", 0), ("init-jsonrpc-missing", 1)])
def test_the_handshake_of_a_broken_server(name: str, at_safe: int) -> None:
    ask = asked("initialize", protocolVersion="2025-06-18")
    right = replies_to(SERVERS["right"], ask)
    assert out(heard(SAFE, name, ask)) == right[:at_safe]
    assert out(heard(ALL, name, ask)) == right


def test_a_server_that_replies_twice_is_heard_once() -> None:
    waiting = dict(CALL)
    messages: list[Message] = []
    for reply in replies_to(SERVERS["dup-reply"], asked("tools/call", name="t")):
        messages += SAFE.messages(encoded(reply), waiting, latest=2)
        waiting.clear()
    assert (out(messages), codes(messages)) == ([FINE], ["rpc-duplicate-reply"])


@pytest.mark.parametrize("name", ["notif-reply-null", "notif-reply-error", "notif-reply-noid"])
def test_a_server_that_answers_notifications_is_not_heard(name: str) -> None:
    notice = Ask({"jsonrpc": "2.0", "method": "notifications/initialized"}, "2025-06-18")
    (reply,) = replies_to(SERVERS[name], notice)
    for repairs in (SAFE, ALL):
        for waiting in ({}, LIST):
            messages = repairs.messages(encoded(reply), waiting, latest=2)
            assert (out(messages), codes(messages)) == ([], ["notification-answered"])


# A defect that each code alone repairs, and that stays if it is switched off.
SWITCHES = [
    pytest.param("bom", b"\xef\xbb\xbf" + packed(GOOD_REPLY), id="bom"),
    pytest.param("invalid-utf8", b'{"jsonrpc":"2.0","id":2,"result":{"a":"\xff"}}', id="invalid-utf8"),
    pytest.param("lone-surrogate", b'{"jsonrpc":"2.0","id":2,"result":{"a":"\\ud800"}}', id="lone-surrogate"),
    pytest.param("json-nan", b'{"jsonrpc":"2.0","id":2,"result":{"a":NaN}}', id="json-nan"),
    pytest.param("json-control-character", b'{"jsonrpc":"2.0","id":2,"result":{"a":"\x01"}}', id="control"),
    pytest.param("json-duplicate-member", b'{"jsonrpc":"2.0","id":2,"result":{"a":1,"a":2}}', id="twice"),
    pytest.param("message-joined", b'{"jsonrpc":"2.0","method":"a"}{"jsonrpc":"2.0","method":"b"}', id="joined"),
    pytest.param("stdout-pollution", packed(GOOD_REPLY) + b" bye", id="pollution"),
    pytest.param("rpc-batch-reply", packed([GOOD_REPLY]), id="batch"),
    pytest.param("rpc-version-missing", packed({"id": 2, "result": GOOD}), id="version"),
    pytest.param("message-version-missing", packed({"method": "a"}), id="version-of-a-notification"),
    pytest.param("rpc-result-and-error", packed({**GOOD_REPLY, "error": None}), id="result-and-error"),
    pytest.param("rpc-error-malformed", packed({"jsonrpc": "2.0", "id": 2, "error": "x"}), id="error"),
    pytest.param("rpc-extra-member", packed({**GOOD_REPLY, "x": 1}), id="extra"),
    pytest.param("params-null", packed({"jsonrpc": "2.0", "method": "a", "params": None}), id="params"),
    pytest.param("request-id-invalid", packed({"jsonrpc": "2.0", "id": None, "method": "notifications/a"}), id="request-id"),
    pytest.param("rpc-error-id-null", packed({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "x"}}), id="null-id"),
    pytest.param("rpc-id-missing", packed({"jsonrpc": "2.0", "result": GOOD}), id="id-missing"),
    pytest.param("rpc-id-type-changed", packed({**GOOD_REPLY, "id": "2"}), id="id-type"),
    pytest.param("rpc-id-wrong", packed({**GOOD_REPLY, "id": 9}), id="id-wrong"),
]  # fmt: skip


@pytest.mark.parametrize(("code", "data"), SWITCHES)
def test_each_repair_can_be_switched_off(code: str, data: bytes) -> None:
    on = ALL.messages(data, CALL, latest=2)
    assert set(codes(on)) == {code}
    assert all(one.data for one in on)
    off = Repairs("all", without=[code]).messages(data, CALL, latest=2)
    # Either it stays as it came, for the client to refuse, or it cannot be a message and is dropped.
    assert all(one.data in (b"", data) for one in off)
    assert all(not one.data for one in off if one.changes)


def test_every_repair_has_a_switch_that_is_tested() -> None:
    """Those that drop something need none: what nobody waits for is dropped anyway."""
    tested = {str(row.values[0]) for row in SWITCHES}
    assert {one.code for one in ENVELOPE} - tested == {"notification-answered", "rpc-duplicate-reply"}


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
envelopes = st.dictionaries(
    st.sampled_from(["jsonrpc", "id", "result", "error", "method", "params", "x"]),
    json_values | st.sampled_from(["2.0", 2, "2", 1, {"code": -32700, "message": "m"}, "tools/call"]),
)
pieces = st.binary(max_size=60) | st.lists(envelopes | st.lists(envelopes, max_size=2), max_size=2).map(
    lambda parts: b"".join(json.dumps(part).encode() for part in parts)
)


@given(pieces, st.sampled_from([{}, CALL, LIST, TWO]), st.sampled_from([None, 2]), st.booleans())
@settings(deadline=None, derandomize=True, database=None)
def test_whatever_comes_everything_that_goes_on_is_json(
    data: bytes, waiting: Waiting, via: int | None, lasting: bool
) -> None:
    for repairs in (SAFE, ALL, NONE):
        messages = repairs.messages(data, waiting, via, 3, lasting)
        answered = [one["id"] for one in out(messages) if isinstance(one, dict) and "method" not in one]
        assert len(set(answered)) == len(answered)
        assert set(answered) <= set(waiting)
        for message in messages:
            assert b"\n" not in message.data
            assert message.data or message.changes
            if repairs is not NONE and message.data:
                read = jsonrpc.read(message.data)
                assert not isinstance(read, jsonrpc.Invalid) or read.id in waiting


HOSTILE = [
    pytest.param(b"", b"[", b"", id="brackets"),
    pytest.param(b'"', b'\\"', b"", id="quotes"),
    pytest.param(b"", b"{}", b"", id="objects"),
    pytest.param(b"", b"1 ", b"", id="numbers"),
    pytest.param(b"[", b"{},", b"{}]", id="batch"),
    pytest.param(b"", b'{"a":', b"", id="nested"),
    pytest.param(b"", b"\xff", b"", id="bytes"),
]


@pytest.mark.parametrize(("start", "piece", "end"), HOSTILE)
def test_a_megabyte_of_anything_is_dropped_in_linear_time(start: bytes, piece: bytes, end: bytes) -> None:
    def drop(data: bytes) -> None:
        messages = ALL.messages(data, CALL, latest=2)
        assert out(messages) == []
        assert len(messages) == 1

    assert is_linear(lambda size: start + piece * (size // len(piece)) + end, drop, 1_000_000)
