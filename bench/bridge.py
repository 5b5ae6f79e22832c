"""`qortal-mcp bridge` and other proxies in front of one server on stdio, next to the server without anything in front.

The server behind has a core of its own; the proxy shares the other one with the client.
"""

import contextlib
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

from bench.contestants import OURS, SDK, Command
from bench.environments import PYTHON
from bench.figures import Budget, Figure, compare
from bench.lines import Lines, result
from bench.processes import LOAD_CORE, ROOT, SERVER_CORE, Child
from bench.proxies import ALL, FASTMCP_PROXY, HTTP_FRONTS, SAFE, STDIO_FRONTS, Proxies, prepare_proxies
from bench.run import Run, by_name
from bench.talks import HttpChannel, PipeChannel, Talk

PART = "bridge"
_DIRECT = "without a proxy"
_IN_FLIGHT = Talk.IN_FLIGHT
_MOST_ADDED_US = Budget(1000, "value")
_LEAST_RATE = Budget(0.9, is_least=True)


@dataclass(frozen=True)
class Entry:
    """One line of the tables: who stands in front of the server, and on which transport it is reached."""

    subject: str
    front: str = "stdio"

    @property
    def name(self) -> str:
        return self.subject if self.subject == _DIRECT else f"{self.subject}, {self.front}"


def measure(run: Run) -> list[Figure]:
    proxies = prepare_proxies(run.contestants)
    servers = run.contestants.stdio()
    fronts = [Entry(subject) for subject in STDIO_FRONTS] + [
        Entry(subject, "HTTP") for subject in HTTP_FRONTS
    ]
    own = [Entry(SAFE), Entry(ALL), Entry(SAFE, "HTTP"), Entry(ALL, "HTTP")]
    return [
        *_starts(run, proxies, servers[SDK]),
        *_calls(run, proxies, SDK, servers[SDK], fronts, has_budgets=True),
        *_calls(run, proxies, OURS, servers[OURS], own, has_budgets=False),
    ]


def _starts(run: Run, proxies: Proxies, server: Command) -> list[Figure]:
    commands = {_DIRECT: server}
    commands |= {name: proxies.on_stdio(name, server) for name in (SAFE, FASTMCP_PROXY)}
    wall = by_name(commands)
    for name, command in commands.items():
        _start(name, command)  # the first start reads files from disk
    for number, name in run.turns(list(commands)):
        wall[name].append(_start(name, commands[name]))
        run.say(f"bridge start, round {number}: {name} {wall[name][-1]:.0f} ms")
    return compare(PART, f"spawn to tools/list, {SDK} behind", "ms", wall, reference=_DIRECT)


def _start(name: str, command: Command) -> float:
    """Time until tools/list is answered, in ms."""
    began = time.perf_counter()
    with _child(f"start {name}", command, SERVER_CORE, pipes=True) as child:
        lines = Lines(child)
        lines.greet()
        reply = lines.list_tools()
        wall = time.perf_counter() - began
        assert result(reply)["tools"], "the server has tools"
    return wall * 1000


def _calls(
    run: Run, proxies: Proxies, who: str, server: Command, fronts: list[Entry], *, has_budgets: bool
) -> list[Figure]:
    """Time of one call, calls per second, CPU and memory of whoever is in front of one server."""
    entries = [Entry(_DIRECT), *fronts]
    names = [entry.name for entry in entries]
    latency, rate, cpu, memory = (by_name(names) for _ in range(4))
    calls, many = run.scaled(300), run.scaled(1500)
    with contextlib.ExitStack() as stack:
        talks: dict[Entry, tuple[Child, Talk]] = {}
        for entry in entries:
            child, talk = stack.enter_context(_talking(entry, proxies, server))
            talks[entry] = child, talk
            memory[entry.name].append(child.settled_rss_mb(Child.own_rss_mb))
            talk.resume()
            talk.seconds(200, _IN_FLIGHT)
        for number, entry in run.turns(entries):
            child, talk = talks[entry]
            talk.resume()
            latency[entry.name].append(median(talk.seconds(1) for _ in range(calls)) * 1e6)
            before = child.own_cpu_seconds()
            seconds = talk.seconds(many, _IN_FLIGHT)
            cpu[entry.name].append((child.own_cpu_seconds() - before) / many * 1e6)
            rate[entry.name].append(many / seconds)
            run.say(
                f"bridge, {who} behind, round {number}: {entry.name} {latency[entry.name][-1]:.0f} µs, "
                f"{rate[entry.name][-1]:,.0f}/s, {cpu[entry.name][-1]:.0f} µs of CPU"
            )
    ours = [entry.name for entry in fronts if entry.subject in (SAFE, ALL)] if has_budgets else []
    fast = dict.fromkeys(ours, _LEAST_RATE)
    return [
        *compare(PART, f"one call, {who} behind", "µs", latency, reference=_DIRECT),
        *_added(f"of which added, {who} behind", latency, ours),
        *compare(
            PART,
            f"calls per second, {_IN_FLIGHT} in flight, {who} behind",
            "/s",
            rate,
            reference=_DIRECT,
            budgets=fast,
        ),
        *_by_process(f"CPU per call, {who} behind", "µs", cpu, who),
        *_by_process(f"resident, idle, {who} behind", "MB", memory, who),
    ]


def _added(quantity: str, latency: dict[str, list[float]], ours: list[str]) -> list[Figure]:
    """What a call takes longer than without a proxy, in the same round."""
    return [
        Figure(
            PART,
            quantity,
            name,
            "µs",
            tuple(with_proxy - bare for with_proxy, bare in zip(found, latency[_DIRECT], strict=True)),
            budget=_MOST_ADDED_US if name in ours else None,
        )
        for name, found in latency.items()
        if name != _DIRECT
    ]


def _by_process(quantity: str, unit: str, values: dict[str, list[float]], who: str) -> list[Figure]:
    """Figures of the process in front alone, next to the server itself."""
    server = f"{who} itself"
    named = {server if name == _DIRECT else name: found for name, found in values.items()}
    return compare(PART, quantity, unit, named, reference=server)


@contextlib.contextmanager
def _talking(entry: Entry, proxies: Proxies, server: Command) -> Iterator[tuple[Child, Talk]]:
    """A client that talks to the server, directly or through a proxy."""
    name = f"bridge {entry.name}"
    behind: Command = [PYTHON, ROOT / "bench/servers/on_core.py", str(SERVER_CORE), *server]
    if entry.subject == _DIRECT:
        with _child(name, server, SERVER_CORE, pipes=True) as child:
            yield child, Talk(PipeChannel(child))
    elif entry.front == "stdio":
        command = proxies.on_stdio(entry.subject, behind)
        with _child(name, command, LOAD_CORE, pipes=True) as child:
            yield child, Talk(PipeChannel(child))
    else:
        port = _free_port()
        command = proxies.on_http(entry.subject, port, behind)
        with _child(name, command, LOAD_CORE, pipes=False) as child:
            channel = HttpChannel(child, port)
            with contextlib.closing(channel):
                yield child, Talk(channel)


@contextlib.contextmanager
def _child(name: str, command: Command, core: int, *, pipes: bool) -> Iterator[Child]:
    child = Child(name, command, core=core, pipes=pipes)
    try:
        yield child
    finally:
        child.end()


def _free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
