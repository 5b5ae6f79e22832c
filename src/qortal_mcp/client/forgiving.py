"""Mistakes of servers that a wire overlooks because its caller said so, and the report of each.

Without codes a wire is exact. What each code stands for is in the table of repairs.
"""

import logging
from collections.abc import Callable, Iterable
from typing import Literal

log = logging.getLogger(__name__)

Code = Literal[
    "content-type-header",
    "get-hangs",
    "get-status",
    "no-reply",
    "notification-answered",
    "notification-refused",
    "notification-status",
    "protocol-header-demanded",
    "protocol-header-refused",
    "rate-limit-status",
    "redirect",
    "rpc-error-status",
    "session-id-not-issued",
    "sse-data-not-json",
    "sse-empty-data-event",
    "sse-event-name",
    "sse-no-reply",
    "sse-not-closed",
    "stale-session-status",
]
# A code, and what was seen.
OnForgiven = Callable[[str, str], None]


class Forgiving:
    """The codes that are switched on. True if there is any."""

    def __init__(self, codes: Iterable[str] = (), on_forgiven: OnForgiven | None = None) -> None:
        self._codes = frozenset(codes)
        self._on_forgiven = on_forgiven

    def __bool__(self) -> bool:
        return bool(self._codes)

    def __contains__(self, code: Code) -> bool:
        return code in self._codes

    def applied(self, code: Code, detail: str) -> None:
        """Report what was overlooked, if its code is switched on."""
        if code not in self._codes or self._on_forgiven is None:
            return
        try:
            self._on_forgiven(code, detail)
        except Exception:
            # The callback belongs to the caller; a bug in it must not cost the answer.
            log.exception("a callback failed", extra={"qortal_mcp.code": code})


STRICT = Forgiving()
