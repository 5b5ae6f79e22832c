"""Runs checks one after the other and reports the result of each."""

import asyncio
import textwrap
import time
import traceback
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from interop.processes import ChildFailed
from interop.programs import Programs

# The longest check, two hundred servers directly and through the bridge, takes a minute when all is well.
_CHECK_SECONDS = 240.0


@dataclass(frozen=True)
class Check:
    """One named check. `run` returns a line about what was seen, or raises Failed."""

    name: str
    run: Callable[[Programs], Awaitable[str]]


class Failed(Exception):
    """The check failed; the text is the evidence."""


async def run_checks(checks: Sequence[Check], programs: Programs) -> int:
    """Prints a line per check and one at the end; returns the number that failed.

    One at a time: agents and the suite depend on timing, and a second check at the same time would distort it.
    """
    failures = 0
    for check in checks:
        started_at = time.monotonic()
        problem = None
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                seen = await check.run(programs)
        except (Failed, ChildFailed) as exc:
            problem = str(exc)
        except TimeoutError:
            problem = f"did not finish within {_CHECK_SECONDS:g} s"
        except Exception:
            problem = traceback.format_exc()
        seconds = time.monotonic() - started_at
        if problem is None:
            print(f"ok      {seconds:5.1f} s  {check.name}: {seen}", flush=True)
        else:
            failures += 1
            print(f"FAILED  {seconds:5.1f} s  {check.name}", flush=True)
            print(textwrap.indent(problem.rstrip(), "    "), flush=True)
    print(f"{len(checks) - failures} passed, {failures} failed", flush=True)
    return failures
