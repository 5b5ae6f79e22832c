"""Puts load on a server and measures the cost: CPU of its process tree per request, and requests per second."""

import subprocess
from dataclasses import dataclass

import msgspec

from bench.environments import PYTHON
from bench.load.job import Job, Outcome
from bench.processes import LOAD_CORE, ROOT, Child, Failed, environment, pinned


@dataclass(frozen=True)
class Cost:
    cpu_us: float
    per_second: float
    first_reply: str


def strain(child: Child, job: Job) -> Cost:
    """Run one job against a server. Raises: Failed if a reply was wrong."""
    before = child.cpu_seconds()
    outcome = generate(child.name, job)
    used = child.cpu_seconds() - before
    return Cost(used / job.requests * 1e6, job.requests / outcome.seconds, outcome.first_reply)


def generate(name: str, job: Job) -> Outcome:
    """Run one job in the load generator. Raises: Failed."""
    with pinned(LOAD_CORE):
        done = subprocess.run(
            [PYTHON, "-m", "bench.load"],
            input=msgspec.json.encode(job),
            capture_output=True,
            cwd=ROOT,
            env=environment(),
            start_new_session=True,
            timeout=job.at_most_seconds + 30,
        )
    if done.returncode:
        raise Failed(f"{name}: {done.stderr.decode(errors='replace')[-1500:]}")
    return msgspec.json.decode(done.stdout, type=Outcome)
