"""Every code has a server that is found by it and by nothing else, and one that it leaves in peace."""

import json
from collections.abc import Iterable
from dataclasses import replace

import pytest
from tests.audit.audits import evidence_of
from tests.audit.cases import BY_NAME, CASES, LEGAL, MODERN_ONLY, STRUCTURED, Case, Verdict
from tests.audit.stub import EXIT

from qortal_mcp.audit.checks import BY_CODE
from qortal_mcp.audit.evidence import Evidence, Heard, Step, Visit
from qortal_mcp.audit.judging.check import SEVERITIES, Severity
from qortal_mcp.audit.judging.clients import impact, measured_codes
from qortal_mcp.audit.judging.finding import Finding, Report
from qortal_mcp.audit.judging.judge import VIOLATES, judge
from qortal_mcp.audit.visiting.probes import NO_TOOL

MEASURED = {name: code for code, names in measured_codes().items() for name in names}
# Together they give every check something to look at that is in order.
PEACEFUL = [
    "call-slow-3s",
    "http-session",
    "modern-notice",
    "ws-any-origin",
    "unknown-notif",
    "rpc-error-nomessage",
]
ALLOWED: dict[Verdict, tuple[Severity, ...]] = {
    "MUST": ("MUST",),
    "SHOULD": ("SHOULD",),
    "legal": ("portability", "advice"),
}


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


def worst(findings: Iterable[Finding]) -> Severity:
    return min((finding.severity for finding in findings), key=SEVERITIES.index)


def named(cases: Iterable[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", list(cases), ids=lambda case: case.name)


@pytest.mark.promise(
    "Audit", "Each defect is found by exactly its code, and every code has a broken server that proves it."
)
@pytest.mark.promise("Audit", "Text and structured content that differ are found.")
@named(one for one in CASES if one.code is not None)
async def test_each_broken_server_is_found_by_exactly_its_code(case: Case) -> None:
    """With the severity that the specification gives it, and the clients that were measured to break."""
    report = judge(await evidence_of(case))
    assert codes(report) == {case.code}
    assert not [one for one in report.not_judged if "failed" in one.reason]
    assert worst(report.findings) in ALLOWED[case.verdict]
    assert (report.verdict == VIOLATES) is (case.verdict == "MUST")
    if case.name in MEASURED:
        assert any(breaks(finding) == measured(case) for finding in report.findings)
    for finding in report.findings:
        # In what no client sends nobody breaks.
        assert breaks(finding) in (measured(case), set()) or case.name not in MEASURED, finding.where
        assert all((finding.where, finding.title, finding.expected, finding.fix, finding.reproduce))


def breaks(finding: Finding) -> set[tuple[str, str]]:
    return {(one.client, one.outcome) for one in finding.clients}


def measured(case: Case) -> set[tuple[str, str]]:
    return {(one.client, one.outcome) for one in impact(case.code or "", case.name)}


@pytest.mark.promise("Audit", "What only looks odd is not reported.")
@named(one for one in CASES if one.code is None)
async def test_what_only_looks_odd_is_not_found(case: Case) -> None:
    assert judge(await evidence_of(case)).findings == ()


@pytest.mark.promise(
    "Audit", "Each defect is found by exactly its code, and every code has a broken server that proves it."
)
@pytest.mark.parametrize("code", BY_CODE)
def test_every_code_has_a_broken_server(code: str) -> None:
    assert [one.name for one in CASES if one.code == code]


async def test_every_code_leaves_some_server_in_peace_that_it_looked_at() -> None:
    at_peace: set[str] = set()
    for name in PEACEFUL:
        report = judge(await evidence_of(BY_NAME[name]))
        at_peace |= set(report.judged) - codes(report)
    assert at_peace == set(BY_CODE)


def test_every_measured_case_has_its_server() -> None:
    assert set(MEASURED) <= set(BY_NAME)
    for name, code in MEASURED.items():
        # What 2026-07-28 allows was measured under the code that it has on older wires.
        is_allowed = BY_NAME[name].revisions == MODERN_ONLY and BY_NAME[name].verdict == LEGAL
        assert BY_NAME[name].code in ((code, None) if is_allowed else (code,)), name


async def in_revisions(name: str, *revisions: str) -> Report:
    return judge(await evidence_of(replace(BY_NAME[name], revisions=revisions)))


@pytest.mark.parametrize("name", ["sc-array", "sc-string", "sc-number", "sc-null"])
async def test_a_structured_value_that_is_no_object_is_wrong_until_2026_07_28(name: str) -> None:
    for revision in STRUCTURED:
        found = await in_revisions(name, revision)
        assert [(one.code, one.severity) for one in found.findings] == [
            ("structured-content-not-object", "MUST")
        ]
    assert (await in_revisions(name, *MODERN_ONLY)).findings == ()


@pytest.mark.parametrize("name", ["sc-array-os", "sc-string-os", "sc-number-os", "sc-null-os", "os-notype"])
async def test_an_output_schema_of_another_root_is_wrong_until_2026_07_28(name: str) -> None:
    for revision in STRUCTURED:
        assert codes(await in_revisions(name, revision)) == {"output-schema-root-not-object"}
    assert (await in_revisions(name, *MODERN_ONLY)).findings == ()


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
@pytest.mark.parametrize("name", ["os-ok", "sc-object", "os-notype"])
async def test_what_old_revisions_do_not_know_is_not_judged_there(name: str, revision: str) -> None:
    report = await in_revisions(name, "2025-11-25", revision)
    assert not [one for one in report.findings if revision in one.revisions]


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
@pytest.mark.parametrize("name", ["os-mismatch", "os-sc-missing"])
async def test_a_schema_that_old_revisions_do_not_know_still_binds_their_clients(
    name: str, revision: str
) -> None:
    case = BY_NAME[name]
    always = replace(case.server, tool={**case.server.tool, "annotations": {"readOnlyHint": True}})
    report = judge(await evidence_of(replace(case, server=always, revisions=(revision,))))
    assert [(one.code, one.severity) for one in report.findings] == [(case.code, "portability")]


async def test_a_boolean_for_a_property_is_wrong_until_2026_07_28() -> None:
    assert codes(await in_revisions("in-boolprop", "2024-11-05")) == {"schema-boolean-property"}
    assert codes(await in_revisions("in-boolprop", "2025-11-25")) == {"schema-boolean-property"}
    assert (await in_revisions("in-boolprop", *MODERN_ONLY)).findings == ()


@pytest.mark.parametrize("name", ["block-object", "tool-title-null", "id-null", "err-empty", "in-notype"])
async def test_what_every_revision_forbids_is_told_once_with_all_of_them(name: str) -> None:
    report = await in_revisions(name)
    assert [one.code for one in report.findings] == [BY_NAME[name].code]
    assert report.findings[0].revisions == (
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    )


async def test_a_server_without_a_handshake_hears_about_its_tools_all_the_same() -> None:
    case = BY_NAME["init-unknown"]
    bare = replace(case.server, result={"logs": ["a"]})
    report = judge(await evidence_of(replace(case, server=bare)))
    assert codes(report) == {"initialize-refused", "result-bare-payload"}


async def test_a_probe_that_ends_a_server_comes_after_its_results() -> None:
    case = BY_NAME["bare-payload"]
    dies = replace(
        case.server, bend=lambda ask, replies: [EXIT] if ask.params.get("name") == NO_TOOL else replies
    )
    report = judge(await evidence_of(replace(case, server=dies)))
    assert codes(report) == {"result-bare-payload", "server-exit"}


async def test_a_code_with_many_places_hides_no_other() -> None:
    many = [{"name": f"t {at}", "inputSchema": {"type": "object"}, "description": "d"} for at in range(1_500)]
    reply = {"jsonrpc": "2.0", "id": 1, "result": {"tools": [*many, {"name": "bare"}]}}
    question = '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'
    step = Step(name="tools/list", text=question, heard=(Heard.of(json.dumps(reply).encode()),))
    visit = Visit(name="v", transport="stdio", revision="2025-11-25", steps=(step,))
    report = judge(Evidence(target="x", transport="stdio", visits=(visit,)))
    assert {"tool-name-charset", "input-schema-missing"} <= codes(report)
    assert report.verdict == VIOLATES
    assert any("100 of 1500 places" in gap.reason for gap in report.gaps)


async def test_an_answer_to_a_notification_with_an_id_of_its_own_making_is_one() -> None:
    case = BY_NAME["notif-reply-null"]
    invents = replace(
        case.server,
        bend=lambda ask, replies: (
            [{"jsonrpc": "2.0", "id": "None", "result": {}}] if "id" not in ask.message else replies
        ),
    )
    report = judge(await evidence_of(replace(case, server=invents)))
    assert codes(report) == {"notification-answered"}
