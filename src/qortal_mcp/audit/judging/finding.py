"""A finding: one defect of one server, with everything its author needs to confirm and to fix it."""

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from ...text import printable
from ..evidence import Gap
from .check import SEVERITIES, Severity
from .clients import Impact

_EVIDENCE_CHARS = 300
# What stands before a place in what a bridge sent to a client.
AFTER_REPAIR = "after repair"


class Finding(Struct, frozen=True, kw_only=True, rename="camel"):
    """As it stands in a JSON report."""

    code: str
    severity: Severity
    title: str
    # The key of the place: baselines and comparisons go by it, so it stays as it is.
    where: str
    # The place in words, for people.
    place: str
    # The revisions it was seen in, oldest first.
    revisions: tuple[str, ...]
    transport: str
    # Shortened, and safe to print.
    evidence: str
    expected: str
    clause: str
    # Who breaks on it, as measured with real clients.
    clients: tuple[Impact, ...]
    fix: str
    # One line for a shell.
    reproduce: str
    # What that line needs or does first, where a single request does not show it.
    reproduce_note: str = ""
    note: str = ""
    # Where it comes from, if that is not the server's own code.
    source: str = ""
    # Why it is accepted: from a baseline.
    known: str = ""


def by_code(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    return groups


class NotJudged(Struct, frozen=True):
    """A check that found nothing to look at."""

    code: str
    reason: str


class View(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one client hands to its model of one call."""

    tool: str
    revision: str
    client: str
    # structured, text, nothing, error, hang, blocks
    gets: str
    shows: str = ""
    # The server's words where the call failed; empty where it succeeded.
    failed: str = ""


class Report(Struct, frozen=True, kw_only=True, rename="camel"):
    """The outcome of an audit."""

    verdict: str
    # The reason for the verdict, in one sentence.
    because: str
    target: str
    transport: str
    server: str
    revisions: tuple[str, ...]
    findings: tuple[Finding, ...]
    # The codes of the checks that had something to look at.
    judged: tuple[str, ...]
    not_judged: tuple[NotJudged, ...]
    gaps: tuple[Gap, ...]
    tools: int
    tools_called: int
    # Of those that were called, in some revision.
    tools_succeeded: int
    tools_tokens: int
    model_sees: tuple[View, ...]
    # Options for calls to tools that were not called, ready for a command line.
    calls_to_try: tuple[str, ...] = ()
    # Empty: all that the server speaks.
    revisions_asked: tuple[str, ...] = ()
    seconds: float = 0.0
    requests: int = 0
    # Of the capture of a bridge: how many clients got these answers after repair.
    clients: int = 0

    def of(self, severity: Severity) -> list[Finding]:
        return [one for one in self.findings if one.severity == severity and not one.known]

    @property
    def spoken(self) -> str:
        """The revisions in words: those that the server speaks, or of those asked for."""
        if not self.revisions_asked:
            return ", ".join(self.revisions) or "none"
        mine = [one for one in self.revisions if one in self.revisions_asked]
        return (
            f"{', '.join(mine)} only, as asked"
            if mine
            else f"none of {', '.join(self.revisions_asked)}, as asked"
        )

    @property
    def counts(self) -> dict[Severity, int]:
        return {severity: len(self.of(severity)) for severity in SEVERITIES}


def shown(evidence: Any, at_most: int = _EVIDENCE_CHARS) -> str:
    """Bytes or a value as one short line that cannot control a terminal."""
    if isinstance(evidence, bytes):
        text = evidence.decode("utf-8", "backslashreplace")
    elif isinstance(evidence, str):
        text = evidence
    else:
        try:
            text = msgspec.json.encode(evidence).decode()
        except (TypeError, ValueError, UnicodeEncodeError, RecursionError, msgspec.MsgspecError):
            text = repr(evidence)
    text = text.replace("\r", "\\r").replace("\n", "\\n").replace("\t", "\\t")
    if len(text) > at_most:
        half = at_most // 2
        text = f"{text[:half]} … {text[-half:]}  ({len(text)} characters)"
    return printable(text)
