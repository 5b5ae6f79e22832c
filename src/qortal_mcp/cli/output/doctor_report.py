"""What `doctor` shows: a section for each thing, a line for each check, the next step below what is wrong."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ... import __version__
from ...audit.reports.terminal import Palette
from ...doctor.check import NOT_CHECKED, State
from ...doctor.report import Report, Row, Section
from . import terminal
from .colours import palette

_MARKS: dict[State, str] = {"good": "ok", "warning": "warning", "problem": "PROBLEM", "unknown": "unknown"}
_MARK_COLUMNS = 9
_TITLE_COLUMNS = 14
_INDENT = "  "
_BLANK = " " * (len(_INDENT) + _MARK_COLUMNS + _TITLE_COLUMNS)
_NARROWEST, _WIDEST = 60, 120
_DETAILS = 3


def waiting(titles: Sequence[str]) -> str:
    """A line for those who wait."""
    return f"Looking at {', '.join(titles)} …" if titles else ""


def show(report: Report, *, as_json: bool) -> None:
    if as_json:
        terminal.write_json(msgspec.json.encode(_as_data(report)))
    else:
        terminal.write("\n".join(_Page(terminal.width(), palette()).lines(report)))


def _as_data(report: Report) -> dict[str, Any]:
    return {
        "outcome": report.outcome,
        "problems": report.count("problem"),
        "warnings": report.count("warning"),
        "unknown": report.count("unknown"),
        "version": __version__,
        "sections": [
            {"title": section.title, "checks": [_row_as_data(row) for row in section.rows]}
            for section in report.sections
        ],
    }


def _row_as_data(row: Row) -> dict[str, Any]:
    finding = row.finding
    data: dict[str, Any] = {
        "check": row.check,
        "title": row.title,
        "state": finding.state,
        "says": finding.says,
    }
    if finding.advice:
        data["advice"] = finding.advice
    if finding.details:
        data["details"] = finding.details
    return data


class _Page:
    def __init__(self, width: int, colours: Palette) -> None:
        self._width = max(_NARROWEST, min(width, _WIDEST))
        self._paint: dict[State, Callable[[str], str]] = {
            "good": colours.good,
            "warning": colours.warn,
            "problem": colours.bad,
            "unknown": colours.note,
        }
        self._colours = colours
        self._arrow = "→" if terminal.can_show("→") else ">"

    def lines(self, report: Report) -> list[str]:
        lines: list[str] = []
        for section in report.sections:
            lines += [*self._section(section), ""]
        return [*lines, self._verdict(report)]

    def _section(self, section: Section) -> list[str]:
        lines = [self._colours.strong(terminal.one_line(section.title))]
        left_out = [row.title for row in section.rows if row.finding is NOT_CHECKED]
        for row in section.rows:
            if row.finding is not NOT_CHECKED:
                lines += self._row(row)
        if left_out:
            lines += self._line("unknown", "not checked", ", ".join(left_out))
        return lines

    def _row(self, row: Row) -> list[str]:
        finding = row.finding
        lines = self._line(finding.state, row.title, finding.says)
        if finding.details:
            more = len(finding.details) - _DETAILS
            rest = f" and {more} more; --json lists all" if more > 0 else ""
            lines += self._below(f"{', '.join(finding.details[:_DETAILS])}{rest}")
        return lines + (self._below(finding.advice, f"{self._arrow} ") if finding.advice else [])

    def _line(self, state: State, title: str, says: str) -> list[str]:
        mark = self._paint[state](_MARKS[state].ljust(_MARK_COLUMNS))
        name = self._colours.quiet(title.ljust(_TITLE_COLUMNS))
        first, *more = self._wrapped(says, len(_BLANK))
        return [f"{_INDENT}{mark}{name}{first}", *(f"{_BLANK}{line}" for line in more)]

    def _below(self, text: str, lead: str = "") -> list[str]:
        first, *more = self._wrapped(text, len(_BLANK) + len(lead))
        return [f"{_BLANK}{lead}{first}", *(f"{_BLANK}{' ' * len(lead)}{line}" for line in more)]

    def _wrapped(self, text: str, indent: int) -> list[str]:
        return terminal.wrapped(terminal.one_line(text), self._width - indent)

    def _verdict(self, report: Report) -> str:
        kinds: tuple[State, ...] = ("problem", "warning")
        counted = [
            self._paint[state](f"{count} {state}" if count == 1 else f"{count} {state}s")
            for state in kinds
            if (count := report.count(state))
        ]
        if unknown := report.count("unknown"):
            counted.append(self._paint["unknown"](f"{unknown} not determined"))
        return ", ".join(counted) if counted else self._colours.good("All is well.")
