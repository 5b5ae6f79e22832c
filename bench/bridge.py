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
from bench.wire import LEGACY

PART = "bridge"
DIRECT = "without a proxy"
IN_FLIGHT = Talk.IN_FLIGHT
MOST_ADDED_US = Budget(1000, "value")
_LEAST_RATE = Budget(0.9, is_least=True)


@dataclass(frozen=True)
class Entry:
    """One line of the tables: who stands in front of the server, and on which transport it is reached."""

    subject: str
    front: str = "stdio"

    @property
    def name(self) -> str:
        return self.subject if self.subject == DIRECT else f"{self.subject}, {self.front}"


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
    commands = {DIRECT: server}
    commands |= {name: proxies.on_stdio(name, server) for name in (SAFE, FASTMCP_PROXY)}
    wall = by_name(commands)
    for name, command in commands.items():
        _start(name, command)  # the first start reads files from disk
    for number, name in run.turns(list(commands)):
        wall[name].append(_start(name, commands[name]))
        run.say(f"bridge start, round {number}: {name} {wall[name][-1]:.0f} ms")
    return compare(PART, f"spawn to tools/list, {SDK} behind", "ms", wall, reference=DIRECT)


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
    entries = [Entry(DIRECT), *fronts]
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
            talk.seconds(200, IN_FLIGHT)
        for number, entry in run.turns(entries):
            child, talk = talks[entry]
            talk.resume()
            latency[entry.name].append(median(talk.seconds(1) for _ in range(calls)) * 1e6)
            before = child.own_cpu_seconds()
            seconds = talk.seconds(many, IN_FLIGHT)
            cpu[entry.name].append((child.own_cpu_seconds() - before) / many * 1e6)
            rate[entry.name].append(many / seconds)
            run.say(
                f"bridge, {who} behind, round {number}: {entry.name} {latency[entry.name][-1]:.0f} µs, "
                f"{rate[entry.name][-1]:,.0f}/s, {cpu[entry.name][-1]:.0f} µs of CPU"
            )
    ours = [entry.name for entry in fronts if entry.subject in (SAFE, ALL)] if has_budgets else []
    fast = dict.fromkeys(ours, _LEAST_RATE)
    return [
        *compare(PART, f"one call, {who} behind", "µs", latency, reference=DIRECT),
        *added(PART, f"of which added, {who} behind", latency, dict.fromkeys(ours, MOST_ADDED_US)),
        *compare(
            PART,
            f"calls per second, {IN_FLIGHT} in flight, {who} behind",
            "/s",
            rate,
            reference=DIRECT,
            budgets=fast,
        ),
        *_by_process(f"CPU per call, {who} behind", "µs", cpu, who),
        *_by_process(f"resident, idle, {who} behind", "MB", memory, who),
    ]


def added(
    part: str, quantity: str, latency: dict[str, list[float]], budgets: dict[str, Budget]
) -> list[Figure]:
    """What a call takes longer than without a proxy, in the same round."""
    return [
        Figure(
            part,
            quantity,
            name,
            "µs",
            tuple(with_proxy - bare for with_proxy, bare in zip(found, latency[DIRECT], strict=True)),
            budget=budgets.get(name),
        )
        for name, found in latency.items()
        if name != DIRECT
    ]


def _by_process(quantity: str, unit: str, values: dict[str, list[float]], who: str) -> list[Figure]:
    """Figures of the process in front alone, next to the server itself."""
    server = f"{who} itself"
    named = {server if name == DIRECT else name: found for name, found in values.items()}
    return compare(PART, quantity, unit, named, reference=server)


def _talking(
    entry: Entry, proxies: Proxies, server: Command
) -> contextlib.AbstractContextManager[tuple[Child, Talk]]:
    """A client that talks to the server, directly or through a proxy."""
    name = f"bridge {entry.name}"
    if entry.subject == DIRECT:
        return talking(name, server)
    if entry.front == "stdio":
        return talking(name, proxies.on_stdio(entry.subject, _on_own_core(server)), core=LOAD_CORE)
    return talking_http(name, proxies, entry.subject, server)


@contextlib.contextmanager
def talking(name: str, command: Command, core: int = SERVER_CORE) -> Iterator[tuple[Child, Talk]]:
    """A client on the pipes of a program."""
    with _child(name, command, core, pipes=True) as child:
        yield child, Talk(PipeChannel(child))


@contextlib.contextmanager
def talking_http(
    name: str, proxies: Proxies, proxy: str, server: Command, *, front: str = LEGACY, behind: str = ""
) -> Iterator[tuple[Child, Talk]]:
    """A client of a proxy that listens. `front` and `behind` are the revisions spoken there; by default the proxy chooses the latter."""
    port = _free_port()
    command = proxies.on_http(proxy, port, _on_own_core(server), revision=behind)
    with _child(name, command, LOAD_CORE, pipes=False) as child:
        channel = HttpChannel(child, port, front)
        with contextlib.closing(channel):
            yield child, Talk(channel, front)


def _on_own_core(server: Command) -> Command:
    return [PYTHON, ROOT / "bench/servers/on_core.py", str(SERVER_CORE), *server]


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
