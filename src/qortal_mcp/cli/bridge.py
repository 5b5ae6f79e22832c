"""`bridge`: makes a server usable that answers in the wrong shape, or on the wrong transport."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from .. import settings
from ..connect.entries.addresses import is_address
from ..settings import WatchOptions
from ..settings.bridging import BridgeListenOptions, GatherOptions, RepairOptions, ServerOptions
from ..text import printable
from .input.options import SettingsCommand
from .input.targets import TakesCommand, check_address
from .running import failures

if TYPE_CHECKING:
    from ..bridge.gathered.member import Source
    from ..bridge.way import Way
    from .running.bridge.capture_file import CaptureFile
    from .running.bridge.several_servers import Chosen


_Source = TypeVar("_Source", bound="Source")


class BridgeCommand(TakesCommand, SettingsCommand):
    """Settings, and a server: an address, or a command after `--`."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(
            ctx.command_path,
            "[OPTIONS] (URL | -- COMMAND [ARGUMENT]... | --servers FILE | --server TARGET...)",
        )


@click.command(
    cls=BridgeCommand, groups=(RepairOptions, GatherOptions, ServerOptions, BridgeListenOptions, WatchOptions)
)
@click.argument("targets", nargs=-1, metavar="[URL]")
@click.option(
    "--server",
    "named_servers",
    multiple=True,
    metavar="[NAME=]TARGET",
    help="One of several servers behind one front: an address, or a command in quotes, which no shell reads; repeatable. "
    "Its name is that of its host or program, unless one is given.",
)
@click.option(
    "--check",
    is_flag=True,
    help="Serve nobody: connect, list, call, show what has to be repaired, and exit.",
)
@click.option(
    "--call",
    "named",
    multiple=True,
    metavar="'TOOL JSON'",
    help="With --check: call this tool with these arguments; repeatable. Without it only tools are called that declare "
    "themselves read-only and need no arguments.",
)
@click.option("--json", "as_json", is_flag=True, help="With --check: show the report as JSON.")
@click.option(
    "--capture",
    metavar="FILE",
    help="Write what the server answered and what clients got after repair to this file; `audit FILE` judges it.",
)
@click.pass_context
def command(
    ctx: click.Context,
    repair: RepairOptions,
    gather: GatherOptions,
    server: ServerOptions,
    door: BridgeListenOptions,
    watching: WatchOptions,
    targets: tuple[str, ...],
    named_servers: tuple[str, ...],
    check: bool,
    named: tuple[str, ...],
    as_json: bool,
    capture: str | None,
) -> int:
    """Make any MCP server usable: other transports and revisions, repaired answers.

    The server is an address (http, https, ws, wss) or a program after --. Your AI client starts this command in its place
    and speaks to it on stdin and stdout; with --listen, clients connect over HTTP at /mcp or WebSocket at /ws.

    \b
      qortal-mcp bridge --check http://127.0.0.1:9000/mcp           what would be repaired?
      qortal-mcp bridge http://127.0.0.1:9000/mcp                   for the client that starts it
      qortal-mcp bridge --repair all -- npx some-mcp-server         a program; repair more
      qortal-mcp bridge --listen 127.0.0.1:8001 -- ./server         for clients that connect
      qortal-mcp bridge --servers ~/.cursor/mcp.json                all servers of a client's file, as one
      qortal-mcp bridge --server http://127.0.0.1:9000/mcp --server 'notes=npx some-notes-server'

    To set up a client, put this command where the server's own command or address was; docs/bridge.md shows how. What is
    repaired is logged once for each tool and marked in `_meta` of the answer.

    Exit codes: 0 ended by its client or a signal, or --check found nothing; 1 --check found something to repair;
    2 wrong usage; 3 the server could not be reached, or --check could not be completed.
    """
    from .running.bridge import bridging

    is_one = not _are_several(ctx, gather, named_servers, targets)
    if is_one:
        way = _way(ctx, _target(ctx, targets), server, repair)
    else:
        chosen, servers = _several(ctx, gather, named_servers, server, repair, capture)
    _check_door(ctx, door, check=check)
    if check:
        if capture is not None:
            raise failures.WrongUsage("--check serves no clients; leave --capture out.", ctx)
        from .input import audit_calls
        from .running.bridge import bridge_check

        calls = audit_calls.read(named, None)
        if is_one:
            return bridge_check.check(_impatiently(ctx, way), calls, as_json=as_json)
        return bridge_check.check_all(
            {name: _impatiently(ctx, source) for name, source in servers.items()}, calls, as_json=as_json
        )
    if named or as_json:
        raise failures.WrongUsage("--call and --json belong to --check.", ctx)
    behind: bridging.OneServer | bridging.SeveralServers
    if not is_one:
        behind = bridging.SeveralServers(chosen, servers, by_search=gather.tools_by_search)
    elif capture is not None:
        behind = bridging.OneServer(*_captured(way, capture, server.env))
    else:
        behind = bridging.OneServer(way)
    if door.listen is None:
        return bridging.serve_client(behind, watching)
    return bridging.serve_clients(behind, door.listen, door, settings.token(door, os.environ), watching)


def _impatiently(ctx: click.Context, source: _Source) -> _Source:
    """A person waits: what has an address is there, or it is not."""
    from msgspec.structs import replace

    from ..bridge.way import Way
    from .running.ways import ADDRESS_SECONDS

    is_chosen = ctx.get_parameter_source("start_timeout") is not ParameterSource.DEFAULT
    if is_chosen or not isinstance(source, Way) or source.is_command:
        return source
    return replace(source, start_timeout=ADDRESS_SECONDS)


def _are_several(
    ctx: click.Context, gather: GatherOptions, named_servers: Sequence[str], targets: Sequence[str]
) -> bool:
    """Raises: WrongUsage."""
    has_target = bool(targets) or ctx.obj is not None
    # A variable may be meant for another call of this command: a target beats it.
    by_file = gather.servers is not None and (_is_flag(ctx, "servers") or not has_target)
    if not by_file and not named_servers:
        if gather.tools_by_search and _is_flag(ctx, "tools_by_search"):
            raise failures.WrongUsage("--tools-by-search belongs to --servers or --server.", ctx)
        return False
    if has_target:
        raise failures.WrongUsage(
            "--servers and --server name all servers; give a single address or command alone.", ctx
        )
    return True


def _several(
    ctx: click.Context,
    gather: GatherOptions,
    named_servers: tuple[str, ...],
    server: ServerOptions,
    repair: RepairOptions,
    capture: str | None,
) -> tuple[Chosen, dict[str, Source]]:
    """The servers behind one front. Raises: WrongUsage, WrongSetting."""
    from ..connect.entries.server_entries import BadEntry
    from ..connect.settings_files import reading
    from .running.bridge.several_servers import Chosen
    from .running.ways import client_limits, repairs_of

    if capture is not None:
        raise failures.WrongUsage("--capture is for a single server; leave it out, or name one server.", ctx)
    for field in ("header_file", "server_token_file"):
        if _is_flag(ctx, field):
            flag = "--" + field.replace("_", "-")
            raise failures.WrongUsage(
                f"{flag} is for a single server; with several, headers are in the file.", ctx
            )
    chosen = Chosen(
        file=gather.servers,
        stamp=None if gather.servers is None else reading.stamp(gather.servers),
        targets=named_servers,
        server=server,
        repair=repair,
        repairs=repairs_of(ctx, repair),
        limits=client_limits(server.timeout, server.start_timeout),
    )
    try:
        return chosen, chosen.read()
    except BadEntry as exc:
        raise failures.WrongUsage(f"--server: {exc}", ctx) from None
    except reading.BrokenFile as exc:
        raise failures.WrongUsage(printable(str(exc)), ctx) from None


def _check_door(ctx: click.Context, door: BridgeListenOptions, *, check: bool) -> None:
    """A flag that would do nothing is a mistake. A variable may be meant for other commands.

    Raises: WrongUsage.
    """
    given = [option.flag for option in settings.options_of(type(door)) if _is_flag(ctx, option.field)]
    if given and check:
        raise failures.WrongUsage(f"--check serves no clients; leave {given[0]} out.", ctx)
    if given and door.listen is None:
        raise failures.WrongUsage(f"{given[0]} belongs to --listen.", ctx)


def _is_flag(ctx: click.Context, field: str) -> bool:
    """Whether a setting was given as a flag, not as a variable."""
    return ctx.get_parameter_source(field) is ParameterSource.COMMANDLINE


def _captured(way: Way, path: str, env: Sequence[str]) -> tuple[Way, CaptureFile]:
    """The same way with a watch on it, and the file for what is seen. Raises: Undetermined."""
    from msgspec.structs import replace

    from ..audit.secrets import safe_url, without_secrets
    from ..bridge.capture.capture import Behind, Capture
    from .running.bridge.capture_file import CaptureFile
    from .running.reaching import held

    target = way.target
    assert isinstance(target, str | tuple), "the command line names addresses and commands only"
    argv = () if isinstance(target, str) else without_secrets(target)
    behind = Behind(
        target=safe_url(target) if isinstance(target, str) else " ".join(argv),
        argv=argv,
        headers=way.client.headers,
        secrets=held(target, way.client.headers, env),
        timeout=way.timeout,
        client_timeout=2 * (way.timeout + way.start_timeout),
    )
    capture = Capture(behind)
    return replace(way, watch=capture.server), CaptureFile(path, capture)


def _target(ctx: click.Context, targets: Sequence[str]) -> str | tuple[str, ...]:
    argv: tuple[str, ...] | None = ctx.obj
    if (argv is None and len(targets) != 1) or (argv is not None and targets):
        hint = " Put -- before a command." if targets and not is_address(targets[0]) else ""
        raise failures.WrongUsage(
            f"Give one address, -- and a command, or several with --servers or --server.{hint}", ctx
        )
    if argv is None:
        check_address(ctx, targets[0])
        return targets[0]
    if not argv:
        raise failures.WrongUsage("There is no command after --.", ctx)
    return argv


def _way(
    ctx: click.Context, target: str | tuple[str, ...], server: ServerOptions, repair: RepairOptions
) -> Way:
    """Raises: WrongUsage, WrongSetting."""
    from .running.reaching import reach
    from .running.ways import bridge_way, client_limits, repairs_of, way_of

    repairs = repairs_of(ctx, repair)
    reached = reach(target, server, client_limits(server.timeout, server.start_timeout))
    way = way_of(reached, repairs, timeout=server.timeout, start_timeout=server.start_timeout)
    return bridge_way(way, server, repair)
