"""Every check, in the order in which findings of equal weight are reported."""

from typing import Any

from ..judging.check import Check
from . import envelope, framing, handshake, methods, modern
from .http import access, sessions, statuses, streams
from .offers import lists, schemas, tools
from .results import blocks, failures, results, structured

CHECKS: tuple[Check[Any], ...] = (
    *framing.CHECKS,
    *envelope.CHECKS,
    *handshake.CHECKS,
    *modern.CHECKS,
    *methods.CHECKS,
    *statuses.CHECKS,
    *streams.CHECKS,
    *sessions.CHECKS,
    *access.CHECKS,
    *lists.CHECKS,
    *tools.CHECKS,
    *schemas.CHECKS,
    *results.CHECKS,
    *structured.CHECKS,
    *failures.CHECKS,
    *blocks.CHECKS,
)
BY_CODE: dict[str, Check[Any]] = {check.code: check for check in CHECKS}
