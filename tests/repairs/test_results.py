"""What comes out of the repairs of `tools/call`, at both levels, and that right answers are left alone."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from tests.audit.cases import BY_NAME, Case

from qortal_mcp.repairs.chosen import DROPPED, REPAIRED, Outcome, Repairs
from qortal_mcp.repairs.results import RESULTS
from qortal_mcp.repairs.results.reading import LARGE_CHARACTERS, MOST_VALUES
from qortal_mcp.repairs.subjects import Asked, KnownTool

LEGACY = Asked(revision="2025-06-18", method="tools/call")
OLD = Asked(revision="2025-03-26", method="tools/call")
MODERN = Asked(revision="2026-07-28", is_modern=True, method="tools/call")
PLAIN = KnownTool(name="t")
SAME: Any = object()
_PNG = BY_NAME["image"].server.result["content"][0]["data"]
_WAV = BY_NAME["audio"].server.result["content"][0]["data"]


def asked(
    result: Any = SAME,
    error: Any = SAME,
    *,
    level: str = "safe",
    of: Asked = LEGACY,
    tool: KnownTool | None = PLAIN,
    without: tuple[str, ...] = (),
) -> Outcome:
    raw = [None if one is SAME else Raw(json.dumps(one).encode()) for one in (result, error)]
    return Repairs(level, without).call(raw[0], raw[1], of, tool)


def value(outcome: Outcome) -> Any:
    """The result without our marks."""
    assert outcome.result is not None
    result = json.loads(bytes(outcome.result))
    if isinstance(result, dict) and "_meta" in result:
        rest = {name: part for name, part in result["_meta"].items() if name not in (REPAIRED, DROPPED)}
        result = {**result, "_meta": rest} if rest else {k: v for k, v in result.items() if k != "_meta"}
    return result


def meta(outcome: Outcome) -> Any:
    assert outcome.result is not None
    return json.loads(bytes(outcome.result))["_meta"]


def codes(outcome: Outcome) -> list[str]:
    return list(dict.fromkeys(change.code for change in outcome.changes))


def said(text: str, **more: Any) -> Any:
    return {"content": [{"type": "text", "text": text}], **more}


def failed(text: str) -> Any:
    return said(text, isError=True)


B_CASES = [
    pytest.param({"count": 1, "logs": ["a"]}, said('{"count":1,"logs":["a"]}', structuredContent={"count": 1, "logs": ["a"]}, isError=False), id="B1"),
    pytest.param(said('{"count":0,"patches":[]}', isError=False), SAME, id="B2"),
    pytest.param({"error": {"code": -32602, "message": "Patch not found: x"}}, failed("Patch not found: x"), id="B3"),
    pytest.param({"content": [{"type": "object", "object": {"isValid": False}}]}, said('{"isValid":false}', structuredContent={"isValid": False}, isError=False), id="B21"),
    pytest.param({"content": [{"type": "object", "object": {"error": "Invalid Qortal address."}}]}, failed("Invalid Qortal address."), id="B22"),
    pytest.param(said("[1,2]", structuredContent=[1, 2]), said("[1,2]", isError=False), id="B23"),
    pytest.param(failed("Node unreachable") | {"structuredContent": {"error": "Node unreachable"}}, failed("Node unreachable"), id="B24"),
    pytest.param({"content": [], "isError": False}, SAME, id="B25"),
    pytest.param({"structuredContent": {"a": 1}}, said('{"a":1}', structuredContent={"a": 1}), id="B29-structured"),
    pytest.param({}, {"content": []}, id="B29-empty"),
    pytest.param(None, {"content": []}, id="B29-null"),
    pytest.param("hi", said("hi"), id="B29-text"),
    pytest.param([1], said("[1]"), id="B29-array"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "expected"), B_CASES)
def test_a_result_comes_out_exactly_as_its_case_says(sent: Any, expected: Any) -> None:
    outcome = asked(sent)
    assert value(outcome) == (sent if expected is SAME else expected)
    assert bool(outcome.changes) is (expected is not SAME)


def test_text_that_is_an_object_is_structured_content_too_at_level_all() -> None:
    sent = said('{"count":0,"patches":[]}', isError=False)
    assert value(asked(sent, level="all")) == sent | {"structuredContent": {"count": 0, "patches": []}}


def test_a_doubly_wrapped_result_is_unwrapped_at_level_all_only() -> None:
    sent = {"result": {"status": "success", "varname": "b"}}
    inner = sent["result"]
    assert value(asked(sent, level="all")) == said(
        '{"status":"success","varname":"b"}', structuredContent=inner, isError=False
    )
    assert value(asked(sent))["structuredContent"] == sent


ERRORS = [
    pytest.param({"code": -32602, "message": "Patch not found: x"}, "Patch not found: x", id="B4"),
    pytest.param({"code": -32603, "message": "Timeout reading objects"}, "Timeout reading objects", id="B4-timeout"),
    pytest.param({"code": 429, "message": "Rate limit exceeded"}, "Rate limit exceeded", id="B27"),
    pytest.param({"code": -32000, "message": "down", "data": {"detail": "x"}}, 'down\n{"detail":"x"}', id="rpc-error"),
    pytest.param({"code": -32602, "message": "bad address"}, "bad address", id="rpc-error-32602"),
    pytest.param({"code": -32602, "message": "Invalid arguments for tool get: x"}, "Invalid arguments for tool get: x", id="arguments"),
    pytest.param({"code": -32602, "message": "Unknown tool parameter: x"}, "Unknown tool parameter: x", id="parameter"),
    pytest.param({"code": -32602, "message": "Invalid params: x is missing"}, "Invalid params: x is missing", id="params-of-the-tool"),
    pytest.param({"code": -32603, "message": "failed", "data": "KeyError: x"}, "failed\nKeyError: x", id="data-is-text"),
    pytest.param({"code": -32000}, "The server gave no message.", id="rpc-error-nomessage"),
    pytest.param("down", "down", id="rpc-error-string"),
    pytest.param({"code": "DOWN", "message": "x"}, "x\nDOWN", id="rpc-error-code-string"),
    pytest.param([1], "[1]", id="rpc-error-list"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_a_failed_tool_is_a_result_and_the_error_is_kept(error: Any, text: str) -> None:
    outcome = asked(error=error)
    assert outcome.error is None
    assert value(outcome) == failed(text)
    assert meta(outcome)[DROPPED] == {"error": error}


PROTOCOL_ERRORS = [
    *((code, "no") for code in (-32601, -32700, -32600, -32020, -32021, -32022, -32042, -32800)),
    (-32602, "Unknown tool: nope"),
    (-32602, "MCP error -32602: Tool nope not found"),
    (-32602, "Tool not found: nope"),
    (-32602, "Tool 'nope' does not exist"),
    (-32602, "Missing tool name"),
    (-32602, "Invalid params"),
    (-32602, "Invalid request parameters"),
    (-32602, "params must be an object"),
]


@pytest.mark.parametrize(("code", "message"), PROTOCOL_ERRORS)
@pytest.mark.parametrize("level", ["safe", "all"])
def test_an_error_of_the_protocol_stays_one(code: int, message: str, level: str) -> None:
    outcome = asked(error={"code": code, "message": message}, level=level)
    assert outcome.error is not None
    assert json.loads(bytes(outcome.error)) == {"code": code, "message": message}
    assert (outcome.result, outcome.changes) == (None, ())


def test_an_error_stays_well_formed_where_only_its_form_is_repaired() -> None:
    outcome = asked(error="down", without=("tool-failure-as-protocol-error",))
    assert outcome.error is not None
    assert json.loads(bytes(outcome.error)) == {"code": -32603, "message": "down"}


FAILURES = [
    pytest.param({"error": "down"}, "down", id="text"),
    pytest.param({"error": "down", "success": False, "rows": []}, "down", id="nothing-else"),
    pytest.param({"error": True, "message": "down"}, "down", id="flag-and-message"),
    pytest.param({"error": "Not Found", "message": "No patch x", "statusCode": 404}, 'Not Found\n{"message":"No patch x","statusCode":404}', id="details"),
    pytest.param({"error": {"code": 1, "message": "down", "data": {"d": 1}}}, 'down\n{"d":1}', id="data"),
    pytest.param({"error": {"reason": "down"}}, '{"reason":"down"}', id="no-message"),
    pytest.param({"error": "down", "isError": True}, "down", id="flagged"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "text"), FAILURES)
def test_a_bare_object_that_is_only_an_error_is_a_failure(sent: Any, text: str) -> None:
    outcome = asked(sent)
    assert value(outcome) == failed(text)
    assert meta(outcome)[DROPPED] == {"result": {k: v for k, v in sent.items() if k != "isError"}}


SUCCESSES = [
    {"error": None, "logs": ["a"]},
    {"error": "", "count": 1},
    {"error": "one row was skipped", "rows": [1]},
    {"error": "x", "success": True},
    {"error": ["line 3"]},
    {"error": 0.5, "estimate": 2},
]


@pytest.mark.parametrize("sent", SUCCESSES)
def test_a_bare_object_with_data_beside_its_error_is_a_success(sent: Any) -> None:
    text = json.dumps(sent, separators=(",", ":"))
    assert value(asked(sent)) == said(text, structuredContent=sent, isError=False)


def test_older_clients_get_no_structured_content_they_do_not_know() -> None:
    assert value(asked({"count": 1}, of=OLD)) == said('{"count":1}', isError=False)


def test_numbers_keep_their_digits() -> None:
    raw = b'{"a":1.10,"b":1e400,"c":12345678901234567890}'
    outcome = Repairs("safe").call(Raw(raw), None, LEGACY, PLAIN)
    assert outcome.result is not None
    assert b'"structuredContent":%b' % raw in bytes(outcome.result)
    assert value(outcome)["content"][0]["text"] == raw.decode()


_NOTHING = said("The tool returned nothing.")
_M = {"m": 1}
_OBJECT = said('{"m":1}', structuredContent=_M, isError=False)
_BLOB = BY_NAME["embedded-blob"].server.result["content"]
_X = said('{"m":"x"}', structuredContent={"m": "x"})

# What comes out at safe and at all.
CORPUS: dict[str, tuple[Any, Any]] = {
    "ok": (SAME, SAME),
    "block-object": (_OBJECT, _OBJECT),
    "block-json": (_OBJECT, _OBJECT),
    "block-unknown": (said('{"type":"hologram","x":"m"}'), said('{"type":"hologram","x":"m"}', structuredContent={"type": "hologram", "x": "m"})),
    "block-unknown-mixed": (ONE := {"content": [{"type": "text", "text": "words"}, {"type": "text", "text": '{"type":"hologram","x":1}'}]}, ONE),
    "block-no-type": (said("words"), said("words")),
    "block-string": (said("words"), said("words")),
    "bare-payload": (BARE := said('{"logs":["x"],"count":50}', structuredContent={"logs": ["x"], "count": 50}, isError=False), BARE),
    "empty-result": ({"content": []}, _NOTHING),
    "toolresult-nested": (said("words"), said("words")),
    "result-string": (said("words"), said("words")),
    "result-array": (said("words"), said("words")),
    "content-string": (said("words"), said("words")),
    "content-object": (said("words"), said("words")),
    "text-number": (said("4242"), said("4242", structuredContent={"result": 4242})),
    "text-object": (said('{"m":1}'), said('{"m":1}', structuredContent=_M)),
    "text-null": (said(""), _NOTHING),
    "err-text": (SAME, SAME),
    "err-empty": (SAME, failed("The tool t failed and gave no message.")),
    "iserror-null": (said("words"), said("words")),
    "iserror-string": (said("words", isError=False), said("words", isError=False)),
    "err-as-success": (SAME, failed('{"error":"node unreachable"}')),
    "ann-priority": (SAME, said("words")),
    "ann-priority-range": (said("words"), said("words")),
    "ann-audience": (said("words"), said("words")),
    "ann-null": (said("words"), said("words")),
    "block-meta-null": (said("words"), said("words")),
    "embedded": (SAME, SAME),
    "embedded-blob": (SAME, {"content": [{"type": "text", "text": "[file:///x, application/octet-stream, 44 bytes]"}, *_BLOB]}),
    "embedded-reluri": (ABSOLUTE := {"content": [{"type": "resource", "resource": {"uri": "resource:///a/b.txt", "text": "x"}}]}, ABSOLUTE),
    "embedded-nouri": (said("words"), said("words")),
    "embedded-empty": (EMPTY := {"content": [{"type": "resource", "resource": {"uri": "file:///x", "text": ""}}]}, EMPTY),
    "image": (SAME, SAME),
    "image-dataurl": (IMAGE := {"content": [{"type": "image", "data": _PNG, "mimeType": "image/png"}]}, IMAGE),
    "image-nomime": (IMAGE, IMAGE),
    "several-text": (SAME, SAME),
    "empty-content": (SAME, _NOTHING),
    "empty-text": (SAME, _NOTHING),
    "long-100k": (SAME, said("x" * 39_800 + "\n[60,200 more characters were left out here.]")),
    "long-1m": (SAME, said("x" * 39_800 + "\n[960,200 more characters were left out here.]")),
    "invisible": (SAME, said(r"a\u{200B}\u{202E}\u{E0041}\u{E0042}end")),
    "ansi": (SAME, said("red")),
    "surrogate": (SAME, SAME),  # put right before it is read as JSON
    "result-plus-content": (SAME, SAME),
    "text-json-double": (SAME, _X),
    "text-json-object": (SAME, _X),
    "text-json-array": (SAME, said('["x"]', structuredContent={"result": ["x"]})),
    "text-json-number": (SAME, said("4242", structuredContent={"result": 4242})),
    "text-json-bool": (SAME, said("true", structuredContent={"result": True})),
    "text-json-null": (SAME, said("null", structuredContent={"result": None})),
    "text-json-several": (SAME, {"content": [{"type": "text", "text": '["x"]'}, {"type": "text", "text": '["b"]'}], "structuredContent": {"result": [["x"], ["b"]]}}),
    "err-text-json-array": (SAME, failed('Error: ["x"]')),
    "content-missing-sc": (_X, _X),
    "content-null-sc": (_X, _X),
    "text-json-sc-differs": (SAME, SAME),
    "sc-object": (SAME, SAME),
    "sc-array": (said("words", isError=False), said("words", isError=False)),
    "sc-string": (said("words", isError=False), said("words", isError=False)),
    "sc-number": (said("words", isError=False), said("words", isError=False)),
    "err-sc": (failed("down"), failed("down")),
    "link": (SAME, said("n: file:///x")),
    "link-mixed": (SAME, {"content": [{"type": "text", "text": "words"}, {"type": "text", "text": "n: file:///x"}]}),
    "link-noname": ({"content": [{"type": "resource_link", "uri": "file:///x", "name": "file:///x"}]}, said("file:///x: file:///x")),
    "audio": (SAME, said("[audio, audio/wav, 44 bytes: left out]")),
    "several-text-sc": (SAME, SAME),
    "empty-content-sc": (SAME, _X),
    "bigint": (SAME, said("words", structuredContent={"v": "9007199254740993"})),
    "text-json-array-sc": (SAME, SAME),
    "modern-sc-array": (SAME, SAME),
    "modern-sc-string": (SAME, SAME),
    "modern-sc-number": (SAME, SAME),
    "modern-sc-null": (SAME, SAME),
    "modern-bare-payload": (BARE, BARE),
    "modern-content-missing-sc": (_X, _X),
    "modern-block-object": (_OBJECT, _OBJECT),
    "modern-text-json-array": (SAME, said('["x"]', structuredContent={"result": ["x"]})),
    "large-message": (SAME, SAME),
}  # fmt: skip


def test_every_result_of_the_corpus_is_in_the_table() -> None:
    with_result = {
        name for name, one in BY_NAME.items() if one.server.result is not None and not one.server.tool
    }
    assert with_result == CORPUS.keys()


@pytest.mark.parametrize("name", CORPUS)
@pytest.mark.parametrize("level", ["safe", "all"])
def test_a_result_of_the_corpus_comes_out_as_the_table_says(name: str, level: str) -> None:
    sent = BY_NAME[name].server.result
    expected = CORPUS[name][level == "all"]
    outcome = asked(sent, level=level, of=of(BY_NAME[name]))
    if expected is SAME:
        assert outcome.changes == ()
        assert outcome.result is not None
        assert bytes(outcome.result) == json.dumps(sent).encode()
    else:
        assert value(outcome) == expected
        assert meta(outcome)[REPAIRED] == codes(outcome)


def of(case: Case) -> Asked:
    return MODERN if case.name.startswith("modern-") else LEGACY


@pytest.mark.parametrize("name", CORPUS)
def test_a_repaired_result_is_not_repaired_again(name: str) -> None:
    once = value(asked(BY_NAME[name].server.result, level="all", of=of(BY_NAME[name])))
    again = asked(once, level="all", of=of(BY_NAME[name]))
    assert codes(again) == []


_A = BY_NAME["os-ok"].server.tool["outputSchema"]
_WRONG = said("words", structuredContent={"a": 5})
# What comes out, and whether the schema must go from the list.
OUTPUTS: dict[str, tuple[Any, bool]] = {
    "os-ok": (SAME, False),
    "os-mismatch": (said("words"), True),
    "os-sc-missing": (said('{"a":"x"}', structuredContent={"a": "x"}), False),
    "err-os-nosc": (SAME, False),
    "err-os-badsc": (failed("down"), False),
    "sc-array-os": (said("words", structuredContent={"result": ["x"]}, isError=False), False),
    "sc-string-os": (said("words", structuredContent={"result": "x"}, isError=False), False),
    "sc-number-os": (said("words", structuredContent={"result": 4242}, isError=False), False),
    "os-array": (said("words"), True),
    "os-draft07": (SAME, False),
    "os-2020": (SAME, False),
    "os-ref": (SAME, False),
    "os-badref": (SAME, False),
    "text-json-array-os": (SAME, False),
    "modern-sc-array-os": (SAME, False),
    "modern-sc-string-os": (SAME, False),
    "modern-sc-number-os": (SAME, False),
    "modern-sc-null-os": (SAME, False),
    "modern-os-mismatch": (said("words"), True),
    "modern-os-sc-missing": (said('{"a":"x"}', structuredContent={"a": "x"}), False),
    "modern-os-draft07": (SAME, False),
    "modern-err-os-badsc": (failed("down"), False),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_result_is_held_to_the_schema_that_is_listed(name: str) -> None:
    server = BY_NAME[name].server
    outcome = asked(
        server.result, of=of(BY_NAME[name]), tool=listed(server.tool["outputSchema"], of(BY_NAME[name]))
    )
    expected, drops = OUTPUTS[name]
    assert value(outcome) == (server.result if expected is SAME else expected)
    assert outcome.drops_schema is drops


def listed(schema: Any, of: Asked) -> KnownTool:
    """As the tool is listed: to older clients, a schema that is not an object's is wrapped."""
    if of.is_modern or schema.get("type") == "object":
        return KnownTool(name="t", output_schema=schema)
    wrapped = {"type": "object", "properties": {"result": schema}, "required": ["result"]}
    return KnownTool(name="t", output_schema=wrapped, is_wrapped=True)


@pytest.mark.parametrize("text", ["words", '{"a":5}', '["x"]', "{"])
def test_a_text_that_does_not_fit_drops_the_schema_and_stays(text: str) -> None:
    outcome = asked(said(text), tool=KnownTool(name="t", output_schema=_A))
    assert value(outcome) == said(text)
    assert outcome.drops_schema


def test_what_contradicts_its_schema_is_kept_for_the_client() -> None:
    assert meta(asked(_WRONG, tool=KnownTool(name="t", output_schema=_A)))[DROPPED] == {
        "structuredContent": {"a": 5}
    }


def test_a_list_of_a_wrapped_tool_is_wrapped_even_if_it_is_the_bare_result() -> None:
    tool = listed({"type": "array", "items": {"type": "integer"}}, LEGACY)
    assert value(asked([1, 2], tool=tool)) == said("[1,2]", structuredContent={"result": [1, 2]})


def test_null_of_a_wrapped_tool_is_a_value() -> None:
    sent = said("words", structuredContent=None)
    assert value(asked(sent, tool=listed({"type": "null"}, LEGACY))) == said(
        "words", structuredContent={"result": None}, isError=False
    )
    assert value(asked(sent)) == said("words")


def test_fractions_are_judged_by_their_value() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number", "maximum": 1.5}}}
    tool = KnownTool(name="t", output_schema=schema)
    assert asked(said("x", structuredContent={"a": 1.25}), tool=tool).changes == ()
    assert asked(said("x", structuredContent={"a": 1.75}), tool=tool).drops_schema


MORE = [
    pytest.param({"content": [None, 5, [1]]}, {"content": [{"type": "text", "text": "5"}, {"type": "text", "text": "[1]"}]}, id="odd-blocks"),
    pytest.param({"content": [{"m": 1}]}, _OBJECT, id="block-without-type-or-text"),
    pytest.param({"content": {"m": 1}}, _OBJECT, id="content-is-the-value"),
    pytest.param({"content": 5}, said("5"), id="content-is-a-number"),
    pytest.param({"content": [{"type": None, "uri": "x:y", "name": "n"}]}, {"content": [{"type": "resource_link", "uri": "x:y", "name": "n"}]}, id="link-without-type"),
    pytest.param({"content": [{"data": _WAV, "mimeType": "audio/wav"}]}, {"content": [{"type": "audio", "data": _WAV, "mimeType": "audio/wav"}]}, id="audio-without-type"),
    pytest.param({"content": [{"type": "markdown", "text": "# x"}]}, said("# x"), id="type-of-a-text"),
    pytest.param({"content": [{"type": "text", "value": "x"}]}, said("x"), id="text-under-another-name"),
    pytest.param({"content": [{"type": "text"}]}, said(""), id="text-missing"),
    pytest.param({"content": [{"type": "resource", "uri": "x:y", "text": "x"}]}, {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "x"}}]}, id="resource-not-nested"),
    pytest.param({"content": [{"type": "resource", "resource": {"uri": "x:y", "blob": None, "mimeType": None, "text": "x"}}]}, {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": "x"}}]}, id="resource-nulls"),
    pytest.param({"content": [{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA", "text": None}}]}, {"content": [{"type": "resource", "resource": {"uri": "x:y", "blob": "AAAA"}}]}, id="resource-text-null"),
    pytest.param({"content": [{"type": "resource", "resource": "x:y"}]}, {"content": [{"type": "resource", "resource": {"uri": "x:y", "text": ""}}]}, id="resource-is-a-uri"),
    pytest.param({"content": [{"type": "resource_link", "name": "n"}]}, said('{"name":"n"}'), id="link-to-nowhere"),
    pytest.param({"content": [{"type": "image", "url": "https://x.example/a.png"}]}, said('{"type":"image","url":"https://x.example/a.png"}'), id="image-without-data"),
    pytest.param({"content": [{"type": "image", "data": "data:image/gif;base64,R0lGOA=="}]}, {"content": [{"type": "image", "data": "R0lGOA==", "mimeType": "image/gif"}]}, id="image-type-in-prefix"),
    pytest.param({"content": [{"type": "image", "data": "_-8=", "mimeType": "image/png"}]}, {"content": [{"type": "image", "data": "/+8=", "mimeType": "image/png"}]}, id="image-other-alphabet"),
    pytest.param({"content": [{"type": "audio", "data": _WAV}]}, {"content": [{"type": "audio", "data": _WAV, "mimeType": "audio/wav"}]}, id="audio-nomime"),
    pytest.param({"content": [{"type": "image", "data": "!"}]}, {"content": [{"type": "image", "data": "!", "mimeType": "application/octet-stream"}]}, id="image-unknown"),
    pytest.param(said("x", isError=1), failed("x"), id="iserror-1"),
    pytest.param(said("x", isError=0.0), said("x", isError=False), id="iserror-0.0"),
    pytest.param(said("x", isError="broken"), failed("x"), id="iserror-words"),
    pytest.param(said("x", _meta=None), said("x"), id="meta-null"),
    pytest.param(said("x", _meta=[1]), said("x"), id="meta-list"),
    pytest.param({"toolResult": {"count": 1}}, said('{"count":1}', structuredContent={"count": 1}, isError=False), id="toolresult-bare"),
    pytest.param({"toolResult": "hi", "isError": True}, failed("hi"), id="toolresult-text"),
    pytest.param({"count": 1, "isError": True}, failed('{"count":1}'), id="bare-and-flagged"),
    pytest.param({"count": 1, "_meta": {"a": 1}}, said('{"count":1}', structuredContent={"count": 1}, isError=False, _meta={"a": 1}), id="bare-with-meta"),
    pytest.param({"toolResult": said("hi"), "isError": True}, failed("hi"), id="toolresult-and-flag"),
    pytest.param({"toolResult": 5, "a": 1}, said('{"toolResult":5,"a":1}', structuredContent={"toolResult": 5, "a": 1}, isError=False), id="toolresult-of-the-tool"),
    pytest.param({"count": 1, "resultType": "complete", "ttlMs": 0}, said('{"count":1}', structuredContent={"count": 1}, isError=False, resultType="complete", ttlMs=0), id="bare-with-modern-members"),
    pytest.param({"error": {"message": "down", "hint": "wait", "data": 1}}, failed('down\n{"hint":"wait","data":1}'), id="error-with-more"),
    pytest.param({"content": [{"type": "text", "text": "x", "annotations": "low"}]}, said("x"), id="annotations-are-a-text"),
    pytest.param({"content": [{"type": "text", "text": "x", "annotations": {"lastModified": 5, "priority": 0.5}}]}, {"content": [{"type": "text", "text": "x", "annotations": {"priority": 0.5}}]}, id="annotation-moment"),
    pytest.param({"content": [{"type": "json", "json": _M, "_meta": {"a": 1}}]}, {"content": [{"type": "text", "text": '{"m":1}', "_meta": {"a": 1}}], "structuredContent": _M, "isError": False}, id="unknown-type-with-meta"),
    pytest.param({"content": ["a", {"type": "text", "text": "b"}]}, {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, id="text-beside-block"),
    pytest.param([], said("[]"), id="empty-array"),
    pytest.param(True, said("true"), id="true"),
    pytest.param(1.50, said("1.5"), id="number"),
    pytest.param([{"type": "transfer", "amount": 1}], said('[{"type":"transfer","amount":1}]'), id="records-with-a-type"),
    pytest.param({"content": [], "structuredContent": [1]}, said("[1]", isError=False), id="list-without-text"),
    pytest.param({"resultType": "input_required", "inputRequests": {}}, failed("The tool asks for input in a way that this client does not know."), id="input-required-on-legacy"),
]  # fmt: skip


@pytest.mark.parametrize(("sent", "expected"), MORE)
def test_what_else_is_put_right_at_level_safe(sent: Any, expected: Any) -> None:
    assert value(asked(sent)) == expected


def test_members_of_the_modern_era_are_dropped_for_older_clients_at_level_all() -> None:
    sent = said("words", resultType="complete", ttlMs=0, cacheScope="private")
    assert asked(sent).changes == ()
    assert asked(sent, level="all", of=MODERN).changes == ()
    outcome = asked(sent, level="all")
    assert value(outcome) == said("words")
    assert meta(outcome)[DROPPED] == {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


UNFINISHED = [
    pytest.param({"resultType": "input_required", "requestState": "s"}, MODERN, id="input"),
    pytest.param({"task": {"taskId": "1", "status": "working"}}, LEGACY, id="task"),
]


@pytest.mark.parametrize(("sent", "client"), UNFINISHED)
@pytest.mark.parametrize("level", ["safe", "all"])
def test_an_unfinished_result_is_left_alone(sent: Any, client: Asked, level: str) -> None:
    assert asked(sent, level=level, of=client).changes == ()


def test_a_word_stands_before_json_where_structured_content_is_not_known() -> None:
    assert value(asked(said("[1]"), level="all", of=OLD)) == said("Result: [1]")


def test_an_object_is_not_structured_where_a_schema_is_listed_that_it_need_not_fit() -> None:
    tool = KnownTool(name="t", output_schema=_A)
    outcome = asked(said('{"b":1}'), level="all", tool=tool)
    assert "structuredContent" not in value(outcome)
    assert outcome.drops_schema


FAILED_TEXTS = ["Error: down", "error 500: x", '{"success":false,"reason":"down"}', '{"errors":["a"]}']


@pytest.mark.parametrize("text", FAILED_TEXTS)
def test_a_text_that_reads_like_a_failure_is_flagged_at_level_all(text: str) -> None:
    assert value(asked(said(text), level="all")) == failed(text)
    assert asked(said(text)).changes == ()


def test_invisible_characters_in_json_become_its_own_escapes() -> None:
    text = '{"a":"x\u200b\U000e0041"}\r\n'
    outcome = asked(said(text), level="all")
    shown = value(outcome)["content"][0]["text"]
    assert shown == '{"a":"x\\u200b\\udb40\\udc41"}\n'
    assert json.loads(shown) == json.loads(text)


def test_lines_of_windows_lose_their_carriage_return_only() -> None:
    assert value(asked(said("a\r\nb"), level="all")) == said("a\nb")


def test_an_escape_without_an_end_takes_no_text_with_it() -> None:
    assert value(asked(said("\x1b]0;title\x07a \x1b]8;;b"), level="all")) == said("a 8;;b")


def test_many_texts_are_cut_as_one_and_other_blocks_stay() -> None:
    image = {"type": "image", "data": _PNG, "mimeType": "image/png"}
    block = {"type": "text", "text": "x" * 30_000}
    content = value(asked({"content": [block, block, image, block]}, level="all"))["content"]
    assert [one["type"] for one in content] == ["text", "text", "image"]
    assert content[1]["text"].endswith("[50,200 more characters were left out here.]")
    assert sum(len(one.get("text", "")) for one in content) <= LARGE_CHARACTERS


def test_large_structured_content_is_left_out_with_a_note() -> None:
    sent = said("short", structuredContent={"a": "x" * 50_000})
    assert value(asked(sent, level="all"))["content"][1]["text"] == (
        "[structuredContent of 50,008 characters was left out.]"
    )
    bare = value(asked({"a": "x" * 50_000}, level="all"))
    assert "structuredContent" not in bare
    assert bare["content"][0]["text"].endswith("more characters were left out here.]")


def test_bytes_without_a_uri_get_one_at_level_all() -> None:
    sent = {"content": [{"type": "text", "text": "x"}, {"type": "resource", "resource": {"blob": "AAAA"}}]}
    assert value(asked(sent)) == sent
    assert value(asked(sent, level="all"))["content"][1]["resource"]["uri"] == "resource:///content/1"


def test_a_link_says_its_title_and_description() -> None:
    link = {"type": "resource_link", "uri": "x:y", "name": "n", "title": "T", "description": "about it"}
    assert value(asked({"content": [link]}, level="all")) == said("T: x:y\nabout it")


TOO_MUCH = [
    pytest.param(b"[" * 100_000 + b"]" * 100_000, id="too-deep"),
    pytest.param(b'{"a":' * 990 + b"1" + b"}" * 990, id="too-deep-once-wrapped"),
    pytest.param(b"[" + b"[]," * MOST_VALUES + b"[]]", id="too-many"),
    pytest.param(b'{"a":"\\ud800"}', id="half-a-pair"),
    pytest.param(b"9" * 5_000, id="too-many-digits"),
]


@pytest.mark.parametrize("sent", TOO_MUCH)
@pytest.mark.parametrize("level", ["safe", "all"])
def test_what_cannot_be_read_is_passed_on_as_it_is(sent: bytes, level: str) -> None:
    outcome = Repairs(level).call(Raw(sent), None, LEGACY, PLAIN)
    assert outcome.result is not None
    assert bytes(outcome.result) == sent
    failed = Repairs(level).call(None, Raw(sent), LEGACY, PLAIN)
    assert failed.error is not None
    assert bytes(failed.error) == sent


_NAMES = st.sampled_from(
    [
        "content",
        "structuredContent",
        "isError",
        "_meta",
        "toolResult",
        "result",
        "error",
        "message",
        "code",
        "data",
        "type",
        "text",
        "resource",
        "uri",
        "name",
        "blob",
        "mimeType",
        "annotations",
        "priority",
        "audience",
        "task",
        "resultType",
        "success",
        "object",
    ]
)
_LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=5),
    st.sampled_from(
        ["text", "image", "audio", "resource", "resource_link", "object", '{"a":1}', "[1]", "Error: x"]
    ),
)
_TREES = st.recursive(
    _LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=15,
)


@given(_TREES, st.sampled_from([LEGACY, OLD, MODERN]), st.booleans(), st.booleans())
def test_nothing_a_server_sends_makes_a_repair_raise_and_the_outcome_is_a_result(
    tree: Any, client: Asked, wrapped: bool, as_error: bool
) -> None:
    tool = KnownTool(name="t", output_schema=_A if wrapped else None, is_wrapped=wrapped)
    for level in ("safe", "all"):
        outcome = (
            asked(error=tree, level=level, of=client, tool=tool)
            if as_error
            else asked(tree, level=level, of=client, tool=tool)
        )
        if outcome.error is not None:
            error = json.loads(bytes(outcome.error))
            assert isinstance(error["code"], int)
            assert isinstance(error["message"], str)
            continue
        result = value(outcome)
        if "task" in result or result.get("resultType") == "input_required":
            continue
        assert isinstance(result["content"], list)
        assert isinstance(result.get("isError", False), bool)
        assert client.is_modern or isinstance(result.get("structuredContent", {}), dict)
        for block in result["content"]:
            assert block["type"] in ("text", "image", "audio", "resource", "resource_link")
            assert block["type"] != "text" or isinstance(block["text"], str)


def test_each_repair_can_be_switched_off_without_upsetting_the_others() -> None:
    sent = [one.server.result for one in BY_NAME.values() if one.server.result is not None]
    for code in {one.code for one in RESULTS}:
        for result in sent:
            assert code not in codes(asked(result, level="all", without=(code,)))


def test_a_change_that_is_read_later_holds_what_stood_there_at_that_time() -> None:
    digits = 12345678901234567890123
    raw = Raw(json.dumps({"n": digits}).encode())
    outcome = Repairs("all").for_reading().call(raw, None, LEGACY, PLAIN)
    bare, unsafe = outcome.changes
    assert (bare.code, bare.before) == ("result-bare-payload", {"n": digits})
    assert bare.after["structuredContent"] == {"n": digits}
    assert (unsafe.code, unsafe.before, unsafe.after) == ("integer-unsafe", digits, str(digits))
    assert outcome.result == Repairs("all").call(raw, None, LEGACY, PLAIN).result


def test_what_a_client_can_look_up_is_what_the_server_sent() -> None:
    annotations = {"priority": 7, "audience": ["user"]}
    block = {"type": "acme", "acme": {"error": "down"}, "annotations": annotations}
    outcome = asked({"content": [block]})
    assert codes(outcome) == ["content-type-unknown", "annotations-invalid"]
    assert meta(outcome)[DROPPED]["content[0]"] == block


def test_changes_that_are_read_later_are_made_however_deep_a_value_is() -> None:
    for depth in range(950, 1000):
        raw = Raw(b'{"a":' * depth + b"1" + b"}" * depth)
        outcome, read = (one.call(raw, None, LEGACY, PLAIN) for one in (Repairs(), Repairs().for_reading()))
        assert (read.result, codes(read)) == (outcome.result, codes(outcome)), depth


AS_IT_CAME = [
    pytest.param("result-bare-payload", {"sum": 3}, id="bare"),
    pytest.param("result-bare-payload", {"error": "down"}, id="bare-error"),
    pytest.param("content-missing", {"structuredContent": [1]}, id="not-object"),
    pytest.param("content-missing", {"structuredContent": {"b": 1}}, id="not-to-schema"),
    pytest.param("iserror-not-boolean", {"content": [], "isError": "true"}, id="flag"),
]


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize(("code", "sent"), AS_IT_CAME)
def test_a_mistake_that_is_to_stay_becomes_no_empty_success(code: str, sent: Any, level: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    outcome = asked(sent, level=level, without=(code,), tool=KnownTool(name="t", output_schema=schema))
    assert value(outcome) == sent


def test_structured_content_that_is_left_out_is_shown_if_nothing_else_is() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    outcome = asked(
        {"content": [], "structuredContent": {"b": 1}}, tool=KnownTool(name="t", output_schema=schema)
    )
    assert value(outcome) == said('{"b":1}')
    assert outcome.drops_schema
