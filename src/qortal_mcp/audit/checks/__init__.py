"""Every check by its subject, in the order in which findings of equal weight are reported."""

from typing import Any

from ..judging.check import Check
from . import envelope, framing, handshake, logging, methods, modern, reads
from .http import access, sessions, statuses, streams
from .offers import lists, schemas, tools
from .results import blocks, failures, results, structured

SUBJECTS: dict[str, tuple[Check[Any], ...]] = {
    "Lines and frames": framing.CHECKS,
    "JSON-RPC": envelope.CHECKS,
    "Handshake": handshake.CHECKS,
    "2026-07-28": modern.CHECKS,
    "Log messages": logging.CHECKS,
    "Methods": methods.CHECKS,
    "HTTP": (*statuses.CHECKS, *streams.CHECKS, *sessions.CHECKS, *access.CHECKS),
    "Lists and tools": (*lists.CHECKS, *tools.CHECKS),
    "Schemas": schemas.CHECKS,
    "Results": (*results.CHECKS, *structured.CHECKS, *failures.CHECKS),
    "Blocks": blocks.CHECKS,
    "Prompts, resources, completion": reads.CHECKS,
}
CHECKS: tuple[Check[Any], ...] = tuple(check for checks in SUBJECTS.values() for check in checks)
BY_CODE: dict[str, Check[Any]] = {check.code: check for check in CHECKS}
