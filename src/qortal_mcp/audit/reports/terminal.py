"""A report for the person at the terminal: what is wrong, worst first, each kind once."""

import textwrap
from collections.abc import Callable
from typing import NamedTuple

from ..checks import CHECKS
from ..judging.check import SEVERITIES, Severity
from ..judging.clients import measured_on
from ..judging.finding import AFTER_REPAIR, Finding, Report, by_code
from .impacts import by_outcome, by_place

_PLACES = 3
_LABEL_COLUMNS = 10
_INDENT = " " * 4
_MOST_VIEWS = 12
_MOST_NAMES = 6


def _plain(text: str) -> str:
    return text


class Palette(NamedTuple):
    """How parts are coloured; the default is not at all."""

    bad: Callable[[str], str] = _plain
    warn: Callable[[str], str] = _plain
    note: Callable[[str], str] = _plain
    good: Callable[[str], str] = _plain
    strong: Callable[[str], str] = _plain
    quiet: Callable[[str], str] = _plain


PLAIN = Palette()


def render(report: Report, width: int, palette: Palette = PLAIN) -> str:
    """The whole report."""
    page = _Page(width, palette)
    lines = page.head(report)
    for severity in SEVERITIES:
        for group in by_code(report.of(severity)).values():
            lines += ["", *page.group(group)]
    lines += page.views(report)
    lines += page.rest(report)
    return "\n".join(lines)


def _count(severity: Severity, findings: list[Finding]) -> str:
    """How many kinds, and in how many places where that is more."""
    kinds = len({one.code for one in findings})
    places = f" in {len(findings)} places" if len(findings) > kinds else ""
    return f"{kinds} {severity}{places}"


def _left_over(report: Report) -> str:
    """What a bridge has not repaired."""
    left = sum(one.place.startswith(AFTER_REPAIR) for one in report.findings)
    clients = f"{report.clients} client{'s' if report.clients != 1 else ''}"
    places = "1 place below begins" if left == 1 else f"{left} places below begin"
    found = f'{places} with "{AFTER_REPAIR}"' if left else "nothing is wrong"
    return f"in what {clients} got after repair, {found}"


def _some(names: list[str]) -> str:
    return ", ".join(names[:_MOST_NAMES]) + (
        f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    )


class _Page:
    def __init__(self, width: int, palette: Palette) -> None:
        self._width = max(60, min(width, 120))
        self._palette = palette
        self._severity: dict[Severity, Callable[[str], str]] = {
            "MUST": palette.bad,
            "SHOULD": palette.warn,
            "portability": palette.note,
            "advice": palette.quiet,
        }

    def head(self, report: Report) -> list[str]:
        lines = [
            *self._field(
                "server", f"{report.server or 'unknown'} at {report.target} ({report.transport})", ""
            ),
            *self._field("checked" if report.revisions_asked else "speaks", report.spoken, ""),
        ]
        if report.tools:
            weight = f"the list costs a model about {report.tools_tokens:,} tokens"
            called = f"{report.tools_called} called, {report.tools_succeeded} succeeded"
            lines += self._field("tools", f"{report.tools}, {called}; {weight}", "")
        if report.judged:
            made = f"{len(report.judged)} of {len(CHECKS)} made"
            lines += self._field("checks", f"{made}; the others do not apply, or had nothing to look at", "")
        if report.clients:
            lines += self._field("bridge", _left_over(report), "")
        counts = ", ".join(
            _count(severity, report.of(severity)) for severity in SEVERITIES if report.of(severity)
        )
        colour = {"conforms": self._palette.good, "violates": self._palette.bad}.get(
            report.verdict, self._palette.warn
        )
        known = sum(1 for one in report.findings if one.known)
        tail = f" ({counts})" if counts else ""
        tail += f" ({known} known)" if known else ""
        return [*lines, "", colour(report.verdict.upper()) + tail, *self._wrapped(report.because, "")]

    def group(self, group: list[Finding]) -> list[str]:
        first = group[0]
        colour = self._severity[first.severity]
        title = f"{colour(first.severity)}  {self._palette.strong(first.code)}  {first.title}"
        lines = [title]
        for one in group[:_PLACES]:
            revisions = f"  [{', '.join(one.revisions)}]" if one.revisions else ""
            lines += self._field("at", one.place + revisions)
            if one.note:
                lines += self._field("", one.note)
        if len(group) > _PLACES:
            lines += self._field("", f"and {len(group) - _PLACES} more places; --json lists all")
        if first.evidence:
            lines += self._field("seen", first.evidence)
        clause = f" ({first.clause})" if first.clause else ""
        lines += self._field("expected", first.expected + clause)
        for place, clients in by_place(group):
            if place:
                lines += self._field("breaks", f"{place}:" if clients else f"{place}: no measured client")
            for words, impacts in by_outcome(clients):
                label = "" if place else "breaks"
                lines += self._field(label, f"{', '.join(one.client for one in impacts)}: {words}")
        if first.source:
            lines += self._field("source", first.source)
        lines += self._field("fix", first.fix)
        lines.append(f"{_INDENT}{self._palette.quiet('try'.ljust(_LABEL_COLUMNS))}{first.reproduce}")
        if first.reproduce_note:
            lines += self._field("", f"({first.reproduce_note})")
        return lines

    def views(self, report: Report) -> list[str]:
        """What models get, tools with equal views together."""
        gets: dict[str, dict[str, list[str]]] = {}
        failed: dict[str, str] = {}
        for view in report.model_sees:
            failed[view.tool] = view.failed
            gets.setdefault(view.tool, {}).setdefault(view.gets, []).append(view.client)
        alike: dict[tuple[bool, str], list[str]] = {}
        for tool, how in gets.items():
            rows = "\n".join(f"{kind}\t{', '.join(who)}" for kind, who in how.items())
            alike.setdefault((bool(failed[tool]), rows), []).append(tool)
        if not alike:
            return []
        head = f"What models get from each call (by rules measured with these clients on {measured_on()})"
        lines = ["", self._palette.strong(head)]
        for (has_failed, pattern), tools in list(alike.items())[:_MOST_VIEWS]:
            lines += self._wrapped(f"{'failed calls: ' if has_failed else ''}{_some(tools)}", _INDENT)
            for tool in tools[:_PLACES] if has_failed else ():
                lines += self._field("server said", f"{tool}: {failed[tool]}", _INDENT * 2, 22)
            for row in pattern.splitlines():
                kind, _, who = row.partition("\t")
                lines += self._field(kind, who, _INDENT * 2, 22)
        if len(alike) > _MOST_VIEWS:
            lines.append(f"{_INDENT}and {len(alike) - _MOST_VIEWS} other kinds; --json lists all")
        return lines

    def rest(self, report: Report) -> list[str]:
        lines: list[str] = []
        # What made the audit incomplete stands at the top already.
        if gaps := [gap for gap in report.gaps if not (gap.weighs and report.verdict == "incomplete")]:
            lines += ["", self._palette.strong("Not checked")]
            for gap in gaps:
                lines += self._wrapped(f"{gap.what}: {gap.reason}", _INDENT)
        if report.calls_to_try:
            head = "To call more tools, look at the arguments and add what you need"
            lines += ["", self._palette.strong(head), *(f"{_INDENT}{one}" for one in report.calls_to_try)]
            if (more := report.tools - report.tools_called - len(report.calls_to_try)) > 0:
                lines.append(f"{_INDENT}and {more} more")
        if report.not_judged:
            lines += ["", self._palette.strong("Not judged")]
            reasons: dict[str, list[str]] = {}
            for one in report.not_judged:
                reasons.setdefault(one.reason, []).append(one.code)
            for reason, codes in reasons.items():
                lines += self._wrapped(f"{reason}: {_some(codes)}", _INDENT)
        if known := [one for one in report.findings if one.known]:
            lines += ["", self._palette.strong("Known and accepted")]
            for group in by_code(known).values():
                lines += self._wrapped(f"{group[0].severity}  {group[0].code}: {group[0].known}", _INDENT)
        # Again after a long report: its beginning has scrolled away.
        lines += ["", f"{report.verdict.upper()}."] if report.findings else [""]
        about = " More about a code: qortal-mcp audit --explain CODE"
        has_codes = report.findings or report.not_judged
        spent = f"{report.requests} requests in {report.seconds:.1f} s."
        return [*lines, self._palette.quiet(spent + (about if has_codes else ""))]

    def _field(
        self, label: str, text: str, indent: str = _INDENT, columns: int = _LABEL_COLUMNS
    ) -> list[str]:
        columns = max(columns, len(label) + 2)
        room = self._width - len(indent) - columns
        wrapped = textwrap.wrap(text, max(room, 30), break_on_hyphens=False) or [""]
        head = f"{indent}{self._palette.quiet(label.ljust(columns))}{wrapped[0]}"
        return [head, *(f"{indent}{' ' * columns}{line}" for line in wrapped[1:])]

    def _wrapped(self, text: str, indent: str) -> list[str]:
        return textwrap.wrap(
            text, self._width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_on_hyphens=False
        )
