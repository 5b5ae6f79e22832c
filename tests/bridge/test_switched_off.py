"""Every repair can be switched off: then its mistake is neither put right nor reported as a repair."""

import asyncio
import logging
import re
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs
from tests.audit.audits import served
from tests.audit.cases import BY_NAME, CASES, MODERN_ONLY, Case, case, in_result, on, on_call
from tests.audit.stub import Ask, Replies, Server, encoded, error, result, text
from tests.bridge.talking import CLIENT, Json, Talker, bridged, talking, way_to

from qortal_mcp.repairs.chosen import CODES, Repairs

_PROMPT = {"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "x", "value": ""}}
_ASKED: tuple[tuple[str, Json], ...] = (
    ("tools/call", {"name": "ok", "arguments": {}}),
    ("prompts/list", {}),
    ("resources/list", {}),
    ("prompts/get", {"name": "p"}),
    ("resources/read", {"uri": "stub://a"}),
    ("completion/complete", _PROMPT),
    ("acme/unknown", {}),
)


def _old_names(ask: Ask, replies: Replies) -> Replies:
    known = {"list_tools": "tools/list", "call_tool": "tools/call"}
    if ask.method in known.values():
        return [error(ask, -32601, "Method not found")]
    return [result(ask, {"tools": []})] if ask.method == "list_tools" else replies


def _unread(ask: Ask, reply: Json) -> Json:
    return {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "no JSON"}}


def _own(code: str, server: Server) -> Case:
    return case(code, code, "MUST", server)


# Mistakes that no server of the corpus makes, or not where a bridge meets them.
_OTHERS = (
    _own("cursor-not-string", Server(bend=on("tools/list", in_result(nextCursor=5)))),
    _own(
        "json-control-character",
        Server(bend=on_call(lambda ask, reply: encoded(reply).replace(b"fine", b"fi\tne"))),
    ),
    _own("meta-not-object", Server(bend=on_call(in_result(_meta="x")))),
    _own("method-old-name", Server(bend=_old_names)),
    _own("output-schema-removed", Server()),
    _own(
        "prompt-argument-malformed",
        Server(bend=on("prompts/list", in_result(prompts=[{"name": "p", "arguments": [1]}]))),
    ),
    _own("result-double-wrapped", Server(result={"result": text("fine")})),
    _own("rpc-error-id-null", Server(bend=on_call(_unread))),
    _own("text-json-only", Server(result=text('{"a":1}'))),
    _own("tool-params-member", Server(tool={"params": {}})),
    # Of two replies to one POST the second is never read.
    replace(BY_NAME["dup-reply"], over="stdio"),
    BY_NAME["http-session-noid-400"],
)
# At `all` no tool is listed with the schema that these are about.
_ONLY_SAFE = {
    "output-schema-root-not-object",
    "structured-content-missing",
    "structured-content-schema-mismatch",
}
# Revisions that have no such header.
_REVISIONS = {"protocol-header-demanded": "2025-03-26"}
# Shows only a moment after the last answer.
_LATE = {"get-hangs", "sse-not-closed"}


def _one_of_each_code() -> dict[str, Case]:
    corpus = {one.code: one for one in reversed(CASES) if one.revisions != MODERN_ONLY}
    found = corpus | {one.code: one for one in _OTHERS}
    return {code: one for code, one in found.items() if code in CODES}


ONE_OF_EACH = _one_of_each_code()


async def repaired(code: str, repairs: Repairs) -> tuple[set[str], str]:
    """What is reported as repaired in a talk with a server that makes this mistake, and all that its client got."""
    reported: set[str] = set()
    got: list[Any] = []
    limits = structs.replace(CLIENT.limits, connect_seconds=0.3)
    async with served(ONE_OF_EACH[code]) as target:
        way = way_to(
            target,
            repairs=repairs,
            client=structs.replace(CLIENT, limits=limits),
            timeout=0.5,
            start_timeout=1.0 if code in repairs.codes else 0.5,
        )
        async with bridged(way) as bridge:
            bridge.journal.on_change = lambda change, tool: reported.add(change.code)
            client = Talker(bridge)
            try:
                got.append(await client.open(revision=_REVISIONS.get(code, "2025-06-18")))
                if "result" in got[0]:
                    got += await _answers(client)
                await asyncio.sleep(0.5 if code in _LATE else 0)
            finally:
                await client.close()
    counted = set(re.findall(r'mcp_bridge_repairs_total\{code="([^"]+)"', bridge.metrics.render()))
    assert counted == reported
    return reported, repr(got)


async def _answers(client: Talker) -> list[Json]:
    listed = await client.ask("tools/list")
    page = listed.get("result", {})
    tools = page.get("tools") if isinstance(page, dict) else None
    names = [one["name"] for one in tools or () if isinstance(one, dict) and "name" in one]
    name = next((name for name in names if name != "ok"), "t")
    called = await client.ask("tools/call", {"name": name, "arguments": {}, "_meta": {"progressToken": 1}})
    return [listed, called, *[await client.ask(method, params) for method, params in _ASKED]]


@pytest.mark.parametrize("code", sorted(CODES))
async def test_a_repair_that_is_switched_off_is_never_reported(
    code: str, caplog: pytest.LogCaptureFixture
) -> None:
    level = "safe" if code in _ONLY_SAFE else "all"
    reported, _ = await repaired(code, Repairs(level))
    assert code in reported
    with caplog.at_level(logging.INFO):
        caplog.clear()
        reported, got = await repaired(code, Repairs(level, without=[code]))
    assert code not in reported
    assert f"'{code}'" not in got
    logged = [one for one in caplog.records if getattr(one, "qortal_mcp.code", None) == code]
    assert {one.getMessage() for one in logged} <= {"dropped"}


_REFUSED = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no"}}


def _answers_notices_before_lists(reply: Any) -> Server:
    """The answer to `notifications/initialized` comes when the list has been asked for, before the list."""
    return Server(bend=on("tools/list", lambda ask, listed: [reply, listed]))


@pytest.mark.parametrize(
    "repairs", [Repairs("none"), Repairs(without=["notification-answered"])], ids=["none", "off"]
)
@pytest.mark.parametrize(
    "reply", [_REFUSED, [_REFUSED], {"jsonrpc": "2.0", "result": {}}], ids=["error", "batch", "result"]
)
async def test_an_answer_to_a_notification_never_fails_a_request(reply: Any, repairs: Repairs) -> None:
    case_ = case("notices", None, "MUST", _answers_notices_before_lists(reply), over="websocket")
    async with (
        served(case_) as target,
        bridged(way_to(target, repairs=repairs)) as bridge,
        talking(bridge) as client,
    ):
        assert await client.tools() == ["t", "ok"]
        assert bridge.facts()[0]["connections"][0]["tools"] == 2
        assert (await client.call("t"))["content"] == [{"type": "text", "text": "fine"}]
        assert "mcp_bridge_repairs_total{" not in bridge.metrics.render()


@pytest.mark.parametrize(
    "sent", [{"sum": 3}, "words", [1.50], None, {**text("fine"), "isError": None}], ids=repr
)
async def test_without_repairs_results_pass_untouched(sent: Any) -> None:
    server = Server(bend=on_call(lambda ask, reply: {**reply, "result": sent}))
    async with (
        served(case("as-it-is", None, "MUST", server)) as target,
        bridged(way_to(target, "none")) as bridge,
        talking(bridge) as client,
    ):
        assert await client.ask("tools/call", {"name": "t", "arguments": {}}, id_=9) == {
            "jsonrpc": "2.0",
            "id": 9,
            "result": sent,
        }


async def test_without_repairs_an_error_in_the_own_reply_of_a_request_is_its_error() -> None:
    server = Server(
        bend=on_call(lambda ask, reply: {**_REFUSED, "error": {"code": -32000, "message": "down"}})
    )
    async with (
        served(case("own", None, "MUST", server)) as target,
        bridged(way_to(target, "none")) as bridge,
        talking(bridge) as client,
    ):
        answer = await client.ask("tools/call", {"name": "t", "arguments": {}})
    assert answer["error"] == {"code": -32000, "message": "down"}
