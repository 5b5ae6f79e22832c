"""What `audit` shows and writes: the report in its forms, and a new baseline."""

import os

import click
import msgspec

from ...audit.judging import baseline
from ...audit.judging.finding import Report
from ...audit.reports import junit, markdown, sarif
from ...audit.reports import terminal as report_on_terminal
from ...text import visible
from ..input import captures, files
from ..input.audit_options import OutputOptions
from ..running import failures
from . import terminal
from .colours import palette

_FORMS = {"junit": junit.render, "sarif": sarif.render, "markdown": markdown.render}


def check_writable(output: OutputOptions, ctx: click.Context) -> None:
    """Say before the work what would fail after it. Raises: WrongUsage, Undetermined."""
    named = [(path, "report") for path in output.reports.values()]
    named += [(path, "capture") for path in (output.capture,) if path is not None]
    named += [(path, "baseline") for path in (output.write_baseline,) if path is not None]
    if len({os.path.realpath(path) for path, _ in named}) < len(named):
        raise failures.WrongUsage("Two outputs have the same file.", ctx)
    for path, what in named:
        files.check_writable(path, what)
    if output.capture is not None:
        captures.check_replaceable(output.capture)


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
        terminal.write(report_on_terminal.render(report, terminal.width(), palette()))


def name_unneeded(known: baseline.Known, report: Report) -> None:
    """Also where nobody looks: a CI log is where a baseline grows old."""
    if gone := baseline.gone(known, report):
        code, where = gone[0]
        entries = "1 entry" if len(gone) == 1 else f"{len(gone)} entries"
        click.echo(
            f"{entries} of the baseline no longer found, such as {code} at {visible(where)}; remove what is not needed.",
            err=True,
        )
