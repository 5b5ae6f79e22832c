"""What one client has not read yet: sent in order, bounded in number and in bytes."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from ..limits import BridgeLimits

log = logging.getLogger(__name__)


class Outlet:
    """Messages on their way to a client through a function that waits while the client does not read."""

    def __init__(
        self, send: Callable[[bytes], Awaitable[None]], limits: BridgeLimits, on_room: Callable[[], None]
    ) -> None:
        self._send = send
        self._limits = limits
        self._on_room = on_room
        self._unsent: deque[bytes] = deque()
        self._bytes = 0
        self._sending: asyncio.Task[None] | None = None
        self._sent = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether whoever fills it should wait."""
        return len(self._unsent) >= self._limits.unread_messages or self._bytes >= self._limits.unread_bytes

    def say(self, message: bytes) -> bool:
        """Send a message when the client can take it. False: there is no room, and it is dropped."""
        if self.is_full:
            return False
        self._unsent.append(message)
        self._bytes += len(message)
        if self._sending is None:
            self._sending = asyncio.get_running_loop().create_task(self._send_all())
        return True

    async def _send_all(self) -> None:
        try:
            while self._unsent:
                message = self._unsent[0]
                await self._send(message)
                self._unsent.popleft()
                self._bytes -= len(message)
                self._on_room()
        except Exception:
            log.debug("a message could not be sent", exc_info=True)
            self._forget()
        finally:
            self._sending = None
            self._sent.set()

    async def emptied(self) -> None:
        """Wait until everything is sent."""
        while self._sending is not None:
            self._sent.clear()
            await self._sent.wait()

    def close(self) -> None:
        """Send nothing more."""
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        self._forget()

    def _forget(self) -> None:
        self._unsent.clear()
        self._bytes = 0
        self._on_room()
