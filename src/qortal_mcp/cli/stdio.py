"""`stdio`: one client, on standard input and output, until its input ends."""

import sys

import click

from ..settings import NodeOptions
from .input.options import SettingsCommand
from .running import failures


@click.command(cls=SettingsCommand, groups=(NodeOptions,))
def command(chain: NodeOptions) -> None:
    """Serve the AI client that started this process.

    MCP messages are read from standard input and answered on standard output, one per line; the log goes to
    standard error. Ends when its input ends.
    """
    from .running.stdio_server import serve

    if isinstance(sys.stdout, failures.ClosedOutput):
        raise failures.Undetermined("Standard output is closed, so the client cannot be answered.")
    serve(chain)
