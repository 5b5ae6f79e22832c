"""A line on the terminal that says what is being done."""

import os
import sys
from typing import Any

import click
from msgspec import Raw

from ...protocol import jsonrpc
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from . import terminal


class Progress:
    """Nothing where nobody looks."""

    def __init__(self) -> None:
        self._is_there = False
        self._is_shown = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    def say(self, text: str) -> None:
        if self._is_shown:
            # More than one line could not be cleared again.
            line = terminal.cut(terminal.one_line(text), terminal.width() - 1)
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)
            self._is_there = True

    def wait(self, text: str) -> None:
        """The same for a terminal that cannot take a line back, which gets a line that stays."""
        if self._is_shown:
            self.say(text)
        else:
            terminal.note(text)

    def clear(self) -> None:
        if self._is_there:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_there = False


def progress_words(message: bytes) -> str:
    """One line about how far a call is; empty if the message is about something else."""
    told = jsonrpc.read(message)
    if not isinstance(told, jsonrpc.Notification) or told.method != "notifications/progress":
        return ""
    return in_words(told.params)


def in_words(params: Raw | None) -> str:
    """What the parameters of such a message say; empty if they cannot be read."""
    try:
        told = values.read(params or Raw(b"{}"))
    except UNREADABLE:
        return ""
    if not isinstance(told, dict):
        return ""
    done, total, said = told.get("progress"), told.get("total"), told.get("message")
    figures = _number(done) + (f" of {_number(total)}" if values.is_number(total) else "")
    return " ".join(part for part in (figures, said if isinstance(said, str) else "") if part)


def _number(value: Any) -> str:
    if not values.is_number(value):
        return ""
    return bytes(value).decode().removesuffix(".0") if isinstance(value, Raw) else str(value)
