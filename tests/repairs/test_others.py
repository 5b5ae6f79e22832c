"""Prompts, resources and completion that are wrong, and what a client gets to see of them."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from tests.audit.cases import BY_NAME
from tests.audit.stub import RIGHT, Ask, replies_to

from qortal_mcp.repairs import values
from qortal_mcp.repairs.chosen import Outcome, Repairs
from qortal_mcp.repairs.subjects import Asked

Json = dict[str, Any]
NEWEST = "2025-11-25"
URI = "stub://a"
METHODS = {
    "prompts/get": {"name": "p"},
    "resources/read": {"uri": URI},
    "completion/complete": {
        "ref": {"type": "ref/prompt", "name": "p"},
        "argument": {"name": "x", "value": ""},
    },
}
MEMBERS = {
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def answered(method: str, result: Any, level: str = "safe") -> Outcome:
    return Repairs(level).other(raw(result), None, Asked(revision=NEWEST, method=method, uri=URI))


def seen(outcome: Outcome) -> Any:
    assert outcome.result is not None
    value = json.loads(bytes(outcome.result))
    value.pop("_meta", None)
    return value


def of_server(method: str, name: str = "") -> Any:
    """What the server of a case results in."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": METHODS.get(method, {})}
    [reply] = replies_to(BY_NAME[name].server if name else RIGHT, Ask(message, NEWEST))
    return reply["result"]


def listed(method: str, items: Any, level: str = "safe") -> tuple[Any, list[str]]:
    member = MEMBERS[method]
    result = raw({member: items} if isinstance(items, list) else items)
    page = Repairs(level).page(result, member, Asked(revision=NEWEST, method=method))
    return json.loads(values.write(page.value))[member], [change.code for change in page.changes]


def said(text: str, role: str = "user") -> Json:
    return {"role": role, "content": {"type": "text", "text": text}}


CASES = [
    ("prompts/get", "prompt-bare", {"messages": [said("hello")]}),
    ("prompts/get", "prompt-of-system", {"messages": [said("words")]}),
    ("prompts/get", "prompt-of-blocks", {"messages": [said("words")]}),
    ("resources/read", "resource-bare", {"contents": [{"uri": URI, "text": "words"}]}),
    ("resources/read", "resource-without-uri", {"contents": [{"uri": URI, "text": "words"}]}),
    ("resources/read", "resource-of-object", {"contents": [{"uri": URI, "text": '{"a":1}'}]}),
    ("completion/complete", "completion-bare", {"completion": {"values": ["a"]}}),
    ("completion/complete", "completion-of-101", {"completion": {"values": ["a"] * 100, "total": 101, "hasMore": True}}),
]  # fmt: skip


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize(("method", "name", "expected"), CASES)
def test_a_broken_answer_becomes(method: str, name: str, expected: Json, level: str) -> None:
    outcome = answered(method, of_server(method, name), level)
    assert seen(outcome) == expected
    assert {change.code for change in outcome.changes} == {BY_NAME[name].code}


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize("method", METHODS)
def test_right_answers_come_out_as_they_came(method: str, level: str) -> None:
    result = of_server(method)
    outcome = answered(method, result, level)
    assert (outcome.result, outcome.changes) == (raw(result), ())


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize("method", MEMBERS)
def test_right_lists_come_out_as_they_came(method: str, level: str) -> None:
    items = of_server(method)[MEMBERS[method]]
    assert listed(method, items, level) == (items, [])


UNFINISHED = {"resultType": "input_required", "requestState": "s"}


@pytest.mark.parametrize("method", METHODS)
def test_a_result_that_asks_for_more_is_left_alone(method: str) -> None:
    assert answered(method, UNFINISHED).changes == ()


LISTS = [
    pytest.param("prompts/list", [{"description": "no name"}, {"name": "p"}], [{"name": "p"}], id="prompt-nameless"),
    pytest.param("resources/list", [{"uri": URI}], [{"uri": URI, "name": URI}], id="resource-nameless"),
    pytest.param("resources/list", [{"uri": URI, "title": "A"}], [{"uri": URI, "title": "A", "name": "A"}], id="resource-titled"),
    pytest.param("resources/templates/list", [{"name": "x"}], [], id="template-without-address"),
    pytest.param("resources/templates/list", [{"name": "x", "uri": "a://{b}"}], [{"name": "x", "uriTemplate": "a://{b}"}], id="template-as-uri"),
    pytest.param("resources/list", [None, "x", {"uri": URI, "name": "a", "mimeType": None}], [{"uri": URI, "name": "a"}], id="nulls"),
    pytest.param("prompts/list", [{"name": "p", "arguments": {"x": 1}}], [{"name": "p"}], id="arguments-by-name"),
    pytest.param("prompts/list", [{"name": "p", "arguments": [{"name": "x", "required": "true"}, {}]}], [{"name": "p", "arguments": [{"name": "x", "required": True}]}], id="arguments"),
    pytest.param("prompts/list", {"prompts": None}, [], id="null-list"),
]  # fmt: skip


@pytest.mark.parametrize(("method", "items", "expected"), LISTS)
def test_one_broken_item_does_not_hide_the_others(method: str, items: Any, expected: list[Json]) -> None:
    found, codes = listed(method, items)
    assert found == expected
    assert codes


@pytest.mark.parametrize("items", [[{"name": "p"}], []])
def test_a_bare_list_is_wrapped(items: list[Json]) -> None:
    page = Repairs().page(raw(items), "prompts", Asked(revision=NEWEST))
    assert json.loads(values.write(page.value))["prompts"] == items
    assert [change.code for change in page.changes] == ["tools-list-not-wrapped"]


PROMPTS = [
    ("hi", [said("hi")]),
    (["hi", None, "ho"], [said("hi"), said("ho")]),
    ({"messages": "hi"}, [said("hi")]),
    ({"messages": [{"role": "model", "content": "hi"}]}, [said("hi", "assistant")]),
    ({"messages": [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image", "data": "AA==", "mimeType": "image/png"}]}]}, [said("a"), {"role": "user", "content": {"type": "image", "data": "AA==", "mimeType": "image/png"}}]),
    ({"messages": [{"role": "user", "content": {"text": "a"}}]}, [said("a")]),
    ({"role": "assistant", "content": "hi"}, [said("hi", "assistant")]),
    ({"a": 1, "b": 2}, [said('{"a":1,"b":2}')]),
    (None, []),
]  # fmt: skip


@pytest.mark.parametrize(("result", "messages"), PROMPTS)
def test_a_prompt_is_a_list_of_messages(result: Any, messages: list[Json]) -> None:
    assert seen(answered("prompts/get", result))["messages"] == messages


def test_the_description_of_a_prompt_stays() -> None:
    value = seen(answered("prompts/get", {"description": "D", "prompt": "hi"}))
    assert value == {"description": "D", "messages": [said("hi")]}
    assert seen(answered("prompts/get", {"description": None, "messages": []})) == {"messages": []}


CONTENTS = [
    ("words", [{"uri": URI, "text": "words"}]),
    ([{"uri": "x:y", "text": "a"}], [{"uri": "x:y", "text": "a"}]),
    (
        {"contents": {"text": "a", "mimeType": "text/plain"}},
        [{"text": "a", "mimeType": "text/plain", "uri": URI}],
    ),
    (
        {"contents": [{"uri": "x:y", "text": "a", "blob": None, "mimeType": None}]},
        [{"uri": "x:y", "text": "a"}],
    ),
    ({"content": [{"type": "text", "text": "a"}]}, [{"text": "a", "uri": URI}]),
    ({"contents": ["a", None, 5]}, [{"uri": URI, "text": "a"}, {"uri": URI, "text": "5"}]),
    ({"a": 1, "b": 2}, [{"uri": URI, "mimeType": "application/json", "text": '{"a":1,"b":2}'}]),
    ({"contents": [{"uri": "x:y"}]}, [{"uri": "x:y", "text": ""}]),
    (None, []),
]


@pytest.mark.parametrize(("result", "contents"), CONTENTS)
def test_a_resource_is_a_list_of_contents(result: Any, contents: list[Json]) -> None:
    assert seen(answered("resources/read", result))["contents"] == contents


COMPLETIONS = [
    (["a"], ["a"]),
    ({"completion": ["a", 5]}, ["a", "5"]),
    ({"completion": {"values": None}}, []),
    ({"completion": {"values": ["a"], "total": None, "hasMore": None}}, ["a"]),
]


@pytest.mark.parametrize(("result", "found"), COMPLETIONS)
def test_a_completion_is_a_list_of_strings(result: Any, found: list[str]) -> None:
    assert seen(answered("completion/complete", result)) == {"completion": {"values": found}}


ERRORS = [
    ({"error": "Unknown method: prompts/list"}, {"code": -32601, "message": "Unknown method: prompts/list"}),
    ({"error": {"code": -32601, "message": "no", "data": 1}}, {"code": -32601, "message": "no", "data": 1}),
    ({"error": {"code": -32602, "message": "no such prompt"}, "success": False}, {"code": -32602, "message": "no such prompt"}),
    ({"error": "disk full"}, {"code": -32603, "message": "disk full"}),
    ({"error": True, "message": "disk full"}, {"code": -32603, "message": "disk full"}),
]  # fmt: skip


@pytest.mark.parametrize("method", ["prompts/list", "prompts/get", "server/discover", "acme/unknown"])
@pytest.mark.parametrize(("result", "error"), ERRORS)
def test_an_error_inside_a_result_becomes_one(method: str, result: Json, error: Json) -> None:
    outcome = answered(method, result)
    assert outcome.result is None
    assert outcome.error is not None
    assert json.loads(bytes(outcome.error)) == error
    assert [change.code for change in outcome.changes] == ["method-error-in-result"]


def test_a_result_that_mentions_an_error_is_none() -> None:
    assert answered("acme/status", {"error": "old", "since": 5}).changes == ()


@pytest.mark.parametrize("result", [None, True, "ok", [], {"_meta": None}])
@pytest.mark.parametrize("method", ["ping", "logging/setLevel", "resources/subscribe"])
def test_an_empty_result_is_an_object(method: str, result: Any) -> None:
    assert seen(answered(method, result)) == {}


def test_an_error_stays_an_error() -> None:
    error = raw({"code": -32602, "message": "no"})
    for method in METHODS:
        outcome = Repairs("all").other(None, error, Asked(revision=NEWEST, method=method))
        assert (outcome.error, outcome.result, outcome.changes) == (error, None, ())


_NAMES = st.sampled_from(
    [
        "messages",
        "role",
        "content",
        "text",
        "contents",
        "uri",
        "blob",
        "completion",
        "values",
        "type",
        "error",
        "x",
    ]
)
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-2, 2) | _NAMES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(_VALUES, st.sampled_from([*METHODS, "ping", "acme/x"]))
def test_whatever_is_answered_is_repaired_once_and_never_raises(result: Any, method: str) -> None:
    outcome = answered(method, result)
    if outcome.result is not None:
        again = answered(method, json.loads(bytes(outcome.result)))
        assert again.changes == ()
    else:
        assert outcome.error is not None


@pytest.mark.parametrize("method", ["prompts/get", "resources/read", "completion/complete"])
def test_an_error_inside_a_result_that_is_to_stay_becomes_no_answer(method: str) -> None:
    sent = raw({"error": "Unknown method"})
    repairs = Repairs("all", without=["method-error-in-result"])
    outcome = repairs.other(sent, None, Asked(revision=NEWEST, method=method, uri=URI))
    assert (outcome.result, outcome.changes) == (sent, ())
