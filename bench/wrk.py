"""The same load by wrk, a generator that others use: it sleeps while it waits, so each reply has to wake it."""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.load.http import heads
from bench.load.job import Job
from bench.processes import LOAD_CORE, Child, Failed, environment, pinned
from bench.strain import Cost

_DONE = re.compile(r"(\d+) requests in ([\d.]+)(ms|s)\b")
_WRONG = ("Non-2xx", "Socket errors")


def is_installed() -> bool:
    return shutil.which("wrk") is not None


def strain_by_wrk(child: Child, job: Job, seconds: int = 1) -> Cost:
    """Send the request of a job again and again for some time. Raises: Failed if not every reply was a 200.

    What the replies say was checked by our own generator: wrk looks at nothing but their status.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "request.lua"
        script.write_text(in_lua(heads(job), job.body))
        url = f"http://127.0.0.1:{job.port}{job.path}"
        command = [
            "wrk",
            "-t1",
            f"-c{job.connections}",
            f"-d{seconds}s",
            "--timeout=30s",
            "-s",
            str(script),
            url,
        ]
        before = child.cpu_seconds()
        with pinned(LOAD_CORE):
            done = subprocess.run(
                command, capture_output=True, text=True, env=environment(), timeout=seconds + 60, check=False
            )
        used = child.cpu_seconds() - before
    found = _DONE.search(done.stdout)
    if done.returncode or found is None or any(word in done.stdout for word in _WRONG):
        raise Failed(f"{child.name}, by wrk: {(done.stdout + done.stderr)[-1500:]}")
    requests = int(found[1])
    took = float(found[2]) / (1000 if found[3] == "ms" else 1)
    return Cost(used / requests * 1e6, requests / took, "")


def in_lua(headers: Mapping[str, str], body: str) -> str:
    """A request as wrk is told of it, in Lua, whose long brackets take any text that has no `]==]`."""
    lines = ['wrk.method = "POST"', f"wrk.body = [==[{body}]==]"]
    lines += [f"wrk.headers[ [==[{name}]==] ] = [==[{value}]==]" for name, value in headers.items()]
    return "\n".join(lines)
