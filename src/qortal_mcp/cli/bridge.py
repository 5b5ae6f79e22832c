"""`bridge`: makes a server usable that answers in the wrong shape, or on the wrong transport."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from .. import settings
from ..settings import BridgeListenOptions, RepairOptions, ServerOptions
from .input.options import SettingsCommand
from .input.targets import TakesCommand, check_address
from .running import failures

if TYPE_CHECKING:
    from ..bridge.way import Way
    from ..repairs.chosen import Repairs
    from .running.capture_file import CaptureFile


class BridgeCommand(TakesCommand, SettingsCommand):
    """Settings, and a server: an address, or a command after `--`."""

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] (URL | -- COMMAND [ARGUMENT]...)")


@click.command(cls=BridgeCommand, groups=(RepairOptions, ServerOptions, BridgeListenOptions))
@click.argument("targets", nargs=-1, metavar="[URL]")
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
    server: ServerOptions,
    door: BridgeListenOptions,
    targets: tuple[str, ...],
    check: bool,
    named: tuple[str, ...],
    as_json: bool,
    capture: str | None,
) -> int:
    """Make any MCP server usable: other transports, repaired answers.

    The server is an address (http, https, ws, wss) or a program after --. Your AI client starts this command in its place
    and speaks to it on stdin and stdout; with --listen, clients connect over HTTP at /mcp or WebSocket at /ws.

    \b
      qortal-mcp bridge --check http://127.0.0.1:9000/mcp           what would be repaired?
      qortal-mcp bridge http://127.0.0.1:9000/mcp                   for the client that starts it
      qortal-mcp bridge --repair all -- npx some-mcp-server         a program; repair more
      qortal-mcp bridge --listen 127.0.0.1:8001 -- ./server         for clients that connect

    To set up a client, put this command where the server's own command or address was; docs/bridge.md shows how. What is
    repaired is logged once for each tool and marked in `_meta` of the answer.

    Exit codes: 0 ended by its client or a signal, or --check found nothing; 1 --check found something to repair;
    2 wrong usage; 3 the server could not be reached, or --check could not be completed.
    """
    from .running import bridging

    target = _target(ctx, targets)
    way = _way(ctx, target, server, repair)
    _check_door(ctx, door, check=check)
    if check:
        if capture is not None:
            raise failures.WrongUsage("--check serves no clients; leave --capture out.", ctx)
        from .input import audit_calls
        from .running.bridge_check import check as check_server

        return check_server(way, audit_calls.read(named, None), as_json=as_json)
    if named or as_json:
        raise failures.WrongUsage("--call and --json belong to --check.", ctx)
    file = None
    if capture is not None:
        way, file = _captured(way, capture, server.env)
    if door.listen is None:
        return bridging.serve_client(way, file)
    return bridging.serve_clients(way, door.listen, door, settings.token(door, os.environ), file)


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


def _repairs(ctx: click.Context, repair: RepairOptions) -> Repairs:
    """Raises: WrongSetting."""
    from ..repairs.chosen import CODES, Repairs
    from .program import unknown

    for code in repair.without_repair:
        if code not in CODES:
            option = next(one for one in settings.options_of(RepairOptions) if one.field == "without_repair")
            source = option.flag if _is_flag(ctx, option.field) else option.variable
            raise settings.WrongSetting(
                f"{source}: {unknown('repair', code, sorted(CODES))} docs/bridge.md lists them, and --check shows those that are made."
            )
    return Repairs(repair.repair, repair.without_repair)


def _captured(way: Way, path: str, env: Sequence[str]) -> tuple[Way, CaptureFile]:
    """The same way with a watch on it, and the file for what is seen. Raises: Undetermined."""
    from msgspec.structs import replace

    from ..audit.secrets import safe_url, without_secrets
    from ..bridge.capture.capture import Behind, Capture
    from .running.capture_file import CaptureFile
    from .running.reaching import held

    target = way.target
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
        raise failures.WrongUsage("Give one address, or -- and a command.", ctx)
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
    from ..bridge.way import Way
    from ..client.limits import ClientLimits
    from .running.reaching import reach

    repairs = _repairs(ctx, repair)
    reached = reach(
        target,
        server,
        ClientLimits(
            handshake_seconds=server.start_timeout,
            # A server that works on a call may not find the time to answer a ping.
            heartbeat_seconds=max(30.0, 2 * server.timeout + 10),
            exit_seconds=0.5,
            goodbye_seconds=1.0,
        ),
    )
    return Way(
        target=target,
        name=reached.name,
        repairs=repairs,
        timeout=server.timeout,
        start_timeout=server.start_timeout,
        request_bytes=server.request_bytes,
        read_only=repair.read_only,
        hidden=frozenset(repair.hide_tool),
        printable=repair.printable,
        shared=server.shared,
        max_children=server.max_children,
        mask=reached.mask,
        client=reached.options,
    )
