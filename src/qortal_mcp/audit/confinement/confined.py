"""Start the judging process, end it where it takes too long, and leave out the check that it was busy with."""

import asyncio
import json
import signal
import tempfile
import time
from typing import IO

import msgspec

from ..checks import BY_CODE, CHECKS
from ..evidence import Evidence, Gap, to_file
from ..judging.baseline import Known
from ..judging.finding import Report
from ..judging.judge import READING, report_of, safe
from ..judging.outcome import Facts, Outcome
from ..limits import DEFAULT, AuditLimits
from .messages import AT, OUT_OF_MEMORY, News, Place, Task, entries, place_in
from .own_process import command

_READ_BYTES = 64 * 1024
_CHILD = "qortal_mcp.audit.confinement.child"
_OUT_OF_MEMORY = "needed more memory than an audit gives it"


async def confined_judge(
    evidence: Evidence,
    known: Known | None = None,
    *,
    limits: AuditLimits = DEFAULT,
    seconds: float | None = None,
) -> Report:
    """What `judge` says, within bounds: a check that exceeds them becomes a gap that names it, and the others count.

    `seconds` is what is left of the whole audit.
    """
    known = known or {}
    bound = limits.judge_seconds
    if seconds is not None:
        bound = max(min(bound, seconds), limits.judge_least_seconds)
    end = time.monotonic() + bound
    left_out: dict[str, str] = {}
    best = _Run()
    with tempfile.TemporaryFile() as file:
        file.write(msgspec.json.encode(Task(limits=limits, known=entries(known))) + b"\n")
        file.write(to_file(evidence))
        while True:
            run = _Run()
            why = await run.judged(file, left_out, limits, end)
            if run.report is not None:
                return run.report
            if len(run.outcomes) >= len(best.outcomes):
                best = run
            if run.place.code not in BY_CODE:
                break
            left_out[run.place.code] = why
            if len(left_out) > limits.checks_left_out or time.monotonic() >= end:
                break
    return _cut_short(evidence, best, left_out, why, has_baseline=bool(known))


class _Run:
    """One start of the process, and what it sent."""

    def __init__(self) -> None:
        self.facts: Facts | None = None
        self.outcomes: list[Outcome] = []
        self.report: Report | None = None
        self.place = Place()
        self._rest = b""

    async def judged(self, file: IO[bytes], left_out: dict[str, str], limits: AuditLimits, end: float) -> str:
        """Why it ended before its time; empty if it did not."""
        file.seek(0)
        try:
            process = await asyncio.create_subprocess_exec(
                *command(_CHILD, json.dumps(left_out)),
                stdin=file,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
            )
        except OSError as exc:
            return f"the judging process cannot be started: {exc.strerror}"
        try:
            return await self._followed(process, limits, end)
        finally:
            if process.returncode is None:
                process.kill()
            # Reads what is left: a pipe with something in it would stay open.
            await process.communicate()

    async def _followed(self, process: asyncio.subprocess.Process, limits: AuditLimits, end: float) -> str:
        assert process.stdout is not None, "opened with a pipe"
        code, since = "", time.monotonic()
        while True:
            if self.place.code != code:
                code, since = self.place.code, time.monotonic()
            patience = end - time.monotonic()
            if code in BY_CODE:
                patience = min(patience, since + limits.check_seconds - time.monotonic())
            try:
                async with asyncio.timeout(max(patience, 0)):
                    data = await process.stdout.read(_READ_BYTES)
            except TimeoutError:
                return self._stopped(limits, is_over=time.monotonic() >= end)
            if not data:
                await process.wait()
                return self._ended(process.returncode or 0)
            self._take(data)

    def _take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        at = b""
        for line in lines:
            if line.startswith(AT):
                at = line
                continue
            news = msgspec.json.decode(line, type=News)
            self.facts = news.facts or self.facts
            self.report = news.report or self.report
            if news.outcome is not None:
                self.outcomes.append(news.outcome)
        if at:
            self.place = place_in(at)

    def _on(self) -> str:
        return f" on {self.place.label}" if self.place.label else f" while {self.place.code or READING}"

    def _stopped(self, limits: AuditLimits, *, is_over: bool) -> str:
        bound = (
            "the time for judging was over" if is_over else f"it took more than {limits.check_seconds:g} s"
        )
        return f"stopped{self._on()}: {bound}"

    def _ended(self, code: int) -> str:
        if code in (OUT_OF_MEMORY, -signal.SIGABRT):
            return f"stopped{self._on()}: it {_OUT_OF_MEMORY}"
        return f"stopped{self._on()}: the judging process ended with exit code {code}"


def _cut_short(
    evidence: Evidence, run: _Run, left_out: dict[str, str], why: str, *, has_baseline: bool
) -> Report:
    """The report on what was found before judging had to end."""
    done = {one.code: one for one in run.outcomes}
    outcomes = [
        done.get(check.code)
        or Outcome(
            code=check.code,
            not_judged=left_out.get(check.code, "judging was stopped"),
            is_gap=check.code in left_out,
        )
        for check in CHECKS
    ]
    facts = run.facts or Facts(gaps=safe(evidence.gaps))
    gap = Gap("judging", why, weighs=True)
    return report_of(evidence, facts, outcomes, has_baseline=has_baseline, more_gaps=(gap,))
