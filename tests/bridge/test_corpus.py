"""Behind a bridge each broken server of the audit's corpus passes the audit, as far as there is a repair for it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from msgspec import structs
from tests.audit.audits import LIMITS, served
from tests.audit.cases import CASES, MODERN_ONLY, MUST, STRUCTURED, Case
from tests.bridge.in_process import Front, bridged, websocket_of
from tests.cli.running import COMMAND, Listening

from qortal_mcp.audit.judging.finding import Report
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.visiting.runner import Order, Target, collect
from qortal_mcp.protocol.versions import REVISIONS
from qortal_mcp.repairs.chosen import CODES, REPAIRS
from qortal_mcp.repairs.repair import ALL, SAFE

# A bridge shakes hands with its server. What a server does wrongly only where there is no handshake never comes to
# pass behind one, and servers that know no handshake cannot be reached.
WITH_HANDSHAKE = [one for one in CASES if one.revisions != MODERN_ONLY and one.code != "legacy-not-served"]

# What clients get from the bridge itself, so that it is right without a repair.
OF_THE_BRIDGE = {
    "batch-refused",
    "discover-5xx",
    "discover-malformed",
    "discover-unanswered",
    "event-id-repeated",
    "exit-after-input",
    "exit-on-unknown-method",
    "garbage-fatal",
    "legacy-sse-transport",
    "list-changed-unasked",
    "malformed-call-accepted",
    "missing-session-status",
    "notification-before-handshake",
    "origin-not-checked",
    "ping-not-answered",
    "ping-result-not-empty",
    "progress-token-unknown",
    "protocol-version-echoed",
    "protocol-version-forced",
    "protocol-version-not-newest",
    "refusal-id-invented",
    "request-before-handshake",
    "request-without-capability",
    "server-exit",
    "session-id-guessable",
    "session-lost",
    "session-not-checked",
    "string-id-refused",
    "unknown-member-refused",
    "unknown-tool-accepted",
    "unknown-tool-code",
    "unknown-tool-in-result",
    "version-header-not-checked",
    "websocket-binary-frame",
}
# At `safe`: what the mistake had hidden, and what is legal. `all` repairs it as well.
UNCOVERED = {
    "empty-result": "content-empty",
    "result-null": "content-empty",
    "text-null": "content-empty",
    "text-number": "text-json-not-object",
    "link-noname": "resource-link",
    "tool-description-null": "tool-description-missing",
}
# At `safe`: only the first call shows that a tool does not keep to its schema. Lists after it have no schema.
LEARNT = {"os-mismatch": "structured-content-missing", "os-array": "structured-content-missing"}
# What cannot be repaired although the same mistake elsewhere can be: whether a level can be set shows only if it is set.
BEYOND_REPAIR = {"log-not-served": "capability-not-served"}
# Nothing but the handshake is answered without an id of a session that the server never gave out. At `all` one is
# made up, which helps unless the server knows its own.
UNANSWERED = {"http-session-noid-400": ("safe",), "http-session-noid-400-rpc": ("safe", "all")}
FOUND_WITHOUT_ANSWERS = {"log-level-not-checked", "unknown-method-code", "completion-reference-code"}
# No handshake is possible: there is no server, it wants somebody to sign in, or its answer cannot be used at this level.
UNREACHABLE = {
    "http-404-all": ("safe", "all"),
    "http-401": ("safe", "all"),
    "http-401-www": ("safe", "all"),
    "http-307": ("safe",),
    "http-sse-eventname": ("safe",),
}
# The answer to the handshake cannot be used at this level, and comes too late to try the modern era for an old client.
ONLY_FOR_MODERN_CLIENTS = {"init-id-type": ("safe",)}
# How fast a program starts is a matter of the machine and of what else runs on it.
BY_THE_CLOCK = {"slow-start"}

AT_LEVELS = [
    (one, level)
    for one in WITH_HANDSHAKE
    for level in ("safe", "all")
    # No repair makes a server faster, and waiting for it once is enough.
    if (one.code, level) != ("slow-start", "all")
]


def is_repaired(case: Case, level: str) -> bool:
    """Whether what is wrong with the server should be gone at a level."""
    if case.code in OF_THE_BRIDGE:
        return True
    levels = {one.level for one in REPAIRS if one.code == case.code}
    if levels == {SAFE, ALL}:
        # Of one code, what the specification forbids is repaired at `safe`.
        levels = {SAFE if case.verdict == MUST else ALL}
    return level in levels or (level == ALL and SAFE in levels)


def may_be_found(case: Case, level: str) -> set[str]:
    if level in UNANSWERED.get(case.name, ()):
        return FOUND_WITHOUT_ANSWERS | BY_THE_CLOCK
    if level in ONLY_FOR_MODERN_CLIENTS.get(case.name, ()):
        return {"legacy-not-served"} | BY_THE_CLOCK
    found = {BEYOND_REPAIR.get(case.name) if is_repaired(case, level) else case.code}
    if level == "safe":
        found.add(UNCOVERED.get(case.name))
    return {code for code in found if code is not None} | BY_THE_CLOCK


@contextlib.asynccontextmanager
async def behind_bridge(case: Case, level: str) -> AsyncIterator[Front]:
    is_reachable = level not in {*UNREACHABLE.get(case.name, ()), *ONLY_FOR_MODERN_CLIENTS.get(case.name, ())}
    async with (
        served(case) as target,
        bridged(target, level, start_timeout=10 if is_reachable else 0.3) as front,
    ):
        yield front


async def audited(case: Case, target: Target) -> Report:
    """The limits of a case are for its own server, except for what an audit reads."""
    read = {name: value for name, value in case.limits if name == "message_bytes"}
    limits = structs.replace(LIMITS, **read)
    return judge(await collect(Order(target=target, revisions=case.revisions, limits=limits)))


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


@pytest.mark.parametrize(
    ("case", "level"), AT_LEVELS, ids=lambda one: one if isinstance(one, str) else one.name
)
async def test_behind_a_bridge_nothing_is_found_that_has_a_repair(case: Case, level: str) -> None:
    async with behind_bridge(case, level) as front:
        report = await audited(case, front.http)
        if level == "safe" and case.name in LEARNT:
            assert codes(report) <= {LEARNT[case.name]} | BY_THE_CLOCK
            report = await audited(case, front.http)
        assert codes(report) <= may_be_found(case, level)
        assert not [one for one in report.not_judged if "failed" in one.reason]
        if level in UNREACHABLE.get(case.name, ()):
            assert not front.bridge.was_reached
            assert report.revisions == ()
        elif level in ONLY_FOR_MODERN_CLIENTS.get(case.name, ()):
            assert front.bridge.was_reached
        else:
            assert set(report.revisions) == set(case.revisions or REVISIONS)
            assert (report.tools > 0) is (level not in UNANSWERED.get(case.name, ()))


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize(
    "case", [one for one in WITH_HANDSHAKE if one.revisions == STRUCTURED], ids=lambda case: case.name
)
async def test_a_modern_client_gets_no_more_mistakes_of_an_older_server(case: Case, level: str) -> None:
    async with behind_bridge(case, level) as front:
        modern = replace(case, revisions=MODERN_ONLY)
        report = await audited(modern, front.http)
        if level == "safe" and case.name in LEARNT:
            report = await audited(modern, front.http)
    assert codes(report) <= may_be_found(case, level)
    assert report.revisions == MODERN_ONLY
    assert report.tools_called == report.tools == 2


def one_of_each_code() -> list[Case]:
    found = {
        one.code: one
        for one in reversed(WITH_HANDSHAKE)
        if one.code in CODES and one.name not in {*BEYOND_REPAIR, *UNANSWERED}
    }
    return list(found.values())[::-1]


@contextlib.asynccontextmanager
async def behind_command(case: Case, target: Target) -> AsyncIterator[Target]:
    """The command `bridge --repair all`, with the same transport on both sides."""
    words = ("bridge", "--repair", "all", "--timeout", "2")
    if not isinstance(target, str):
        yield (*COMMAND, *words, "--", *target)
        return
    # In threads: the server behind is served by this one.
    command = await asyncio.to_thread(Listening, (*words, target, "--listen", "127.0.0.1:0"), None)
    try:
        yield websocket_of(command.url) if case.over == "websocket" else command.url
    finally:
        assert await asyncio.to_thread(command.stop) == 0


@pytest.mark.parametrize("case", one_of_each_code(), ids=lambda case: case.name)
async def test_the_command_repairs_one_server_of_each_code(case: Case) -> None:
    async with served(case) as target, behind_command(case, target) as front:
        report = await audited(case, front)
    assert codes(report) <= BY_THE_CLOCK
    assert report.tools > 0


def test_every_exception_is_about_a_case() -> None:
    excepted = {*UNCOVERED, *LEARNT, *BEYOND_REPAIR, *UNANSWERED, *UNREACHABLE, *ONLY_FOR_MODERN_CLIENTS}
    assert excepted <= {one.name for one in WITH_HANDSHAKE}
