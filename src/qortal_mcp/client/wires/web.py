"""HTTP as the client's wires use it: one session, bounded bodies, a record of everything.

Keeps no cookies, decompresses nothing; follows no redirect and reads no proxy settings unless told to, and never leaves
the origin. aiohttp is imported at first use: a client of a child process does not pay for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from ...protocol.framing import Event, EventSplitter, TooLong
from ..errors import ConnectionLost, HttpRefused, MalformedReply
from ..forgiving import STRICT, Forgiving
from ..limits import ClientLimits
from ..refusals import readable
from ..transcript import Headers, Http, Kind, Recorder
from .media import EVENT_STREAM, JSON, is_json_like, is_message, kind_of
from .origins import named, same_origin
from .reasons import reason
from .routes import DIRECT, Route
from .turns import Turn
from .wire import Sink

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession, TraceRequestRedirectParams

POST_HEADERS: Headers = (("content-type", JSON), ("accept", f"{JSON}, {EVENT_STREAM}"))
# uvicorn and node close idle connections after 5 s; a request sent into that moment would be lost.
_KEEP_ALIVE_SECONDS = 4.0
_IDENTITY = ("", "identity")
_REDIRECTS = (301, 302, 303, 307, 308)
# With these a POST stays a POST.
_FOLLOWED = (307, 308)


class Head(Struct):
    """A reply before its body."""

    response: ClientResponse
    http: Http
    # What the body is, if that is not what its Content-Type says.
    seen_as: str = ""
    # The beginning of the body, if it has been looked at; the whole of it, once it has been read.
    held: bytes = b""
    whole: bytes | None = None

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """Lower case, without parameters; empty if there is none."""
        return self.seen_as or self.header("content-type").partition(";")[0].strip().lower()

    def header(self, name: str) -> str:
        return self.response.headers.get(name, "").strip()


class Web:
    """A session and its records."""

    def __init__(
        self,
        recorder: Recorder,
        limits: ClientLimits,
        headers: Headers = (),
        forgiving: Forgiving = STRICT,
        route: Route = DIRECT,
    ) -> None:
        """Raises: ClientError if the file of certificates is not usable."""
        self.recorder = recorder
        self.limits = limits
        self.forgiving = forgiving
        self._route = route
        self._ssl = route.context()
        # Where addresses have moved to, on the same origin.
        self._moved: dict[str, str] = {}
        # What the caller wants on every request, such as Authorization.
        self.headers = headers
        self._session: ClientSession | None = None
        self._closed = False

    def session(self) -> ClientSession:
        """Raises: ConnectionLost if it was closed."""
        from aiohttp import (
            ClientSession,
            ClientTimeout,
            DummyCookieJar,
            TCPConnector,
            TraceConfig,
        )

        if self._closed:
            raise ConnectionLost("this connection is closed")
        if self._session is None:
            from . import loopback

            route = self._route
            # aiohttp has no option to refuse redirects of a WebSocket upgrade: this refuses them all.
            trace = TraceConfig()
            trace.on_request_redirect.append(_refuse_redirect)
            self._session = ClientSession(
                connector=TCPConnector(
                    limit=0,
                    keepalive_timeout=_KEEP_ALIVE_SECONDS,
                    ssl=self._ssl if self._ssl else True,
                    resolver=loopback.Resolver() if route.only_loopback else None,
                    socket_factory=loopback.sockets_of(route) if route.only_loopback or route.never else None,
                ),
                cookie_jar=DummyCookieJar(),
                # It would also read passwords from ~/.netrc; proxies are chosen by the route.
                trust_env=False,
                auto_decompress=False,
                timeout=ClientTimeout(total=None, sock_connect=self.limits.connect_seconds),
                headers={"accept-encoding": "identity", "user-agent": "qortal-mcp"},
                trace_configs=[trace],
            )
        return self._session

    def proxy(self, url: str) -> str | None:
        """Raises: ClientError if secrets would pass it unencrypted."""
        return self._route.proxy(url, has_secrets=bool(self.headers))

    @contextlib.asynccontextmanager
    async def request(
        self, method: str, url: str, headers: Headers = (), data: bytes | None = None
    ) -> AsyncIterator[Head]:
        """Send a request and hand over the head of its reply. Leaving closes the stream.

        Raises: ConnectionLost; HttpRefused for a redirect that is not followed, if others are.
        """
        moved = self._moved.get(url, url)
        async with self._send(method, moved, headers, data) as head:
            target = self._target_of(head, moved)
            if target is None:
                yield head
                return
        async with self._send(method, target, headers, data) as head:
            if head.status in _REDIRECTS:
                raise refused(head, b"", 0, "the server redirects more than once")
            self._moved[url] = target
            yield head

    def _target_of(self, head: Head, url: str) -> str | None:
        """Where a redirect leads. None: it is not one, or none is followed."""
        if "redirect" not in self.forgiving or head.status not in _REDIRECTS:
            return None
        location = head.header("location")
        try:
            target = same_origin(url, location, "the redirect")
        except MalformedReply:
            where = named(url, location) if location else "nowhere"
            detail = f"the server redirects to {where}, another origin; use that address if you trust it"
            raise refused(head, b"", 0, detail) from None
        if head.status not in _FOLLOWED:
            raise refused(
                head, b"", 0, f"the server redirects within {named(url, '')}, but not with 307 or 308"
            )
        self.forgiving.applied("redirect", f"HTTP status {head.status}")
        return target

    @contextlib.asynccontextmanager
    async def _send(self, method: str, url: str, headers: Headers, data: bytes | None) -> AsyncIterator[Head]:
        from yarl import URL

        proxy = self.proxy(url)
        sent = Http(method=method, url=url, headers=(*self.headers, *headers))
        self.recorder.note("sent", "head", http=sent)
        if data is not None:
            self.recorder.note("sent", "message", data, http=sent)
        with translated():
            response = await self.session().request(
                method,
                URL(url, encoded=True),
                data=data,
                headers=sent.headers,
                allow_redirects=False,
                proxy=proxy,
            )
        async with response:
            http = Http(
                method=method, url=url, status=response.status, headers=raw_headers(response), request=sent
            )
            self.recorder.note("received", "head", http=http)
            yield Head(response, http)

    async def body(self, head: Head) -> bytes:
        """The whole body, recorded as a message if it is JSON.

        Raises: MalformedReply if it is too large or compressed; ConnectionLost.
        """
        if head.whole is not None:
            return head.whole
        self._check_plain(head)
        kept = bytearray()
        while chunk := await _piece(head):
            kept += chunk
            if len(kept) > self.limits.message_bytes:
                self.recorder.note("received", "too_long", http=head.http)
                raise MalformedReply(f"the reply is larger than {self.limits.message_bytes} bytes")
        data = head.whole = bytes(kept)
        if data:
            kind: Kind = "message" if head.media_type == JSON else "body"
            self.recorder.note("received", kind, data, http=head.http)
        return data

    async def look(self, head: Head) -> None:
        """Find out what the body is by looking at its beginning. Content-Type is wrong if it says something else.

        Raises: ConnectionLost.
        """
        kind = None
        start = b""
        while kind is None and (piece := await _piece(head)):
            start += piece
            kind = kind_of(start)
        head.held = start
        if kind and kind != head.media_type:
            said = head.media_type
            head.seen_as = kind
            self.forgiving.applied("content-type-header", f"{said or 'no type'} for {kind}")

    async def events(self, head: Head, take: Callable[[Event], bool], sink: Sink | None = None) -> None:
        """Hand over events until the stream ends or `take` returns True. Reads no faster than the sink can take them.

        Raises: MalformedReply if one is too large or the stream is compressed; ConnectionLost.
        """
        self._check_plain(head)
        splitter = EventSplitter(self.limits.message_bytes)
        turn = Turn()
        while chunk := await _piece(head):
            self.recorder.note("received", "body", chunk, http=head.http)
            for event in splitter.feed(chunk):
                if isinstance(event, TooLong):
                    self.recorder.note("received", "too_long", http=head.http)
                    raise MalformedReply(f"an event is larger than {event.limit} bytes")
                self.recorder.note("received", "event", http=head.http, event=event)
                if take(event):
                    return
                # It may be large, and the next one may never come.
                del event
                if sink is not None and sink.is_full:
                    await sink.room()
                await turn.took_one()

    def message_of(self, head: Head, event: Event) -> bytes | None:
        """The message in an event, recorded; None if there is none in it (priming, foreign events)."""
        if not event.data:
            return None
        data = event.data.encode("utf-8", "surrogateescape")
        kind: Kind = "message" if event.event == "message" else "noise"
        if kind == "noise" and "sse-event-name" in self.forgiving and is_message(data):
            self.forgiving.applied("sse-event-name", event.event)
            kind = "message"
        elif kind == "message" and "sse-data-not-json" in self.forgiving and not is_json_like(data):
            self.forgiving.applied("sse-data-not-json", readable(data))
            kind = "noise"
        self.recorder.note("received", kind, data, http=head.http, event=event)
        return data if kind == "message" else None

    async def linger(self, head: Head) -> None:
        """Wait a moment for the end of a stream, so that its connection can be used again."""
        content = head.response.content
        with contextlib.suppress(ConnectionLost), translated():
            async with asyncio.timeout(self.limits.linger_seconds) as patience:
                await content.readany()
        if patience.expired():
            self.forgiving.applied(
                "sse-not-closed", f"open {self.limits.linger_seconds:g} s after the answer"
            )
        if not content.at_eof():
            head.response.close()

    async def refusal(self, head: Head) -> HttpRefused:
        """The error for a bad status."""
        body = await self.body(head)
        detail = readable(body) if self.forgiving else ""
        return refused(head, body, self.limits.evidence_bytes, detail)

    def _check_plain(self, head: Head) -> None:
        if head.header("content-encoding").lower() not in _IDENTITY:
            raise MalformedReply("the reply is compressed, although that was not asked for")

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()


async def _piece(head: Head) -> bytes:
    if head.held:
        piece, head.held = head.held, b""
        return piece
    with translated():
        return await head.response.content.readany()


def refused(head: Head, body: bytes, at_most: int, detail: str = "") -> HttpRefused:
    return HttpRefused(head.status, head.http.headers, body[:at_most], detail)


def raw_headers(response: ClientResponse) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers)


class _Redirected(Exception):
    """Its text is where to."""


async def _refuse_redirect(
    session: ClientSession, context: object, params: TraceRequestRedirectParams
) -> None:
    raise _Redirected(named(str(params.url), params.response.headers.get("location", "")))


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn aiohttp's errors into ours, in the one place where they appear."""
    import aiohttp

    try:
        yield
    except _Redirected as exc:
        raise ConnectionLost(f"the server redirects to {exc}, and redirects are not followed") from None
    except aiohttp.ClientHttpProxyError as exc:
        # Its own text may contain the password of the proxy.
        raise ConnectionLost(f"the proxy refuses with HTTP status {exc.status}") from None
    except (aiohttp.ClientError, OSError, ValueError) as exc:
        # ValueError: invalid addresses. TimeoutError is an OSError, but only aiohttp's own can occur here.
        raise ConnectionLost(reason(exc)) from exc
