"""The colours of reports."""

import click

from ...audit.reports.terminal import PLAIN, Palette
from . import terminal


def palette() -> Palette:
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
