"""Log lines about requests, for people who follow a server: what was asked, how it ended, how long it took. Never with what."""

import logging
import math
import os
from collections.abc import Hashable

log = logging.getLogger(__name__)

# They last until the client leaves.
_LASTING = frozenset({"subscriptions/listen"})


class CallLog:
    """Writes a line for every request, for slow ones, or both."""

    def __init__(self, *, every: bool, slow_seconds: float | None) -> None:
        self._every = every
        self._slow_seconds = math.inf if slow_seconds is None else slow_seconds
        # Somebody who has the log must not be able to try addresses until one fits.
        self._key = os.urandom(16)

    def name_callers_by(self, key: bytes) -> None:
        """Give callers the codes that they have in other processes with this key."""
        self._key = key

    def answered(self, method: str, tool: str, outcome: str, seconds: float, caller: Hashable) -> None:
        """`method` and `tool` as they may be shown."""
        is_slow = seconds >= self._slow_seconds and method not in _LASTING
        if not self._every and not is_slow:
            return
        about = {
            "qortal_mcp.method": method,
            **({"qortal_mcp.tool": tool} if tool else {}),
            "qortal_mcp.outcome": outcome,
            "qortal_mcp.ms": round(seconds * 1000, 3),
            "qortal_mcp.caller": self._code(caller),
        }
        if self._every:
            log.info("request", extra=about)
        if is_slow:
            log.warning("slow request", extra=about)

    def refused(self, status: int) -> None:
        """An HTTP request from which no message was read."""
        if self._every:
            log.info("http request refused", extra={"qortal_mcp.status": status})

    def _code(self, caller: Hashable) -> str:
        """The same for all requests of one caller while this process lives."""
        from hashlib import blake2b  # loads OpenSSL, and is not needed to start

        return blake2b(repr(caller).encode(), key=self._key, digest_size=4).hexdigest()
