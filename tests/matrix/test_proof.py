"""The proof itself: it lets good messages pass, and no bad ones."""

from collections.abc import Iterator
from typing import Any

import mcp_types.methods as official
import pytest
from tests.matrix import proof
from tests.matrix.examples import example, faulty
from tests.matrix.shapes import REVISIONS, Named, faults, names, shape_of
from tests.matrix.wires import MODERN


def reply(result: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "result": result}


def error(code: Any, **more: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "x", **more}}


def told(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}


TOOL: dict[str, Any] = {"name": "one", "inputSchema": {"type": "object"}}
TEXT = {"type": "text", "text": "x"}
SERVER = {"name": "one", "version": "1"}
COMPLETE: dict[str, Any] = {"resultType": "complete"}
CACHED: dict[str, Any] = {**COMPLETE, "ttlMs": 0, "cacheScope": "public"}

GOOD: list[Any] = [
    ("2024-11-05", reply({}), "ping"),
    ("2025-11-25", reply({"content": []}), "tools/call"),
    (MODERN, reply({"content": [], **COMPLETE}), "tools/call"),
    (MODERN, reply({"tools": [TOOL], **CACHED}), "tools/list"),
    ("2025-06-18", {**error(-32700), "id": None}, None),
    ("2025-06-18", {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}, None),
]


@pytest.mark.parametrize(("revision", "message", "method"), GOOD)
def test_a_good_message_is_proved(revision: str, message: Any, method: str | None) -> None:
    proof.prove(revision, message, method)


# Bad in the revisions named.
BAD: list[Any] = [
    (REVISIONS, [], None),
    (REVISIONS, {"jsonrpc": "2.0", "id": 1}, None),
    (REVISIONS, {"jsonrpc": "1.0", "id": 1, "result": {}}, "tools/call"),
    (REVISIONS, reply({"content": [], **COMPLETE}), None),
    (REVISIONS, {**reply({"content": [], **COMPLETE}), "extra": 1}, "tools/call"),
    (REVISIONS, {**reply({"content": [], **COMPLETE}), **error(-32600)}, "tools/call"),
    (REVISIONS, {**reply({"content": [], **COMPLETE}), "id": None}, "tools/call"),
    (REVISIONS, reply({}), "tools/call"),
    (REVISIONS, reply({"content": [{"type": "text"}], **COMPLETE}), "tools/call"),
    (REVISIONS, reply({"content": [{"type": "video", "data": ""}], **COMPLETE}), "tools/call"),
    (REVISIONS, reply({"content": [], "isError": None, **COMPLETE}), "tools/call"),
    (REVISIONS, reply({"tools": [{"name": "one"}], **CACHED}), "tools/list"),
    (REVISIONS, reply({"tools": [TOOL], "nextCursor": None, **CACHED}), "tools/list"),
    (REVISIONS, reply({"contents": [{"uri": "a:b"}], **CACHED}), "resources/read"),
    (REVISIONS, reply({"resources": [{"uri": "no uri", "name": "x"}], **CACHED}), "resources/list"),
    (REVISIONS, reply({"messages": [{"role": "system", "content": TEXT}], **COMPLETE}), "prompts/get"),
    (REVISIONS, error("x"), None),
    (REVISIONS, error(-32601, message=None), None),
    (REVISIONS, {**error(-32601), "id": None}, None),
    (REVISIONS, {"jsonrpc": "2.0", "error": {"code": -32700, "message": "x"}}, None),
    (REVISIONS, told("progress", progress=1), None),
    (REVISIONS, told("message", level="loud", data="x"), None),
    (REVISIONS, told("resources/updated"), None),
    (REVISIONS, told("made_up"), None),
    (REVISIONS[:4], reply({"a": 1}), "ping"),
    (REVISIONS[:4], reply({"content": [], **COMPLETE}), "tools/call"),
    (REVISIONS[:4], reply({"protocolVersion": "x", "capabilities": {}}), "initialize"),
    (
        REVISIONS[:4],
        reply({"protocolVersion": "x", "capabilities": None, "serverInfo": SERVER}),
        "initialize",
    ),
    (REVISIONS[:4], told("subscriptions/acknowledged", notifications={}), None),
    (REVISIONS[:3], reply({"tools": [{**TOOL, "icons": []}]}), "tools/list"),
    (REVISIONS[:2], reply({"tools": [{**TOOL, "title": "One"}]}), "tools/list"),
    (REVISIONS[:2], {"jsonrpc": "2.0", "id": 1, "method": "elicitation/create", "params": {}}, None),
    (REVISIONS[:1], reply({"tools": [{**TOOL, "annotations": {}}]}), "tools/list"),
    (REVISIONS[:1], reply({"content": [{"type": "audio", "data": "", "mimeType": "a/b"}]}), "tools/call"),
    (REVISIONS[2:4], reply({"content": [], "structuredContent": [1]}), "tools/call"),
    (REVISIONS[4:], reply({"content": []}), "tools/call"),
    (REVISIONS[4:], reply({"tools": [], **COMPLETE}), "tools/list"),
    (REVISIONS[4:], reply({"tools": [], **CACHED, "ttlMs": -1}), "tools/list"),
    (REVISIONS[4:], reply({"tools": [], **CACHED, "resultType": "input_required"}), "tools/list"),
    (REVISIONS[4:], reply({}), "ping"),
    (REVISIONS[4:], reply({"protocolVersion": "x", "capabilities": {}, "serverInfo": SERVER}), "initialize"),
    (REVISIONS[4:], error(-32002), None),
    (REVISIONS[4:], error(-32022), None),
    (REVISIONS[4:], error(-32021, data={}), None),
    (REVISIONS[4:], {"jsonrpc": "2.0", "id": 1, "method": "roots/list"}, None),
]


@pytest.mark.parametrize(
    ("revision", "message", "method"),
    [(revision, message, method) for revisions, message, method in BAD for revision in revisions],
)
def test_a_bad_message_is_disproved(
    monkeypatch: pytest.MonkeyPatch, revision: str, message: Any, method: str | None
) -> None:
    without_the_sdk(monkeypatch)
    with pytest.raises(proof.Disproved):
        proof.prove(revision, message, method)


def without_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the judgement to our table: the SDK has models of the two newest revisions only."""
    for name in ("parse_server_request", "parse_server_notification", "parse_server_result"):
        monkeypatch.setattr(official, name, lambda *_: None)


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_shape_of_the_table_refuses_each_fault(revision: str) -> None:
    for name in names(revision):
        whole = example(revision, Named(name))
        assert list(faults(revision, Named(name), whole)) == [], name
        for what, value in faulty(revision, Named(name), whole):
            assert any(faults(revision, Named(name), value)), f"{name}: {what}"


def messages(revision: str) -> Iterator[tuple[str, dict[str, Any], str | None]]:
    """Each message that a server of this revision may send, with everything in it; its name, what it answers."""

    def examples(methods: dict[str, str]) -> Iterator[tuple[str, str, Any]]:
        for method, name in methods.items():
            if shape_of(revision, name) is not None and name != "EmptyResult":
                yield method, name, example(revision, Named(name))

    for method, name, result in examples(proof.RESULTS):
        kind = COMPLETE if revision == MODERN else {}
        yield name, reply({**result, **kind}), method
    if revision != MODERN:
        for _, name, message in examples(proof.REQUESTS):
            yield name, {"jsonrpc": "2.0", "id": 1, **message}, None
    for _, name, message in examples(proof.NOTIFICATIONS):
        yield name, {"jsonrpc": "2.0", **message}, None


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_message_of_a_server_is_proved_whole_and_disproved_with_each_fault(revision: str) -> None:
    seen = set()
    for name, message, method in messages(revision):
        proof.prove(revision, message, method)
        seen.add(name)
        body = message["result"] if method else message
        for what, value in faulty(revision, Named(name), body):
            bad = {**message, "result": value} if method else value
            assert is_disproved(revision, bad, method), f"{name}: {what}"
    assert len(seen) > 15


def is_disproved(revision: str, message: Any, method: str | None) -> bool:
    try:
        proof.prove(revision, message, method)
    except proof.Disproved:
        return True
    return False


def test_every_exception_has_its_reason() -> None:
    assert all(len(reason) > 40 for reason in proof.EXCEPTIONS.values())
