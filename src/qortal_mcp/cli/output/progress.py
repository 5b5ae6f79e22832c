"""A line on the terminal that says what is being done."""

import os
import sys

import click

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

    def clear(self) -> None:
        if self._is_there:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_there = False
