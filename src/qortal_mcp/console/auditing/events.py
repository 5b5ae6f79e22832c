"""What an audit sends to the page, one JSON object each: also what the process that audits writes, one per line."""

from msgspec import Raw, Struct

from ...audit.judging.finding import Finding
from ...client.wires.routes import Place
from .limits import AuditingLimits


class Task(Struct, frozen=True, kw_only=True):
    """The first line on the standard input of the process. The input stays open for as long as somebody waits."""

    url: str
    revisions: tuple[str, ...]
    only_loopback: bool
    # Never contacted, whatever the server under audit says.
    never: frozenset[Place] = frozenset()
    limits: AuditingLimits


class Progress(Struct, frozen=True, tag_field="type", tag="progress"):
    """What is being done."""

    text: str


class Found(Struct, frozen=True, tag_field="type", tag="finding"):
    """A finding, from what has been seen so far. The report at the end is what counts."""

    finding: Finding


class Ended(Struct, frozen=True, tag_field="type", tag="ended"):
    """The last event: the report as `audit --json` shows it, and as `--markdown` writes it."""

    report: Raw
    markdown: str


class Failed(Struct, frozen=True, tag_field="type", tag="failed"):
    """The last event, if there is no report."""

    error: str
