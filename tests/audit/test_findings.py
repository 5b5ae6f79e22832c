"""What a finding says: what the server said, what comes first, who breaks where, and where it comes from."""

import json
from dataclasses import replace

import pytest
from msgspec import structs
from tests.audit.audits import LIMITS, evidence_of, served
from tests.audit.cases import BY_NAME, CASES, Case, both, case, on, on_call, said
from tests.audit.stub import JSON_TYPE, NOT_THERE, Ask, HttpReply, Json, Replies, Server, error, result
from tests.audit.wires import http_server

from qortal_mcp.audit.evidence import Evidence, Headers, Heard, Step, Visit
from qortal_mcp.audit.judging.finding import Report, shown
from qortal_mcp.audit.judging.judge import CONFORMS, INCOMPLETE, judge
from qortal_mcp.audit.reports import markdown, terminal
from qortal_mcp.audit.visiting.calls import Permission
from qortal_mcp.audit.visiting.runner import Order, collect


async def report_of(server: Server, headers: Headers = (), permission: Permission | None = None) -> Report:
    async with http_server(server) as url:
        order = Order(
            target=url,
            revisions=("2025-11-25",),
            limits=LIMITS,
            headers=headers,
            permission=permission or Permission(),
        )
        return judge(await collect(order))


def refusing(status: int, body: bytes, *headers: tuple[str, str]) -> Server:
    return Server(http=lambda ask, reply: HttpReply(status, (JSON_TYPE, *headers), body))


@pytest.mark.promise(
    "Audit", "A refusal is shown in the server's own words, and a wrong token is called one."
)
async def test_a_guard_of_hosts_is_not_taken_for_a_missing_authorization() -> None:
    for status, body in ((403, b'{"error":"Host not allowed: x"}'), (421, b"Host not allowed: x")):
        report = await report_of(refusing(status, body))
        assert (report.verdict, report.findings) == (INCOMPLETE, ())
        assert (
            f'it refuses this caller or this address (HTTP {status}); it says "Host not allowed: x"'
            in report.because
        )
        assert "authorization" not in report.because


@pytest.mark.promise(
    "Audit", "A refusal is shown in the server's own words, and a wrong token is called one."
)
async def test_a_token_that_is_refused_is_called_wrong_and_a_missing_one_missing() -> None:
    locked = refusing(401, b'{"error":"invalid_token"}', ("www-authenticate", "Bearer"))
    assert (
        "it requires authorization (HTTP 401); pass a token with --header-file"
        in (await report_of(locked)).because
    )
    wrong = await report_of(locked, (("authorization", "Bearer not-the-right-one"),))
    assert (
        'it does not accept the token in --header-file (HTTP 401); it says "invalid_token"' in wrong.because
    )
    assert "not-the-right-one" not in wrong.because


async def test_the_words_of_a_refusal_are_short_and_cannot_control_a_terminal() -> None:
    report = await report_of(refusing(403, b"<html><h1>\x1b[31mNo</h1>" + b"x" * 5_000))
    (gap,) = [gap for gap in report.gaps if gap.what == "server"]
    assert 'it says "' in gap.reason
    assert "<h1>" not in gap.reason
    assert len(gap.reason) < 300
    assert "\x1b" not in gap.reason


async def test_the_words_of_a_refused_call_are_shown() -> None:
    report = judge(await evidence_of(BY_NAME["http-403-call"]))
    assert ("tool t", 'the call was refused (HTTP 403); it says "forbidden"') in {
        (gap.what, gap.reason) for gap in report.gaps
    }


@pytest.mark.promise("Audit", "What a finding shows as seen is what the server said.")
@pytest.mark.parametrize("one", [one for one in CASES if one.code is not None], ids=lambda one: one.name)
async def test_what_is_seen_is_what_the_server_said(one: Case) -> None:
    evidence = await evidence_of(one)
    steps = [step for visit in evidence.visits for step in visit.steps]
    sent = {shown(step.sent) for step in steps if step.sent} | {"Origin: https://attacker.example"}
    for finding in judge(evidence).findings:
        assert finding.evidence not in sent, finding.code
        assert finding.evidence or finding.note, finding.code


@pytest.mark.promise("Audit", "A loopback server that lets every web page in violates a MUST.")
@pytest.mark.parametrize("name", ["http-any-origin", "ws-any-origin"])
async def test_an_origin_that_is_not_checked_is_a_hole_on_loopback_and_advice_elsewhere(name: str) -> None:
    evidence = await evidence_of(BY_NAME[name])
    (local,) = judge(evidence).findings
    assert (local.code, local.severity) == ("origin-not-checked", "MUST")
    for host in ("mcp.example.com", "192.0.2.7"):
        elsewhere = structs.replace(evidence, target=evidence.target.replace("127.0.0.1", host))
        (public,) = judge(elsewhere).findings
        assert (public.where, public.severity) == (local.where, "advice")
    for host in ("localhost", "[::1]", "127.1.2.3"):
        same = structs.replace(evidence, target=evidence.target.replace("127.0.0.1", host))
        assert judge(same).findings[0].severity == "MUST"
    assert "https://attacker.example" in local.reproduce
    assert "<script>" in local.reproduce_note
    url = (
        evidence.target if name.startswith("ws") else evidence.target.replace("127.0.0.1", "attacker.example")
    )
    assert f'{"new WebSocket" if name.startswith("ws") else "fetch"}("{url}"' in local.reproduce_note
    assert ("DNS rebinding" in local.reproduce_note) is name.startswith("http")


NEEDS = [
    pytest.param("bare-payload", "", id="http-needs-nothing"),
    pytest.param("http-after-end-400", "opens a session first, and deletes it", id="http-deleted-session"),
    pytest.param("call-exit", "the handshake comes first, on the same connection", id="stdio-handshake"),
    pytest.param("http-429-call", "it takes many requests in a short time", id="rate-limit"),
]


@pytest.mark.promise("Audit", "A finding that needs an earlier request says so.")
@pytest.mark.parametrize(("name", "wanted"), NEEDS)
async def test_a_finding_says_what_has_to_come_first(name: str, wanted: str) -> None:
    (finding, *_) = judge(await evidence_of(replace(BY_NAME[name], revisions=("2025-11-25",)))).findings
    assert finding.reproduce_note == wanted


async def test_a_finding_of_a_session_says_that_it_opens_one() -> None:
    bare = Server(sessions=True, result={"logs": ["x"]})
    (finding,) = (await report_of(bare)).findings
    assert finding.reproduce_note == "opens a session first, and sends its id along"
    assert "S=$(" in finding.reproduce


def two_places() -> Report:
    """A null in the title of a tool, which costs all tools, and one in a block, which costs a call."""
    block = {"type": "text", "text": "x", "annotations": None}
    tool = {"name": "t", "title": None, "description": "d", "inputSchema": {"type": "object"}}
    replies: list[tuple[str, str, Json]] = [
        ("tools/list", "", {"tools": [tool]}),
        ("tools/call", "t", {"content": [block]}),
    ]
    steps = tuple(
        Step(
            name=name,
            subject=subject,
            text=json.dumps({"jsonrpc": "2.0", "id": at, "method": name, "params": {"name": subject}}),
            heard=(Heard.of(json.dumps({"jsonrpc": "2.0", "id": at, "result": value}).encode()),),
        )
        for at, (name, subject, value) in enumerate(replies)
    )
    visit = Visit(name="2025-11-25", transport="stdio", revision="2025-11-25", steps=steps)
    return judge(Evidence(target="x", argv=("x",), transport="stdio", visits=(visit,)))


@pytest.mark.promise("Audit", "Who breaks is said for each place where it differs.")
def test_who_breaks_in_one_place_is_not_said_of_all() -> None:
    report = two_places()
    assert {one.code for one in report.of("MUST")} == {"optional-null"}
    text = " ".join(terminal.render(report, 120).split())
    at_tool, at_block = (
        text.index("breaks at tool t.title:"),
        text.index("breaks at tools/call t: result.content[0]"),
    )
    assert "none of the server's tools are offered" in text[at_tool:at_block]
    assert "none of the server's tools are offered" not in text[at_block:]
    plan = markdown.render(report)
    assert "- `at tool t.title`: " in plan
    assert "- `at tools/call t: result.content[0].annotations`: " in plan


@pytest.mark.promise("Audit", "Who breaks is said for each place where it differs.")
async def test_nobody_is_said_to_break_on_what_no_client_sends() -> None:
    report = judge(await evidence_of(BY_NAME["http-notif-200-empty"]))
    who = {one.where: {impact.client for impact in one.clients} for one in report.findings}
    assert who == {
        "notifications/initialized": {"Codex CLI"},
        "unknown-notification": set(),
        "notifications/cancelled": set(),
    }
    extra = Server(
        bend=on("tools/call", lambda ask, reply: {**reply, "requestId": 1} if "error" in reply else reply)
    )
    report = await report_of(extra)
    assert {one.code for one in report.findings} == {"rpc-extra-member"}
    assert [one.clients for one in report.findings if one.clients] == []


@pytest.mark.promise("Audit", "A server whose tools all fail is not said to conform.")
async def test_a_server_conforms_only_with_a_call_that_succeeded() -> None:
    fails = on(
        "tools/call",
        lambda ask, reply: result(ask, said("no token", isError=True)) if "result" in reply else reply,
    )
    report = await report_of(Server(bend=fails))
    assert report.verdict == INCOMPLETE
    assert "no tool call succeeded; name calls with --call" in report.because
    half = on_call(lambda ask, reply: result(ask, said("no token", isError=True)))
    assert (await report_of(Server(bend=half))).verdict == CONFORMS


async def test_a_server_without_tools_needs_no_call() -> None:
    bare = on("tools/list", lambda ask, reply: result(ask, {"tools": []}) if "result" in reply else reply)
    assert (await report_of(Server(bend=bare))).verdict == CONFORMS


async def test_calls_are_proposed_for_tools_that_were_not_called_and_only_a_few() -> None:
    schema = {
        "type": "object",
        "properties": {
            "address": {"type": "string", "pattern": "^Q"},
            "count": {"type": "integer", "minimum": 3},
        },
        "required": ["address", "count"],
    }
    many = [{"name": f"n{at}", "description": "d", "inputSchema": schema} for at in range(20)]
    hostile = {"name": "a'; rm -rf ~ \u202e", "description": "d", "inputSchema": {"type": "object"}}
    listed = on(
        "tools/list",
        lambda ask, reply: result(ask, {"tools": [hostile, *many]}) if "result" in reply else reply,
    )
    report = await report_of(Server(bend=listed), permission=Permission(by_itself=False))
    wanted = [f'--call \'n{at} {{"address": "<address>", "count": 3}}\'' for at in range(5)]
    assert list(report.calls_to_try) == wanted
    assert f"{wanted[-1]}\n    and 16 more\n" in terminal.render(report, 100)


def like_typescript_v1(ask: Ask, replies: Replies) -> Replies:
    if ask.method != "tools/call":
        return replies
    if "name" not in ask.params:
        zod = (
            '[\n  {\n    "code": "invalid_type",\n    "path": [\n      "params",\n      "name"\n    ]\n  }\n]'
        )
        return [json.dumps(error(ask, -32603, zod), separators=(",", ":")).encode()]
    if ask.params["name"] == NOT_THERE:
        return [result(ask, said(f"MCP error -32602: Tool {NOT_THERE} not found", isError=True))]
    return replies


@pytest.mark.promise("Audit", "A finding that comes from a known SDK says so.")
async def test_what_comes_from_an_sdk_is_said_to() -> None:
    report = await report_of(Server(bend=like_typescript_v1))
    (finding,) = report.findings
    assert finding.code == "unknown-tool-in-result"
    assert finding.source.startswith("this comes from the official TypeScript SDK 1.x (seen in 1.32.2)")
    assert "source    this comes from the official TypeScript SDK 1.x" in terminal.render(report, 120)
    assert "**Where it comes from**: this comes from the official TypeScript SDK 1.x" in markdown.render(
        report
    )


async def test_what_only_looks_like_an_sdk_is_left_to_its_author() -> None:
    own = BY_NAME["unknown-tool-iserror"].server.bend
    (plain,) = (await report_of(Server(bend=own))).findings
    assert plain.source == ""
    (same_sdk,) = (await report_of(Server(bend=both(like_typescript_v1, own)))).findings
    assert same_sdk.source == ""


async def test_nothing_is_read_or_called_where_that_was_not_allowed() -> None:
    async with served(case("right", None, "legal", Server())) as target:
        evidence = await collect(Order(target=target, limits=LIMITS, permission=Permission(by_itself=False)))
    names = {step.name for visit in evidence.visits for step in visit.steps}
    assert not names & {"tools/call", "prompts/get", "resources/read", "completion/complete"}
