"""A report as JUnit XML: a test case for each check, failed where the specification is not met."""

import re
from xml.sax import saxutils

from ..checks import CHECKS
from ..judging.check import SEVERITIES
from ..judging.finding import Finding, Report, by_code
from .impacts import sentence

# What fails a build; the rest is only shown.
_FAILS = SEVERITIES[:2]


# What XML cannot hold, however it is written.
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def escape(text: str) -> str:
    return saxutils.escape(_NOT_IN_XML.sub("?", text))


def quoteattr(text: str) -> str:
    return saxutils.quoteattr(_NOT_IN_XML.sub("?", text))


def render(report: Report) -> str:
    """One suite for the server."""
    found = by_code(report.findings)
    skipped = {one.code: one.reason for one in report.not_judged}
    # A check that does not apply to this server has no test case.
    looked = {*report.judged, *found, *skipped}
    codes = [check.code for check in CHECKS if check.code in looked]
    cases = [_case(code, found.get(code, []), skipped.get(code)) for code in codes]
    failures = sum("<failure" in case for case in cases)
    left_out = sum("<skipped" in case for case in cases)
    counts = f'tests="{len(cases)}" failures="{failures}" skipped="{left_out}" errors="0"'
    suite = f'<testsuite name={quoteattr(f"audit of {report.target}")} {counts} time="{report.seconds:.3f}">'
    verdict = f"<system-out>{escape(f'{report.verdict}: {report.because}')}</system-out>"
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites {counts}>",
            suite,
            *cases,
            verdict,
            "</testsuite>",
            "</testsuites>",
            "",
        ]
    )


def _case(code: str, findings: list[Finding], skipped: str | None) -> str:
    head = f'<testcase classname="mcp" name={quoteattr(code)}'
    failed = [one for one in findings if one.severity in _FAILS and not one.known]
    if failed:
        kind, message = failed[0].severity, f"{failed[0].severity}: {failed[0].title}"
        text = escape(_all(failed))
        return (
            f"{head}><failure type={quoteattr(kind)} message={quoteattr(message)}>{text}</failure></testcase>"
        )
    if findings:
        return f"{head}><system-out>{escape(_all(findings))}</system-out></testcase>"
    if skipped is not None:
        return f"{head}><skipped message={quoteattr(skipped)}/></testcase>"
    return f"{head}/>"


def _all(findings: list[Finding]) -> str:
    return "\n\n".join(_words(one) for one in findings)


def _words(finding: Finding) -> str:
    revisions = f" [{', '.join(finding.revisions)}]" if finding.revisions else ""
    lines = {
        "note": finding.note,
        "seen": finding.evidence,
        "expected": finding.expected,
        "breaks": sentence(finding.clients),
        "fix": finding.fix,
        "try": finding.reproduce,
        "known": finding.known,
    }
    return "\n".join(
        [
            f"{finding.severity} at {finding.place}{revisions}",
            *(f"{label}: {text}" for label, text in lines.items() if text),
        ]
    )
