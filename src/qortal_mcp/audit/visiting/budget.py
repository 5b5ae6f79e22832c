"""What an audit spends on a server: requests and time in all, and what it keeps of one visit."""

import time

from ...client.limits import ClientLimits
from ..limits import AuditLimits


class Stopped(Exception):
    """The limits of the whole audit are reached; the text says which."""


class Flooded(Exception):
    """A server sent more in one visit than an audit keeps; the text says how much."""


class Budget:
    """What is left of the whole audit, shared by all visits."""

    def __init__(self, limits: AuditLimits) -> None:
        self.limits = limits
        self.requests = 0
        self._end = time.monotonic() + limits.total_seconds

    def take(self) -> None:
        """Raises: Stopped."""
        self.requests += 1
        if self.requests > self.limits.requests:
            raise Stopped(f"{self.limits.requests} requests were made")
        if time.monotonic() > self._end:
            raise Stopped(f"{self.limits.total_seconds:g} s are over")


class Volume:
    """How much a server sent in one visit."""

    def __init__(self, limits: AuditLimits) -> None:
        self._limits = limits
        self._pieces = 0
        self._bytes = 0

    def add(self, size: int) -> None:
        """One piece of so many bytes."""
        self._pieces += 1
        self._bytes += size

    @property
    def is_too_much(self) -> bool:
        return self._pieces > self._limits.heard_pieces or self._bytes > self._limits.heard_bytes

    def check(self) -> None:
        """Raises: Flooded."""
        if self.is_too_much:
            most = f"{self._limits.heard_pieces} messages or {self._limits.heard_bytes} bytes"
            raise Flooded(f"it sent more than {most} in one visit")


def client_limits(limits: AuditLimits) -> ClientLimits:
    return ClientLimits(
        message_bytes=limits.message_bytes,
        request_seconds=limits.request_seconds,
        send_seconds=limits.request_seconds,
        exit_seconds=limits.exit_seconds,
        linger_seconds=limits.linger_seconds,
    )
