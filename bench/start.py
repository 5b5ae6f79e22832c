"""stdio: from spawn to the answer of tools/list and of a first call, memory at rest, and how long one call takes."""

import time
from statistics import median

from bench.contestants import BARE, LOCAL_TOOL, OURS, Command, running
from bench.figures import Budget, Figure, compare
from bench.lines import Lines, result
from bench.run import Run, by_name
from bench.wire import call

PART = "stdio"


def measure(run: Run) -> list[Figure]:
    commands = run.contestants.stdio()
    wall, cpu, answered, memory, latency = (by_name(commands) for _ in range(5))
    for name, command in commands.items():
        _start(name, command)  # the first start reads files from disk
    for number, name in run.turns(list(commands)):
        ms, cpu_ms, answer_ms = _start(name, commands[name])
        wall[name].append(ms)
        cpu[name].append(cpu_ms)
        answered[name].append(answer_ms)
        run.say(f"stdio start, round {number}: {name} {wall[name][-1]:.0f} ms")
    for number, name in run.turns(list(commands), 3):
        idle_mb, call_us = _talk(name, commands[name], run.scaled(1000))
        memory[name].append(idle_mb)
        latency[name].append(call_us)
        run.say(f"stdio calls, round {number}: {name} {idle_mb:.1f} MB idle, {call_us:.0f} µs per call")
    return [
        *compare(PART, "spawn to tools/list", "ms", wall, reference=BARE, budgets={OURS: Budget(1.35)}),
        *compare(PART, "CPU until then", "ms", cpu, reference=BARE),
        *compare(PART, "spawn to a first call", "ms", answered, reference=BARE, budgets={OURS: Budget(2.5)}),
        *compare(PART, "resident, idle", "MB", memory, reference=BARE, budgets={OURS: Budget(40, "value")}),
        *compare(PART, f"one call of {LOCAL_TOOL}", "µs", latency, reference=BARE),
    ]


def _start(name: str, command: Command) -> tuple[float, float, float]:
    """Wall and CPU time until tools/list is answered, and wall time until a call right after it is, in ms."""
    began = time.perf_counter()
    with running(f"{name} stdio", command, pipes=True) as child:
        lines = Lines(child)
        lines.greet()
        reply = lines.list_tools()
        wall = time.perf_counter() - began
        cpu = child.cpu_seconds()
        assert result(reply)["tools"], "every contestant has tools"
        first = lines.ask(call(LOCAL_TOOL))
        answered = time.perf_counter() - began
        assert result(first)["structuredContent"] == {"isValid": True}, "the address is valid"
    return wall * 1000, cpu * 1000, answered * 1000


def _talk(name: str, command: Command, calls: int) -> tuple[float, float]:
    """Memory at rest in MB, and the median round trip of one call in µs."""
    message = call(LOCAL_TOOL)
    with running(f"{name} stdio", command, pipes=True) as child:
        lines = Lines(child)
        lines.greet()
        lines.list_tools()
        idle = child.settled_rss_mb()
        first = lines.ask(message)
        assert result(first)["structuredContent"] == {"isValid": True}, "the address is valid"
        times = []
        for _ in range(calls):
            began = time.perf_counter()
            reply = lines.ask(message)
            times.append(time.perf_counter() - began)
            assert reply == first, "the same question has the same answer"
    return idle, median(times) * 1e6
