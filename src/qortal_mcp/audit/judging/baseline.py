"""Findings that are known and accepted: a file that names each by code and place, with the reason."""

from collections.abc import Mapping

import msgspec
from msgspec import Struct

from ...protocol.jsonrpc import UNREADABLE
from .check import SEVERITIES, Severity
from .finding import Report


class _Entry(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    code: str
    where: str
    reason: str
    # Its severity when it was accepted; None: any severity.
    severity: Severity | None = None


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    known: tuple[_Entry, ...]


class NotABaseline(Exception):
    """A file that is not a baseline; the text says what is wrong with it."""


class Reason(str):
    """Why a finding is accepted, and up to which severity."""

    severity: Severity | None = None


Known = Mapping[tuple[str, str], str]


def read(data: bytes) -> Known:
    """Raises: NotABaseline."""
    try:
        found = msgspec.json.decode(data, type=_File)
    except UNREADABLE as exc:
        raise NotABaseline(str(exc)) from None
    empty = [entry.code for entry in found.known if not entry.reason.strip()]
    if empty:
        raise NotABaseline(f"no reason is given for {empty[0]}")
    known: dict[tuple[str, str], str] = {}
    for entry in found.known:
        reason = Reason(entry.reason)
        reason.severity = entry.severity
        known[entry.code, entry.where] = reason
    return known


def accepted(known: Known, key: tuple[str, str], severity: Severity) -> str:
    """Why a finding is accepted; empty where it is not, or where it became worse than it was."""
    reason = known.get(key, "")
    most = reason.severity if isinstance(reason, Reason) else None
    is_worse = most is not None and SEVERITIES.index(severity) < SEVERITIES.index(most)
    return "" if is_worse else str(reason)


def write(report: Report) -> bytes:
    """A baseline of everything a report found. Reasons that were given before stay; the others are empty, and
    `read` rejects the file until they are filled in.
    """
    known = tuple(_Entry(one.code, one.where, one.known, one.severity) for one in report.findings)
    return msgspec.json.format(msgspec.json.encode(_File(known))) + b"\n"


def gone(known: Known, report: Report) -> list[tuple[str, str]]:
    """Entries without a finding."""
    found = {(one.code, one.where) for one in report.findings}
    return [key for key in known if key not in found]
