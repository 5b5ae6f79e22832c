"""`stdio`: one client, on standard input and output, until its input ends."""

import sys

import click

from ..settings import NodeOptions, WatchOptions
from .input.options import SettingsCommand
from .running import failures


@click.command(cls=SettingsCommand, groups=(NodeOptions, WatchOptions))
@click.argument("target", required=False, metavar="[FILE.py:NAME]")
@click.pass_context
def command(ctx: click.Context, chain: NodeOptions, watching: WatchOptions, target: str | None) -> None:
    """Serve the AI client that started this process.

    MCP messages are read from standard input and answered on standard output, one per line; the log goes to
    standard error. Ends when its input ends. FILE.py:NAME serves a server of your own instead, made with this library.
    """
    from .running.stdio_server import serve

    if isinstance(sys.stdout, failures.ClosedOutput):
        raise failures.Undetermined("Standard output is closed, so the client cannot be answered.")
    if target is not None:
        from .running.serve.serving_file import refuse_flags, serve_file_on_stdio

        refuse_flags(ctx, (NodeOptions, WatchOptions))
        serve_file_on_stdio(target)
        return
    serve(chain, watching)
