"""A report as a plan in Markdown, ready to hand to whoever mends the server."""

from collections.abc import Iterable

from ..check import SEVERITIES, Severity
from ..clients import measured_on
from ..finding import Finding, Report
from .impacts import by_outcome

_HEADINGS: dict[Severity, str] = {
    "MUST": "First: what the specification demands",
    "SHOULD": "Then: what the specification recommends",
    "portability": "Then: legal, but it breaks a client",
    "advice": "Worth knowing",
}


def render(report: Report) -> str:
    """The plan, by priority."""
    lines = [
        f"# MCP audit of {_code(report.target)}",
        "",
        f"**{report.verdict.capitalize()}**: {_escaped(report.because)}.",
        "",
        "| | |",
        "| --- | --- |",
        f"| server | {_escaped(report.server) or 'unknown'} |",
        f"| transport | {report.transport} |",
        f"| revisions | {', '.join(report.revisions) or 'none'} |",
        f"| tools | {report.tools}, {report.tools_called} called, about {report.tools_tokens:,} tokens |",
        f"| findings | {', '.join(f'{count} {severity}' for severity, count in report.counts.items())} |",
        "",
    ]
    number = 0
    for severity in SEVERITIES:
        findings = report.of(severity)
        if findings:
            lines += [f"## {_HEADINGS[severity]}", ""]
        for group in _by_code(findings):
            number += 1
            lines += _item(number, group)
    lines += _known(report) + _views(report) + _left_out(report)
    return "\n".join(lines).rstrip() + "\n"


def _by_code(findings: Iterable[Finding]) -> list[list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    return list(groups.values())


def _item(number: int, group: list[Finding]) -> list[str]:
    first = group[0]
    places = [f"- {_code(one.where)} in {', '.join(one.revisions) or 'any revision'}" for one in group[:20]]
    if len(group) > 20:
        places.append(f"- and {len(group) - 20} more")
    clause = f" Clause: {first.clause}." if first.clause else ""
    broken = [
        f"- {', '.join(f'{one.client} {one.version}' for one in impacts)}: {words}"
        for words, impacts in by_outcome(first.clients)
    ]
    return [
        f"### {number}. {first.title} (`{first.code}`, {first.severity})",
        "",
        *places,
        "",
        "**Now**",
        "",
        *_block(first.evidence or first.note or "(nothing)"),
        "",
        f"**Afterwards**: {_escaped(first.expected)}{clause}",
        "",
        f"**How**: {_escaped(first.fix)}",
        "",
        *(["**Who breaks on it**", "", *broken, ""] if broken else []),
        f"**The test to add**: send this, and assert that {_assertion(first)}.",
        "",
        *_block(first.reproduce, "sh"),
        "",
    ]


def _assertion(finding: Finding) -> str:
    return f"the answer is so: {_escaped(finding.expected).rstrip('.')}"


def _known(report: Report) -> list[str]:
    known = [one for one in report.findings if one.known]
    if not known:
        return []
    rows = [f"| `{one.code}` | {_code(one.where)} | {_cell(one.known)} |" for one in known]
    return ["## Known and borne with", "", "| code | where | reason |", "| --- | --- | --- |", *rows, ""]


def _views(report: Report) -> list[str]:
    if not report.model_sees:
        return []
    tools = list(dict.fromkeys(view.tool for view in report.model_sees))
    clients = list(dict.fromkeys(view.client for view in report.model_sees))
    gets = {(view.tool, view.client): view.gets for view in report.model_sees}
    rows = [
        f"| {_code(tool)} | " + " | ".join(gets.get((tool, client), "") for client in clients) + " |"
        for tool in tools[:50]
    ]
    return [
        "## What models get of each call",
        "",
        f"By the rules that were measured with these clients on {measured_on()}.",
        "",
        f"| tool | {' | '.join(clients)} |",
        f"| --- |{' --- |' * len(clients)}",
        *rows,
        "",
    ]


def _left_out(report: Report) -> list[str]:
    lines = [f"- {_escaped(gap.what)}: {_escaped(gap.reason)}" for gap in report.gaps]
    reasons: dict[str, list[str]] = {}
    for one in report.not_judged:
        reasons.setdefault(one.reason, []).append(one.code)
    lines += [
        f"- {_escaped(reason)}: {', '.join(f'`{code}`' for code in codes)}"
        for reason, codes in reasons.items()
    ]
    return ["## What this audit did not see", "", *lines, ""] if lines else []


def _block(text: str, language: str = "") -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]


def _code(text: str) -> str:
    """Inline code, whatever is in it."""
    text = text.replace("|", "\\|").replace("\n", " ")
    ticks = "`"
    while ticks in text:
        ticks += "`"
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


def _escaped(text: str) -> str:
    for character in "\\`*_<>[]#":
        text = text.replace(character, f"\\{character}") if character in "`<>[]*" else text
    return text.replace("\n", " ")


def _cell(text: str) -> str:
    return _escaped(text).replace("|", "\\|")
