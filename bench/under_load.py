"""Load by wrk: calls a second, the slowest of a hundred, CPU per call and memory, with one worker and with two."""

import contextlib
import os
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass

from bench.contestants import LOCAL_TOOL, OURS
from bench.figures import Figure, compare
from bench.processes import HOME, SERVER_CORE, Child, Failed, environment
from bench.run import Run, by_name
from bench.wire import call, headers
from bench.wrk import in_lua

PART = "load"
WORKERS = (1, 2)
CONNECTIONS = (16, 256, 2_000)
_ROUNDS = 5
_QUICK_ROUNDS = 3
_SECONDS = 5
_QUICK_SECONDS = 2
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
_SCRIPT = HOME / "load.lua"


@dataclass(frozen=True)
class Entry:
    workers: int
    connections: int

    @property
    def subject(self) -> str:
        return f"{OURS}, {self.workers} worker{'s' if self.workers > 1 else ''}"


@dataclass(frozen=True)
class Outcome:
    """What wrk has measured."""

    calls: int
    per_second: float
    p99_ms: float


def measure(run: Run) -> list[Figure]:
    """Nothing if wrk is not installed: our own generator takes as much CPU as the server that it measures."""
    wrk = shutil.which("wrk")
    if wrk is None:
        run.say("load: not measured, as wrk is not installed (on Debian: apt-get install wrk)")
        return []
    _SCRIPT.parent.mkdir(parents=True, exist_ok=True)
    _SCRIPT.write_text(in_lua(headers(LOCAL_TOOL), call(LOCAL_TOOL)))
    entries = [Entry(workers, connections) for connections in CONNECTIONS for workers in WORKERS]
    found = {
        (quantity, connections): by_name(entry.subject for entry in entries)
        for quantity in ("calls per second", "p99", "CPU per call")
        for connections in CONNECTIONS
    }
    memory: list[Figure] = []
    seconds = _QUICK_SECONDS if run.quick else _SECONDS
    with contextlib.ExitStack() as stack:
        servers = {workers: _server(run, stack, workers) for workers in WORKERS}
        ports = {workers: child.port() for workers, child in servers.items()}
        for workers, child in servers.items():
            _strain(wrk, ports[workers], 16, 1)
            memory.append(_memory("resident before", Entry(workers, 0), child))
        for number, entry in run.turns(entries, _QUICK_ROUNDS if run.quick else _ROUNDS):
            child = servers[entry.workers]
            before = child.cpu_seconds()
            outcome = _strain(wrk, ports[entry.workers], entry.connections, seconds)
            cpu_us = (child.cpu_seconds() - before) / outcome.calls * 1e6
            for quantity, value in (
                ("calls per second", outcome.per_second),
                ("p99", outcome.p99_ms),
                ("CPU per call", cpu_us),
            ):
                found[quantity, entry.connections][entry.subject].append(value)
            run.say(
                f"load, round {number}: {entry.subject}, {entry.connections} connections: "
                f"{outcome.per_second:,.0f}/s, p99 {outcome.p99_ms:.1f} ms, {cpu_us:.1f} µs"
            )
        memory += [_memory("resident after", Entry(workers, 0), child) for workers, child in servers.items()]
    units = {"calls per second": "/s", "p99": "ms", "CPU per call": "µs"}
    figures = []
    for (quantity, connections), values in found.items():
        name = f"{quantity}, {connections:,} connections"
        figures += compare(PART, name, units[quantity], values, reference=entries[0].subject)
    return figures + memory


def _server(run: Run, stack: contextlib.ExitStack, workers: int) -> Child:
    command = run.contestants.ours("uvloop", "--sample", "--workers", str(workers))
    child = Child(f"{OURS} load {workers}", command, core=SERVER_CORE)
    stack.callback(child.end)
    # Two workers need two cores, and wrk takes what is left: all of them run where the system puts them.
    os.sched_setaffinity(child.pid, range(os.cpu_count() or 1))
    return child


def _memory(quantity: str, entry: Entry, child: Child) -> Figure:
    return Figure(PART, quantity, entry.subject, "MB", (child.settled_rss_mb(),))


def _strain(wrk: str, port: int, connections: int, seconds: int) -> Outcome:
    """Raises: Failed if a call was not answered."""
    done = subprocess.run(
        [
            wrk,
            "-t1",
            f"-c{connections}",
            f"-d{seconds}s",
            "--timeout",
            "10s",
            "--latency",
            "-s",
            str(_SCRIPT),
            f"http://127.0.0.1:{port}/mcp",
        ],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=seconds + 60,
        preexec_fn=_at_large,
    )
    said = done.stdout
    if done.returncode or "Socket errors" in said or "Non-2xx" in said:
        raise Failed(f"wrk with {connections} connections: {(said + done.stderr)[-1500:]}")
    rate = re.search(r"Requests/sec:\s*([\d.]+)", said)
    p99 = re.search(r"\s99%\s+([\d.]+)(us|ms|s|m)\b", said)
    calls = re.search(r"(\d+) requests in", said)
    if rate is None or p99 is None or calls is None:
        raise Failed(f"wrk said: {said[-1500:]}")
    return Outcome(int(calls[1]), float(rate[1]), float(p99[1]) * _UNITS[p99[2]])


def _at_large() -> None:
    """On any core, and with as many open files as there may be."""
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
