"""HTTP+SSE of 2024-11-05: one GET stream for everything the server sends, and the address it names for POSTs."""

import asyncio

from ...protocol.framing import Event
from .. import lost_sessions
from ..errors import ClientError, ConnectionLost, HttpRefused, MalformedReply, SessionGone
from ..forgiving import STRICT, Forgiving
from ..limits import DEFAULT, ClientLimits
from ..refusals import readable
from ..transcript import Headers, Observer, Recorder
from .media import EVENT_STREAM
from .origins import same_origin
from .routes import DIRECT, Route
from .web import POST_HEADERS, Head, Web
from .wire import NoSink, Outgoing, Sink


class HttpSseWire:
    """One stream and its address. Made by `open`."""

    is_exchange = False

    def __init__(self, url: str, sink: Sink, web: Web) -> None:
        self.url = url
        self._sink = sink
        self._web = web
        loop = asyncio.get_running_loop()
        self._endpoint: asyncio.Future[str] = loop.create_future()
        self._reader = loop.create_task(self._read())

    @classmethod
    async def open(
        cls,
        url: str,
        sink: Sink | None = None,
        *,
        headers: Headers = (),
        observer: Observer | None = None,
        limits: ClientLimits = DEFAULT,
        forgiving: Forgiving = STRICT,
        route: Route = DIRECT,
    ) -> "HttpSseWire":
        """Open the stream and wait for the address.

        Raises: ClientError if there is no such stream, or it names another origin.
        """
        wire = cls(url, sink or NoSink(), Web(Recorder(observer), limits, headers, forgiving, route))
        try:
            async with asyncio.timeout(limits.connect_seconds):
                await asyncio.shield(wire._endpoint)
        except TimeoutError:
            await wire.close()
            raise ConnectionLost("the stream did not name an address to post to") from None
        except BaseException:
            await wire.close()
            raise
        return wire

    async def send(self, message: Outgoing) -> None:
        forgiving = self._web.forgiving
        try:
            await self.send_raw(message.data)
        except HttpRefused as exc:
            body = exc.evidence[0] if exc.evidence else b""
            if message.id is not None and "stale-session-status" in forgiving:
                self._check_lost(exc, body, message)
            if message.id is not None or "notification-refused" not in forgiving:
                raise
            forgiving.applied("notification-refused", f"HTTP status {exc.status}")

    def _check_lost(self, refused: HttpRefused, body: bytes, message: Outgoing) -> None:
        """Raises: SessionGone. The address to post to is the session: it is named by each stream."""
        said = lost_sessions.read(body, refused.status, message.id, had_session=True, opens=False)
        form = None if said is None else lost_sessions.form_of(said)
        if form is None:
            return
        if form != lost_sessions.NOT_FOUND:
            self._web.forgiving.applied("stale-session-status", form)
        raise SessionGone(refused.status, refused.headers, body, "", readable(body)) from None

    async def send_raw(self, data: bytes) -> None:
        endpoint = await asyncio.shield(self._endpoint)
        try:
            async with (
                asyncio.timeout(self._web.limits.send_seconds),
                self._web.request("POST", endpoint, POST_HEADERS, data) as head,
            ):
                if not head.is_good:
                    raise await self._web.refusal(head)
                # The answer comes on the stream; a body here is only recorded.
                await self._web.body(head)
        except TimeoutError:
            raise ConnectionLost("the server does not accept messages") from None

    async def _read(self) -> None:
        error: ClientError = ConnectionLost("the stream ended")
        try:
            async with self._web.request("GET", self.url, (("accept", EVENT_STREAM),)) as head:
                is_odd = head.is_good and head.media_type != EVENT_STREAM
                if is_odd and "content-type-header" in self._web.forgiving:
                    await self._web.look(head)
                if not head.is_good or head.media_type != EVENT_STREAM:
                    raise await self._web.refusal(head)
                await self._web.events(head, lambda event: self._take(head, event), self._sink)
        except ClientError as exc:
            error = exc
        self._web.recorder.note("received", "closed", str(error).encode())
        if not self._endpoint.done():
            self._endpoint.set_exception(error)
        elif self._endpoint.exception() is None:
            self._sink.lost(error)

    def _take(self, head: Head, event: Event) -> bool:
        if not self._endpoint.done():
            if event.event != "endpoint":
                # The address comes first. A stream that opens with something else is not HTTP+SSE.
                raise MalformedReply("the stream does not begin with an endpoint event")
            self._endpoint.set_result(same_origin(self.url, event.data or ""))
            return False
        data = self._web.message_of(head, event)
        if data is not None:
            self._sink.arrived(data)
        return False

    async def close(self) -> None:
        self._reader.cancel()
        if not self._endpoint.done():
            self._endpoint.set_exception(ConnectionLost("this connection is closed"))
        self._endpoint.exception()  # retrieved: asyncio complains about errors that were never looked at
        # Before the reader is waited for: whoever waits may be cancelled.
        await self._web.close()
        await asyncio.gather(self._reader, return_exceptions=True)
