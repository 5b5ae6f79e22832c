"""What the judging process is given and what it sends back: JSON lines, and lines that say what it is looking at."""

import msgspec
from msgspec import Struct

from ..judging.baseline import Known, Reason
from ..judging.check import Severity
from ..judging.finding import Report
from ..judging.outcome import Facts, Outcome
from ..limits import AuditLimits

# The first character of a line that says what is being looked at; others are JSON objects.
AT = b"@"
# The exit code of a process that has used up its memory.
OUT_OF_MEMORY = 75


class Accepted(Struct, frozen=True, array_like=True):
    """An entry of a baseline."""

    code: str
    where: str
    reason: str
    severity: Severity | None


class Task(Struct, frozen=True, kw_only=True):
    """The first line on the standard input of the process; a capture follows."""

    limits: AuditLimits
    known: tuple[Accepted, ...] = ()


class News(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A line from the process. It has one of the three."""

    facts: Facts | None = None
    outcome: Outcome | None = None
    report: Report | None = None


class Place(Struct, frozen=True, array_like=True):
    """What is being looked at: the code of a check or the name of a phase, and a subject in words."""

    code: str = ""
    label: str = ""


def entries(known: Known) -> tuple[Accepted, ...]:
    return tuple(
        Accepted(code, where, str(reason), reason.severity if isinstance(reason, Reason) else None)
        for (code, where), reason in known.items()
    )


def known_in(task: Task) -> Known:
    known: dict[tuple[str, str], str] = {}
    for entry in task.known:
        reason = Reason(entry.reason)
        reason.severity = entry.severity
        known[entry.code, entry.where] = reason
    return known


def place_in(line: bytes) -> Place:
    return msgspec.json.decode(line[len(AT) :], type=Place)
