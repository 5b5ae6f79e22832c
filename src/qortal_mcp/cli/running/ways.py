"""From options to the way to a server that is not ours: its clocks, its repairs."""

from __future__ import annotations

from collections.abc import Iterable

import click
from click.core import ParameterSource
from msgspec.structs import replace

from ... import settings
from ...bridge.way import Way
from ...client.limits import ClientLimits
from ...repairs.chosen import CODES, Repairs
from ...settings.bridging import ChosenRepairs, RepairOptions, ServerOptions
from .reaching import Reached

# How long a person waits for a server that is not there: a program may have to install itself first.
PROGRAM_SECONDS, ADDRESS_SECONDS = 60.0, 5.0


def client_limits(timeout: float, start_timeout: float) -> ClientLimits:
    return ClientLimits(
        handshake_seconds=start_timeout,
        # A server that works on a call may not find the time to answer a ping.
        heartbeat_seconds=max(30.0, 2 * timeout + 10),
        exit_seconds=0.5,
        goodbye_seconds=1.0,
    )


def repairs_of(ctx: click.Context, chosen: ChosenRepairs) -> Repairs:
    """Raises: WrongSetting."""
    from ..program import unknown

    for code in chosen.without_repair:
        if code not in CODES:
            option = next(one for one in settings.options_of(ChosenRepairs) if one.field == "without_repair")
            is_flag = ctx.get_parameter_source(option.field) is ParameterSource.COMMANDLINE
            source = option.flag if is_flag else option.variable
            raise settings.WrongSetting(
                f"{source}: {unknown('repair', code, sorted(CODES))} docs/bridge.md lists them, and --check shows those that are made."
            )
    return Repairs(chosen.repair, chosen.without_repair)


def way_of(
    reached: Reached, repairs: Repairs, *, timeout: float, start_timeout: float, revision: str | None = None
) -> Way:
    """The way to one server; what only some commands know is filled in by them."""
    return Way(
        target=reached.target,
        name=reached.name,
        repairs=repairs,
        revision=revision,
        timeout=timeout,
        start_timeout=start_timeout,
        mask=reached.mask,
        client=reached.options,
    )


def bridge_way(
    way: Way, server: ServerOptions, repair: RepairOptions, hidden: Iterable[str] | None = None
) -> Way:
    """The way to a server, used as an operator wants it. `hidden` are the tools that are not offered, if not those named there."""
    return replace(
        way,
        revision=None if server.server_revision == "auto" else server.server_revision,
        request_bytes=server.request_bytes,
        read_only=repair.read_only,
        hidden=frozenset(repair.hide_tool if hidden is None else hidden),
        printable=repair.printable,
        shared=server.shared,
        max_children=server.max_children,
    )
