"""The list of commands, and what happens to errors, interrupts and closed pipes.

A command's module is imported only when it runs.
"""

import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import click

from .. import __version__, settings
from . import failures

PROGRAM = "qortal-mcp"
# Set by the completion scripts of shells, which click writes.
_COMPLETION = "_QORTAL_MCP_COMPLETE"


class Entry(NamedTuple):
    """A command without its module: enough for `--help`."""

    section: str
    summary: str


COMMANDS = {
    "serve": Entry("Serve", "Serve AI clients over HTTP and WebSocket."),
    "stdio": Entry("Serve", "Serve the AI client that started this process."),
    "sample-node": Entry("Serve", "Serve the sample chain as a node of its own."),
    "call": Entry("Ask", "Call one tool and show its answer."),
    "tools": Entry("Ask", "List the tools, or what they cost a model to read."),
    "version": Entry("Ask", "Show the version and the protocol revisions spoken."),
}


def module_of(name: str) -> str:
    """The module whose `command` a command is."""
    return f"{__package__}.{name.replace('-', '_')}"


class LazyGroup(click.Group):
    """Commands by name, imported when asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        command = import_module(module_of(cmd_name)).command
        assert isinstance(command, click.Command), "each module of a command has one"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise failures.WrongUsage(unknown("command", args[0], COMMANDS), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(name, entry.summary) for name, entry in COMMANDS.items() if entry.section == section]
                )


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """One line about a name that does not exist, with those that come near it."""
    import difflib

    from ..logs import visible
    from ..text import shortened

    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    return f"Unknown {what} {shortened(visible(name), 60)}.{hint}"


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Every option can also be set by a variable, named in the help of each command.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Read the Qortal blockchain from any AI client, and nothing but read it."""


def run(words: Sequence[str]) -> int:
    """Run a command line and say how it ended."""
    try:
        if _COMPLETION in os.environ:
            program.main(prog_name=PROGRAM)  # answers the shell and exits
        # Not `program.main`: it has exit codes of its own for closed pipes and interrupts.
        with program.make_context(PROGRAM, list(words)) as ctx:
            code = program.invoke(ctx)
        sys.stdout.flush()
        return code if isinstance(code, int) else failures.GOOD
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.exceptions.NoArgsIsHelpError as exc:
        click.echo(exc.format_message(), err=True)
        return failures.WRONG_USAGE
    except click.UsageError as exc:
        return _failed(exc.format_message(), exc.exit_code, exc.ctx)
    except settings.WrongSetting as exc:
        return _failed(str(exc), failures.WRONG_USAGE)
    except click.ClickException as exc:
        return _failed(exc.format_message(), exc.exit_code)
    except KeyboardInterrupt:
        return failures.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough. The interpreter would flush it once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return failures.GOOD


def _failed(message: str, code: int, ctx: click.Context | None = None) -> int:
    line = " ".join(message.splitlines())
    sentence = line if line.endswith((".", "?")) else f"{line}."
    hint = f" See {ctx.command_path} --help." if ctx is not None else ""
    # Standard error may be closed as well; then there is nobody to tell.
    with contextlib.suppress(BrokenPipeError):
        click.echo(f"{PROGRAM}: {sentence}{hint}", err=True)
    return code
