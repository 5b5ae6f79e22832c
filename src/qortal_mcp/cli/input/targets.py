"""A server that is not ours on a command line: an address, or a command after `--`."""

from collections.abc import Sequence
from typing import TypeAlias
from urllib.parse import urlsplit

import click

from ...client.transcript import Headers
from ..running import failures
from . import files

# An address, or a command with its arguments.
Server: TypeAlias = str | Sequence[str]
_HEADER_NAME = frozenset("!#$%&'*+.^_`|~-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")


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
    if url.partition("://")[0].lower() not in ("http", "https", "ws", "wss"):
        raise failures.WrongUsage("An address begins with http://, https://, ws:// or wss://.", ctx)
    try:
        parts = urlsplit(url)
        is_good = bool(parts.hostname) and parts.port != 0 and url.isprintable()
    except ValueError:
        is_good = False
    if not is_good:
        # Not shown: it may hold a password.
        raise failures.WrongUsage("The address has no host, or a port that does not exist.", ctx)


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
        if not colon or not _is_name(name.strip()) or not value.strip().isprintable():
            raise failures.WrongUsage(f"Line {number} of the header file {path} is not 'Name: value'.")
        found.append((name.strip().lower(), value.strip()))
    return tuple(found)


def _is_name(text: str) -> bool:
    return bool(text) and set(text) <= _HEADER_NAME
