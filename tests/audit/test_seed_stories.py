"""Three servers that came before, judged: the report of each tells what its own documents told, and names who broke."""

import json
import os
from collections.abc import Mapping

import msgspec
import pytest
from tests.audit.seeds import SYSTEMS, file_of
from tests.audit.seeds.dialogue import Reply, System, capture, named
from tests.cli.strangers import Answered, http_stranger

from qortal_mcp.audit.evidence import Evidence, from_file, to_file
from qortal_mcp.audit.judging.finding import Finding, Report
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.limits import AuditLimits
from qortal_mcp.audit.reports import comparison
from qortal_mcp.audit.visiting.calls import Call, Permission
from qortal_mcp.audit.visiting.runner import Order, collect


def report(name: str) -> Report:
    return judge(from_file(file_of(name).read_bytes()))


def codes(name: str) -> dict[str, str]:
    """Each code with the severity it was found with."""
    return {one.code: one.severity for one in reversed(report(name).findings)}


def finding(name: str, code: str, at: str = "") -> Finding:
    return next(one for one in report(name).findings if one.code == code and one.where.startswith(at))


def breaks(found: Finding) -> dict[str, str]:
    """What a finding does to each client."""
    return {one.client: one.outcome for one in found.clients}


def gets(name: str, tool: str, client: str) -> tuple[str, str]:
    view = next(one for one in report(name).model_sees if (one.tool, one.client) == (tool, client))
    return view.gets, view.shows


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_capture_is_what_its_table_says(name: str) -> None:
    file, wanted = file_of(name), to_file(capture(SYSTEMS[name]))
    if os.environ.get("UPDATE_GOLDEN"):
        file.write_bytes(wanted)
    assert file.exists(), "run this test with UPDATE_GOLDEN=1 and look at the difference"
    assert file.read_bytes() == wanted
    assert from_file(wanted) == capture(SYSTEMS[name])


# What the Qortal server did from its first day to its last.
_ALWAYS = {
    "protocol-version-echoed": "MUST",
    "ping-not-answered": "MUST",
    "notification-answered": "MUST",
    "notification-status": "MUST",
    "version-header-not-checked": "MUST",
    "batch-refused": "SHOULD",
    "rate-limit-status": "portability",
    "schema-array-without-items": "portability",
    "schema-top-level-union": "portability",
    "origin-not-checked": "MUST",
}
# What MaxMCP never mended.
_NEVER_FIXED = {
    "protocol-version-echoed": "MUST",
    "ping-not-answered": "MUST",
    "batch-refused": "SHOULD",
    "origin-not-checked": "MUST",
}
FOUND = {
    "incumbent-before": {
        **_ALWAYS,
        "content-type-unknown": "MUST",
        "error-not-flagged": "SHOULD",
        "unknown-tool-accepted": "SHOULD",
        "rpc-extra-member": "portability",
    },
    "incumbent-now": {
        **_ALWAYS,
        "structured-content-not-object": "MUST",
        "error-with-structured-content": "portability",
        "unknown-tool-in-result": "advice",
    },
    "incumbent-after": {},
    # It never agreed to anything but 2024-11-05: there was nothing to echo, and no batch to refuse.
    "maxmcp-early": {
        "ping-not-answered": "MUST",
        "result-bare-payload": "MUST",
        "rpc-id-missing": "MUST",
        "schema-malformed": "MUST",
        "error-not-flagged": "SHOULD",
        "unknown-tool-in-result": "advice",
        "origin-not-checked": "MUST",
    },
    "maxmcp-G0": {
        **_NEVER_FIXED,
        "result-bare-payload": "MUST",
        "rpc-id-missing": "MUST",
        "error-not-flagged": "SHOULD",
        "unknown-tool-in-result": "advice",
    },
    "maxmcp-G1": {**_NEVER_FIXED, "rpc-id-missing": "MUST", "unknown-tool-in-result": "advice"},
    "maxmcp-G2": {
        **_NEVER_FIXED,
        "notification-answered": "MUST",
        "tool-failure-as-protocol-error": "portability",
    },
    "maxmcp-after": {},
    "workshop-now": {
        "initialize-refused": "MUST",
        "rpc-result-and-error": "MUST",
        "notification-answered": "MUST",
        "unknown-tool-in-result": "advice",
        "origin-not-checked": "MUST",
    },
    "workshop-after": {},
}


@pytest.mark.promise("Audit", "Recorded conversations with broken servers get exactly the expected findings.")
@pytest.mark.parametrize("name", SYSTEMS)
def test_exactly_these_defects_are_found(name: str) -> None:
    assert codes(name) == FOUND[name]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_server_conforms_once_its_documents_are_followed(name: str) -> None:
    assert report(name).verdict == ("violates" if FOUND[name] else "conforms")


def test_every_check_gets_through_every_capture() -> None:
    failed = [
        (name, one)
        for name in SYSTEMS
        for one in report(name).not_judged
        if "the check itself failed" in one.reason
    ]
    assert failed == []


@pytest.mark.promise("Audit", "A report names the clients that break, with what they said.")
def test_codex_failed_on_the_content_type_object_with_its_own_words() -> None:
    found = finding("incumbent-before", "content-type-unknown", "tools/call validate_address")
    codex = next(one for one in found.clients if one.client == "Codex CLI")
    assert codex.outcome == "call fails"
    assert "Unexpected response type" in codex.seen
    assert found.evidence == '{"type":"object","object":{"isValid":false}}'
    assert gets("incumbent-before", "validate_address", "Codex CLI")[0] == "error"


def test_the_error_in_an_object_block_looked_like_a_success() -> None:
    found = finding("incumbent-before", "error-not-flagged")
    assert found.where == "tools/call get_balance: result.content[0]"
    assert "Invalid Qortal address." in found.evidence


def test_a_bare_list_as_structured_content_fails_the_call_in_the_sdk_clients() -> None:
    found = finding("incumbent-now", "structured-content-not-object")
    assert found.where == "tools/call list_trade_offers: result.structuredContent"
    failing = {client for client, outcome in breaks(found).items() if outcome == "call fails"}
    assert {"TypeScript SDK v1", "Python SDK v1", "Python SDK v2", "Claude Code"} <= failing


@pytest.mark.promise("Audit", "A report names the clients that break, with what they said.")
def test_claude_code_and_gemini_took_the_bare_payload_for_an_empty_success() -> None:
    found = finding("maxmcp-G0", "result-bare-payload")
    assert {breaks(found)[client] for client in ("Claude Code", "Gemini CLI")} == {"garbage"}
    assert gets("maxmcp-G0", "list_active_patches", "Claude Code")[0] == "garbage"
    said = {one.client: one.seen for one in found.clients}
    assert "completed with no output" in said["Claude Code"]
    assert said["Gemini CLI"] == "an empty output"


def test_the_schemas_of_the_first_build_cost_claude_code_all_its_tools_and_not_the_old_version() -> None:
    found = finding("maxmcp-early", "schema-malformed", "tool list_active_patches")
    assert breaks(found)["Claude Code"] == "server unusable"
    assert "protocol-version-forced" not in codes("maxmcp-early")
    assert gets("maxmcp-early", "list_active_patches", "Claude Code") == (
        "nothing",
        "no tool of this server is offered",
    )


def test_after_the_first_fix_every_client_gets_the_patches() -> None:
    views = [one for one in report("maxmcp-G1").model_sees if one.tool == "list_active_patches"]
    assert len(views) == 12
    assert {one.gets for one in views} <= {"text", "structured and text"}


def test_the_refactoring_made_a_failed_tool_an_error_of_the_protocol_again() -> None:
    assert gets("maxmcp-G1", "get_patch_info", "Claude Code")[0] == "error"
    found = finding("maxmcp-G2", "tool-failure-as-protocol-error")
    assert found.where == "tools/call get_patch_info: error"
    assert breaks(found)["openai-agents"] == "call fails"


def test_the_workshop_has_no_handshake_so_no_revision_is_judged() -> None:
    told = report("workshop-now")
    assert told.revisions == ()
    assert [gap.what for gap in told.gaps] == ["handshake"]
    assert finding("workshop-now", "initialize-refused").evidence.endswith(
        '"error":{"code":-32601,"message":"Method not found"}}'
    )


def test_the_null_beside_a_result_is_found_on_every_reply_and_the_result_still_read() -> None:
    places = {one.where for one in report("workshop-now").findings if one.code == "rpc-result-and-error"}
    assert {"tools/list: error", "tools/call get_weather_forecast: error", "ping: result"} <= places
    assert report("workshop-now").tools == 2


FIXED = [
    pytest.param(
        "incumbent-before",
        "incumbent-now",
        {"content-type-unknown", "error-not-flagged", "unknown-tool-accepted", "rpc-extra-member"},
        {"structured-content-not-object", "error-with-structured-content", "unknown-tool-in-result"},
        id="the-third-audit-changed-one-defect-for-another",
    ),
    pytest.param(
        "incumbent-now", "incumbent-after", set(FOUND["incumbent-now"]), set(), id="the-right-reading"
    ),
    pytest.param(
        "maxmcp-G0",
        "maxmcp-G1",
        {"result-bare-payload", "error-not-flagged"},
        set(),
        id="the-result-fix",
    ),
    pytest.param(
        "maxmcp-G1",
        "maxmcp-G2",
        {"rpc-id-missing", "unknown-tool-in-result"},
        {"notification-answered", "tool-failure-as-protocol-error"},
        id="the-refactoring-undid-half-of-it",
    ),
    pytest.param("maxmcp-G2", "maxmcp-after", set(FOUND["maxmcp-G2"]), set(), id="maxmcp-after"),
    pytest.param(
        "workshop-now", "workshop-after", set(FOUND["workshop-now"]), set(), id="the-workshop-becomes-mcp"
    ),
]


@pytest.mark.promise(
    "Audit", "The difference of two audits says what was fixed, and fails where something got worse."
)
@pytest.mark.parametrize(("old", "new", "fixed", "worse"), FIXED)
def test_the_difference_of_two_captures_says_what_was_fixed(
    old: str, new: str, fixed: set[str], worse: set[str]
) -> None:
    found = comparison.compare(report(old), report(new))
    assert {one.code for one in found.fixed} == fixed
    assert {one.code for one in found.worse} == worse
    assert (found.old_verdict, found.new_verdict) == (report(old).verdict, report(new).verdict)


# Each with the codes that find it; or, where there are none, why no wire can show it to someone who does not know the chain.
TEN = {
    1: ("list tools fail in SDK clients", {"structured-content-not-object"}, ""),
    2: (
        "balances are rounded",
        set(),
        "0.00000001 and 1e-08 are both right JSON; only the node knows the amount",
    ),
    3: ("search_transactions fails with its defaults", set(), "a failure that is marked is a right answer"),
    4: ("the asset filter is ignored", set(), "which rows belong there only the node knows"),
    5: ("trades lack coin and amount, the price has no unit", set(), "null is a value, and units are words"),
    6: ("counts stop at a page", set(), "the true count is known to the node alone"),
    7: ("paging repeats rows", set(), "the offset is an argument of the tool, not a cursor of the protocol"),
    8: (
        "three failures share one text",
        set(),
        "the text is there and marked; that it helps nobody is no rule",
    ),
    9: ("answers without a bound", {"result-too-large"}, ""),
    10: (
        "429 without an id, no ping, notifications answered, any web page may ask",
        {"rate-limit-status", "ping-not-answered", "notification-answered", "origin-not-checked"},
        "that there is no stdio is seen by whoever tries to start it",
    ),
}


@pytest.mark.promise("Audit", "Recorded conversations with broken servers get exactly the expected findings.")
@pytest.mark.parametrize("number", TEN)
def test_a_defect_of_the_ten_is_found_where_the_wire_shows_it(number: int) -> None:
    what, wanted, why_not = TEN[number]
    found = set(codes("incumbent-now")) | {one.code for one in judge(unbounded()).findings}
    assert wanted <= found, what
    assert wanted or why_not, what


def unbounded() -> Evidence:
    """Block summaries without a limit, as text and as a list: 700 kB were seen; a tenth will do."""
    row = '{"height": 1, "signature": "' + "a" * 88 + '"}'
    text = f"[{', '.join([row] * 600)}]"
    block = json.dumps({"type": "text", "text": text})
    reply = f'{{"jsonrpc":"2.0","id":$ID,"result":{{"content":[{block}]}}}}'
    now = SYSTEMS["incumbent-now"]
    says = {**now.says, "tools/call list_trade_offers": Reply(reply)}
    return capture(msgspec.structs.replace(now, says=says))


@pytest.mark.promise("Audit", "Of a result only `content` is required, as in the specification.")
def test_a_result_needs_only_content() -> None:
    after = SYSTEMS["workshop-after"]
    empty = Reply('{"jsonrpc":"2.0","id":$ID,"result":{"content":[]}}')
    says = {**after.says, "tools/call get_random_fact": empty}
    told = judge(capture(msgspec.structs.replace(after, says=says)))
    assert told.verdict == "conforms"
    # That a model is shown nothing is worth a word, no more.
    assert {one.code: one.severity for one in told.findings} == {"content-empty": "advice"}


def answering(system: System, verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
    """A system behind HTTP, asked by whoever asks."""
    try:
        message = json.loads(body) if body else None
    except ValueError:
        message = b""
    name, subject = named(message)
    if verb == "GET":
        name = "get-stream"
    elif headers.get("origin"):
        name = "foreign-origin"
    elif headers.get("mcp-protocol-version") == "1999-01-01":
        name = "bad-version-header"
    reply = system.reply(name, subject, message)
    return reply.status, {"content-type": "application/json"} if reply.body else {}, reply.body.encode()


@pytest.mark.promise("Audit", "A capture gives the same report as the server it came from.")
@pytest.mark.parametrize("name", ["incumbent-before", "incumbent-now", "incumbent-after", "workshop-after"])
async def test_an_audit_of_the_living_server_finds_what_its_capture_shows(name: str) -> None:
    system = SYSTEMS[name]
    # The refusal for haste is left out: it is waited for.
    calls = tuple(Call(tool, arguments) for tool, arguments in system.calls if tool != "get_node_status")
    with http_stranger(lambda *asked: answering(system, *asked)) as url:
        limits = AuditLimits(request_seconds=5, probe_seconds=5)
        evidence = await collect(Order(target=url, permission=Permission(named=calls), limits=limits))
    found = {one.code: one.severity for one in reversed(judge(evidence).findings)}
    expected = {code: severity for code, severity in FOUND[name].items() if code != "rate-limit-status"}
    assert found == expected
