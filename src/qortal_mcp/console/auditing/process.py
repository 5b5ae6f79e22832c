"""The process that audits: visits the server, has judged what was seen, and writes events, one per line.

It is a process of its own because what a hostile server sends can take long to read, and must hold up nobody else.
"""

import asyncio
import contextlib
import os
import signal
import sys
import time

import msgspec
from msgspec import Raw, Struct, structs

from ...audit.confinement.confined import confined_judge
from ...audit.confinement.own_process import bound
from ...audit.evidence import Evidence
from ...audit.judging.finding import Report
from ...audit.judging.no_server import unreachable
from ...audit.reports import markdown
from ...audit.visiting.runner import Order, Unreachable, collect
from ...client.wires.loopback import place_met
from ...client.wires.routes import Place, Route, place_of
from ...text import printable_json, visible
from .events import Ended, Failed, Found, Progress, Task

_PROGRESS_CHARS = 200
_LOOKUP_SECONDS = 5.0


def main() -> None:
    """Do the task on standard input."""
    task = msgspec.json.decode(sys.stdin.buffer.readline(), type=Task)
    bound(memory_bytes=task.limits.memory_bytes, cpu_seconds=task.limits.total_seconds)
    asyncio.run(_audit(task))


async def _with_addresses(task: Task) -> frozenset[Place]:
    """The places to keep away from, also by the addresses that their names stand for: any of them may be on this machine."""
    found = set(task.never)
    for host, port in task.never - {place_of("localhost", port) for _, port in task.never}:
        with contextlib.suppress(OSError, UnicodeError):
            async with asyncio.timeout(_LOOKUP_SECONDS):
                known = await asyncio.get_running_loop().getaddrinfo(host, port)
            found |= {place_met(str(address[0]), port) for *_, address in known}
    return frozenset(found)


async def _audit(task: Task) -> None:
    _end_when_nobody_waits()
    began = time.monotonic()
    early = _EarlyFindings(task)
    order = Order(
        target=task.url,
        revisions=task.revisions,
        limits=task.limits.audit,
        route=Route(only_loopback=task.only_loopback, never=await _with_addresses(task)),
        say=_say,
        visited=early.see,
    )
    judging = asyncio.create_task(early.judge_each())
    try:
        evidence = await collect(order)
    except Unreachable as exc:
        why = visible(unreachable(str(exc)))
        _tell(Failed(f"The server cannot be reached: {why}. Check the address and whether the server runs."))
        return
    finally:
        judging.cancel()
        await asyncio.gather(judging, return_exceptions=True)
    _say("judging what was seen")
    left = task.limits.audit.total_seconds + task.limits.audit.judge_seconds - (time.monotonic() - began)
    _tell(_ended(await confined_judge(evidence, limits=task.limits.audit, seconds=left)))


def _ended(report: Report) -> Ended:
    text = printable_json(msgspec.json.encode(report).decode())
    return Ended(report=Raw(text.encode()), markdown=markdown.render(report))


class _EarlyFindings:
    """Judges what has been seen while the visits go on, and tells each finding once."""

    def __init__(self, task: Task) -> None:
        self._limits = task.limits
        self._audit_limits = structs.replace(task.limits.audit, judge_seconds=task.limits.early_seconds)
        self._told: set[tuple[str, str]] = set()
        self._latest: Evidence | None = None
        self._news = asyncio.Event()

    def see(self, evidence: Evidence) -> None:
        # Before a revision is agreed on there is hardly anything to judge.
        if any(visit.revision for visit in evidence.visits):
            self._latest = evidence
            self._news.set()

    async def judge_each(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            assert self._latest is not None, "news is evidence"
            self._tell_new(await confined_judge(self._latest, limits=self._audit_limits))

    def _tell_new(self, report: Report) -> None:
        for finding in report.findings:
            key = (finding.code, finding.where)
            if key not in self._told and len(self._told) < self._limits.early_findings:
                self._told.add(key)
                _tell(Found(finding))


def _say(text: str) -> None:
    _tell(Progress(visible(text)[:_PROGRESS_CHARS]))


def _tell(event: Struct) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(event) + b"\n")
    sys.stdout.buffer.flush()


def _end_when_nobody_waits() -> None:
    """Nothing more comes on standard input but its end: whoever started this is gone."""
    # Not every system can watch a pipe. There the bound on processor time has to do.
    with contextlib.suppress(NotImplementedError):
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), _end)


def _end() -> None:
    # With the process that judges, which is in the same group.
    os.killpg(os.getpgrp(), signal.SIGKILL)
