"""Handshakes that are wrong, and what a client gets to see of them."""

import json
from typing import Any

import pytest
from msgspec import Raw
from tests.audit.cases import BY_NAME
from tests.audit.stub import ABSENT, INFO, LEGACY, RIGHT, Ask, changed, replies_to

from qortal_mcp.repairs.chosen import DROPPED, Outcome, Repairs
from qortal_mcp.repairs.subjects import Asked

Json = dict[str, Any]
NEWEST = "2025-11-25"
TARGET = "ws://127.0.0.1:9999"
UNKNOWN = {"code": -32601, "message": "Method not found"}


def raw(value: Any) -> Raw:
    return Raw(json.dumps(value).encode())


def answered(
    reply: Json, revision: str = NEWEST, level: str = "safe", serves: dict[str, bool] | None = None
) -> Outcome:
    result, error = (raw(reply[name]) if name in reply else None for name in ("result", "error"))
    return Repairs(level).handshake(result, error, Asked(revision=revision), TARGET, serves=serves)


def seen(outcome: Outcome) -> Json:
    """The result without the marks of its repairs."""
    assert outcome.result is not None
    value: Json = json.loads(bytes(outcome.result))
    value.pop("_meta", None)
    return value


def initialized(name: str = "", revision: str = NEWEST) -> Json:
    """What the server of a case answers."""
    params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    ask = Ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, revision)
    [reply] = replies_to(BY_NAME[name].server if name else RIGHT, ask)
    return dict(reply)


CASES: list[tuple[str, Json]] = [
    ("init-version-future", {"protocolVersion": NEWEST}),
    ("init-version-junk", {"protocolVersion": NEWEST}),
    ("init-version-modern", {"protocolVersion": NEWEST}),
    ("init-no-version", {"protocolVersion": NEWEST}),
    ("init-no-serverinfo", {"serverInfo": {"name": TARGET, "version": "0"}}),
    ("init-serverinfo-noversion", {"serverInfo": {"name": "s", "version": "0"}}),
    ("init-no-caps", {"capabilities": {"tools": {}}}),
    ("init-caps-tools-null", {}),
    ("init-caps-tools-true", {}),
    ("init-caps-switch", {"capabilities": {**initialized()["result"]["capabilities"], "tools": {"listChanged": True}}}),
    ("init-instructions-null", {"instructions": ABSENT}),
]  # fmt: skip


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize(("name", "expected"), CASES)
def test_a_broken_handshake_becomes(name: str, expected: Json, level: str) -> None:
    outcome = answered(initialized(name), level=level)
    assert seen(outcome) == changed(initialized()["result"], expected)
    assert {change.code for change in outcome.changes} == {BY_NAME[name].code}


@pytest.mark.parametrize("revision", LEGACY)
@pytest.mark.parametrize("level", ["safe", "all"])
def test_a_right_handshake_comes_out_as_it_came(revision: str, level: str) -> None:
    reply = initialized(revision=revision)
    reply["result"] |= {"instructions": "Ask.", "capabilities": {"prompts": {}}}
    outcome = answered(reply, revision, level, serves={"prompts": True})
    assert (outcome.result, outcome.changes) == (raw(reply["result"]), ())


@pytest.mark.parametrize("revision", LEGACY)
def test_an_unknown_version_becomes_the_one_asked_for(revision: str) -> None:
    assert seen(answered(initialized("init-version-junk"), revision))["protocolVersion"] == revision


def test_a_modern_client_never_makes_a_handshake_modern() -> None:
    assert seen(answered({"result": {}}, "2026-07-28"))["protocolVersion"] == NEWEST


REFUSALS = [
    pytest.param({"error": UNKNOWN}, id="init-unknown"),
    pytest.param({"error": {"code": -32600, "message": "Unknown method: initialize"}}, id="-32600"),
    pytest.param({"error": "unsupported method"}, id="text"),
    pytest.param({"result": {"error": "Unknown method: initialize"}}, id="in-result"),
    pytest.param({"result": {"error": {"code": -32601, "message": "no"}}}, id="object-in-result"),
]


@pytest.mark.parametrize("reply", REFUSALS)
def test_a_server_without_a_handshake_gets_one(reply: Json) -> None:
    outcome = answered(reply, "2025-06-18")
    assert seen(outcome) == {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": TARGET, "version": "0"},
    }
    assert outcome.error is None
    assert [change.code for change in outcome.changes] == ["initialize-refused"]
    assert outcome.result is not None
    assert "error" in json.loads(bytes(outcome.result))["_meta"][DROPPED]


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32600, "message": "Server already initialized"},
        {"code": -32602, "message": "Method parameters not supported"},
        {"code": -32603, "message": "database locked"},
        {"code": -32022, "message": "Unsupported protocol version"},
    ],
)
def test_other_refusals_stay(error: Json) -> None:
    outcome = answered({"error": error}, level="all")
    assert (outcome.error, outcome.result, outcome.changes) == (raw(error), None, ())


def test_what_probing_found_decides_about_capabilities() -> None:
    serves = {"tools": True, "prompts": False, "resources": False}
    refused = answered(initialized("init-caps-extra"), serves=serves)
    kept = {
        k: v for k, v in initialized()["result"]["capabilities"].items() if k not in ("prompts", "resources")
    }
    assert seen(refused)["capabilities"] == kept
    assert {change.code for change in refused.changes} == {"capability-not-served"}
    undeclared = answered(initialized("init-caps-no-tools"), serves=serves)
    assert seen(undeclared)["capabilities"] == {"tools": {}}
    assert {change.code for change in undeclared.changes} == {"capability-not-declared"}
    assert seen(answered({"error": UNKNOWN}, serves={"tools": True, "prompts": True}))["capabilities"] == {
        "tools": {},
        "prompts": {},
    }


def test_null_capabilities_are_not_offered() -> None:
    reply = initialized()
    reply["result"]["capabilities"] = {
        "tools": {"listChanged": None},
        "prompts": None,
        "resources": True,
        "logging": False,
    }
    assert seen(answered(reply))["capabilities"] == {"tools": {}, "resources": {}}


def test_nulls_beside_a_good_name_are_left_out() -> None:
    reply = initialized()
    reply["result"]["serverInfo"] = {**INFO, "title": None, "version": 2}
    assert seen(answered(reply))["serverInfo"] == {**INFO, "version": "2"}


@pytest.mark.parametrize(
    "result", [None, [], "ok", 5, {}, {"capabilities": [], "serverInfo": "s", "protocolVersion": 1}]
)
def test_anything_becomes_a_handshake(result: Any) -> None:
    value = seen(answered({"result": result}))
    assert value["protocolVersion"] == NEWEST
    assert value["capabilities"] == {"tools": {}}
    assert value["serverInfo"]["name"] in (TARGET, "s")
    assert value["serverInfo"]["version"] == "0"
