"""Streamable HTTP of both eras: every message is a POST, its reply is JSON or a stream of events.

Legacy only: a session id that is echoed, streams that are resumed where they broke off, a standing
GET stream, and a DELETE at the end.
"""

import asyncio
import re
import secrets
from collections.abc import Callable

from msgspec import Struct

from ...protocol import headers
from ...protocol.framing import Event
from .. import lost_sessions
from ..errors import ConnectionLost, HttpRefused, MalformedReply, SessionGone, StreamEnded
from ..forgiving import STRICT, Code, Forgiving
from ..limits import DEFAULT, ClientLimits
from ..refusals import readable
from ..transcript import Headers, Observer, Recorder
from .habits import Habits
from .media import EVENT_STREAM, JSON
from .replies import addressed, mistake_of_notice
from .routes import DIRECT, Route
from .web import POST_HEADERS, Head, Web, refused
from .wire import NoSink, Outgoing, Sink

_SESSION_ID = re.compile(r"[\x21-\x7e]+")
_NO_CONTENT = (202, 204)
_BAD = 400
_GONE = 404
_NO_STREAM = 405
_TOO_FAST = 429
# About permission: the head says more than the body.
_DENIED = (401, 403)
# From this revision on, an event without data is how a stream begins.
_PRIMING = "2025-11-25"


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


class _Silent(ConnectionLost):
    """A GET that nobody answers."""

    def __init__(self) -> None:
        super().__init__("the server does not answer GET")


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
        forgiving: Forgiving = STRICT,
        route: Route = DIRECT,
    ) -> None:
        """Raises: ClientError if the route's file of certificates is not usable."""
        self.url = url
        self.session_id: str | None = None
        self._sink = sink or NoSink()
        self._limits = limits
        self._forgiving = forgiving
        self._habits = Habits(forgiving)
        self._web = Web(Recorder(observer), limits, headers, forgiving, route)

    async def send(self, message: Outgoing) -> None:
        stopped = await self._post(message)
        if not isinstance(stopped, _Stopped):
            stopped = await self._post(message, stopped)
            assert isinstance(stopped, _Stopped), "a second attempt is the last"
        if message.resumable and not stopped.settled and stopped.last_id is not None:
            await self._resume(stopped, message)

    async def _post(self, message: Outgoing, changed: Code | None = None) -> "_Stopped | Code":
        """One attempt. A code: what has been changed about the headers before the next."""
        session_id = self.session_id  # another request may renew it while this one waits
        sent = (*POST_HEADERS, *self._session(message.revision), *message.headers)
        async with self._web.request("POST", self.url, sent, message.data) as head:
            is_empty = head.status in _NO_CONTENT or message.id is None
            if "content-type-header" in self._forgiving and not is_empty:
                await self._web.look(head)
            if changed is not None:
                await self._judge(changed, message, head)
            elif self._forgiving and head.status == _BAD:
                refusal = await self._web.body(head)
                code = self._habits.change(message, refusal, has_session=session_id is not None)
                if code is not None:
                    if code == "session-id-not-issued":
                        self.session_id = self._invented()
                    return code
            if not head.is_good:
                await self._check_session(head, message, session_id)
            if message.opens_session and head.is_good:
                self._keep_session(head)
            if head.is_good and message.id is not None and message.revision is not None:
                self._habits.is_settled = True
            return await self._take_reply(head, message, session_id)

    async def _judge(self, changed: Code, message: Outgoing, head: Head) -> None:
        """Raises: HttpRefused if the server still lacks a session."""
        self._habits.judge(changed, message, worked=head.is_good)
        if changed != "session-id-not-issued" or head.is_good:
            return
        self.session_id = None
        if message.id is not None or "notification-refused" not in self._forgiving:
            body = await self._web.body(head)
            detail = "the server requires a session id, but did not issue one"
            raise refused(head, body, self._limits.evidence_bytes, detail)

    def _invented(self) -> str | None:
        return secrets.token_hex(16) if self._habits.invents_session else None

    async def _check_session(self, head: Head, message: Outgoing, session_id: str | None) -> None:
        """Raises: SessionGone if a refusal says that the session is lost."""
        if "stale-session-status" in self._forgiving:
            self._check_lost(await self._web.body(head), head, message, session_id)
        elif head.status == _GONE and message.may_renew and session_id is not None:
            body = await self._web.body(head)
            evidence = body[: self._limits.evidence_bytes]
            raise SessionGone(head.status, head.http.headers, evidence, session_id)

    def _check_lost(self, body: bytes, head: Head, message: Outgoing, session_id: str | None) -> None:
        """The same for any reply, in every form that servers use."""
        at_most = self._limits.evidence_bytes
        if not (message.may_renew or message.opens_session) or (head.is_good and len(body) > at_most):
            return
        body = body[:at_most]
        said = lost_sessions.read(
            body, head.status, message.id, had_session=session_id is not None, opens=message.opens_session
        )
        form = None if said is None else lost_sessions.form_of(said)
        if form is None:
            return
        if form != lost_sessions.NOT_FOUND:
            self._forgiving.applied("stale-session-status", form)
        raise SessionGone(head.status, head.http.headers, body, session_id or "", readable(body))

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
        if revision is not None and self._habits.sends_version(revision):
            carried.append((headers.PROTOCOL_VERSION, revision))
        return tuple(carried)

    def _keep_session(self, head: Head) -> None:
        session_id = head.header(headers.SESSION_ID)
        if not session_id:
            self.session_id = self._invented()
        elif _SESSION_ID.fullmatch(session_id) and len(session_id) <= self._limits.session_id_chars:
            self.session_id = session_id
        else:
            raise MalformedReply("the session id is too long or not visible ASCII", (session_id.encode(),))

    async def _take_reply(self, head: Head, message: Outgoing, session_id: str | None) -> _Stopped:
        via = message.id
        if via is None and self._forgiving and await self._is_delivered(head):
            return _Stopped()
        if head.is_good and head.media_type == EVENT_STREAM:
            stopped = await self._take_events(head, message, session_id)
            is_over = via is not None and not stopped.settled and stopped.last_id is None
            if is_over and "sse-no-reply" in self._forgiving:
                raise self._unanswered()
            return stopped
        if head.status in _NO_CONTENT:
            if via is not None and "no-reply" in self._forgiving:
                self._forgiving.applied("no-reply", f"HTTP status {head.status}")
                raise MalformedReply(f"the server answered with HTTP status {head.status} and no body")
            return _Stopped()
        body = await self._web.body(head)
        is_limited = head.status == _TOO_FAST and "rate-limit-status" in self._forgiving
        if via is not None and (is_limited or (self._forgiving and head.status in _DENIED)):
            if is_limited:
                self._forgiving.applied("rate-limit-status", f"HTTP status {head.status}")
            raise refused(head, body, self._limits.evidence_bytes, readable(body))
        if body and head.media_type == JSON:
            if "stale-session-status" in self._forgiving and head.is_good:
                self._check_lost(body, head, message, session_id)
            settled = self._sink.arrived(self._addressed(head, body, message), via, head.status)
            if settled or head.is_good:
                return _Stopped(settled)
        if not head.is_good:
            if via is not None and message.revision is not None:
                self._forgiving.applied("rpc-error-status", f"HTTP status {head.status}")
            detail = readable(body) if self._forgiving else ""
            raise refused(head, body, self._limits.evidence_bytes, detail)
        if via is not None:
            if not body:
                self._forgiving.applied("no-reply", f"HTTP status {head.status} and no body")
            what = f"content type {head.media_type!r}" if body else "no body"
            raise MalformedReply(f"the reply has {what}", (body[: self._limits.evidence_bytes],))
        return _Stopped()

    async def _is_delivered(self, head: Head) -> bool:
        """Whether nothing in the reply to a notification matters. It should be 202 without a body."""
        if head.status == 202 or (head.is_good and head.media_type == EVENT_STREAM):
            return False
        body = await self._web.body(head)
        mistake = mistake_of_notice(head.status, body)
        if mistake is None or mistake not in self._forgiving:
            return False
        # An answer has no id, and must not be handed on: it would be taken for that of the request that waits.
        self._forgiving.applied(mistake, f"HTTP status {head.status}")
        return True

    def _addressed(self, head: Head, body: bytes, message: Outgoing) -> bytes:
        """The error in a reply with a bad status, with the id of the request: there is no doubt whose it is."""
        if head.is_good or message.id is None or message.headers or "rpc-error-status" not in self._forgiving:
            return body
        error = addressed(body, message.id)
        if error is None:
            return body
        self._forgiving.applied("rpc-error-status", f"HTTP status {head.status}")
        return error

    async def _take_events(self, head: Head, message: Outgoing, session_id: str | None = None) -> _Stopped:
        state = _Stopped()
        via, revision = message.id, message.revision
        has_forms = "stale-session-status" in self._forgiving

        def take(event: Event) -> bool:
            if event.id is not None:
                state.last_id, state.fresh = event.id, True
            if event.retry_ms is not None:
                state.retry_ms = event.retry_ms
            if event.data == "" and revision is not None and revision < _PRIMING:
                self._forgiving.applied("sse-empty-data-event", f"in {revision}")
            data = self._web.message_of(head, event)
            if data is not None:
                if has_forms:
                    self._check_lost(data, head, message, session_id)
                state.settled = self._sink.arrived(data, via, head.status)
            return state.settled

        try:
            await self._web.events(head, take, self._sink)
        except SessionGone:
            raise
        except ConnectionLost as exc:
            if state.last_id is None:
                raise
            # With an event id the stream can be resumed.
            self._web.recorder.note("received", "closed", str(exc).encode(), http=head.http)
        if state.settled:
            await self._web.linger(head)
        return state

    def _unanswered(self) -> StreamEnded:
        self._forgiving.applied("sse-no-reply", "the stream ended")
        return StreamEnded("the stream of events ended without an answer")

    async def _resume(self, stopped: _Stopped, message: Outgoing) -> None:
        """Resume a broken stream with GET (2025-11-25; older servers do it the same way)."""
        for _ in range(self._limits.resumptions):
            await asyncio.sleep(self._pause(stopped))
            try:
                again = await self._listen(stopped.last_id, message)
            except HttpRefused:
                if "sse-no-reply" not in self._forgiving:
                    raise
                raise self._unanswered() from None
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

    async def _listen(self, last_id: str | None, message: Outgoing) -> _Stopped:
        sent: Headers = (("accept", EVENT_STREAM), *self._session(message.revision))
        if last_id is not None:
            sent = (*sent, ("last-event-id", last_id))
        at_most = self._limits.connect_seconds if "get-hangs" in self._forgiving else None
        try:
            async with (
                asyncio.timeout(at_most) as patience,
                self._web.request("GET", self.url, sent) as head,
            ):
                if (
                    "content-type-header" in self._forgiving
                    and head.is_good
                    and head.media_type != EVENT_STREAM
                ):
                    await self._web.look(head)
                if not head.is_good or head.media_type != EVENT_STREAM:
                    raise await self._web.refusal(head)
                patience.reschedule(None)
                return await self._take_events(head, message)
        except TimeoutError:
            self._forgiving.applied("get-hangs", f"no reply within {at_most:g} s")
            raise _Silent from None

    async def stand_by(self, revision: str) -> None:
        """Keep the standing stream of a legacy server open: messages that belong to no request come there.

        Returns if the server has no such stream, or the stream breaks too often. Run it as a task.
        """
        stopped = _Stopped()
        failures = 0
        has_opened = False
        nobody = Outgoing(b"", revision=revision)
        while failures < self._limits.stream_attempts:
            try:
                again = await self._listen(stopped.last_id, nobody)
            except _Silent:
                return
            except HttpRefused as exc:
                if exc.status != _NO_STREAM:
                    self._forgiving.applied("get-status", f"HTTP status {exc.status}")
                if exc.status < 500 or ("get-status" in self._forgiving and not has_opened):
                    return
                failures += 1
                again = _Stopped()
            except (ConnectionLost, MalformedReply):
                failures += 1
                again = _Stopped()
            else:
                has_opened = True
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

    async def forget_session(self, revision: str) -> None:
        """Before a new handshake: the session is lost. A server that wrongly says so is told to end it."""
        if "stale-session-status" in self._forgiving:
            await self.end_session(revision)
        self.session_id = None

    async def close(self) -> None:
        await self._web.close()
