"""Streamable HTTP of both eras: every message is a POST, its reply is JSON or a stream of events.

Legacy only: a session id that is echoed, streams that are resumed where they broke off, a standing
GET stream, and a DELETE at the end.
"""

import asyncio
import re
from collections.abc import Callable

from msgspec import Struct

from ...protocol import headers
from ...protocol.framing import Event
from ...protocol.jsonrpc import RequestId
from ...protocol.versions import LEGACY
from ..errors import ConnectionLost, HttpRefused, MalformedReply, SessionGone
from ..limits import DEFAULT, ClientLimits
from ..transcript import Headers, Observer, Recorder
from .web import EVENT_STREAM, JSON, POST_HEADERS, Head, Web, refused
from .wire import NoSink, Outgoing, Sink

_SESSION_ID = re.compile(r"[\x21-\x7e]+")
_NO_CONTENT = (202, 204)
_GONE = 404
# The legacy revisions that have an MCP-Protocol-Version header.
_VERSION_HEADER = frozenset(revision for revision in LEGACY if revision >= "2025-06-18")


class Exchange(Struct, frozen=True):
    """The reply to one HTTP request, for callers that inspect it. `is_whole`: it ended by itself, in time."""

    status: int
    headers: Headers
    body: bytes
    events: tuple[Event, ...] = ()
    is_whole: bool = True


class _Stopped(Struct):
    """Where a stream stopped, and what its server said about resuming it."""

    settled: bool = False
    last_id: str | None = None
    retry_ms: int | None = None
    fresh: bool = False


class HttpWire:
    """One MCP endpoint."""

    is_exchange = True

    def __init__(
        self,
        url: str,
        sink: Sink | None = None,
        *,
        headers: Headers = (),
        observer: Observer | None = None,
        limits: ClientLimits = DEFAULT,
    ) -> None:
        self.url = url
        self.session_id: str | None = None
        self._sink = sink or NoSink()
        self._limits = limits
        self._web = Web(Recorder(observer), limits, headers)

    async def send(self, message: Outgoing) -> None:
        session_id = self.session_id  # another request may renew it while this one waits
        sent = (*POST_HEADERS, *self._session(message.revision), *message.headers)
        async with self._web.request("POST", self.url, sent, message.data) as head:
            if head.status == _GONE and message.may_renew and session_id is not None:
                body = await self._web.body(head)
                evidence = body[: self._limits.evidence_bytes]
                raise SessionGone(head.status, head.http.headers, evidence, session_id)
            if message.opens_session and head.is_good:
                self._keep_session(head)
            stopped = await self._take_reply(head, message.id)
        if message.resumable and not stopped.settled and stopped.last_id is not None:
            await self._resume(stopped, message)

    async def send_raw(self, data: bytes) -> None:
        """Send a body unchanged. The reply is handled like any other."""
        await self.send(Outgoing(data))

    async def exchange(
        self,
        data: bytes | None,
        headers: Headers = (),
        *,
        method: str = "POST",
        usual_headers: bool = True,
        timeout: float = 30.0,
        at_most_events: int = 64,
        at_most_bytes: int | None = None,
        is_answer: Callable[[Event], bool] | None = None,
        stream_head_only: bool = False,
    ) -> Exchange:
        """Send any request and return its reply unchanged. The sink is not called.

        After an event for which `is_answer` is true, the end of the stream is awaited only briefly. With
        `stream_head_only` a stream is left as soon as it has begun. All events together may be as large as
        `at_most_bytes`; by default twice the largest message.

        Raises: ConnectionLost if no reply began in time; MalformedReply if it is too large.
        """
        events: list[Event] = []
        began: Head | None = None
        loop = asyncio.get_running_loop()
        largest = 2 * self._limits.message_bytes if at_most_bytes is None else at_most_bytes
        taken = 0

        def take(event: Event) -> bool:
            nonlocal taken
            taken += len(event.data or "") + len(event.event) + len(event.id or "")
            if taken > largest:
                raise MalformedReply(f"the events of one reply are larger than {largest} bytes")
            events.append(event)
            if is_answer is not None and is_answer(event):
                patience.reschedule(loop.time() + self._limits.linger_seconds)
            return len(events) >= at_most_events

        sent = (*(POST_HEADERS if usual_headers else ()), *headers)
        body, is_whole = b"", True
        try:
            async with (
                asyncio.timeout(timeout) as patience,
                self._web.request(method, self.url, sent, data) as head,
            ):
                began = head
                if head.media_type == EVENT_STREAM and stream_head_only:
                    is_whole = False
                elif head.media_type == EVENT_STREAM:
                    await self._web.events(head, take)
                    is_whole = len(events) < at_most_events
                else:
                    body = await self._web.body(head)
        except TimeoutError:
            is_whole = False
        if began is None:
            raise ConnectionLost(f"no reply within {timeout:g} s")
        return Exchange(began.status, began.http.headers, body, tuple(events), is_whole)

    def _session(self, revision: str | None) -> Headers:
        """The session id and version of a legacy message, as far as they are known."""
        carried: list[tuple[str, str]] = []
        if self.session_id is not None:
            carried.append((headers.SESSION_ID, self.session_id))
        if revision is not None and revision in _VERSION_HEADER:
            carried.append((headers.PROTOCOL_VERSION, revision))
        return tuple(carried)

    def _keep_session(self, head: Head) -> None:
        session_id = head.header(headers.SESSION_ID)
        if not session_id:
            self.session_id = None
        elif _SESSION_ID.fullmatch(session_id) and len(session_id) <= self._limits.session_id_chars:
            self.session_id = session_id
        else:
            raise MalformedReply("the session id is too long or not visible ASCII", (session_id.encode(),))

    async def _take_reply(self, head: Head, via: RequestId | None) -> _Stopped:
        if head.is_good and head.media_type == EVENT_STREAM:
            return await self._take_events(head, via)
        if head.status in _NO_CONTENT:
            return _Stopped()
        body = await self._web.body(head)
        if body and head.media_type == JSON:
            settled = self._sink.arrived(body, via, head.status)
            if settled or head.is_good:
                return _Stopped(settled)
        if not head.is_good:
            raise refused(head, body, self._limits.evidence_bytes)
        if via is not None:
            what = f"content type {head.media_type!r}" if body else "no body"
            raise MalformedReply(f"the reply has {what}", (body[: self._limits.evidence_bytes],))
        return _Stopped()

    async def _take_events(self, head: Head, via: RequestId | None) -> _Stopped:
        state = _Stopped()

        def take(event: Event) -> bool:
            if event.id is not None:
                state.last_id, state.fresh = event.id, True
            if event.retry_ms is not None:
                state.retry_ms = event.retry_ms
            data = self._web.message_of(head, event)
            if data is not None:
                state.settled = self._sink.arrived(data, via, head.status)
            return state.settled

        try:
            await self._web.events(head, take)
        except ConnectionLost as exc:
            if state.last_id is None:
                raise
            # With an event id the stream can be resumed.
            self._web.recorder.note("received", "closed", str(exc).encode(), http=head.http)
        if state.settled:
            await self._web.linger(head)
        return state

    async def _resume(self, stopped: _Stopped, message: Outgoing) -> None:
        """Resume a broken stream with GET (2025-11-25; older servers do it the same way)."""
        for _ in range(self._limits.resumptions):
            await asyncio.sleep(self._pause(stopped))
            again = await self._listen(stopped.last_id, message.revision, message.id)
            if again.settled:
                return
            stopped = _Stopped(
                last_id=again.last_id or stopped.last_id, retry_ms=again.retry_ms or stopped.retry_ms
            )
        raise ConnectionLost("the reply broke off too often")

    def _pause(self, stopped: _Stopped) -> float:
        if stopped.retry_ms is None:
            return self._limits.resume_seconds
        wanted = min(stopped.retry_ms / 1000, self._limits.longest_resume_seconds)
        return max(wanted, self._limits.shortest_resume_seconds)

    async def _listen(self, last_id: str | None, revision: str | None, via: RequestId | None) -> _Stopped:
        sent: Headers = (("accept", EVENT_STREAM), *self._session(revision))
        if last_id is not None:
            sent = (*sent, ("last-event-id", last_id))
        async with self._web.request("GET", self.url, sent) as head:
            if not head.is_good or head.media_type != EVENT_STREAM:
                raise await self._web.refusal(head)
            return await self._take_events(head, via)

    async def stand_by(self, revision: str) -> None:
        """Keep the standing stream of a legacy server open: messages that belong to no request come there.

        Returns if the server has no such stream, or the stream breaks too often. Run it as a task.
        """
        stopped = _Stopped()
        failures = 0
        while failures < self._limits.stream_attempts:
            try:
                again = await self._listen(stopped.last_id, revision, None)
            except HttpRefused as exc:
                if exc.status < 500:
                    return
                failures += 1
                again = _Stopped()
            except (ConnectionLost, MalformedReply):
                failures += 1
                again = _Stopped()
            else:
                failures = 0 if again.fresh else failures + 1
            stopped = _Stopped(
                last_id=again.last_id or stopped.last_id, retry_ms=again.retry_ms or stopped.retry_ms
            )
            await asyncio.sleep(self._pause(stopped))

    async def end_session(self, revision: str) -> None:
        """Tell the server that its session is no longer needed. Its answer does not matter."""
        if self.session_id is None:
            return
        try:
            async with (
                asyncio.timeout(self._limits.goodbye_seconds),
                self._web.request("DELETE", self.url, self._session(revision)),
            ):
                pass
        except (TimeoutError, ConnectionLost):
            pass
        self.session_id = None

    async def close(self) -> None:
        await self._web.close()
