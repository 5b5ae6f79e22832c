"""A minute with a node that is slow, and one with a node that dies again and again: what callers of it get, and what others notice."""

import asyncio
import time
from dataclasses import dataclass, field
from itertools import count

from bench.addresses import addresses
from bench.contestants import LOCAL_TOOL, NODE_TOOL, OURS, running, start_stub_node, stub_node
from bench.figures import Budget, Figure
from bench.processes import Child, Failed
from bench.run import Run
from bench.wire import call, headers

PART = "trouble"
_SECONDS = 60.0
_QUICK_SECONDS = 10.0
# Callers that ask the node, each time for something new, and callers of a tool that needs none.
_OF_NODE = 32
_OF_OTHERS = 8
_SLOW_MS = 500.0
# It lives this long, and is away for as long.
_LIFE_SECONDS = 2.0
# What others may wait at most, as for any single request.
_MOST_MS = 250.0


@dataclass
class Seen:
    """What callers of one kind went through."""

    seconds: list[float] = field(default_factory=list)
    failed: int = 0

    def at(self, share: float) -> float:
        found = sorted(self.seconds)
        return found[min(len(found) - 1, int(share * len(found)))] * 1000


@dataclass(frozen=True)
class Outcome:
    of_node: Seen
    of_others: Seen
    grown_mb: float


def measure(run: Run) -> list[Figure]:
    seconds = _QUICK_SECONDS if run.quick else _SECONDS
    figures: list[Figure] = []
    for subject, delay_ms, dies in (
        ("a node that answers", 0.0, False),
        ("a slow node", _SLOW_MS, False),
        ("a node that dies", 0.0, True),
    ):
        found = _outcome(run, seconds, delay_ms, dies)
        of_node, of_others = found.of_node, found.of_others
        run.say(
            f"trouble: {subject}: {len(of_node.seconds):,} calls of it, {of_node.failed:,} failed, "
            f"99 % within {of_node.at(0.99):.0f} ms; {len(of_others.seconds):,} others, 99 % within {of_others.at(0.99):.1f} ms"
        )
        if not of_others.seconds or of_others.failed:
            raise Failed(f"{subject}: {of_others.failed} calls failed that need no node")
        figures += [
            Figure(PART, "p99 of calls that need no node", subject, "ms", (of_others.at(0.99),)),
            Figure(
                PART,
                "slowest call that needs no node",
                subject,
                "ms",
                (of_others.at(1.0),),
                budget=Budget(_MOST_MS, "value"),
            ),
            Figure(
                PART, "calls of the node, answered", subject, "", (len(of_node.seconds) - of_node.failed,)
            ),
            Figure(PART, "calls of the node, failed with a reason", subject, "", (of_node.failed,)),
            Figure(PART, "p99 of calls of the node", subject, "ms", (of_node.at(0.99),)),
            Figure(PART, "memory gained", subject, "MB", (found.grown_mb,)),
        ]
    return sorted(figures, key=lambda figure: figure.quantity)


def _outcome(run: Run, seconds: float, delay_ms: float, dies: bool) -> Outcome:
    with stub_node(delay_ms) as stub:
        port = stub.port()
        url = f"http://127.0.0.1:{port}"
        with running(f"{OURS} trouble", run.contestants.ours("uvloop", "--node", url)) as server:
            return asyncio.run(_minute(server, seconds, stub, port if dies else None))


async def _minute(server: Child, seconds: float, stub: Child, dies_at: int | None) -> Outcome:
    of_node, of_others = Seen(), Seen()
    seeds = count(1)
    port = server.port()
    # What is loaded with the first calls is no growth.
    await asyncio.gather(
        *(_ask(port, NODE_TOOL, seed, time.monotonic() + 1, Seen()) for seed in range(-8, 0))
    )
    before = server.rss_mb()
    ends = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for _ in range(_OF_NODE):
            group.create_task(_ask(port, NODE_TOOL, next(seeds), ends, of_node))
        for _ in range(_OF_OTHERS):
            group.create_task(_ask(port, LOCAL_TOOL, next(seeds), ends, of_others))
        if dies_at is not None:
            group.create_task(_die_and_return(stub, dies_at, ends))
    return Outcome(of_node, of_others, server.rss_mb() - before)


async def _ask(port: int, tool: str, seed: int, ends: float, seen: Seen) -> None:
    """One caller that asks again as soon as it has its answer. Raises: Failed if there is none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers(tool).items())
    for address in addresses(seed):
        if time.monotonic() > ends:
            break
        body = call(tool, address=address).encode()
        began = time.monotonic()
        writer.write(
            f"POST /mcp HTTP/1.1\r\nhost: localhost\r\n{head}content-length: {len(body)}\r\n\r\n".encode()
            + body
        )
        try:
            async with asyncio.timeout(60):
                answered = await reader.readuntil(b"\r\n\r\n")
                length = answered.lower().partition(b"content-length:")[2].split(b"\r\n")[0]
                said = await reader.readexactly(int(length))
        except (OSError, ValueError, TimeoutError, asyncio.IncompleteReadError) as exc:
            raise Failed(f"a call of {tool} was not answered: {exc!r}") from None
        seen.seconds.append(time.monotonic() - began)
        seen.failed += b'"isError":true' in said
        if b'"isError"' not in said:
            raise Failed(f"a call of {tool} was answered with {said[:300]!r}")
    writer.close()


async def _die_and_return(stub: Child, port: int, ends: float) -> None:
    """The first one is killed here, those after it too; the last is ended before this returns."""
    lives = True
    current = stub
    while time.monotonic() < ends:
        await asyncio.sleep(_LIFE_SECONDS)
        if lives:
            await asyncio.to_thread(current.end)
        else:
            current = start_stub_node(port=port)
        lives = not lives
    if lives and current is not stub:
        await asyncio.to_thread(current.end)
