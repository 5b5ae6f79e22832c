"""Which server a command asks: this program's own, or any other that is named with --server."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

from ... import settings
from ...protocol.versions import NEWEST_HANDSHAKE, REVISIONS
from ...settings import NodeOptions, Options
from ...settings.bridging import ChosenRepairs, ReachOptions, WaitOptions
from ..running import failures
from ..running.any_server.chosen import Chosen, OtherServer, OwnServer
from .targets import command_or_address

# What a command that asks any server takes, in the order in which it gets them.
GROUPS: tuple[type[Options], ...] = (NodeOptions, ChosenRepairs, ReachOptions, WaitOptions)
_FOR_OTHERS = GROUPS[1:]


def takes_server(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options --server and --revision; the function gets the server that was chosen instead of the groups."""

    @functools.wraps(command)
    def chosen(
        chain: NodeOptions,
        repairs: ChosenRepairs,
        reaching: ReachOptions,
        waiting: WaitOptions,
        *,
        server: str | None,
        revision: str | None,
        **rest: Any,
    ) -> Any:
        ctx = click.get_current_context()
        where: Chosen
        if server is None:
            _refuse(ctx, _FOR_OTHERS, "belongs to --server")
            where = OwnServer(chain=chain, revision=revision or NEWEST_HANDSHAKE)
        else:
            _refuse(ctx, (NodeOptions,), "is for Qortal's own tools and cannot be combined with --server")
            where = _other(ctx, command_or_address(ctx, server), repairs, reaching, waiting, revision)
        return command(where, **rest)

    option = click.option(
        "--server",
        metavar="TARGET",
        help="Ask this MCP server instead of Qortal's own: an address (http, https, ws, wss), or a command in quotes.",
    )
    spoken = click.option(
        "--revision",
        type=click.Choice(REVISIONS),
        metavar="REVISION",
        help=f"The revision of the protocol to ask in: {', '.join(REVISIONS)}.",
    )
    return option(spoken(chosen))


def names_server(words: Sequence[str]) -> bool:
    """Whether a command line names another server."""
    return any(word == "--server" or word.startswith("--server=") for word in words)


def _refuse(ctx: click.Context, groups: Sequence[type[Options]], why: str) -> None:
    """A flag that would do nothing is a mistake. A variable may be meant for other commands.

    Raises: WrongUsage.
    """
    for option in (option for group in groups for option in settings.options_of(group)):
        if ctx.get_parameter_source(option.field) is ParameterSource.COMMANDLINE:
            raise failures.WrongUsage(f"{option.flag} {why}.", ctx)


def _other(
    ctx: click.Context,
    target: str | tuple[str, ...],
    repairs: ChosenRepairs,
    reaching: ReachOptions,
    waiting: WaitOptions,
    revision: str | None,
) -> OtherServer:
    """Raises: WrongUsage, WrongSetting."""
    from ..running.reaching import reach
    from ..running.ways import ADDRESS_SECONDS, PROGRAM_SECONDS, client_limits, repairs_of, way_of

    start = waiting.start_timeout
    if start is None:
        usual = ADDRESS_SECONDS if isinstance(target, str) else PROGRAM_SECONDS
        start = min(usual, waiting.timeout)
    chosen = repairs_of(ctx, repairs)
    reached = reach(target, reaching, client_limits(waiting.timeout, start))
    way = way_of(reached, chosen, timeout=waiting.timeout, start_timeout=start, revision=revision)
    return OtherServer(way=way, secrets=reached.secrets)
