"""A request of a client that the server behind is working on, and what the server says meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import UNSET, Raw, UnsetType

from ...protocol.messages import LOG_LEVELS, LogLevel, ProgressToken
from ...protocol.versions import is_modern
from ...server.context import Context
from ...server.peer import Peer
from ..limits import BridgeLimits
from .outlet import Outlet

if TYPE_CHECKING:
    from .held_call import HeldCall


class OpenCall:
    """The client's side of one request: messages go out in order, and all of them before the answer."""

    def __init__(self, context: Context, limits: BridgeLimits, on_room: Callable[[], None]) -> None:
        self.peer: Peer = context.peer
        self.revision = context.revision
        self.is_modern = is_modern(context.revision)
        # Set if the server's questions end the client's request, which comes back with the answers.
        self.held: HeldCall | None = None
        # Set while the server is waited for.
        self.deadline: asyncio.Timeout | None = None
        self.seconds = 0.0
        # Questions that the client has not answered yet.
        self._asking = 0
        self._limits = limits
        self._on_room = on_room
        self._context = context
        self._outlet: Outlet | None = Outlet(context.send, limits, on_room)

    @property
    def progress_token(self) -> ProgressToken | UnsetType:
        """Under which the client wants to hear of progress."""
        return UNSET if self._outlet is None else self._context.progress_token

    @property
    def log_level(self) -> LogLevel | None:
        """What the client wants to hear of the server's log: by this request, or as it has set for all."""
        return self._context.log_level

    @property
    def is_full(self) -> bool:
        return self._outlet is not None and self._outlet.is_full

    def detach(self) -> None:
        """The client's request ends with questions: nobody hears anything until it comes back."""
        if self._outlet is not None:
            self._outlet.close()
            self._outlet = None

    def attach(self, context: Context) -> None:
        """The client has come back with another request."""
        self.detach()
        self.peer, self._context = context.peer, context
        self._outlet = Outlet(context.send, self._limits, self._on_room)

    def say(self, message: bytes) -> None:
        """Send a message before the answer. What a client does not read in spite of back-pressure is dropped."""
        if self._outlet is not None:
            self._outlet.say(message)

    def may_be_asked(self, capability: str) -> bool:
        return self._context.capabilities.has(capability)

    def wants_log(self, level: object) -> bool:
        """Whether the client of a modern request asked for messages of this level."""
        wanted = self.log_level
        if wanted is None or level not in LOG_LEVELS:
            return False
        return LOG_LEVELS.index(level) >= LOG_LEVELS.index(wanted)

    def is_alive(self) -> None:
        """The server shows that it works on it: the clock starts again."""
        if self.deadline is not None and not self._asking and not self.deadline.expired():
            self.deadline.reschedule(asyncio.get_running_loop().time() + self.seconds)

    async def ask(self, method: str, params: Raw, seconds: float) -> Raw:
        """Ask the client something for the server; its clock stands still meanwhile.

        Raises: ProtocolError with the client's own error; TimeoutError.
        """
        self._asking += 1
        if self.deadline is not None:
            self.deadline.reschedule(None)
        try:
            if self.held is not None:
                return await self.held.ask(method, params, seconds)
            return await self.peer.request(self._send_now, method, bytes(params), seconds)
        finally:
            self._asking -= 1
            self.is_alive()

    async def _send_now(self, message: bytes) -> None:
        await self.finish()
        await self._context.send(message)

    async def finish(self) -> None:
        """Send everything that was said before the answer."""
        if self._outlet is not None:
            await self._outlet.emptied()

    def drop(self) -> None:
        self.detach()
