"""An in-memory connection: for tests, and for programs that embed a server."""

import asyncio
from types import TracebackType

from ..server.receiver import Receiver
from .connection import Connection


class MemoryConnection:
    """Both ends in one process. `send` is the client's write, `receive` its read."""

    def __init__(self, server: Receiver, caller: str = "memory") -> None:
        self._server = server
        self._replies: asyncio.Queue[bytes] = asyncio.Queue(server.limits.backlog_messages)
        self._is_begun = False
        self.connection = Connection(server, self._replies.put, self._post, caller)

    def _post(self, message: bytes) -> bool:
        try:
            self._replies.put_nowait(message)
        except asyncio.QueueFull:
            return False
        return True

    async def send(self, message: bytes) -> None:
        if self._server.life is not None and not self._is_begun:
            await self._server.life.hold()
            self._is_begun = True
        if len(message) > self._server.limits.message_bytes:
            await self.connection.refuse_too_long()
        else:
            await self.connection.take(message)

    async def receive(self) -> bytes:
        return await self._replies.get()

    async def close(self) -> None:
        await self.connection.drop()
        if self._server.life is not None and self._is_begun:
            self._is_begun = False
            await self._server.life.release()

    async def __aenter__(self) -> "MemoryConnection":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
