"""The list of commands, and what happens to errors, interrupts and closed pipes.

A command's module is imported only when it runs.
"""

import functools
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TextIO

import click

from .. import __version__, settings
from .running import failures

PROGRAM = "qortal-mcp"
# Set by the completion scripts of shells, which click writes.
_COMPLETION = "_QORTAL_MCP_COMPLETE"
# Suggestions less similar than this are not shown.
_LIKENESS = 0.75
# Shorter words are a part of too many names.
_LEAST_PART = 3
_MOST_HINTS = 5


class Entry(NamedTuple):
    """A command without its module: enough for `--help`."""

    section: str
    summary: str


COMMANDS = {
    "serve": Entry("Serve", "Serve AI clients over HTTP and WebSocket, and people with a browser."),
    "stdio": Entry("Serve", "Serve the AI client that started this process."),
    "sample-node": Entry("Serve", "Serve the sample chain as a node."),
    "ask": Entry("Ask", "Ask a question and see where each number of the answer comes from."),
    "call": Entry("Ask", "Call one tool and show its answer."),
    "tools": Entry("Ask", "List the tools, or show one of them in full."),
    "read": Entry("Ask", "Read a resource, or list what can be read."),
    "prompt": Entry("Ask", "Show a prompt with its arguments filled in, or list the prompts."),
    "complete": Entry("Ask", "Show what a server suggests for an argument, one value per line."),
    "watch": Entry("Ask", "Show what changes about accounts, names, trades or the chain, as it happens."),
    "install": Entry("Connect", "Put this server into the settings of an AI client, or take it out again."),
    "bridge": Entry(
        "Connect", "Make any MCP server usable: other transports and revisions, repaired answers."
    ),
    "new": Entry("Build", "Write a small MCP server of your own, to begin with."),
    "audit": Entry("Check", "Say what is wrong with any MCP server, and which clients break on it."),
    "doctor": Entry("Check", "Say what is wrong with this installation, its node and its clients."),
    "version": Entry("Ask", "Show the version and the supported protocol revisions."),
}


def module_of(name: str) -> str:
    """The module that defines a command."""
    return f"{__package__}.{name.replace('-', '_')}"


class LazyGroup(click.Group):
    """Commands by name, imported when needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        from importlib import import_module

        command = import_module(module_of(cmd_name)).command
        assert isinstance(command, click.Command), "each command module defines one"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise failures.WrongUsage(_unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section in dict.fromkeys(entry.section for entry in COMMANDS.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(name, entry.summary) for name, entry in COMMANDS.items() if entry.section == section]
                )

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_epilog(ctx, formatter)
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in failures.EXIT_CODES.items()])


def unknown(what: str, name: str, known: Iterable[str], old: Iterable[str] = ()) -> str:
    """One line about a name that does not exist, with similar names, and those that hold it as a part."""
    import difflib

    from ..text import shortened, visible

    names, meant = list(known), name.lower().replace("-", "_")
    near = difflib.get_close_matches(name, [*names, *old], n=3, cutoff=_LIKENESS)
    if len(meant) >= _LEAST_PART:
        near += [one for one in names if meant in one.lower().replace("-", "_") and one not in near]
    hint = f" Did you mean {' or '.join(near[:_MOST_HINTS])}?" if near else ""
    return f"Unknown {what} {shortened(visible(name), 60)}.{visible(hint)}"


def unknown_tool(name: str, known: Iterable[str], old: Iterable[str] = ()) -> str:
    """The same about a tool, and where to find the existing ones."""
    return f"{unknown('tool', name, known, old)} See {PROGRAM} tools."


def _unknown_command(name: str) -> str:
    """A tool is no command, but there is one that calls it."""
    from .input.toolsets import tool_named, toolset_of

    if toolset_of(tool_named(name)) is not None:
        return f"{unknown('command', name, ())} Did you mean call {name}?"
    return unknown("command", name, COMMANDS)


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Settings can also be given as environment variables, named in the command's help.",
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def program() -> None:
    """Read the Qortal blockchain from any AI client. Read-only."""


def run(words: Sequence[str]) -> int:
    """Run a command line and return its exit code."""
    if sys.stdout is None:  # the process was started with it closed
        sys.stdout = failures.ClosedOutput()
    return reported(lambda: _invoked(words))


def _invoked(words: Sequence[str]) -> int:
    if _COMPLETION in os.environ:
        from .input import shells

        shells.register()
        program.main(prog_name=PROGRAM)  # answers the shell and exits
    # Not `program.main`: it has exit codes of its own for closed pipes and interrupts.
    with program.make_context(PROGRAM, list(words)) as ctx:
        code = program.invoke(ctx)
    sys.stdout.flush()
    return code if isinstance(code, int) else failures.GOOD


def reported(work: Callable[[], int]) -> int:
    """The exit code of some work; what it fails with becomes one line on standard error."""
    try:
        return work()
    except click.exceptions.Exit as exc:
        return exc.exit_code
    except click.exceptions.NoArgsIsHelpError as exc:
        _print_error(exc.format_message(), functools.partial(click.echo, err=True))
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
        # The reader of our output has closed it. The interpreter would flush it once more at exit.
        _drop(sys.stdout)
        return failures.GOOD
    except OSError as exc:
        if not _is_about_output(exc):
            raise
        _drop(sys.stdout)
        return _failed(f"Cannot write the output: {exc.strerror}.", failures.UNDETERMINED)


def _is_about_output(exc: OSError) -> bool:
    """Whether it was raised by writing output: everything we print goes through `click.echo`."""
    frames = [frame.f_code for frame, _ in traceback.walk_tb(exc.__traceback__)]
    return click.echo.__code__ in frames or frames[-1] is _invoked.__code__  # which flushes


def _drop(stream: TextIO | failures.ClosedOutput) -> None:
    """Discard what a stream could not write; the interpreter would try again at exit."""
    if not isinstance(stream, failures.ClosedOutput):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _failed(message: str, code: int, ctx: click.Context | None = None) -> int:
    from ..text import visible
    from .output import terminal

    # Names of files, too, may hold anything.
    line = visible(" ".join(line.strip() for line in message.splitlines()))
    sentence = line if line.endswith((".", "?")) else f"{line}."
    hint = f" See {ctx.command_path} --help." if ctx is not None else ""
    _print_error(f"{PROGRAM}: {sentence}{hint}", terminal.warn)
    return code


def _print_error(text: str, write: Callable[[str], None]) -> None:
    try:
        write(text)
    except OSError:  # closed or full as well: nobody can be told
        _drop(sys.stderr)
