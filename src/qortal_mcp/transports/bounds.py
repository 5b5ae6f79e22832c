"""uvicorn's connections with the limits they lack: heads, trailers, pipelines, fragments, and slow or silent peers.

Sizes and counts are checked here; the sweep in `serve.py` visits every connection and ends those that wait too long.
"""

import re
import secrets
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ..limits import DEFAULT
from .http import AT_ONCE, BODY_AT_ONCE

# Requests that may wait behind the one being answered on a connection.
_PIPELINED = 32
# Parts that one WebSocket message may come in, and control frames between two messages.
_FRAGMENTS = 256
_CONTROL_FRAMES = 64
# What the WebSocket library accepts in an upgrade; with more, it fails without an answer.
_UPGRADE_HEADERS = 100
_UPGRADE_LINE_BYTES = 8000

_TOO_LARGE = b"431 Request Header Fields Too Large"
# Clients that would like HTTP/2 ask for it in the head; the parser would stop there and lose the body.
_HTTP_2_REQUEST = re.compile(rb"\r\n(?:upgrade:[ \t]*h2c|http2-settings:)[^\r\n]*", re.IGNORECASE)
_CONNECTION = re.compile(rb"(\r\nconnection:)[^\r\n]*", re.IGNORECASE)


class BoundedProtocol(HttpToolsProtocol):
    """One HTTP connection."""

    limits = DEFAULT

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._head_bytes = 0
        self._in_head = True
        self._trailers = _Trailers(self)
        # When the current request began to arrive; None between requests.
        self.since: float | None = self.loop.time()
        # When the client stopped reading; None while it reads.
        self.paused_since: float | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        # These refer back here; without them the connection is freed at once, not by the garbage collector.
        self.scope = self.headers = self._trailers = None  # type: ignore[assignment]
        if self.cycle is not None and self.cycle.response_complete:
            self.cycle = None  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._in_head:
            if self.since is None:
                self.since = self.loop.time()
            self._head_bytes += len(data)
            if b"h2c" in data:
                data = _without_http_2_request(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.limits.header_bytes:
            self._refuse(_TOO_LARGE)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._head_bytes > self.limits.header_bytes and self._head_size() > self.limits.header_bytes:
            self._stop(_TOO_LARGE)
        if self.parser.should_upgrade():
            if not self._can_upgrade():
                self._stop(b"400 Bad Request")
        else:
            # What uvicorn appends from here on are trailers, which are not used.
            self.headers = self._trailers
            self._trailers.bytes = 0
        if len(self.pipeline) >= _PIPELINED:
            self._stop(b"429 Too Many Requests")
        self.scope[AT_ONCE] = self.reply_at_once  # type: ignore[literal-required]
        self.scope[BODY_AT_ONCE] = self.body_at_once  # type: ignore[literal-required]
        super().on_headers_complete()

    def _can_upgrade(self) -> bool:
        names = {name for name, _ in self.headers}
        return (
            self.parser.get_method() == b"GET"
            and not names & {b"content-length", b"transfer-encoding"}
            and len(self.headers) <= _UPGRADE_HEADERS
            and len(self.url) <= _UPGRADE_LINE_BYTES
            and all(len(name) + len(value) < _UPGRADE_LINE_BYTES for name, value in self.headers)
        )

    def on_message_complete(self) -> None:
        self._in_head = True
        self._head_bytes = 0
        self.since = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.pipeline and not self.transport.is_closing():
            self.flow.pause_reading()  # first answer the requests that are already here

    def pause_writing(self) -> None:
        self.paused_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.paused_since = None
        super().resume_writing()

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _stop(self, status: bytes) -> None:
        """Refuse a request while its head is being parsed, and close the connection."""
        self._refuse(status)
        # The parser stops; uvicorn then answers 400, which is no longer sent.
        raise ConnectionError("refused")

    def _refuse(self, status: bytes) -> None:
        if not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 %b\r\nx-request-id: %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                % (status, secrets.token_hex(8).encode())
            )
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP at all."""
        self._refuse(b"400 Bad Request")

    def sweep(self, now: float) -> None:
        """End a connection that sends or reads too slowly."""
        if self.paused_since is not None and now - self.paused_since > self.limits.send_seconds:
            self.transport.abort()
        elif self.since is not None and now - self.since > self.limits.receive_seconds:
            self._refuse(b"408 Request Timeout")

    def give_up(self) -> None:
        """Shutdown: drop a request that is still arriving, and a client that does not read."""
        if self.since is not None or self.paused_since is not None:
            self.transport.abort()

    def body_at_once(self, scope: Any) -> bytes | None:
        """The body of a request that has fully arrived; None otherwise. Never waits."""
        cycle = self.cycle
        if cycle.scope is not scope or cycle.more_body or cycle.disconnected or cycle.response_complete:
            return None
        body = bytes(cycle.body)
        cycle.body = bytearray()
        cycle.message_event.clear()
        return body

    def reply_at_once(self, scope: Any, request_id: str, body: bytes) -> bool:
        """Send a JSON reply with one write; False if that is not possible now.

        uvicorn writes the head and body of a reply separately, and a write costs as much as all the rest.
        """
        cycle = self.cycle
        if cycle.scope is not scope or cycle.response_started or cycle.disconnected or self.flow.write_paused:
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        heads = _encoded(cycle.default_headers)
        close = b"" if cycle.keep_alive else b"connection: close\r\n"
        self.transport.write(
            b"HTTP/1.1 200 OK\r\n%bcontent-type: application/json\r\ncontent-length: %d\r\n"
            b"x-request-id: %b\r\n%b\r\n%b" % (heads, len(body), request_id.encode(), close, body)
        )
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()
        return True


class _Trailers(list[tuple[bytes, bytes]]):
    """Replaces a request's headers once they are complete: counts what comes, keeps nothing."""

    def __init__(self, connection: BoundedProtocol) -> None:
        super().__init__()
        self._connection = connection
        self.bytes = 0

    def append(self, header: tuple[bytes, bytes]) -> None:
        self.bytes += len(header[0]) + len(header[1])
        if self.bytes > self._connection.limits.header_bytes:
            self._connection._stop(_TOO_LARGE)


_last_encoded: tuple[object, bytes] = (None, b"")


def _encoded(headers: list[tuple[bytes, bytes]]) -> bytes:
    """The headers that every reply has. uvicorn makes a new list of them once a second."""
    global _last_encoded
    seen, text = _last_encoded
    if seen is not headers:
        text = b"".join(b"%b: %b\r\n" % header for header in headers)
        _last_encoded = (headers, text)
    return text


def _without_http_2_request(data: bytes) -> bytes:
    """A head without its request for HTTP/2: RFC 9110 lets a server ignore it, the parser does not."""
    head, end, body = data.partition(b"\r\n\r\n")
    stripped = _HTTP_2_REQUEST.sub(b"", head)
    if stripped == head:
        return data
    return _CONNECTION.sub(rb"\1 keep-alive", stripped) + end + body


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One WebSocket connection."""

    limits = DEFAULT

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.since: float | None = self.loop.time()
        self.paused_since: float | None = None
        self._fragments = 0
        self._controls = 0

    def handle_connect(self, event: Any) -> None:
        self.since = None
        super().handle_connect(event)

    def handle_text(self, event: Any) -> None:
        self._fragments = self._controls = 0
        super().handle_text(event)

    def handle_bytes(self, event: Any) -> None:
        self._fragments = self._controls = 0
        super().handle_bytes(event)

    def handle_cont(self, event: Any) -> None:
        self._fragments += 1
        if self._fragments > _FRAGMENTS:
            self.transport.abort()
        else:
            super().handle_cont(event)

    def handle_ping(self) -> None:
        self._controls += 1
        if self._controls > _CONTROL_FRAMES:
            self.transport.abort()
        else:
            super().handle_ping()

    def handle_events(self) -> None:
        if not self.transport.is_closing():
            super().handle_events()

    def pause_writing(self) -> None:
        self.paused_since = self.loop.time()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.paused_since = None
        super().resume_writing()

    def sweep(self, now: float) -> None:
        """End a connection whose upgrade never came, or that does not read."""
        waits = self.paused_since is not None and now - self.paused_since > self.limits.send_seconds
        if waits or (self.since is not None and now - self.since > self.limits.receive_seconds):
            self.transport.abort()

    def give_up(self) -> None:
        """Shutdown: drop an upgrade that never came, and a client that does not read."""
        if self.since is not None or self.paused_since is not None:
            self.transport.abort()
