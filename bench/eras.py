"""`qortal-mcp bridge` and mcp-proxy for Node between a client of one era and a server of the other, next to both in one era.

The server is the official SDK's, which speaks both eras on stdio; the proxy is told which to use. The client comes over HTTP.
"""

import contextlib
from dataclasses import dataclass
from statistics import median

from bench.bridge import DIRECT, IN_FLIGHT, MOST_ADDED_US, added, talking, talking_http
from bench.contestants import SDK
from bench.figures import Figure, compare
from bench.processes import Child
from bench.proxies import MCP_PROXY_NODE, SAFE, prepare_proxies
from bench.run import Run, by_name
from bench.talks import Talk
from bench.wire import LEGACY, MODERN

PART = "eras"
_PROXIES = (SAFE, MCP_PROXY_NODE)
_PAIRS = ((LEGACY, LEGACY), (LEGACY, MODERN), (MODERN, LEGACY), (MODERN, MODERN))


@dataclass(frozen=True)
class _Crossing:
    """A proxy, the revision of the client in front of it, and that of the server behind it."""

    proxy: str
    front: str
    behind: str

    @property
    def name(self) -> str:
        return f"{self.proxy}, {self.front} → {self.behind}"


def measure(run: Run) -> list[Figure]:
    proxies = prepare_proxies(run.contestants)
    server = run.contestants.stdio()[SDK]
    crossings = [_Crossing(proxy, *pair) for pair in _PAIRS for proxy in _PROXIES]
    names = [DIRECT, *(one.name for one in crossings)]
    latency, rate = by_name(names), by_name(names)
    calls, many = run.scaled(300), run.scaled(1500)
    with contextlib.ExitStack() as stack:
        talks: dict[str, tuple[Child, Talk]] = {DIRECT: stack.enter_context(talking(DIRECT, server))}
        for one in crossings:
            crossing = talking_http(one.name, proxies, one.proxy, server, front=one.front, behind=one.behind)
            talks[one.name] = stack.enter_context(crossing)
        for _, talk in talks.values():
            talk.resume()
            talk.seconds(200, IN_FLIGHT)
        for number, name in run.turns(names):
            _, talk = talks[name]
            talk.resume()
            latency[name].append(median(talk.seconds(1) for _ in range(calls)) * 1e6)
            rate[name].append(many / talk.seconds(many, IN_FLIGHT))
            run.say(f"eras, round {number}: {name} {latency[name][-1]:.0f} µs, {rate[name][-1]:,.0f}/s")
    ours = [one.name for one in crossings if one.proxy == SAFE]
    return [
        *compare(PART, f"one call, {SDK} behind", "µs", latency, reference=DIRECT),
        *added(PART, f"of which added, {SDK} behind", latency, dict.fromkeys(ours, MOST_ADDED_US)),
        *compare(PART, f"calls per second, {IN_FLIGHT} in flight", "/s", rate, reference=DIRECT),
    ]
