"""A report as a plan in Markdown, ready to hand to whoever fixes the server."""

import re

from ..checks import CHECKS
from ..judging.check import SEVERITIES, Severity
from ..judging.clients import measured_on
from ..judging.finding import Finding, Report, by_code
from .impacts import by_outcome, by_place

_MOST_PLACES = 20
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
        f"**{report.verdict.capitalize()}**: {_quoted(report.because)}.",
        "",
        "| | |",
        "| --- | --- |",
        f"| server | {_cell(_quoted(report.server)) or 'unknown'} |",
        f"| transport | {report.transport} |",
        f"| revisions | {report.spoken} |",
        f"| tools | {report.tools}, {report.tools_called} called, {report.tools_succeeded} succeeded, about {report.tools_tokens:,} tokens |",
        f"| checks | {len(report.judged)} of {len(CHECKS)} made |",
        f"| findings | {', '.join(f'{count} {severity}' for severity, count in report.counts.items())} |",
        "",
    ]
    number = 0
    for severity in SEVERITIES:
        findings = report.of(severity)
        if findings:
            lines += [f"## {_HEADINGS[severity]}", ""]
        for group in by_code(findings).values():
            number += 1
            lines += _item(number, group)
    lines += _known(report) + _views(report) + _left_out(report)
    return "\n".join(lines).rstrip() + "\n"


def _item(number: int, group: list[Finding]) -> list[str]:
    first = group[0]
    places = [_place(one) for one in group[:_MOST_PLACES]]
    if len(group) > _MOST_PLACES:
        places.append(f"- and {len(group) - _MOST_PLACES} more")
    clause = f" (Clause: {_escaped(first.clause)}.)" if first.clause else ""
    broken = [
        f"- {f'{_code(place)}: ' if place else ''}{', '.join(f'{one.client} {one.version}' for one in impacts)}: {words}"
        for place, clients in by_place(group)
        for words, impacts in by_outcome(clients)
    ]
    return [
        f"### {number}. {first.title} (`{first.code}`, {first.severity})",
        "",
        *places,
        "",
        "**Now**",
        "",
        *_block(first.evidence.strip() or first.note or "(nothing)"),
        "",
        f"**Afterwards**: {_escaped(first.expected)}{clause}",
        "",
        f"**How**: {_escaped(first.fix)}",
        "",
        *(["**Who breaks on it**", "", *broken, ""] if broken else []),
        *([f"**Where it comes from**: {_escaped(first.source)}.", ""] if first.source else []),
        f"**The test to add**: send this, and check: {_escaped(first.expected)}",
        "",
        *_block(first.reproduce, "sh"),
        "",
        *([f"To know: {_escaped(first.reproduce_note)}", ""] if first.reproduce_note else []),
    ]


def _place(finding: Finding) -> str:
    revisions = f" in {', '.join(finding.revisions)}" if finding.revisions else ""
    note = f": {_quoted(finding.note)}" if finding.note else ""
    return f"- {_code(finding.place)}{revisions}{note}"


def _known(report: Report) -> list[str]:
    known = [one for one in report.findings if one.known]
    if not known:
        return []
    rows = [f"| `{one.code}` | {_cell(_code(one.place))} | {_cell(_quoted(one.known))} |" for one in known]
    return ["## Known and accepted", "", "| code | place | reason |", "| --- | --- | --- |", *rows, ""]


def _views(report: Report) -> list[str]:
    if not report.model_sees:
        return []
    tools = list(dict.fromkeys(view.tool for view in report.model_sees))
    clients = list(dict.fromkeys(view.client for view in report.model_sees))
    gets = {(view.tool, view.client): view.gets for view in report.model_sees}
    failed = {view.tool: f" failed: {_quoted(view.failed)}" for view in report.model_sees if view.failed}
    rows = [
        f"| {_cell(_code(tool) + failed.get(tool, ''))} | "
        + " | ".join(gets.get((tool, client), "") for client in clients)
        + " |"
        for tool in tools[:50]
    ]
    return [
        "## What models get from each call",
        "",
        f"By rules measured with these clients on {measured_on()}.",
        "",
        f"| tool | {' | '.join(clients)} |",
        f"| --- |{' --- |' * len(clients)}",
        *rows,
        "",
    ]


def _left_out(report: Report) -> list[str]:
    lines = [f"- {_quoted(gap.what)}: {_quoted(gap.reason)}" for gap in report.gaps]
    reasons: dict[str, list[str]] = {}
    for one in report.not_judged:
        reasons.setdefault(one.reason, []).append(one.code)
    lines += [
        f"- {_quoted(reason)}: {', '.join(f'`{code}`' for code in codes)}"
        for reason, codes in reasons.items()
    ]
    return ["## What this audit did not check", "", *lines, ""] if lines else []


def _block(text: str, language: str = "") -> list[str]:
    fence = "```"
    while fence in text:
        fence += "`"
    return [f"{fence}{language}", text, fence]


def _code(text: str) -> str:
    """Inline code, whatever is in it."""
    text = text.replace("\n", " ")
    ticks = "`"
    while ticks in text:
        ticks += "`"
    return f"{ticks} {text} {ticks}" if "`" in text else f"`{text}`"


# What has a meaning in Markdown or HTML; underscores only where a word begins or ends with one.
_ACTIVE = re.compile(r"[\\`*<>\[\]&]|(?<!\w)_|_(?!\w)")


# What readers of Markdown make more of, even where it is escaped: addresses, mentions, numbers of issues and commits, formulas;
# at the beginning also headings and lists.
_LIVELY = re.compile(r"://|www\.|@|#\d|\bgh-\d|\b[0-9a-f]{7,}\b|[$~]|\A\s*(?:[-+=#|]|\d+[.)])", re.IGNORECASE)


def _quoted(text: str) -> str:
    """Words that may hold some of the server's: shown as they are, with nothing in them that acts."""
    return _code(text) if _LIVELY.search(text) else _escaped(text)


def _escaped(text: str) -> str:
    return _ACTIVE.sub(r"\\\g<0>", text).replace("\n", " ")


def _cell(text: str) -> str:
    """What stands in a table."""
    return text.replace("|", "\\|")
