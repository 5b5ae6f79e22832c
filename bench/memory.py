"""Whether memory stays flat: idle connections opened and closed, many calls, many session ids.

Judged by the second half: a server may keep what it allocates once, but must not keep growing.
"""

import time
from collections.abc import Callable

from msgspec.structs import replace

from bench.contestants import LOCAL_TOOL, OURS, running
from bench.figures import Budget, Figure
from bench.idle import open_http, open_websocket
from bench.load.job import VARYING, Job
from bench.processes import Child
from bench.run import Run
from bench.strain import generate
from bench.wire import INITIALIZE, call, headers

PART = "memory"
_FLAT = Budget(2.0, "value")
_CONNECTIONS = 1000
# In the first few cycles the allocator builds up its reserve, even in a bare server.
_CYCLES = 10


def measure(run: Run) -> list[Figure]:
    figures: list[Figure] = []
    # The loop that is always available. Each subject gets its own process: what one leaves must not hide another's growth.
    for subject, soak in _SOAKS.items():
        with running(f"{OURS} {subject}", run.contestants.ours("asyncio", "--sample")) as child:
            found = soak(run, subject, child, child.port())
            figures += found
            run.say(
                f"memory: {subject}: " + ", ".join(f"{f.quantity} {f.values[0]:.2f} {f.unit}" for f in found)
            )
    return sorted(figures, key=lambda figure: figure.quantity)


def _idle(opener: Callable[[int], object]) -> Callable[[Run, str, Child, int], list[Figure]]:
    def soak(run: Run, subject: str, child: Child, port: int) -> list[Figure]:
        before = child.rss_mb()
        while_open, after = [], []
        for _ in range(_CYCLES):
            held = [opener(port) for _ in range(_CONNECTIONS)]
            while_open.append(child.rss_mb())
            del held  # closes them
            time.sleep(1.0)
            after.append(child.rss_mb())
        each = (while_open[0] - before) * 1000 / _CONNECTIONS
        return [
            Figure(PART, "per connection", subject, "kB", (each,)),
            Figure(PART, "resident at the end", subject, "MB", (after[-1],)),
            _growth(subject, after[-1] - after[_CYCLES // 2 - 1]),
        ]

    return soak


def _many(make_job: Callable[[int], Job]) -> Callable[[Run, str, Child, int], list[Figure]]:
    def soak(run: Run, subject: str, child: Child, port: int) -> list[Figure]:
        half = make_job(port)
        halves = []
        for _ in range(2):
            for _ in range(5):
                part = half.requests // (25 if run.quick else 5)
                generate(child.name, replace(half, requests=part))
            halves.append(child.rss_mb())
        return [
            Figure(PART, "resident at the end", subject, "MB", (halves[1],)),
            _growth(subject, halves[1] - halves[0]),
        ]

    return soak


def _growth(subject: str, megabytes: float) -> Figure:
    return Figure(PART, "growth in the second half", subject, "MB", (megabytes,), budget=_FLAT)


def _calls(port: int) -> Job:
    return Job(
        port=port,
        headers=headers(LOCAL_TOOL),
        body=call(LOCAL_TOOL),
        requests=500_000,
        marks=['"isValid":true'],
    )


def _session_ids(port: int) -> Job:
    return Job(
        port=port,
        headers={**headers(LOCAL_TOOL), "Mcp-Session-Id": VARYING},
        body=call(LOCAL_TOOL),
        requests=50_000,
        varying="session",
        marks=['"isValid":true'],
    )


def _handshakes(port: int) -> Job:
    return Job(
        port=port,
        headers=headers(LOCAL_TOOL),
        body=INITIALIZE,
        requests=50_000,
        marks=['"protocolVersion":"2025-11-25"'],
    )


_SOAKS: dict[str, Callable[[Run, str, Child, int], list[Figure]]] = {
    "1,000 idle HTTP connections": _idle(lambda port: open_http(_calls(port))),
    "1,000 idle WebSockets": _idle(open_websocket),
    "10⁶ calls": _many(_calls),
    "10⁵ session ids": _many(_session_ids),
    "10⁵ handshakes": _many(_handshakes),
}
