"""`audit`: what is wrong with an MCP server on the wire, and which client breaks on it."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click

from ..protocol.versions import REVISIONS
from .input import completion
from .input.targets import TakesCommand
from .running import failures
from .running.until_stopped import until_stopped

if TYPE_CHECKING:
    from ..audit.evidence import Evidence
    from .input.audit_options import AuditOptions

_EXIT_CODES = {
    "conforms": failures.GOOD,
    "violates": failures.BAD,
    "incomplete": failures.UNDETERMINED,
}
_LONGEST_SECONDS = 3600.0


class AuditCommand(TakesCommand):
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
    help="Calls to make: one per line as after --call, or a JSON array.",
)
@click.option(
    "--call-all", is_flag=True, help="Call every read-only tool, with arguments made from its schema."
)
@click.option("--no-calls", is_flag=True, help="Call only the tools you name.")
@click.option("--json", "as_json", is_flag=True, help="Show the report as JSON.")
@click.option("--junit", metavar="FILE", help="Write the report as JUnit XML.")
@click.option("--sarif", metavar="FILE", help="Write the report as SARIF 2.1.0.")
@click.option("--markdown", metavar="FILE", help="Write the report as a plan for whoever fixes the server.")
@click.option(
    "--capture", metavar="FILE", help="Keep everything that was sent; `audit FILE` judges it again."
)
@click.option(
    "--emit-tests",
    metavar="DIR",
    help="Write tests for pytest and a shell that fail until what was found is fixed.",
)
@click.option("--baseline", metavar="FILE", help="Accepted findings, each with a reason: they do not count.")
@click.option(
    "--write-baseline", metavar="FILE", help="Write what was found as a baseline; add the reasons there."
)
@click.option(
    "--diff", nargs=2, metavar="OLD NEW", help="Compare two captures: what got better, what got worse."
)
@click.option(
    "--explain",
    metavar="CODE",
    help="Explain a code; 'all' lists the codes.",
    shell_complete=completion.codes,
)
@click.option(
    "--clients",
    is_flag=False,
    flag_value="all",
    metavar="[CODE]",
    shell_complete=completion.codes,
    help="Say what each measured client does with a defect; without a code, list what was measured.",
)
@click.option(
    "--header-file",
    metavar="FILE",
    help="Headers for every request, one 'Name: value' per line; never shown.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(0.1, _LONGEST_SECONDS),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for one answer.",
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
def command(ctx: click.Context, /, **options: Any) -> int:
    """Say what is wrong with any MCP server, and which clients break on it.

    Any server: an HTTP or WebSocket address, a program after --, or a file that --capture wrote.

    \b
      qortal-mcp audit http://127.0.0.1:8000/mcp
      qortal-mcp audit -- npx some-mcp-server
      qortal-mcp audit --call 'search {"query": "x"}' --markdown plan.md ws://127.0.0.1:7400

    Only tools that declare themselves read-only and need no arguments are called, and those you name. Arguments are never
    made up for a tool that may change something.

    Exit codes: 0 conforms; 1 violates what the specification demands; 2 wrong usage; 3 incomplete: the server could not be
    reached, or too little could be checked.
    """
    from .input.audit_options import grouped

    return _run(grouped(options, ctx.obj), ctx)


def _run(options: AuditOptions, ctx: click.Context) -> int:
    alone = {
        "--explain": options.explain is not None,
        "--clients": options.clients is not None,
        "--diff": options.diff is not None,
    }
    for option, given in alone.items():
        if given and (options.visit.targets or options.visit.argv is not None or sum(alone.values()) > 1):
            raise failures.WrongUsage(f"{option} contacts no server; leave the rest out.", ctx)
    if options.explain is not None:
        return _explain(options.explain)
    if options.clients is not None:
        return _clients(options.clients)
    if options.diff is not None:
        return _diff(options.diff, as_json=options.output.as_json)
    if options.calls.call_all and options.calls.no_calls:
        raise failures.WrongUsage("--call-all and --no-calls contradict each other.", ctx)
    return _audit(options, ctx)


def _audit(options: AuditOptions, ctx: click.Context) -> int:
    from ..audit.confinement.confined import confined_judge
    from ..audit.evidence import to_file
    from .input import files
    from .input.audit_target import known_findings
    from .output import audit_reports, audit_tests

    began = time.monotonic()
    output = options.output
    audit_reports.check_writable(output, ctx)
    if output.emit_tests is not None:
        audit_tests.check_writable(output.emit_tests)
    known = known_findings(options.baseline)
    evidence = _evidence(options, ctx)
    if output.capture is not None:
        # Before anything is judged: whatever happens then, it can be judged again.
        files.write(output.capture, to_file(evidence), "capture")
    left = options.time.max_time - (time.monotonic() - began)
    try:
        report = until_stopped(confined_judge(evidence, known, seconds=left))
    except (KeyboardInterrupt, click.exceptions.Exit):
        if output.capture is not None:
            click.echo(f"Interrupted; the capture is in {output.capture}.", err=True)
        raise
    audit_reports.write(report, output)
    if output.emit_tests is not None:
        audit_tests.write(report, evidence, output.emit_tests)
    audit_reports.show(report, as_json=output.as_json)
    audit_reports.name_unneeded(known, report)
    return _EXIT_CODES[report.verdict]


def _evidence(options: AuditOptions, ctx: click.Context) -> Evidence:
    from ..audit.judging.no_server import unreachable
    from ..audit.visiting.runner import Unreachable, collect
    from ..text import visible
    from .input.audit_target import Capture, captured, order_of, target_of
    from .output.progress import Progress

    target = target_of(options.visit, ctx)
    if isinstance(target, Capture):
        return captured(target.path)
    progress = Progress()
    seen: list[Evidence] = []
    order = order_of(target, options, progress.say, seen.append)
    try:
        return until_stopped(collect(order))
    except (KeyboardInterrupt, click.exceptions.Exit):
        progress.clear()
        if options.output.capture is not None:
            _keep(seen, options.output.capture)
        raise
    except Unreachable as exc:
        raise failures.Undetermined(f"Cannot reach the server: {visible(unreachable(str(exc)))}") from exc
    finally:
        progress.clear()


def _keep(seen: list[Evidence], path: str) -> None:
    """Write what an interrupted audit has seen. Raises: Undetermined."""
    from ..audit.evidence import to_file
    from .input import files

    if not any(visit.steps for evidence in seen for visit in evidence.visits):
        click.echo("Interrupted before anything was seen; there is no capture.", err=True)
        return
    files.write(path, to_file(seen[-1]), "capture")
    click.echo(f"Interrupted; what was seen so far is in {path}.", err=True)


def _diff(paths: tuple[str, str], *, as_json: bool) -> int:
    import msgspec

    from ..audit.confinement.confined import confined_judge
    from ..audit.reports import comparison
    from .input.audit_target import captured
    from .output import terminal

    old, new = (until_stopped(confined_judge(captured(path))) for path in paths)
    found = comparison.compare(old, new)
    if as_json:
        terminal.write_json(msgspec.json.encode(found))
    else:
        terminal.write(comparison.render(found))
    return failures.BAD if found.is_worse else failures.GOOD


def _explain(code: str) -> int:
    from ..audit.reports import explanation
    from .output import terminal

    _check_code(code, explanation.CODES)
    terminal.write(explanation.render_all() if code == "all" else explanation.render(code))
    return failures.GOOD


def _clients(code: str) -> int:
    from ..audit.checks import BY_CODE
    from ..audit.reports import clients
    from .output import terminal

    _check_code(code, BY_CODE)
    terminal.write(clients.render_all() if code == "all" else clients.render(code))
    return failures.GOOD


def _check_code(code: str, known: Collection[str]) -> None:
    from .program import unknown

    if code != "all" and code not in known:
        raise failures.NoSuchTool(f"{unknown('code', code, known)} `--explain all` lists them.")
