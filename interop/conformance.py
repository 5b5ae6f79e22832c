"""The official conformance suite, and how its remarks are judged.

The suite itself passes a server with warnings, and does not score what is pending. Here every scenario of a
requirement set counts, and every check in it: exactly the listed remarks must be made, no others and none missing.
"""

import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from interop.processes import Finished, finished
from interop.programs import Programs
from interop.remarks import Allowed
from interop.runner import Failed
from interop.servers import Target

# One for each wire format: the handshake of the older revisions, and the stateless requests of the newest.
REVISIONS = ("2025-11-25", "2026-07-28")
_RUN_SECONDS = 150.0
_RUNNING = re.compile(r"^=== Running scenario: (\S+) ===$", re.MULTILINE)
# Extensions that this server does not claim to have.
_LEFT_OUT = ("tasks-",)
_REMARKS = ("FAILURE", "WARNING")


@dataclass(frozen=True)
class Remark:
    """A check that did not simply pass."""

    place: str
    status: str
    message: str

    def __str__(self) -> str:
        return f"{self.status} {self.place}: {self.message}"


@dataclass(frozen=True)
class Report:
    """One run of a requirement set."""

    scenarios: int
    statuses: Counter[str]
    remarks: list[Remark]
    # The places of all checks that passed wherever they were made.
    passed: frozenset[str]

    def __str__(self) -> str:
        passed, undecided = self.statuses["SUCCESS"], self.statuses["INFO"] + self.statuses["SKIPPED"]
        return f"{self.scenarios} scenarios, {passed} checks passed, {undecided} not judged, {len(self.remarks)} remarks"


async def run_suite(programs: Programs, target: Target, revision: str) -> Report:
    """Runs everything that a revision requires, and what the suite runs in addition without scoring."""
    with tempfile.TemporaryDirectory(prefix="interop-") as folder:
        arguments = ["server", "--url", target.url, "--requirements", revision, "-o", folder]
        end = await finished([*programs.conformance, *arguments], seconds=_RUN_SECONDS)
        return _read_report(Path(folder), end)


def _read_report(folder: Path, end: Finished) -> Report:
    scenarios = [name for name in _RUNNING.findall(end.stdout) if not name.startswith(_LEFT_OUT)]
    if end.code is None or not scenarios:
        raise Failed(f"the suite did not finish\n{end.tail()}")
    statuses: Counter[str] = Counter()
    remarks = []
    passed = set()
    for scenario in scenarios:
        # The folder's name ends in a time; a scenario that crashed leaves its folder empty.
        written = [path for path in folder.glob(f"server-{scenario}-2*/checks.json")]
        checks = [check for path in written for check in json.loads(path.read_text(encoding="utf-8"))]
        if not checks:
            checks = [{"id": "no-checks", "status": "FAILURE", "errorMessage": "the scenario made no checks"}]
        for check in checks:
            statuses[check["status"]] += 1
            place = f"{scenario} / {check['id']}"
            if check["status"] in _REMARKS:
                message = check.get("errorMessage") or check.get("description", "")
                remarks.append(Remark(place, check["status"], message))
            elif check["status"] == "SUCCESS":
                passed.add(place)
    return Report(len(scenarios), statuses, remarks, frozenset(passed - {remark.place for remark in remarks}))


def judge(report: Report, allowed: Iterable[Allowed]) -> str:
    """A summary, if all remarks are allowed and all allowed ones were made.

    Raises:
        Failed: otherwise.
    """
    rows = set(allowed)
    made = set()
    problems = []
    for remark in report.remarks:
        fitting = {row for row in rows if row.place == remark.place and row.says in remark.message}
        made |= fitting
        if not fitting:
            problems.append(str(remark))
    problems += sorted(f"no longer remarked: {row.place} ({row.reason})" for row in rows - made)
    if problems:
        raise Failed("\n".join([str(report), *problems]))
    return f"{report}, all allowed" if made else str(report)
