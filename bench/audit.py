"""`qortal-mcp audit` of a server with fifty tools: how much longer it takes than the server itself."""

import subprocess
import tempfile
import time
from pathlib import Path

from bench.contestants import OURS, Command
from bench.environments import PYTHON
from bench.figures import Budget, Figure, compare
from bench.lines import Lines
from bench.processes import LOAD_CORE, ROOT, Child, Failed, environment
from bench.run import Run, by_name
from qortal_mcp.audit.evidence import Visit, from_file

PART = "audit"
_SERVER: Command = [PYTHON, "-m", "bench.servers.fifty_tools"]
_TOOLS = 50
_REPLAY = "the same from a bare client"
_QUANTITY = f"{_TOOLS} tools over stdio"
_SECONDS = 120.0


def measure(run: Run) -> list[Figure]:
    visits = _audited(run)
    wall = by_name((_REPLAY, OURS))
    for number, who in run.turns(list(wall), 3 if run.quick else 7):
        began = time.perf_counter()
        if who == OURS:
            _audit(run.contestants.program)
        else:
            for visit in visits:
                _replay(visit)
        wall[who].append(time.perf_counter() - began)
        run.say(f"audit, round {number}: {who} {wall[who][-1]:.2f} s")
    beyond = tuple(ours - bare for ours, bare in zip(wall[OURS], wall[_REPLAY], strict=True))
    return [
        *compare(PART, _QUANTITY, "s", wall, reference=_REPLAY),
        Figure(
            PART, f"{_QUANTITY}, beyond the server's own time", OURS, "s", beyond, budget=Budget(3, "value")
        ),
    ]


def _audited(run: Run) -> tuple[Visit, ...]:
    """One audit, and what it asked. Raises: Failed if it did not ask everything."""
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "capture"
        _audit(run.contestants.program, "--capture", str(capture))
        visits = from_file(capture.read_bytes()).visits
    calls = [step for visit in visits for step in visit.named("tools/call")]
    revisions = {visit.revision for visit in visits if visit.revision}
    if len(calls) != _TOOLS * len(revisions) or len(revisions) < 5:
        raise Failed(f"the audit made {len(calls)} calls in {len(revisions)} revisions")
    run.say(f"audit: {len(visits)} starts, {sum(len(visit.steps) for visit in visits)} requests")
    return visits


def _audit(program: Path, *words: str) -> None:
    command = [program, "audit", "--json", *words, "--", *_SERVER]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, timeout=_SECONDS)
    if done.returncode:
        raise Failed(f"the audit exited with code {done.returncode}: {done.stderr.decode()[-1000:]}")


def _replay(visit: Visit) -> None:
    """Start the server once and send it the same messages, on the core that an audit and its server share."""
    child = Child("fifty tools", _SERVER, core=LOAD_CORE, pipes=True)
    try:
        lines = Lines(child)
        for step in visit.steps:
            if step.sent:
                lines.send(step.sent.decode())
            for _ in step.heard:
                lines.receive()
    finally:
        child.end()
