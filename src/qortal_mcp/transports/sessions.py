"""Sessions of the legacy era: a peer that outlives its requests, and events that survive a lost connection.

All of it is bounded: how many sessions, for how long, and how much each one keeps to replay.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Hashable
from typing import TYPE_CHECKING

from msgspec import Struct

from ..limits import Limits
from ..metrics import names
from ..protocol import errors, framing
from ..protocol.versions import PRIMING
from ..server.batch import Batch
from ..server.peer import Peer
from ..server.receiver import Receiver
from ..server.reply import Reply
from ..server.work import Work
from .streams import Watch

if TYPE_CHECKING:
    from .http import Exchange

# What a client is told to wait before it fetches the rest of a stream that we closed on purpose.
_RETRY_MS = 100
_STANDALONE = "g"
# Events that may wait for a reader of their stream before whoever adds more has to wait.
_UNREAD_EVENTS = 16


class StoredEvent(Struct, frozen=True):
    number: int
    message: bytes


class EventStream:
    """Messages of one stream, kept so that a client can come back for them."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self._limits = limits
        self._events: deque[StoredEvent] = deque()
        self.size = 0
        self._next = 1
        # The newest event that a reader has taken.
        self._read = 0
        self._taken = asyncio.Event()
        self.is_done = False
        # Set when the connection should close although the stream goes on.
        self.is_parted = False
        self.readers = 0
        self._changed = asyncio.Event()

    @property
    def is_empty(self) -> bool:
        return self._next == 1

    @property
    def is_single_reply(self) -> bool:
        """Nothing but the answer: no need for a stream at all."""
        return self.is_done and not self.is_parted and self._next == 2

    def add(self, message: bytes) -> None:
        """Keep a message; the oldest ones go, but never the newest."""
        self._events.append(StoredEvent(self._next, message))
        self.size += len(message)
        self._next += 1
        while len(self._events) > 1 and (
            len(self._events) > self._limits.session_events or self.size > self._limits.session_event_bytes
        ):
            self.size -= len(self._events.popleft().message)
        self._wake()

    async def room(self) -> None:
        """Wait while there is a reader that has not taken what was added before."""
        while self.readers and self._next - 1 - self._read >= _UNREAD_EVENTS:
            self._taken.clear()
            await self._taken.wait()

    def finish(self) -> None:
        self.is_done = True
        self._wake()

    def part(self) -> None:
        self.is_parted = True
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def left(self) -> None:
        """A reader is gone."""
        self.readers -= 1
        self._taken.set()

    async def settled(self) -> None:
        """Wait until there is a message, an end, or a wish to part."""
        while self.is_empty and not self.is_done and not self.is_parted:
            await self._changed.wait()

    def last_message(self) -> bytes:
        return self._events[-1].message

    async def read(self, after: int, idle_seconds: float) -> AsyncIterator[StoredEvent | None]:
        """Events after a number, as they come; None after a while without any."""
        while True:
            changed = self._changed
            for event in [event for event in self._events if event.number > after]:
                after = event.number
                yield event
                self._read = max(self._read, after)
                self._taken.set()
            if self.is_done or self.is_parted:
                return
            try:
                async with asyncio.timeout(idle_seconds):
                    await changed.wait()
            except TimeoutError:
                yield None


class Session:
    """One legacy client across its requests."""

    def __init__(self, id_: str, peer: Peer, limits: Limits, opened: float) -> None:
        self.id = id_
        self.peer = peer
        self._limits = limits
        self._streams: OrderedDict[str, EventStream] = OrderedDict()
        self._numbers = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.standalone = EventStream(_STANDALONE, limits)
        self.last_used = opened
        peer.post = self._post

    def _post(self, message: bytes) -> bool:
        self.standalone.add(message)
        return True

    @property
    def is_idle(self) -> bool:
        return not self._tasks and not self.standalone.readers

    @property
    def _primes(self) -> bool:
        """Whether streams begin with an id and no data. Clients that do not know it try to read that as a message."""
        return self.peer.revision is not None and self.peer.revision >= PRIMING

    def _new_stream(self) -> EventStream:
        self._numbers += 1
        stream = EventStream(f"p{self._numbers}", self._limits)
        self._streams[stream.name] = stream
        self._forget_old_streams()
        return stream

    def _forget_old_streams(self) -> None:
        """Keep within the bounds by dropping the oldest streams that are over."""
        done = [stream for stream in self._streams.values() if stream.is_done]
        size = sum(stream.size for stream in done)
        for stream in done:
            if (
                len(self._streams) <= self._limits.session_streams
                and size <= self._limits.session_event_bytes
            ):
                return
            size -= stream.size
            del self._streams[stream.name]

    async def run(self, exchange: Exchange, work: Work | Batch) -> None:
        """Work on a request; the work goes on when the connection is lost, and can be fetched later."""
        stream = self._new_stream()
        task = asyncio.get_running_loop().create_task(self._work(work, stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _: work.discard())  # even if it never began
        await stream.settled()
        if stream.is_single_reply or not exchange.accepts.events:
            await asyncio.shield(task)
            self._streams.pop(stream.name, None)
            await exchange.answer(Reply(stream.last_message()))
            return
        await self.stream(exchange, stream)

    async def _work(self, work: Work | Batch, stream: EventStream) -> None:
        async def send(message: bytes) -> None:
            await stream.room()
            stream.add(message)

        def part() -> None:
            # Without the id of an event a client could never come back for the rest.
            if self._primes or not stream.is_empty:
                stream.part()

        try:
            reply = await work.run(send, part)
        except asyncio.CancelledError:
            reply = None  # the session ended; whoever waits for the answer hears so
        stream.add((reply or work.cancelled_reply()).body)
        stream.finish()
        self._forget_old_streams()

    async def stream(self, exchange: Exchange, stream: EventStream, resume_after: int | None = None) -> None:
        """Send a stream's events until it ends, parts or the client leaves; all, or those after a number."""
        await exchange.start_events()
        stream.readers += 1
        try:
            with Watch(exchange, patience=None) as watch:
                if resume_after is not None:
                    stream.is_parted = False
                elif self._primes:
                    await self._write(exchange, framing.sse_event(b"", f"{stream.name}-0", _RETRY_MS), watch)
                async for event in stream.read(resume_after or 0, self._limits.keep_alive_seconds):
                    data = framing.KEEP_ALIVE
                    if event is not None:
                        data = framing.sse_event(event.message, f"{stream.name}-{event.number}")
                    await self._write(exchange, data, watch)
            if not watch.is_gone:
                await exchange.send({"type": "http.response.body", "body": b""})
        finally:
            stream.left()

    async def _write(self, exchange: Exchange, data: bytes, watch: Watch) -> None:
        try:
            async with asyncio.timeout(self._limits.send_seconds):
                await exchange.send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError:
            watch.give_up()  # it stopped reading: as good as gone

    def find_stream(self, event_id: str) -> tuple[EventStream, int | None] | None:
        """The stream and position that an event id of ours stands for."""
        name, _, number = event_id.rpartition("-")
        stream = self.standalone if name == _STANDALONE else self._streams.get(name)
        if stream is None or not (number.isascii() and number.isdigit() and len(number) < 10):
            return None
        return stream, int(number)

    def end(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        self.standalone.finish()


class Sessions:
    """The live sessions of one HTTP door."""

    def __init__(self, server: Receiver, now: Callable[[], float] = time.monotonic) -> None:
        self._server = server
        self._limits = server.limits
        self._now = now
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        most = server.limits.sessions
        server.metrics.show(names.SESSIONS, self._sessions.__len__)
        server.metrics.show_each(names.LIMIT_USAGE, lambda: [(("sessions",), len(self._sessions) / most)])

    def find(self, id_: str | None) -> Session | None:
        session = self._sessions.get(id_) if id_ is not None else None
        if session is not None:
            session.last_used = self._now()
            self._sessions.move_to_end(session.id)
        return session

    def candidate(self, caller: Hashable) -> Peer:
        """A peer for a request without a session; it becomes one if it turns out to be a handshake."""
        return Peer(
            lasting=False, caller=caller, post=lambda message: False, limits=self._limits, transport="tcp"
        )

    def open(self, peer: Peer) -> str | None:
        """A session for a peer that has just shaken hands; None where every place is in use."""
        if not self._make_room():
            self._server.metrics.count(names.LIMIT_REACHED, "sessions")
            return None
        id_ = secrets.token_urlsafe(24)
        self._sessions[id_] = Session(id_, peer, self._limits, self._now())
        self._server.join(peer)
        return id_

    def _make_room(self) -> bool:
        """End what has been idle too long and, at the limit, what was idle the longest."""
        oldest_allowed = self._now() - self._limits.session_idle_seconds
        for session in list(self._sessions.values()):
            full = len(self._sessions) >= self._limits.sessions
            if not full and session.last_used >= oldest_allowed:
                return True
            if session.is_idle:
                self._end(session)
        return len(self._sessions) < self._limits.sessions

    def _end(self, session: Session) -> None:
        del self._sessions[session.id]
        self._server.leave(session.peer)
        session.end()

    async def serve(self, exchange: Exchange, method: str) -> None:
        """GET opens or resumes a stream of events, DELETE ends the session."""
        raw = exchange.header(b"mcp-session-id")
        if raw is None:
            await exchange.error(400, errors.INVALID_REQUEST, "Mcp-Session-Id is missing")
            return
        session = self.find(raw.decode("latin-1"))
        if session is None:
            await exchange.error(404, errors.INVALID_REQUEST, "Session not found")
        elif method == "DELETE":
            self._end(session)
            await exchange.reply(200, b"")
        else:
            await self._get(exchange, session)

    async def _get(self, exchange: Exchange, session: Session) -> None:
        if not exchange.accepts.events:
            await exchange.error(406, errors.INVALID_REQUEST, "Accept must allow text/event-stream")
            return
        last = exchange.header(b"last-event-id")
        found = (session.standalone, None) if last is None else session.find_stream(last.decode("latin-1"))
        if found is None:
            await exchange.error(400, errors.INVALID_REQUEST, "Last-Event-ID is not known in this session")
        elif found[0] is session.standalone and session.standalone.readers:
            await exchange.error(409, errors.INVALID_REQUEST, "This session has a stream already")
        else:
            await session.stream(exchange, *found)

    def end_streams(self) -> None:
        """Close the streams that would otherwise stay open until their clients leave."""
        for session in self._sessions.values():
            session.standalone.finish()

    async def close(self) -> None:
        for session in list(self._sessions.values()):
            self._end(session)
