"""Where a finding was seen: a stable key for baselines and programs, and words for people."""

import re
from typing import get_args

import pytest
from msgspec import structs
from tests.audit.audits import LIMITS
from tests.audit.test_right_server import WIRES, right_server

from qortal_mcp.audit.evidence import Evidence, Heard, Step, Visit
from qortal_mcp.audit.judging.finding import Report
from qortal_mcp.audit.judging.judge import judge
from qortal_mcp.audit.reports import comparison, junit, markdown, sarif, terminal
from qortal_mcp.audit.steps import WORDS, MethodStep, ProbeStep
from qortal_mcp.audit.visiting.runner import Order, collect

METHODS: tuple[str, ...] = get_args(MethodStep)
PROBES: tuple[str, ...] = get_args(ProbeStep)
INTERNAL = re.compile(rf"(?<![\w-])({'|'.join(map(re.escape, PROBES))})(?![\w-])")


def test_every_step_that_is_not_a_method_has_words_of_its_own() -> None:
    assert set(WORDS) == set(PROBES)
    assert len(set(WORDS.values())) == len(PROBES)
    assert [words for words in WORDS.values() if INTERNAL.search(words)] == []


@pytest.mark.parametrize("wire", WIRES)
async def test_every_step_of_an_audit_is_a_method_or_has_words(wire: str) -> None:
    said: list[str] = []
    async with right_server(wire) as target:
        evidence = await collect(Order(target=target, limits=LIMITS, say=said.append))
    names = {step.name for visit in evidence.visits for step in visit.steps}
    assert names
    assert names <= {*METHODS, *PROBES}
    assert said[0] == "opening the connection that asks for 2026-07-28"
    assert "opening the connection with wrong input" in said


def seen_at(name: str) -> Report:
    """A server whose reply to one step lacks its version, and whose next one is larger than an audit reads."""
    question = '{"jsonrpc":"2.0","id":1,"method":"x"}'
    broken = Step(name=name, text=question, heard=(Heard.of(b'{"id":1,"result":{}}'),))
    large = structs.replace(broken, text=question.replace("1,", "2,"), heard=(Heard(too_long=True),))
    visit = Visit(name="manners", transport="stdio", revision="2026-07-28", steps=(broken, large))
    return judge(Evidence(target="server", transport="stdio", visits=(visit,)))


def forms_of(report: Report) -> dict[str, str]:
    """Everything that people read of it, without the line breaks."""
    nothing = structs.replace(report, findings=())
    forms = {
        "terminal": terminal.render(report, 100),
        "markdown": markdown.render(report),
        "junit": junit.render(report),
        "sarif": sarif.render(report),
        "comparison": comparison.render(comparison.compare(nothing, report)),
    }
    return {form: " ".join(text.split()) for form, text in forms.items()}


@pytest.mark.parametrize("name", PROBES)
def test_no_report_shows_the_internal_name_of_a_step(name: str) -> None:
    report = seen_at(name)
    place = {one.code: one.place for one in report.findings}["rpc-version-missing"]
    assert place.startswith(WORDS[name])  # type: ignore[index]
    for form, text in forms_of(report).items():
        assert INTERNAL.search(text) is None, form
        assert place in text, form


@pytest.mark.parametrize("name", PROBES)
def test_baselines_and_programs_go_by_the_name_of_the_step(name: str) -> None:
    assert ("rpc-version-missing", f"{name}: jsonrpc") in {
        (one.code, one.where) for one in seen_at(name).findings
    }


def test_what_was_not_asked_is_named_in_words() -> None:
    reasons = {one.reason for one in seen_at("unknown-method").not_judged}
    assert f"this was not asked: {WORDS['unknown-tool']}" in reasons
    assert [reason for reason in reasons if INTERNAL.search(reason)] == []
