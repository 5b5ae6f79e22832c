"""Replies that take time: what a client accepts, events before the answer, and noticing that it left."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING

from ..limits import Limits
from ..protocol import framing
from ..server.alarms import Alarms

if TYPE_CHECKING:
    from .http import Exchange

# An answer that comes sooner is not worth watching the connection for.
PATIENCE_SECONDS = 0.02


class EventSender:
    """Turns a reply into a stream of events at the first message, and keeps it alive."""

    __slots__ = ("_exchange", "_headers", "_keeper", "_limits", "_watch", "started")

    def __init__(
        self, exchange: Exchange, limits: Limits, watch: Watch, headers: tuple[tuple[bytes, bytes], ...] = ()
    ) -> None:
        self._exchange = exchange
        self._headers = headers
        self._limits = limits
        self._watch = watch
        self.started = False
        self._keeper: asyncio.Task[None] | None = None

    async def send(self, message: bytes) -> None:
        """Send a message before the answer; it is dropped if the client accepts no events."""
        if not self._exchange.accepts.events:
            return
        if not self.started:
            self.started = True
            await self._exchange.start_events(*self._headers)
            self._keeper = asyncio.get_running_loop().create_task(self._keep_alive())
        await self._write(framing.sse_event(message))

    async def finish(self, reply: bytes) -> None:
        """Send the answer itself, and end the stream."""
        self.stop()
        await self._write(framing.sse_event(reply), more=False)

    def stop(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()

    async def _write(self, data: bytes, more: bool = True) -> None:
        try:
            async with asyncio.timeout(self._limits.send_seconds):
                await self._exchange.send({"type": "http.response.body", "body": data, "more_body": more})
        except TimeoutError:
            self._watch.give_up()  # it stopped reading: as good as gone

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self._limits.keep_alive_seconds)
            await self._write(framing.KEEP_ALIVE)


class Watch:
    """Watches for a client that leaves, and then cancels the work in its block.

    Starts watching at once, or with `patience` only if the answer takes longer. `is_gone` says afterwards whether
    the client left.
    """

    __slots__ = ("_exchange", "_looking", "_patience", "_work", "is_gone")

    def __init__(self, exchange: Exchange, patience: Alarms | None) -> None:
        self._exchange = exchange
        self._patience = patience
        self._looking: asyncio.Task[None] | None = None
        self.is_gone = False

    def __enter__(self) -> Watch:
        work = asyncio.current_task()
        assert work is not None, "an ASGI application runs in a task"
        self._work = work
        if self._patience is None:
            self._start()
        else:
            self._patience.set(self._start)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if self._looking is not None:
            self._looking.cancel()
        elif self._patience is not None:
            self._patience.take_back(self._start)
        if kind is asyncio.CancelledError and self.is_gone:
            self._work.uncancel()
            return True
        return False

    def _start(self) -> None:
        self._looking = asyncio.get_running_loop().create_task(self._look())

    async def _look(self) -> None:
        while (await self._exchange.receive())["type"] != "http.disconnect":
            pass
        self.give_up()

    def give_up(self) -> None:
        """The client will not read the answer: cancel the work."""
        self.is_gone = True
        self._work.cancel()
