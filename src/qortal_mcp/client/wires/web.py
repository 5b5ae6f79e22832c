"""HTTP as the client's wires use it: one session, bounded bodies, a record of everything.

Never follows a redirect, keeps no cookies, reads no proxy settings, decompresses nothing. aiohttp is imported at
first use: a client of a child process does not pay for it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from ...protocol.framing import Event, EventSplitter, TooLong
from ..errors import ConnectionLost, HttpRefused, MalformedReply
from ..limits import ClientLimits
from ..transcript import Headers, Http, Kind, Recorder

if TYPE_CHECKING:
    from aiohttp import ClientResponse, ClientSession

JSON = "application/json"
EVENT_STREAM = "text/event-stream"
POST_HEADERS: Headers = (("content-type", JSON), ("accept", f"{JSON}, {EVENT_STREAM}"))
# uvicorn and node close idle connections after 5 s; a request sent into that moment would be lost.
_KEEP_ALIVE_SECONDS = 4.0
_IDENTITY = ("", "identity")


class Head(Struct, frozen=True):
    """A reply before its body."""

    response: ClientResponse
    http: Http

    @property
    def status(self) -> int:
        return self.response.status

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """Lower case, without parameters; empty if there is none."""
        return self.header("content-type").partition(";")[0].strip().lower()

    def header(self, name: str) -> str:
        return self.response.headers.get(name, "").strip()


class Web:
    """A session and its records."""

    def __init__(self, recorder: Recorder, limits: ClientLimits, headers: Headers = ()) -> None:
        self.recorder = recorder
        self.limits = limits
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
            # aiohttp has no option to refuse redirects of a WebSocket upgrade: this refuses them all.
            trace = TraceConfig()
            trace.on_request_redirect.append(_refuse_redirect)
            self._session = ClientSession(
                connector=TCPConnector(limit=0, keepalive_timeout=_KEEP_ALIVE_SECONDS),
                cookie_jar=DummyCookieJar(),
                trust_env=False,
                auto_decompress=False,
                timeout=ClientTimeout(total=None, sock_connect=self.limits.connect_seconds),
                headers={"accept-encoding": "identity", "user-agent": "qortal-mcp"},
                trace_configs=[trace],
            )
        return self._session

    @contextlib.asynccontextmanager
    async def request(
        self, method: str, url: str, headers: Headers = (), data: bytes | None = None
    ) -> AsyncIterator[Head]:
        """Send a request and hand over the head of its reply. Leaving closes the stream.

        Raises: ConnectionLost.
        """
        from yarl import URL

        sent = Http(method=method, url=url, headers=(*self.headers, *headers))
        self.recorder.note("sent", "head", http=sent)
        if data is not None:
            self.recorder.note("sent", "message", data, http=sent)
        with translated():
            response = await self.session().request(
                method, URL(url, encoded=True), data=data, headers=sent.headers, allow_redirects=False
            )
        async with response:
            http = Http(method=method, url=url, status=response.status, headers=raw_headers(response))
            self.recorder.note("received", "head", http=http)
            yield Head(response, http)

    async def body(self, head: Head) -> bytes:
        """The whole body, recorded as a message if it is JSON.

        Raises: MalformedReply if it is too large or compressed; ConnectionLost.
        """
        self._check_plain(head)
        kept = bytearray()
        while chunk := await _piece(head):
            kept += chunk
            if len(kept) > self.limits.message_bytes:
                self.recorder.note("received", "too_long", http=head.http)
                raise MalformedReply(f"the reply is larger than {self.limits.message_bytes} bytes")
        data = bytes(kept)
        if data:
            kind: Kind = "message" if head.media_type == JSON else "body"
            self.recorder.note("received", kind, data, http=head.http)
        return data

    async def events(self, head: Head, take: Callable[[Event], bool]) -> None:
        """Hand over events until the stream ends or `take` returns True.

        Raises: MalformedReply if one is too large or the stream is compressed; ConnectionLost.
        """
        self._check_plain(head)
        splitter = EventSplitter(self.limits.message_bytes)
        while chunk := await _piece(head):
            self.recorder.note("received", "body", chunk, http=head.http)
            for event in splitter.feed(chunk):
                if isinstance(event, TooLong):
                    self.recorder.note("received", "too_long", http=head.http)
                    raise MalformedReply(f"an event is larger than {event.limit} bytes")
                self.recorder.note("received", "event", http=head.http, event=event)
                if take(event):
                    return

    def message_of(self, head: Head, event: Event) -> bytes | None:
        """The message in an event, recorded; None if there is none in it (priming, foreign events)."""
        if not event.data:
            return None
        data = event.data.encode("utf-8", "surrogateescape")
        kind: Kind = "message" if event.event == "message" else "noise"
        self.recorder.note("received", kind, data, http=head.http, event=event)
        return data if kind == "message" else None

    async def linger(self, head: Head) -> None:
        """Wait a moment for the end of a stream, so that its connection can be used again."""
        content = head.response.content
        with contextlib.suppress(ConnectionLost), translated():
            async with asyncio.timeout(self.limits.linger_seconds):
                await content.readany()
        if not content.at_eof():
            head.response.close()

    async def refusal(self, head: Head) -> HttpRefused:
        """The error for a bad status."""
        body = await self.body(head)
        return refused(head, body, self.limits.evidence_bytes)

    def _check_plain(self, head: Head) -> None:
        if head.header("content-encoding").lower() not in _IDENTITY:
            raise MalformedReply("the reply is compressed, although that was not asked for")

    async def close(self) -> None:
        self._closed = True
        if self._session is not None:
            await self._session.close()


async def _piece(head: Head) -> bytes:
    with translated():
        return await head.response.content.readany()


def refused(head: Head, body: bytes, at_most: int) -> HttpRefused:
    return HttpRefused(head.status, head.http.headers, body[:at_most])


def raw_headers(response: ClientResponse) -> Headers:
    return tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in response.raw_headers)


class _Redirected(Exception):
    pass


async def _refuse_redirect(*_: object) -> None:
    raise _Redirected


@contextlib.contextmanager
def translated() -> Iterator[None]:
    """Turn aiohttp's errors into ours, in the one place where they appear."""
    import aiohttp

    try:
        yield
    except _Redirected:
        raise ConnectionLost("the server redirects, and redirects are not followed") from None
    except (aiohttp.ClientError, OSError, ValueError) as exc:
        # ValueError: invalid addresses. TimeoutError is an OSError, but only aiohttp's own can occur here.
        raise ConnectionLost(f"{type(exc).__name__}: {exc}") from exc
