"""What `bridge --check` shows: each thing that a bridge has to repair, before and after."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ...audit.judging.clients import Impact, impact, measured_codes
from ...audit.reports.impacts import by_outcome
from ...audit.reports.sentences import sentence
from ...audit.reports.terminal import Palette
from ...repairs import values
from ...repairs.chosen import REPAIRS
from ...repairs.repair import ABSENT, Change, Repair
from ...text import printable, shortened
from . import terminal
from .colours import palette

_INDENT = " " * 4
_LABEL_COLUMNS = 10
_VALUE_CHARS = 400
_PLACES = 3
_NARROWEST, _WIDEST = 60, 120


class Seen(Struct, frozen=True):
    """A repair that was made: in the answer of which call, or in the list at which tool."""

    change: Change
    called: str = ""
    listed: str = ""

    @property
    def tool(self) -> str:
        return self.called or self.listed


class Unchecked(Struct, frozen=True):
    """One of several servers that could not be looked at, and why."""

    name: str
    reason: str


class Checked(Struct, frozen=True, kw_only=True):
    """What a look at a server has shown."""

    target: str
    server: dict[str, Any]
    # What was spoken with it.
    revision: str
    level: str
    tools: int
    called: tuple[str, ...]
    # Calls without an answer, and why; calls answered with an error; what was not called, and why.
    failed: tuple[tuple[str, str], ...]
    errors: tuple[tuple[str, str], ...]
    gaps: tuple[tuple[str, str], ...]
    seen: tuple[Seen, ...]
    # A call had no answer, or there is no such tool: there may be more to repair.
    is_incomplete: bool = False
    # About how many a model reads before it can use the tools.
    tokens: int = 0
    # Of several servers: its name.
    name: str = ""


def show(checked: Checked, *, as_json: bool) -> None:
    if as_json:
        terminal.write_json(values.write(_as_data(checked)))
    else:
        terminal.write("\n".join(_Page(terminal.width(), palette()).lines(checked)))


def show_one(one: Checked | Unchecked, *, is_first: bool) -> None:
    """The report of one of several servers, under its name."""
    colours = palette()
    lines = [*([] if is_first else [""]), colours.strong(f"=== {one.name} ===")]
    page = _Page(terminal.width(), colours)
    lines += page.lines(one) if isinstance(one, Checked) else page.unchecked(one)
    terminal.write("\n".join(lines))


def show_list(found: Sequence[Checked | Unchecked]) -> None:
    """All of them as one JSON list."""
    terminal.write_json(values.write([_one_of_several(one) for one in found]))


def _one_of_several(one: Checked | Unchecked) -> dict[str, Any]:
    if isinstance(one, Unchecked):
        return {"name": one.name, "isIncomplete": True, "error": one.reason}
    return {"name": one.name, **_as_data(one)}


def show_weights(found: Sequence[Checked | Unchecked], by_search: int) -> None:
    """What a model reads of each server, and of all."""
    checked = [one for one in found if isinstance(one, Checked)]
    rows = [(one.name, _about(one.tokens), _tools(one.tools)) for one in checked]
    rows.append(
        ("all", _about(sum(one.tokens for one in checked)), _tools(sum(one.tools for one in checked)))
    )
    rows.append(("by search", _about(by_search), "4 tools, with --tools-by-search"))
    names, counts = (max(len(row[at]) for row in rows) for at in (0, 1))
    lines = ["", palette().strong("Tokens that a model reads before it can use the tools")]
    lines += [f"{_INDENT}{name:<{names}}  {count:>{counts}}  {tools}" for name, count, tools in rows]
    terminal.write("\n".join(lines))


def _about(tokens: int) -> str:
    return f"~{tokens:,}"


def _tools(count: int) -> str:
    return "1 tool" if count == 1 else f"{count} tools"


def _repair_of(code: str, about_calls: bool) -> Repair[Any] | None:
    """The repair of a code; of several, the one for calls or the other."""
    mine = [one for one in REPAIRS if one.code == code]
    fitting = [one for one in mine if (one.about.__name__ == "CallResult") is about_calls]
    return next(iter([*fitting, *mine]), None)


def _clients(code: str) -> tuple[Impact, ...]:
    return impact(code) if code in measured_codes() else ()


def _as_data(checked: Checked) -> dict[str, Any]:
    return {
        "target": checked.target,
        "server": checked.server,
        "revision": checked.revision,
        "level": checked.level,
        "needsRepair": bool(checked.seen),
        "isIncomplete": checked.is_incomplete,
        "tools": checked.tools,
        "tokens": checked.tokens,
        "called": list(checked.called),
        "failed": [{"tool": tool, "reason": reason} for tool, reason in checked.failed],
        "errors": [{"tool": tool, "error": error} for tool, error in checked.errors],
        "notCalled": [{"what": what, "reason": reason} for what, reason in checked.gaps],
        "repairs": [_one_as_data(one) for one in checked.seen],
    }


def _one_as_data(one: Seen) -> dict[str, Any]:
    change, found = one.change, _repair_of(one.change.code, bool(one.called))
    data = {
        "code": change.code,
        "title": found.title if found is not None else "",
        "makes": found.makes if found is not None else "",
        "tool": one.tool,
        "path": change.path,
        "clients": [{"client": it.client, "outcome": it.outcome} for it in _clients(change.code)],
    }
    for name, value in (("before", change.before), ("after", change.after)):
        if value is not ABSENT:
            data[name] = value
    return data


class _Page:
    def __init__(self, width: int, colours: Palette) -> None:
        self._width = max(_NARROWEST, min(width, _WIDEST))
        self._colours = colours

    def lines(self, checked: Checked) -> list[str]:
        groups: dict[str, list[Seen]] = {}
        for one in checked.seen:
            groups.setdefault(one.change.code, []).append(one)
        level = checked.level
        if groups:
            many = "1 repair" if len(groups) == 1 else f"{len(groups)} repairs"
            if len(checked.seen) > len(groups):
                many += f" in {len(checked.seen)} places"
            verdict = f"{self._colours.bad('NEEDS REPAIR')} ({many} at level {level})"
        elif checked.is_incomplete:
            verdict = f"{self._colours.warn('INCOMPLETE')} (nothing to repair in what was answered, at level {level})"
        else:
            verdict = f"{self._colours.good('NOTHING TO REPAIR')} (at level {level})"
        lines = [*self._head(checked), "", verdict]
        for group in groups.values():
            lines += ["", *self._group(group)]
        for head, calls in (
            ("No answer", checked.failed),
            ("Answered with a protocol error", checked.errors),
        ):
            if calls:
                lines += ["", self._colours.strong(head)]
            for tool, reason in calls:
                lines += self._wrapped(f"{printable(tool)}: {_one_line(reason)}")
        if checked.gaps:
            lines += ["", self._colours.strong("Not called")]
            for what, reason in checked.gaps:
                lines += self._wrapped(f"{what}: {printable(reason.removeprefix('not called, as '))}")
        return lines

    def unchecked(self, one: Unchecked) -> list[str]:
        return ["", f"{self._colours.bad('NOT REACHED')}", *self._wrapped(_one_line(one.reason))]

    def _head(self, checked: Checked) -> list[str]:
        name = " ".join(
            printable(part)
            for part in (checked.server.get("name"), checked.server.get("version"))
            if isinstance(part, str)
        )
        called = f"{len(checked.called)} called"
        if checked.called:
            called += f": {', '.join(printable(tool) for tool in checked.called)}"
        known = name and checked.server.get("name") != checked.target
        return [
            *self._field("server", f"{name} at {checked.target}" if known else checked.target, ""),
            *self._field("revision", checked.revision, ""),
            *self._field("weight", f"~{checked.tokens:,} tokens for a model to read", ""),
            *self._field("tools", f"{checked.tools}, {called}", ""),
        ]

    def _group(self, group: list[Seen]) -> list[str]:
        """Everything that one repair does, the same words once."""
        code = group[0].change.code
        found = _repair_of(code, bool(group[0].called))
        lines = [self._colours.strong(code) + (f"  {found.title}" if found is not None else "")]
        for one in group[:_PLACES]:
            lines += self._one(one)
        if len(group) > _PLACES:
            lines += self._field("", f"and {len(group) - _PLACES} more places; --json lists all")
        if found is not None:
            lines += self._field("repair", sentence(found.makes))
        if code not in measured_codes():
            return [*lines, *self._field("breaks", "not measured")]
        broken = by_outcome(_clients(code))
        if not broken:
            lines += self._field("breaks", "no measured client")
        for words, impacts in broken:
            lines += self._field("breaks", f"{', '.join(it.client for it in impacts)}: {words}")
        return lines

    def _one(self, one: Seen) -> list[str]:
        change = one.change
        lines = self._field("at", place) if (place := _place(one)) else []
        if change.before is not ABSENT:
            lines += self._field("before", _shown(change.before, change.path))
        if change.after is not ABSENT:
            lines += self._field("after", _shown(change.after, change.path))
        elif change.before is not ABSENT and change.path:
            lines += self._field("after", "(nothing)")
        return lines

    def _field(self, label: str, text: str, indent: str = _INDENT) -> list[str]:
        room = self._width - len(indent) - _LABEL_COLUMNS
        first, *more = terminal.wrapped(text, room)
        blank = " " * (len(indent) + _LABEL_COLUMNS)
        return [
            f"{indent}{self._colours.quiet(label.ljust(_LABEL_COLUMNS))}{first}",
            *(f"{blank}{line}" for line in more),
        ]

    def _wrapped(self, text: str) -> list[str]:
        return [f"{_INDENT}{line}" for line in terminal.wrapped(text, self._width - len(_INDENT))]


def _place(one: Seen) -> str:
    path = printable(one.change.path)
    if one.called:
        return f"tools/call {printable(one.called)}" + (f": {path}" if path else "")
    return f"tool {printable(one.listed)}: {path}" if one.listed else path


def _shown(value: Any, path: str) -> str:
    # What has no place is a message as it came, or words about it.
    text = value if isinstance(value, str) and not path else _json(value)
    return shortened(_one_line(text), _VALUE_CHARS)


def _json(value: Any) -> str:
    try:
        return values.text_of(value)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return "(cannot be shown)"


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))
