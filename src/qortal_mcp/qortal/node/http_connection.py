"""One connection to a node: sends a GET, collects the reply within bounds, is reused. HTTP/1.1, parsed by httptools.

Only what a read needs is here: no redirects, cookies, proxies or compression exist that could be switched on.
"""

import asyncio
from typing import cast

import httptools

from ...server.alarms import Alarms
from ..limits import NodeLimits
from . import failures
from .failures import NodeFailure
from .source import SAMPLE_HEADER, RawReply

# Core's headers have about 300 bytes, those of a proxy in front of it a few thousand.
_HEAD_BYTES = 32 * 1024
# Bytes on the wire for each byte of a chunked body: honest chunks are larger than their framing.
_FRAMING = 2


class Connection(asyncio.Protocol):
    """One request at a time. Afterwards `is_open` says whether there can be another."""

    def __init__(self, origin: str, limits: NodeLimits, deadlines: Alarms) -> None:
        self._origin = origin
        self._limits = limits
        # They ring when a reply takes longer than the limits allow.
        self._deadlines = deadlines
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[RawReply] | None = None
        self.is_open = False
        # When it was last used, by the loop's clock.
        self.used_at = 0.0
        self._begin()

    def _begin(self) -> None:
        """Forget the last reply. The parser is new each time, so that nothing can leak into the next reply."""
        self._parser = httptools.HttpResponseParser(self)
        self._received_bytes = 0
        self._is_head_complete = False
        self._ends_with_connection = True
        self._content_type = b""
        self._is_sample = False
        self._body: list[bytes] = []
        self._body_bytes = 0

    async def get(self, request: bytes) -> RawReply:
        """The reply to a request, which is given as the bytes to send.

        Raises: NodeFailure.
        """
        assert self._waiter is None, "one request at a time"
        self._begin()
        waiter: asyncio.Future[RawReply] = self._loop.create_future()
        self._waiter = waiter
        self._deadlines.set(self._too_late)
        self._transport.write(request)
        try:
            return await waiter
        except asyncio.CancelledError:
            self.abort()  # nobody reads this answer, so the node may stop as well
            raise
        finally:
            self._deadlines.take_back(self._too_late)
            self._waiter = None
            self.used_at = self._loop.time()

    def _too_late(self) -> None:
        self._fail(failures.timed_out(self._limits.reply_seconds))

    @property
    def has_received(self) -> bool:
        """Whether anything arrived since the request was sent."""
        return self._received_bytes > 0

    def abort(self) -> None:
        self.is_open = False
        self._transport.abort()

    def _fail(self, failure: NodeFailure) -> None:
        self.abort()
        self._body.clear()
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(failure)

    def _finish(self) -> None:
        assert self._waiter is not None, "only called while a request waits"
        if not self._waiter.done():
            content_type = self._content_type.decode("latin-1")
            self._waiter.set_result(
                RawReply(self._parser.get_status_code(), content_type, b"".join(self._body), self._is_sample)
            )
        self._body.clear()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are not instances of asyncio's classes.
        self._transport = cast(asyncio.Transport, transport)
        self.is_open = True

    def data_received(self, data: bytes) -> None:
        if self._waiter is None or self._waiter.done():
            self.abort()  # an answer that nobody asked for
            return
        self._received_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            # The second means that the node switches to another protocol, which nobody asked for.
            self._fail(failures.not_http(data))
            return
        if not self._is_head_complete:
            if self._received_bytes > _HEAD_BYTES:
                self._fail(failures.not_readable())
        elif self._received_bytes > _HEAD_BYTES + _FRAMING * self._limits.reply_bytes:
            self._fail(failures.reply_too_large(self._limits.reply_bytes))

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_open = False
        if self._waiter is not None and not self._waiter.done():
            if exc is None and self._is_head_complete and self._ends_with_connection:
                self._finish()
            else:
                self._fail(failures.unreachable(self._origin))
        self._body.clear()
        # They refer to each other; without this both, and what they hold, would stay until the garbage collector comes by.
        del self._parser

    def on_message_begin(self) -> None:
        if self._waiter is None or self._waiter.done():
            self.abort()  # a second answer after the first
        # Interim replies, such as 103, may come before the answer.
        self._content_type = b""
        self._ends_with_connection = True

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._is_head_complete:
            return  # after the body
        name = name.lower()
        if name == b"content-type":
            self._content_type = value
        elif name in (b"content-length", b"transfer-encoding"):
            self._ends_with_connection = False
        elif (name, value) == SAMPLE_HEADER:
            self._is_sample = True

    def on_headers_complete(self) -> None:
        self._is_head_complete = self._parser.get_status_code() >= 200

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        if self._body_bytes > self._limits.reply_bytes:
            self._fail(failures.reply_too_large(self._limits.reply_bytes))
        else:
            self._body.append(body)

    def on_message_complete(self) -> None:
        if self._is_head_complete:
            if not self._parser.should_keep_alive():
                self.abort()
            self._finish()
