"""HTTP: tools/call of a tool that needs no node, with everything enabled, next to a bare echo of the same bytes."""

import contextlib
from dataclasses import dataclass

from bench.contestants import BARE, FASTMCP, LOCAL_TOOL, OURS, SDK, Command, running
from bench.figures import Budget, Figure, compare
from bench.load.job import Job
from bench.processes import Child, Failed
from bench.run import Run, by_name
from bench.strain import strain
from bench.wire import LEGACY, MODERN, call, headers

PART = "http"
LOOPS = ("asyncio", "uvloop")
_VALID = '"isValid":true'
_BUDGET = Budget(1.4)


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
        """Entries of the same server share its process."""
        return f"{self.subject.partition(',')[0]} {self.loop}"


def entries(run: Run) -> list[Entry]:
    who, found = run.contestants, []
    for loop in LOOPS:
        found += [
            Entry(BARE, loop, who.other(BARE, loop), LEGACY, run.scaled(6_000)),
            Entry(OURS, loop, who.ours(loop, "--sample"), LEGACY, run.scaled(6_000)),
            Entry(f"{OURS}, {MODERN}", loop, who.ours(loop, "--sample"), MODERN, run.scaled(6_000)),
            Entry(SDK, loop, who.other(SDK, loop), LEGACY, run.scaled(1_000)),
            Entry(FASTMCP, loop, who.other(FASTMCP, loop), LEGACY, run.scaled(500)),
        ]
    return found


def measure(run: Run) -> list[Figure]:
    chosen = entries(run)
    cpu = {loop: by_name(entry.subject for entry in chosen if entry.loop == loop) for loop in LOOPS}
    rate = {loop: by_name(entry.subject for entry in chosen if entry.loop == loop) for loop in LOOPS}
    with contextlib.ExitStack() as stack:
        servers: dict[str, tuple[Child, int]] = {}
        for entry in chosen:
            if entry.server not in servers:
                child = stack.enter_context(running(entry.server, entry.command))
                servers[entry.server] = child, child.port()
            child, port = servers[entry.server]
            strain(child, job(entry, port, max(200, entry.requests // 10)))
            check_loop(child, entry.loop)
        for number, entry in run.turns(chosen):
            child, port = servers[entry.server]
            cost = strain(child, job(entry, port, entry.requests))
            cpu[entry.loop][entry.subject].append(cost.cpu_us)
            rate[entry.loop][entry.subject].append(cost.per_second)
            run.say(
                f"HTTP, round {number}: {entry.subject}, {entry.loop} {cost.cpu_us:.1f} µs, {cost.per_second:,.0f}/s"
            )
    figures = []
    for loop in LOOPS:
        budgets = {OURS: _BUDGET, f"{OURS}, {MODERN}": _BUDGET}
        figures += compare(PART, f"CPU per call, {loop}", "µs", cpu[loop], reference=BARE, budgets=budgets)
    for loop in LOOPS:
        figures += compare(PART, f"calls per second, {loop}", "/s", rate[loop], reference=BARE)
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
