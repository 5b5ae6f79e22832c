"""A report as JUnit XML: a test case for each check, failed where the specification is not met."""

from xml.sax.saxutils import escape, quoteattr

from ..check import SEVERITIES
from ..checks import CHECKS
from ..finding import Finding, Report
from .impacts import sentence

# What fails a build: the rest is said, but does not stop anybody.
_FAILS = SEVERITIES[:2]


def render(report: Report) -> str:
    """One suite for the server."""
    by_code: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_code.setdefault(finding.code, []).append(finding)
    skipped = {one.code: one.reason for one in report.not_judged}
    cases = [_case(check.code, by_code.get(check.code, []), skipped.get(check.code)) for check in CHECKS]
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
        text = "\n\n".join(_words(one) for one in failed)
        message = f"{failed[0].severity}: {failed[0].title}"
        return f"{head}><failure type={quoteattr(failed[0].severity)} message={quoteattr(message)}>{escape(text)}</failure></testcase>"
    if findings:
        return f"{head}><system-out>{escape(chr(10).join(_words(one) for one in findings))}</system-out></testcase>"
    if skipped is not None:
        return f"{head}><skipped message={quoteattr(skipped)}/></testcase>"
    return f"{head}/>"


def _words(finding: Finding) -> str:
    lines = [
        f"{finding.where} [{', '.join(finding.revisions)}]",
        f"seen: {finding.evidence}",
        f"expected: {finding.expected}",
        f"breaks: {sentence(finding.clients)}",
        f"mend: {finding.fix}",
        f"try: {finding.reproduce}",
    ]
    return "\n".join([*lines, f"known: {finding.known}"] if finding.known else lines)
