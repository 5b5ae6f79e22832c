"""A request of a client that the server behind is working on, and what the server says meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Raw, UnsetType

from ..protocol.messages import LOG_LEVELS, LogLevel, ProgressToken
from ..server.context import Context
from ..server.peer import Peer
from .limits import BridgeLimits
from .outlet import Outlet


class OpenCall:
    """The client's side of one request: messages go out in order, and all of them before the answer."""

    def __init__(self, context: Context, limits: BridgeLimits, on_room: Callable[[], None]) -> None:
        self.peer: Peer = context.peer
        self.revision = context.revision
        self.progress_token: ProgressToken | UnsetType = context.progress_token
        self._context = context
        self._outlet = Outlet(context.send, limits, on_room)
        # Set while the server is waited for.
        self.deadline: asyncio.Timeout | None = None
        self.seconds = 0.0

    @property
    def is_full(self) -> bool:
        return self._outlet.is_full

    def say(self, message: bytes) -> None:
        """Send a message before the answer. What a client does not read in spite of back-pressure is dropped."""
        self._outlet.say(message)

    def wants_log(self, level: object) -> bool:
        """Whether the client of a modern request asked for messages of this level."""
        wanted: LogLevel | None = self._context.log_level
        if wanted is None or level not in LOG_LEVELS:
            return False
        return LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)

    def is_alive(self) -> None:
        """The server shows that it works on it: the clock starts again."""
        if self.deadline is not None and not self.deadline.expired():
            self.deadline.reschedule(asyncio.get_running_loop().time() + self.seconds)

    async def ask(self, method: str, params: Raw, seconds: float) -> Raw:
        """Ask the client something for the server, in the legacy era; its clock stands still meanwhile.

        Raises: ProtocolError with the client's own error; TimeoutError.
        """
        if self.deadline is not None:
            self.deadline.reschedule(None)
        try:
            return await self.peer.request(self._send_now, method, bytes(params), seconds)
        finally:
            self.is_alive()

    async def _send_now(self, message: bytes) -> None:
        await self._outlet.emptied()
        await self._context.send(message)

    async def finish(self) -> None:
        """Send everything that was said before the answer."""
        await self._outlet.emptied()

    def drop(self) -> None:
        self._outlet.close()
