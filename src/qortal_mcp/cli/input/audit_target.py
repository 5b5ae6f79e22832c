"""What the command line of `audit` names: a server to visit, or files that an earlier audit wrote."""

from collections.abc import Callable

import click
from msgspec import Struct

from ...audit.evidence import Evidence, NotACapture, from_file
from ...audit.judging import baseline
from ...audit.limits import AuditLimits
from ...audit.visiting.calls import Permission
from ...audit.visiting.runner import Order
from ..running import failures
from . import audit_calls, files
from .audit_options import AuditOptions, TimeOptions, VisitOptions
from .targets import Server, check_address, headers_in, refuse_bare_host

# What only a server can be asked for.
_ASKS = ("revisions", "named", "calls_file", "call_all", "no_calls", "capture", "header_file")


class Capture(Struct, frozen=True):
    """A file that --capture wrote."""

    path: str


def target_of(visit: VisitOptions, ctx: click.Context) -> Server | Capture:
    """Raises: WrongUsage."""
    argv, targets = visit.argv, visit.targets
    if (argv is None and len(targets) != 1) or (argv is not None and targets):
        raise failures.WrongUsage("Give one address, one capture, or -- and a command.", ctx)
    if argv is not None:
        if not argv:
            raise failures.WrongUsage("There is no command after --.", ctx)
        if visit.header_file is not None:
            raise failures.WrongUsage("--header-file is for addresses; a program has no headers.", ctx)
        return argv
    (target,) = targets
    if "://" in target:
        check_address(ctx, target)
        return target
    refuse_bare_host(ctx, target)
    for option in ctx.command.params:
        if option.name in _ASKS and ctx.params.get(option.name):
            raise failures.WrongUsage(f"{option.opts[0]} needs a server; a capture is only read.", ctx)
    return Capture(target)


def order_of(
    target: Server,
    options: AuditOptions,
    say: Callable[[str], None],
    interrupted: Callable[[Evidence], None],
) -> Order:
    """Raises: WrongUsage."""
    calls = options.calls
    return Order(
        target=target,
        revisions=options.visit.revisions,
        permission=Permission(
            named=audit_calls.read(calls.named, calls.calls_file),
            all_read_only=calls.call_all,
            by_itself=not calls.no_calls,
        ),
        headers=headers_in(options.visit.header_file),
        limits=_limits(options.time),
        say=say,
        interrupted=interrupted,
        ends_orphans=True,
    )


def _limits(time: TimeOptions) -> AuditLimits:
    return AuditLimits(
        request_seconds=time.timeout,
        probe_seconds=min(time.timeout, AuditLimits().probe_seconds),
        # A program may have to install itself first.
        start_seconds=2 * time.timeout,
        total_seconds=time.max_time,
    )


def captured(path: str) -> Evidence:
    """What a capture holds. Raises: WrongUsage."""
    try:
        return from_file(files.read(path, "capture"))
    except NotACapture as exc:
        hint = "To audit a program, write -- before its command."
        raise failures.WrongUsage(f"{path} is not a capture: {exc}. {hint}") from exc


def known_findings(path: str | None) -> baseline.Known:
    """What a baseline accepts. Raises: WrongUsage."""
    if path is None:
        return {}
    try:
        return baseline.read(files.read(path, "baseline"))
    except baseline.NotABaseline as exc:
        raise failures.WrongUsage(f"{path} is not a baseline: {exc}.") from exc
