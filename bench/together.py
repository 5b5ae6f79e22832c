"""HTTP: sixteen callers ask the node for the same thing at the same moment. Only one request may go out, and it answers all."""

import contextlib

from bench.contestants import NODE_TOOL, OURS, running, stub_node
from bench.figures import Budget, Figure, compare
from bench.http import LOOPS, check_loop
from bench.load.job import Job
from bench.node import asked
from bench.run import Run, by_name
from bench.strain import strain
from bench.wire import call_varying, headers

PART = "together"
_CALLERS = 16
_ONE = "one call, uncached"
_ALL = f"{_CALLERS} identical calls at once"
# Long enough for all sixteen to arrive before the answer does: later ones are answered from the cache.
_NODE_MS = 5


def measure(run: Run) -> list[Figure]:
    cpu = {loop: by_name((_ONE, _ALL)) for loop in LOOPS}
    time = {loop: by_name((_ONE, _ALL)) for loop in LOOPS}
    left = dict.fromkeys(LOOPS, 0)
    times = run.scaled(300)
    with contextlib.ExitStack() as stack:
        stub = stack.enter_context(stub_node(_NODE_MS))
        url = f"http://127.0.0.1:{stub.port()}"
        ours = {
            loop: stack.enter_context(running(f"{OURS} {loop}", run.contestants.ours(loop, "--node", url)))
            for loop in LOOPS
        }
        for loop in LOOPS:
            strain(ours[loop], _job(_ALL, ours[loop].port(), 50, seed=0))
            check_loop(ours[loop], loop)
        for number, (loop, subject) in run.turns([(loop, who) for loop in LOOPS for who in (_ONE, _ALL)]):
            before = asked(url, "/addresses/balance/")
            cost = strain(
                ours[loop], _job(subject, ours[loop].port(), times, seed=2 * number + (subject == _ALL))
            )
            calls = _CALLERS if subject == _ALL else 1
            cpu[loop][subject].append(cost.cpu_us * calls)
            time[loop][subject].append(calls / cost.per_second * 1000)
            if subject == _ALL:
                left[loop] += asked(url, "/addresses/balance/") - before
            run.say(f"together, round {number}: {subject}, {loop} {cpu[loop][subject][-1]:.0f} µs")
    figures = []
    for loop in LOOPS:
        quantity = f"requests sent for {_CALLERS} calls, {loop}"
        # One figure for all rounds: a single extra request is a miss.
        total = (left[loop] / (times * run.rounds),)
        figures.append(Figure(PART, quantity, OURS, "", total, budget=Budget(1.0, "value")))
        figures += compare(PART, f"CPU of {NODE_TOOL}, {loop}", "µs", cpu[loop], reference=_ONE)
        figures += compare(
            PART, f"time, of which the node takes {_NODE_MS} ms, {loop}", "ms", time[loop], reference=_ONE
        )
    return figures


def _job(subject: str, port: int, times: int, *, seed: int) -> Job:
    callers = _CALLERS if subject == _ALL else 1
    return Job(
        port=port,
        headers=headers(NODE_TOOL),
        body=call_varying(NODE_TOOL),
        requests=times * callers,
        connections=callers,
        varying="address",
        in_step=True,
        marks=['"id":7', '"isError":false', '"balance":'],
        seed=seed,
    )
