"""What a model is given of a tool's reply."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Raw
from tests.agent.replies import CASES, Case

from qortal_mcp.agent.tools.failures import Unavailable, of_call, of_opening, timed_out
from qortal_mcp.agent.tools.results import UNREADABLE_RESULT, Seen, read_reply
from qortal_mcp.client.errors import (
    CannotRun,
    ClientError,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    NotSupported,
    RequestTimeout,
    ServerError,
)
from qortal_mcp.protocol import jsonrpc
from qortal_mcp.protocol.errors import ErrorObject
from qortal_mcp.protocol.jsonrpc import Response
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.repairs.subjects import Asked

LEGACY = Asked(revision="2025-06-18", method="tools/call")
MODERN = Asked(revision="2026-07-28", is_modern=True, method="tools/call")


def seen(case: Case) -> Seen:
    """The reply as the client hands it on."""
    data = f'{{"jsonrpc":"2.0","id":2,{case.reply}}}'.encode()
    [message] = Repairs("safe").messages(data, {2: "tools/call"}, via=2, latest=2)
    parsed = message.parsed or jsonrpc.read(message.data)
    assert isinstance(parsed, Response)
    asked = MODERN if case.is_modern else LEGACY
    return read_reply(parsed.result, parsed.error, asked, changes=message.changes)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_model_is_given_what_the_reply_says(case: Case) -> None:
    found = seen(case)
    assert (found.text, found.ok) == (case.text, case.ok)
    assert len(found.warnings) == bool(case.warning)
    assert case.warning in "".join(found.warnings)


def read(result: str, asked: Asked = LEGACY, schema: dict[str, Any] | None = None) -> Seen:
    return read_reply(Raw(result.encode()), None, asked, output_schema=schema)


LIST: dict[str, Any] = {"type": "array", "items": {"type": "integer"}}
WRAPPED_LIST: dict[str, Any] = {"type": "object", "properties": {"result": LIST}, "required": ["result"]}


@pytest.mark.parametrize(("schema", "text"), [(LIST, "[1]"), (WRAPPED_LIST, '{"result":[1]}')])
def test_the_schema_says_whether_a_value_under_result_is_wrapped(schema: dict[str, Any], text: str) -> None:
    found = read('{"content":[],"structuredContent":{"result":[1]}}', schema=schema)
    assert (found.text, found.warnings) == (text, ())


def test_a_value_that_does_not_match_its_schema_is_shown_with_a_warning() -> None:
    found = read('{"content":[],"structuredContent":{"result":"no"}}', schema=WRAPPED_LIST)
    assert found.text == '{"result":"no"}'
    assert "structured-content-schema-mismatch" in found.warnings[0]


def test_structured_content_is_handed_on_decoded() -> None:
    found = read('{"content":[],"structuredContent":{"asOf":{"node":"n","height":5}}}')
    assert found.structured == {"asOf": {"node": "n", "height": 5}}
    assert found.size == len(found.text)


def test_a_failed_call_hands_on_no_structured_content() -> None:
    assert read('{"content":[],"structuredContent":{"height":5},"isError":true}').structured is None


def test_null_is_a_value_of_its_own_in_the_modern_era() -> None:
    found = read('{"resultType":"complete","content":[],"structuredContent":null}', MODERN)
    assert (found.text, found.warnings) == ("null", ())


def test_a_result_with_more_values_than_repairs_read_is_still_read() -> None:
    numbers = "[" + ",".join(["1"] * 60_000) + "]"
    assert read(f'{{"content":[],"structuredContent":{{"n":{numbers}}}}}').text == f'{{"n":{numbers}}}'
    bare = read(f'{{"n":{numbers}}}')
    assert bare.text == f'{{"n":{numbers}}}'
    assert "not an MCP result" in bare.warnings[0]


def test_a_result_that_cannot_be_read_says_so() -> None:
    deep = "[" * 5000 + "]" * 5000
    found = read(f'{{"content":[],"structuredContent":{deep}}}')
    assert (found.text, found.ok) == (UNREADABLE_RESULT, False)


def test_a_result_that_is_too_large_to_repair_may_have_any_form() -> None:
    many = "[" + ",".join(["1"] * 60_000) + "]"
    blocks = '"a",7,{"type":"resource","resource":{"uri":"x:1"}},{"type":"text","text":5},{"type":"odd"},null'
    found = read(f'{{"content":[{blocks}],"_meta":{{"n":{many}}}}}')
    assert found.text == 'a\n7\n{"uri":"x:1"}\n5\n{"type":"odd"}\nnull'
    assert read(f'{{"content":"words","_meta":{{"n":{many}}}}}').text == "words"
    assert read_reply(None, Raw(many.encode()), LEGACY).text == many


def test_an_error_that_cannot_be_read_says_so() -> None:
    found = read_reply(None, Raw(b"[" * 5000 + b"]" * 5000), LEGACY)
    assert (found.text, found.ok) == (UNREADABLE_RESULT, False)


def test_a_number_beyond_all_bounds_is_shown_and_held_to_no_schema() -> None:
    found = read('{"content":[],"structuredContent":{"result":1e999}}', schema=WRAPPED_LIST)
    assert (found.text, found.warnings) == ('{"result":1e999}', ())


def test_bytes_of_an_odd_block_are_never_shown() -> None:
    deep = "[" * 5000 + "]" * 5000
    blocks = '{"type":"text","text":"a"},{"type":"model","data":"AAAA","mimeType":"model/obj"},{"type":"odd","data":5}'
    assert read(f'{{"content":[{blocks}]}}').text == "a\n[model model/obj, 3 bytes]\n5"
    assert not read(f'{{"content":[{{"data":{deep}}}]}}').ok


def test_a_description_of_a_link_is_kept() -> None:
    link = '{"type":"resource_link","uri":"x:1","name":"n","title":"T","description":"About it."}'
    assert read(f'{{"content":[{link}]}}').text == "[link T: x:1] About it."


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["content", "type", "text", "isError", "structuredContent", "data", "resource", "uri"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=15,
)


@given(JSON, st.sampled_from([LEGACY, MODERN]))
def test_any_result_is_given_to_the_model_as_some_text(value: object, asked: Asked) -> None:
    raw = Raw(json.dumps(value).encode())
    for found in (read_reply(raw, None, asked), read_reply(None, raw, asked)):
        assert found.text.strip()


def refused(status: int, detail: str = "") -> HttpRefused:
    return HttpRefused(status, (), b"", detail)


FAILURES = [
    (refused(500), "shop answered with HTTP status 500 instead of a result."),
    (
        refused(500, "broken. See http://u:pw@host:1/x?key=s"),
        "shop answered with HTTP status 500 instead of a result: broken. See host:1.",
    ),
    (
        refused(502, "Traceback (most recent call last): x"),
        "shop answered with HTTP status 502 instead of a result.",
    ),
    (refused(401), "shop wants a sign-in (HTTP status 401)."),
    (refused(403), "shop refused this client (HTTP status 403)."),
    (ConnectionLost("connection refused"), "shop cannot be reached: connection refused."),
    (
        ConnectionLost("the program ended with status 1"),
        "The connection to shop was lost before it answered: the program ended with status 1. Whether the call ran is not known.",
    ),
    (
        MalformedReply("the reply has no JSON"),
        "shop sent a reply that cannot be read: the reply has no JSON.",
    ),
    (NotSupported("no common revision"), "shop cannot be used: no common revision."),
    (CannotRun("no such program"), "shop cannot be started: no such program."),
    (RequestTimeout("tools/list", 1.5), "shop did not answer within 1.5 s."),
    (ServerError(ErrorObject(-32603, "a\nb")), "shop answered with an error: a b (-32603)."),
    (ClientError("it fell over."), "shop failed: it fell over."),
    (Unavailable("shop cannot be reached: gone."), "shop cannot be reached: gone."),
]


@pytest.mark.parametrize(("error", "sentence"), FAILURES, ids=lambda one: type(one).__name__)
def test_a_call_without_a_reply_is_explained_in_a_sentence(error: ClientError, sentence: str) -> None:
    assert of_call(error, "shop") == sentence


def test_secrets_are_masked_and_hidden_characters_shown() -> None:
    error = MalformedReply("got sesame\x1b[31m from wss://host/path?token=sesame")
    said = of_call(error, "shop", lambda text: text.replace("sesame", "***"))
    assert said == "shop sent a reply that cannot be read: got ***\\u{001B}[31m from host."


def test_what_a_program_wrote_last_is_told_when_it_does_not_start() -> None:
    said = of_opening(ConnectionLost("it ended with status 2"), "shop", tail="no module named x")
    assert said == "shop cannot be reached: it ended with status 2. Its last output: no module named x"


def test_a_timeout_names_the_tool_and_the_time() -> None:
    assert timed_out("get_block", 30.0) == "get_block timed out after 30 s"
    assert timed_out("get_block", 0.25) == "get_block timed out after 0.25 s"
