"""HTTP: tools/call of a tool that needs no node, with everything enabled, next to a bare echo of the same bytes."""

import contextlib
from dataclasses import dataclass, replace

from bench.contestants import BARE, FASTMCP, LOCAL_TOOL, OURS, SDK, Command, running
from bench.figures import Budget, Figure, compare
from bench.load.job import Job
from bench.processes import Child, Failed
from bench.run import Run, by_name
from bench.strain import Cost, strain
from bench.wire import LEGACY, MODERN, call, headers
from bench.wrk import is_installed, strain_by_wrk

PART = "http"
LOOPS = ("asyncio", "uvloop")
_VALID = '"isValid":true'
_BUDGET = Budget(1.4)
# Who is measured with wrk, and in the modern era, too.
_CLOSELY = (BARE, OURS)


@dataclass(frozen=True)
class Entry:
    """One line of the table: which server, on which loop, in which revision, how many calls per round."""

    subject: str
    loop: str
    command: Command
    revision: str
    requests: int

    @property
    def server(self) -> str:
        """Entries of our server share its process; a bare one knows only one answer."""
        return f"{self.subject} {self.loop}" + (f" {self.revision}" if self.subject == BARE else "")


def entries(run: Run) -> list[Entry]:
    who, found = run.contestants, []
    modern = replace(who, fixtures=who.fixtures / MODERN)
    for loop in LOOPS:
        found += [
            Entry(BARE, loop, who.other(BARE, loop), LEGACY, run.scaled(6_000)),
            Entry(OURS, loop, who.ours(loop, "--sample"), LEGACY, run.scaled(6_000)),
            Entry(BARE, loop, modern.other(BARE, loop), MODERN, run.scaled(6_000)),
            Entry(OURS, loop, who.ours(loop, "--sample"), MODERN, run.scaled(6_000)),
            Entry(SDK, loop, who.other(SDK, loop), LEGACY, run.scaled(1_000)),
            Entry(FASTMCP, loop, who.other(FASTMCP, loop), LEGACY, run.scaled(500)),
        ]
    return found


@dataclass(frozen=True)
class Turn:
    """An entry under the load of one of the two generators."""

    entry: Entry
    by_wrk: bool

    @property
    def table(self) -> str:
        """Whose figures are compared: those of the same loop, revision and generator."""
        era = f", {MODERN}" if self.entry.revision == MODERN else ""
        return f"{self.entry.loop}{era}{', by wrk' if self.by_wrk else ''}"

    def take(self, child: Child, port: int) -> Cost:
        load = job(self.entry, port, self.entry.requests)
        return strain_by_wrk(child, load) if self.by_wrk else strain(child, load)


def turns(run: Run) -> list[Turn]:
    chosen = entries(run)
    found = [Turn(entry, by_wrk=False) for entry in chosen]
    if is_installed():
        return found + [Turn(entry, by_wrk=True) for entry in chosen if entry.subject in _CLOSELY]
    run.say("HTTP: not measured with wrk, which is not installed (Debian has it as the package wrk)")
    return found


def measure(run: Run) -> list[Figure]:
    chosen = turns(run)
    tables = list(dict.fromkeys(turn.table for turn in chosen))
    cpu = {name: by_name(turn.entry.subject for turn in chosen if turn.table == name) for name in tables}
    rate = {name: by_name(turn.entry.subject for turn in chosen if turn.table == name) for name in tables}
    with contextlib.ExitStack() as stack:
        servers: dict[str, tuple[Child, int]] = {}
        for entry in [turn.entry for turn in chosen if not turn.by_wrk]:
            if entry.server not in servers:
                child = stack.enter_context(running(entry.server, entry.command))
                servers[entry.server] = child, child.port()
            child, port = servers[entry.server]
            strain(child, job(entry, port, max(200, entry.requests // 10)))
            check_loop(child, entry.loop)
        for number, turn in run.turns(chosen):
            subject = turn.entry.subject
            cost = turn.take(*servers[turn.entry.server])
            cpu[turn.table][subject].append(cost.cpu_us)
            rate[turn.table][subject].append(cost.per_second)
            run.say(
                f"HTTP, round {number}: {subject}, {turn.table} {cost.cpu_us:.1f} µs, {cost.per_second:,.0f}/s"
            )
    figures = []
    for name in tables:
        budgets = {OURS: _BUDGET}
        figures += compare(PART, f"CPU per call, {name}", "µs", cpu[name], reference=BARE, budgets=budgets)
    for name in tables:
        figures += compare(PART, f"calls per second, {name}", "/s", rate[name], reference=BARE)
    return figures


def job(entry: Entry, port: int, requests: int) -> Job:
    return Job(
        port=port,
        headers=headers(LOCAL_TOOL, revision=entry.revision),
        body=call(LOCAL_TOOL, revision=entry.revision),
        requests=requests,
        marks=[_VALID, '"id":7'],
    )


def check_loop(child: Child, loop: str) -> None:
    """Raises: Failed if a server runs on a different loop than the table says."""
    if child.has_loaded("uvloop") != (loop == "uvloop"):
        raise Failed(f"{child.name} does not run on {loop}")
