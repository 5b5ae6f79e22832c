"""`audit`: what is wrong with an MCP server on the wire, and which client breaks on it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import sys
from collections.abc import Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import click

from ..protocol.versions import REVISIONS
from .input import files
from .output import terminal
from .running import failures

if TYPE_CHECKING:
    from ..audit.evidence import Evidence, Headers
    from ..audit.judging.finding import Report
    from ..audit.reports.terminal import Palette

_EXIT_CODES = {
    "conforms": failures.GOOD,
    "violates": failures.BAD,
    "incomplete": failures.UNDETERMINED,
}
_LONGEST_SECONDS = 3600.0
_HOST_AND_PORT = re.compile(r"(localhost|[\w.-]+:\d{1,5})(/|\Z)")
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class AuditCommand(click.Command):
    """A command that takes another command behind `--`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # click forgets where the `--` was, and a file behind it is a program, not a capture.
        ctx.obj = None
        if "--" in args:
            at = args.index("--")
            args, ctx.obj = args[:at], tuple(args[at + 1 :])
        return super().parse_args(ctx, args)

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write_usage(ctx.command_path, "[OPTIONS] (URL | FILE | -- COMMAND [ARGUMENT]...)")


@click.command(cls=AuditCommand)
@click.argument("targets", nargs=-1, metavar="[URL | FILE]")
@click.option(
    "--revision",
    "revisions",
    multiple=True,
    type=click.Choice(REVISIONS),
    help="Only this revision; repeatable.",
)
@click.option(
    "--call",
    "named",
    multiple=True,
    metavar="'TOOL JSON'",
    help="Call this tool with these arguments; repeatable.",
)
@click.option(
    "--calls",
    "calls_file",
    metavar="FILE",
    help="Calls to make: one a line as after --call, or a JSON array.",
)
@click.option(
    "--call-all", is_flag=True, help="Call every read-only tool, with arguments made from its schema."
)
@click.option("--no-calls", is_flag=True, help="Call no tool but those named.")
@click.option("--json", "as_json", is_flag=True, help="Show the report as JSON.")
@click.option("--junit", metavar="FILE", help="Write the report as JUnit XML.")
@click.option("--sarif", metavar="FILE", help="Write the report as SARIF 2.1.0.")
@click.option("--markdown", metavar="FILE", help="Write the report as a plan for whoever mends the server.")
@click.option("--capture", metavar="FILE", help="Keep all that was said; `audit FILE` judges it again.")
@click.option(
    "--baseline", metavar="FILE", help="Findings that are known, each with a reason: they do not count."
)
@click.option(
    "--write-baseline", metavar="FILE", help="Write what was found as a baseline, and give the reasons there."
)
@click.option(
    "--diff", nargs=2, metavar="OLD NEW", help="Compare two captures: what got better, what got worse."
)
@click.option("--explain", metavar="CODE", help="Say all that is known about a code; 'all' lists the codes.")
@click.option(
    "--header-file", metavar="FILE", help="Headers for every request, one 'Name: value' a line; never shown."
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, _LONGEST_SECONDS),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long one answer is waited for.",
)
@click.option(
    "--max-time",
    type=click.FloatRange(1, _LONGEST_SECONDS),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the whole audit may take.",
)
@click.pass_context
def command(
    ctx: click.Context,
    targets: Sequence[str],
    revisions: Sequence[str],
    named: Sequence[str],
    calls_file: str | None,
    call_all: bool,
    no_calls: bool,
    as_json: bool,
    junit: str | None,
    sarif: str | None,
    markdown: str | None,
    capture: str | None,
    baseline: str | None,
    write_baseline: str | None,
    diff: tuple[str, str] | None,
    explain: str | None,
    header_file: str | None,
    timeout: float,
    max_time: float,
) -> int:
    """Say what is wrong with any MCP server, and which clients break on it.

    Any server: an HTTP or WebSocket address, a program behind --, or a file that --capture wrote.

    \b
      qortal-mcp audit http://127.0.0.1:8000/mcp
      qortal-mcp audit -- npx some-mcp-server
      qortal-mcp audit --call 'search {"query": "x"}' --markdown plan.md ws://127.0.0.1:7400

    Only tools that declare themselves read-only and need no arguments are called, and those you name. Arguments are never
    made up for a tool that may change something.

    Exit codes: 0 conforms; 1 violates what the specification demands; 2 wrong usage; 3 incomplete: it could not be reached,
    or too little could be looked at.
    """
    alone = {"--explain": explain is not None, "--diff": diff is not None}
    for option, given in alone.items():
        if given and (targets or ctx.obj is not None or all(alone.values())):
            raise failures.WrongUsage(f"{option} looks at no server; leave the rest out.", ctx)
    if explain is not None:
        return _explain(explain)
    if diff is not None:
        return _diff(diff, as_json)
    if call_all and no_calls:
        raise failures.WrongUsage("--call-all and --no-calls contradict each other.", ctx)
    _check_outputs(
        ctx, {"report": (junit, sarif, markdown), "capture": (capture,), "baseline": (write_baseline,)}
    )
    known = _known(baseline)
    evidence = _evidence(
        ctx, targets, revisions, named, calls_file, call_all, no_calls, header_file, timeout, max_time
    )
    if capture is not None:
        from ..audit.evidence import to_file

        # Before anything is judged: whatever happens then, it can be judged again.
        files.write(capture, to_file(evidence), "capture")
    from ..audit.judging.judge import judge

    report = judge(evidence, known)
    _write_reports(report, junit, sarif, markdown, write_baseline)
    _show(report, as_json)
    _tell_gone(known, report)
    return _EXIT_CODES[report.verdict]


def _evidence(
    ctx: click.Context,
    targets: Sequence[str],
    revisions: Sequence[str],
    named: Sequence[str],
    calls_file: str | None,
    call_all: bool,
    no_calls: bool,
    header_file: str | None,
    timeout: float,
    max_time: float,
) -> Evidence:
    argv: tuple[str, ...] | None = ctx.obj
    if (argv is None and len(targets) != 1) or (argv is not None and targets):
        raise failures.WrongUsage("Give one address, one capture, or -- and a command.", ctx)
    if argv is not None and not argv:
        raise failures.WrongUsage("There is no command behind --.", ctx)
    from ..audit.limits import AuditLimits
    from ..audit.visiting.calls import Leave
    from ..audit.visiting.runner import Order, Unreachable, collect
    from .input import audit_calls

    target = argv if argv is not None else targets[0]
    if isinstance(target, str) and "://" not in target:
        if _HOST_AND_PORT.match(target) and not os.path.exists(target):
            raise failures.WrongUsage(
                f"An address begins with http:// or ws://; did you mean http://{target}?", ctx
            )
        _check_nothing_is_asked(ctx)
        return _captured(target)
    if argv is not None and header_file is not None:
        raise failures.WrongUsage("--header-file is for addresses; a program has no headers.", ctx)
    if isinstance(target, str):
        _check_address(ctx, target)
    progress = _Progress()
    order = Order(
        target=target,
        revisions=tuple(revisions),
        leave=Leave(
            named=audit_calls.read(named, calls_file), all_read_only=call_all, by_itself=not no_calls
        ),
        headers=_headers(header_file),
        limits=AuditLimits(
            request_seconds=timeout,
            probe_seconds=min(timeout, AuditLimits().probe_seconds),
            # A program may have to install itself first.
            start_seconds=2 * timeout,
            total_seconds=max_time,
        ),
        say=progress.say,
    )
    try:
        return asyncio.run(_until_told_to_stop(collect(order)))
    except asyncio.CancelledError:
        raise click.exceptions.Exit(failures.TERMINATED) from None
    except Unreachable as exc:
        from ..logs import visible

        raise failures.Undetermined(f"Cannot reach the server: {visible(_plainly(str(exc)))}") from exc
    finally:
        progress.clear()


async def _until_told_to_stop(work: Coroutine[Any, Any, Evidence]) -> Evidence:
    """A stop signal ends the work as an interrupt does, so that the program under audit ends with it."""
    task = asyncio.ensure_future(work)
    with contextlib.suppress(NotImplementedError):  # where there are no such signals
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    return await task


def _check_address(ctx: click.Context, url: str) -> None:
    """Raises: WrongUsage."""
    from urllib.parse import urlsplit

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


# How the HTTP library tells that nobody is there.
_NOBODY = re.compile(r"^(?:\w+Error: )?Cannot connect to host (\S+) ssl:\S+ \[(.*)\]$")


def _plainly(reason: str) -> str:
    found = _NOBODY.match(reason)
    if found is None:
        return reason
    why = "the connection is refused" if "Connect call failed" in found[2] else found[2]
    return f"{found[1]}: {why}"


# What only a server can be asked for.
_ASKS = ("revisions", "named", "calls_file", "call_all", "no_calls", "capture", "header_file")


def _check_nothing_is_asked(ctx: click.Context) -> None:
    """Raises: WrongUsage where an option would do nothing."""
    for option in ctx.command.params:
        if option.name in _ASKS and ctx.params.get(option.name):
            raise failures.WrongUsage(f"{option.opts[0]} asks a server; a capture is only read.", ctx)


def _check_outputs(ctx: click.Context, outputs: dict[str, tuple[str | None, ...]]) -> None:
    """Say before the work what would fail after it. Raises: WrongUsage, Undetermined."""
    named = [path for paths in outputs.values() for path in paths if path is not None]
    if len({os.path.realpath(path) for path in named}) < len(named):
        raise failures.WrongUsage("Two outputs have the same file.", ctx)
    for what, paths in outputs.items():
        for path in paths:
            if path is not None:
                files.check_writable(path, what)


def _captured(path: str) -> Evidence:
    from ..audit.evidence import NotACapture, from_file

    try:
        return from_file(files.read(path, "capture"))
    except NotACapture as exc:
        hint = "To audit a program, write -- before its command."
        raise failures.WrongUsage(f"{path} is no capture: {exc}. {hint}") from exc


def _headers(path: str | None) -> Headers:
    if path is None:
        return ()
    found = []
    for number, line in enumerate(files.read(path, "file of headers").decode("latin-1").splitlines(), 1):
        if not line.strip():
            continue
        name, colon, value = line.partition(":")
        # Nothing of the line itself is shown: it may be a secret without its name.
        if not colon or _HEADER_NAME.fullmatch(name.strip()) is None or not value.strip().isprintable():
            raise failures.WrongUsage(f"Line {number} of the file of headers {path} is no 'Name: value'.")
        found.append((name.strip().lower(), value.strip()))
    return tuple(found)


class _Progress:
    """A line on the terminal that says what is being done; nothing where nobody looks."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()

    def say(self, text: str) -> None:
        if self._is_shown:
            from ..logs import visible
            from ..text import shortened

            line = shortened(visible(text), terminal.width() - 24)
            click.echo(f"\r\x1b[K{line}", nl=False, err=True)

    def clear(self) -> None:
        if self._is_shown:
            click.echo("\r\x1b[K", nl=False, err=True)


def _known(path: str | None) -> dict[tuple[str, str], str]:
    if path is None:
        return {}
    from ..audit.judging import baseline

    try:
        return dict(baseline.read(files.read(path, "baseline")))
    except baseline.NotABaseline as exc:
        raise failures.WrongUsage(f"{path} is no baseline: {exc}.") from exc


def _tell_gone(known: dict[tuple[str, str], str], report: Report) -> None:
    from ..audit.judging import baseline

    if gone := baseline.gone(known, report):
        code, where = gone[0]
        from ..logs import visible

        # Also where nobody looks: a log of CI is where a baseline grows old.
        click.echo(
            f"{len(gone)} of the baseline no longer found, such as {code} at {visible(where)}; take them out.",
            err=True,
        )


def _write_reports(
    report: Report, junit: str | None, sarif: str | None, markdown: str | None, write_baseline: str | None
) -> None:
    from importlib import import_module

    for name, path in (("junit", junit), ("sarif", sarif), ("markdown", markdown)):
        if path is not None:
            render = import_module(f"qortal_mcp.audit.reports.{name}").render
            files.write(path, render(report).encode(), "report")
    if write_baseline is not None:
        from ..audit.judging import baseline

        files.write(write_baseline, baseline.write(report), "baseline")


def _show(report: Report, as_json: bool) -> None:
    if as_json:
        import msgspec

        terminal.write_json(msgspec.json.encode(report))
        return
    from ..audit.reports.terminal import render

    terminal.write(render(report, terminal.width(), _palette()))


def _palette() -> Palette:
    from ..audit.reports.terminal import PLAIN, Palette

    if not terminal.has_colours():
        return PLAIN
    return Palette(
        bad=lambda text: click.style(text, fg="red", bold=True),
        warn=lambda text: click.style(text, fg="yellow"),
        note=lambda text: click.style(text, fg="magenta"),
        good=lambda text: click.style(text, fg="green", bold=True),
        strong=lambda text: click.style(text, bold=True),
        quiet=lambda text: click.style(text, dim=True) if text.strip() else text,
    )


def _diff(paths: tuple[str, str], as_json: bool) -> int:
    from ..audit.judging.judge import judge
    from ..audit.reports import comparison

    old, new = (judge(_captured(path)) for path in paths)
    found = comparison.compare(old, new)
    if as_json:
        import msgspec

        terminal.write_json(msgspec.json.encode(found))
    else:
        terminal.write(comparison.render(found))
    return failures.BAD if found.is_worse else failures.GOOD


def _explain(code: str) -> int:
    from ..audit.checks import BY_CODE
    from ..audit.reports import explanation
    from .program import unknown

    if code == "all":
        terminal.write(explanation.render_all())
        return failures.GOOD
    if code not in BY_CODE:
        raise failures.NoSuchTool(unknown("code", code, BY_CODE))
    terminal.write(explanation.render(code))
    return failures.GOOD
