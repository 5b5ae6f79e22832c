"""Every check, in the order in which findings of equal weight are told."""

from typing import Any

from ..check import Check
from . import (
    access,
    blocks,
    envelope,
    failures,
    framing,
    handshake,
    http,
    lists,
    methods,
    modern,
    results,
    schemas,
    sessions,
    streams,
    structured,
    tools,
)

CHECKS: tuple[Check[Any], ...] = (
    *framing.CHECKS,
    *envelope.CHECKS,
    *handshake.CHECKS,
    *modern.CHECKS,
    *methods.CHECKS,
    *http.CHECKS,
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
