"""WebSocket: CPU of one tools/call on an open connection, next to a bare echo on the same library."""

import contextlib

from bench.contestants import BARE, LOCAL_TOOL, OURS, running
from bench.figures import Budget, Figure, compare
from bench.http import LOOPS, check_loop
from bench.load.job import Job
from bench.processes import Child
from bench.run import Run, by_name
from bench.strain import strain
from bench.wire import call

PART = "websocket"
_BUDGETS = {OURS: Budget(1.6)}


def measure(run: Run) -> list[Figure]:
    commands = {(BARE, loop): run.contestants.other(BARE, loop) for loop in LOOPS}
    commands |= {(OURS, loop): run.contestants.ours(loop, "--sample") for loop in LOOPS}
    cpu = {loop: by_name((BARE, OURS)) for loop in LOOPS}
    with contextlib.ExitStack() as stack:
        servers: dict[tuple[str, str], tuple[Child, int]] = {}
        for (name, loop), command in commands.items():
            child = stack.enter_context(running(f"{name} {loop}", command))
            servers[name, loop] = child, child.port()
            strain(child, _job(servers[name, loop][1], 500))
            check_loop(child, loop)
        for number, (name, loop) in run.turns(list(servers)):
            child, port = servers[name, loop]
            cost = strain(child, _job(port, run.scaled(6_000)))
            cpu[loop][name].append(cost.cpu_us)
            run.say(
                f"WebSocket, round {number}: {name}, {loop} {cost.cpu_us:.1f} µs, {cost.per_second:,.0f}/s"
            )
    return [
        figure
        for loop in LOOPS
        for figure in compare(
            PART, f"CPU per message, {loop}", "µs", cpu[loop], reference=BARE, budgets=_BUDGETS
        )
    ]


def _job(port: int, requests: int) -> Job:
    return Job(
        wire="websocket",
        port=port,
        path="/ws",
        headers={},
        body=call(LOCAL_TOOL),
        requests=requests,
        marks=['"isValid":true', '"id":7'],
    )
