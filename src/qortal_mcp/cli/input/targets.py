"""A server that is not ours on a command line: an address, or a command after `--`."""

import os
import re
import shlex
import shutil
from collections.abc import Sequence
from typing import TypeAlias

import click

from ...client.transcript import Headers
from ...connect.entries.addresses import has_scheme, is_address, is_header_name
from ...text import visible
from ..running import failures
from . import files

# An address, or a command with its arguments.
Server: TypeAlias = str | Sequence[str]
_SERVER_FILE = re.compile(r".+\.py(:\w+)?\Z")
_HOST_AND_PORT = re.compile(r"(localhost|[\w.-]+:\d{1,5})(/\S*)?\Z")


class TakesCommand(click.Command):
    """A command that takes another command after `--`, which is in `ctx.obj`; None without `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # click forgets where the `--` was, and what comes after it is not ours.
        ctx.obj = None
        if "--" in args:
            at = args.index("--")
            args, ctx.obj = args[:at], tuple(args[at + 1 :])
        return super().parse_args(ctx, args)


def check_address(ctx: click.Context, url: str) -> None:
    """Raises: WrongUsage."""
    if not has_scheme(url):
        raise failures.WrongUsage("An address begins with http://, https://, ws:// or wss://.", ctx)
    if not is_address(url):
        # Not shown: it may hold a password.
        raise failures.WrongUsage("The address has no host, or a port that does not exist.", ctx)


def refuse_bare_host(ctx: click.Context, text: str) -> None:
    """Raises: WrongUsage for an address without its beginning."""
    if _HOST_AND_PORT.match(text) and not os.path.exists(text):
        raise failures.WrongUsage(
            f"An address begins with http:// or ws://; did you mean http://{text}?", ctx
        )


def command_or_address(ctx: click.Context, text: str) -> str | tuple[str, ...]:
    """What `--server` names: an address, or a command, which is split without a shell. Raises: WrongUsage."""
    if "://" in text.partition(" ")[0]:
        check_address(ctx, text)
        return text
    refuse_bare_host(ctx, text)
    try:
        argv = shlex.split(text)
    except ValueError as exc:
        raise failures.WrongUsage(f"--server: the command cannot be read: {exc}.", ctx) from None
    if not argv:
        raise failures.WrongUsage("--server: there is no command.", ctx)
    _refuse_bare_file(ctx, argv)
    return tuple(argv)


def _refuse_bare_file(ctx: click.Context, argv: Sequence[str]) -> None:
    """Raises: WrongUsage for a server in a file, as `serve` takes it, which no system can start."""
    if len(argv) == 1 and _SERVER_FILE.match(argv[0]) and shutil.which(argv[0]) is None:
        file = visible(argv[0])
        raise failures.WrongUsage(
            f"--server takes an address or a command, and {file} is neither; did you mean 'qortal-mcp stdio {file}'?",
            ctx,
        )


def headers_in(path: str | None) -> Headers:
    """The headers of a file, one per line. Raises: WrongUsage."""
    if path is None:
        return ()
    found = []
    for number, line in enumerate(files.read(path, "header file").decode("latin-1").splitlines(), 1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        # Nothing of the line itself is shown: it may be a secret without its name.
        if not colon or not is_header_name(name.strip()) or not value.strip().isprintable():
            raise failures.WrongUsage(f"Line {number} of the header file {path} is not 'Name: value'.")
        found.append((name.strip().lower(), value.strip()))
    return tuple(found)
