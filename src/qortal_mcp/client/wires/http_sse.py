"""HTTP+SSE of 2024-11-05: one GET stream for everything the server sends, and the address it names for POSTs."""

import asyncio
from urllib.parse import urljoin, urlsplit

from ...protocol.framing import Event
from ..errors import ClientError, ConnectionLost, MalformedReply, shown
from ..limits import DEFAULT, ClientLimits
from ..transcript import Headers, Observer, Recorder
from .web import EVENT_STREAM, POST_HEADERS, Head, Web
from .wire import NoSink, Outgoing, Sink

_DEFAULT_PORTS = {"http": 80, "https": 443}


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
    ) -> "HttpSseWire":
        """Open the stream and wait for the address.

        Raises: ClientError if there is no such stream, or it names another origin.
        """
        wire = cls(url, sink or NoSink(), Web(Recorder(observer), limits, headers))
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
        await self.send_raw(message.data)

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
                if not head.is_good or head.media_type != EVENT_STREAM:
                    raise await self._web.refusal(head)
                await self._web.events(head, lambda event: self._take(head, event))
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
        await asyncio.gather(self._reader, return_exceptions=True)
        if not self._endpoint.done():
            self._endpoint.set_exception(ConnectionLost("this connection is closed"))
        self._endpoint.exception()  # retrieved: asyncio complains about errors that were never looked at
        await self._web.close()


def same_origin(base: str, reference: str) -> str:
    """The address that a reference resolves to.

    Raises: MalformedReply if it leaves the origin: messages and credentials would go to another server.
    """
    try:
        url = urljoin(base, reference)
        ours, theirs = _origin(base), _origin(url)
    except ValueError:
        url, ours, theirs = reference, ("", "", 0), ("?", "", 0)
    if not reference or ours != theirs:
        said = reference.encode("utf-8", "surrogateescape")
        raise MalformedReply(f"the address to post to has another origin: {shown(url)}", (said,))
    return url


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme)
