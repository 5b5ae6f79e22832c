"""What `audit` shows and writes: the report in its forms, a new baseline, and a line of progress."""

import os
import sys

import click
import msgspec

from ...audit.judging import baseline
from ...audit.judging.finding import Report
from ...audit.reports import junit, markdown, sarif
from ...audit.reports import terminal as report_on_terminal
from ...audit.reports.terminal import PLAIN, Palette
from ...logs import visible
from ...text import shortened
from ..input import files
from ..input.audit_options import OutputOptions
from ..running import failures
from . import terminal

_FORMS = {"junit": junit.render, "sarif": sarif.render, "markdown": markdown.render}


class Progress:
    """A line on the terminal that says what is being done; nothing where nobody looks."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()

    def say(self, text: str) -> None:
        if self._is_shown:
            line = shortened(visible(text), terminal.width() - 24)
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def check_writable(output: OutputOptions, ctx: click.Context) -> None:
    """Say before the work what would fail after it. Raises: WrongUsage, Undetermined."""
    named = [(path, "report") for path in output.reports.values()]
    named += [(path, "capture") for path in (output.capture,) if path is not None]
    named += [(path, "baseline") for path in (output.write_baseline,) if path is not None]
    if len({os.path.realpath(path) for path, _ in named}) < len(named):
        raise failures.WrongUsage("Two outputs have the same file.", ctx)
    for path, what in named:
        files.check_writable(path, what)


def write(report: Report, output: OutputOptions) -> None:
    """Raises: Undetermined."""
    for form, path in output.reports.items():
        files.write(path, _FORMS[form](report).encode(), "report")
    if output.write_baseline is not None:
        files.write(output.write_baseline, baseline.write(report), "baseline")


def show(report: Report, *, as_json: bool) -> None:
    if as_json:
        terminal.write_json(msgspec.json.encode(report))
    else:
        terminal.write(report_on_terminal.render(report, terminal.width(), _palette()))


def _palette() -> Palette:
    if not terminal.has_colours():
        return PLAIN
    return Palette(
        bad=lambda text: click.style(text, fg="red", bold=True),
        warn=lambda text: click.style(text, fg="yellow"),
        note=lambda text: click.style(text, fg="magenta"),
        good=lambda text: click.style(text, fg="green", bold=True),
        strong=lambda text: click.style(text, bold=True),
        quiet=lambda text: click.style(text, dim=True) if text.strip() else text,
    )


def name_unneeded(known: baseline.Known, report: Report) -> None:
    """Also where nobody looks: a CI log is where a baseline grows old."""
    if gone := baseline.gone(known, report):
        code, where = gone[0]
        entries = "1 entry" if len(gone) == 1 else f"{len(gone)} entries"
        click.echo(
            f"{entries} of the baseline no longer found, such as {code} at {visible(where)}; remove what is not needed.",
            err=True,
        )
