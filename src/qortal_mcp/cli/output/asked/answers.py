"""A run on the terminal: the answer on standard output, everything about it on standard error."""

from __future__ import annotations

import io
import sys
from typing import Any

import click
import msgspec

from ....agent.events import Asked, Called, Calling, Ended, Event, Notice, Text
from ....agent.run import Call, Claim, Run, ServerSeen, Source
from ....agent.words import counted
from ....text import shortened, visible
from .. import terminal
from ..progress import Progress

_ARGUMENT_CHARS = 300
_RESULT_CHARS = 300
_MOST_FAILURES = 5
_WAITING = "Waiting for the model …"


class AnswerPrinter:
    """Shows events as they happen."""

    def __init__(self, *, traces: bool) -> None:
        self.traces = traces
        self._progress = Progress()
        self._has_text = False
        self._ends_line = True

    def __call__(self, event: Event) -> None:
        if isinstance(event, Asked):
            self.doing(_WAITING)
        elif isinstance(event, Text):
            self._text(event.text)
        elif isinstance(event, Calling):
            self.doing(f"{event.tool} {_json(event.arguments)} …")
        elif isinstance(event, Called):
            if self.traces:
                self.trace(event.call)
            self.doing(_WAITING)
        elif isinstance(event, Notice):
            self._lines([f"Note: {terminal.one_line(event.text)}"])
        elif isinstance(event, Ended):
            self._end(event.run)

    def doing(self, what: str) -> None:
        """Say what is being waited for, below what has been said so far."""
        self.end_line()
        self._progress.say(what)

    def trace(self, call: Call) -> None:
        self._lines(_traced(call))

    def _text(self, text: str) -> None:
        self._progress.clear()
        put(text)
        self._has_text = True
        self._ends_line = text.endswith("\n")

    def _lines(self, lines: list[str]) -> None:
        """Below what has been said so far."""
        self.stop()
        for line in lines:
            click.echo(line, err=True, color=None)

    def stop(self) -> None:
        """Leave the terminal at the beginning of a line, wherever the answer was interrupted."""
        self._progress.clear()
        self.end_line()

    def end_line(self) -> None:
        if not self._ends_line:
            put("\n")
            self._ends_line = True

    def _end(self, run: Run) -> None:
        # A trace has said already what failed.
        failed = [] if self.traces else _failures(run.calls)
        lines = [
            *(_sources(run.sources, is_one=len(run.servers) < 2) or failed),
            *_not_from_a_tool(run.grounding.not_from_a_tool),
        ]
        if self.traces:
            lines += [*_found(run.servers), _spent(run)]
        self._lines(["", *map(_quiet, lines)] if lines and run.answer else lines)


def put(text: str) -> None:
    """Write to standard output at once, without a line of its own."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    click.echo(text, nl=False)
    sys.stdout.flush()


def _quiet(line: str) -> str:
    is_terminal = sys.stderr is not None and sys.stderr.isatty() and terminal.wants_colours()
    return click.style(line, dim=True) if is_terminal and line else line


def _json(value: Any) -> str:
    return shortened(visible(msgspec.json.encode(value).decode("utf-8", "replace")), _ARGUMENT_CHARS)


def _traced(call: Call) -> list[str]:
    """What was asked and how it went; below it, what it took."""
    said = "ok" if call.ok else f"error {_json(shortened(call.text, _RESULT_CHARS))}"
    took = [f"{call.ms:g} ms", f"{call.bytes:,} bytes", f"~{call.tokens:,} tokens", f"round {call.round}"]
    if call.server:
        took.append(call.server)
    if call.written:
        took.append("written as text by the model")
    if call.repeated:
        took.append("asked before: the first result was given again")
    return [
        f"{terminal.one_line(call.tool)} {_json(call.arguments)} {said}",
        f"    {' · '.join(map(terminal.one_line, took))}",
        *(f"    warning: {terminal.one_line(warning)}" for warning in call.warnings),
    ]


def _sources(sources: tuple[Source, ...], *, is_one: bool) -> list[str]:
    """`is_one`: all are from the same server."""
    if not sources:
        return []
    lines = dict.fromkeys(f"  {_source(source, is_one=is_one)}" for source in sources)
    return ["Sources:", *lines]


def _failures(calls: tuple[Call, ...]) -> list[str]:
    """Why nothing was looked up, although the model tried."""
    failed = dict.fromkeys(
        f"  {terminal.one_line(call.tool)}: {terminal.one_line(shortened(call.text, _RESULT_CHARS))}"
        for call in calls
    )
    if not failed:
        return []
    more = [f"  and {len(failed) - _MOST_FAILURES} more"] if len(failed) > _MOST_FAILURES else []
    return ["Sources: none. No call succeeded:", *list(failed)[:_MOST_FAILURES], *more]


def _source(source: Source, *, is_one: bool) -> str:
    # Any server may name any node.
    parts = [source.tool, source.server if not (is_one and source.node) else "", source.node]
    if source.height is not None:
        parts.append(f"height {source.height}")
    parts.append(source.as_of or source.time)
    if source.is_synchronizing:
        parts.append("the node is synchronizing")
    return " · ".join(terminal.one_line(part) for part in parts if part)


def _not_from_a_tool(claims: tuple[Claim, ...]) -> list[str]:
    if not claims:
        return []
    shown = dict.fromkeys(
        terminal.one_line(claim.text) + (" (in your question)" if claim.in_question else "")
        for claim in claims
    )
    return [f"Not from a tool: {', '.join(shown)}"]


def _found(servers: tuple[ServerSeen, ...]) -> list[str]:
    if not servers:
        return []
    return [
        "Tools: " + ", ".join(f"{server.tools} of {terminal.one_line(server.name)}" for server in servers)
    ]


def _spent(run: Run) -> str:
    spent = run.spent
    about = "~" if spent.is_estimated else ""
    return (
        f"{terminal.one_line(run.model)} at {terminal.one_line(run.endpoint)}: {counted(len(run.calls), 'call')} in {counted(spent.rounds, 'round')}, "
        f"{about}{spent.prompt_tokens:,} + {about}{spent.completion_tokens:,} tokens, {spent.ms / 1000:.1f} s"
    )
