"""uvicorn's HTTP connection with the limits it lacks: heads, trailers, pipelines, and slow or silent peers.

Sizes and counts are checked here; the sweep in `serve.py` visits every connection and ends those that wait too long.
"""

import asyncio
import re
import secrets
from collections.abc import Mapping
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ...protocol.framing import KEEP_ALIVE
from ..hang_up import has_hung_up
from ..http import AT_ONCE, HEAD
from .crowd import Crowd
from .flow import Flow

# Requests that may wait behind the one being answered on a connection.
_PIPELINED = 32
# A client that may have left is written to: soon, again to hear of the first, and from then on now and then.
_PROBES_SECONDS = (0.1, 0.1, 1.0)
# What the WebSocket library accepts in an upgrade; with more, it fails without an answer.
_UPGRADE_HEADERS = 100
_UPGRADE_LINE_BYTES = 8000
# What is parsed at once: a read may be much larger.
_PIECE_BYTES = 16 * 1024
# Chunks that a body may come in, whatever their size; with more, they have this many bytes on average on the wire.
_SMALL_CHUNKS = 2048
_CHUNK_BYTES = 128

_TOO_LARGE = b"431 Request Header Fields Too Large"
# Clients that would like HTTP/2 ask for it in the head; the parser would stop there and lose the body.
_HTTP_2_REQUEST = re.compile(rb"\r\n(?:upgrade:[ \t]*h2c|http2-settings:)[^\r\n]*", re.IGNORECASE)
_CONNECTION = re.compile(rb"(\r\nconnection:)[^\r\n]*", re.IGNORECASE)


class BoundedProtocol(HttpToolsProtocol):
    """One HTTP connection."""

    crowd = Crowd()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        # Whatever the system does not take at once waits for the client: from then on it is counted.
        transport.set_write_buffer_limits(high=0)
        self.flow = Flow(transport)
        self.limits = self.crowd.limits
        # The request that is answered now; `cycle` is the one that came last.
        self._answering: RequestResponseCycle | None = None
        # Whether the client takes its answers before further requests are answered.
        self._waits_for_reader = False
        # How often a client that may have left was written to; None as long as it sends.
        self._probes: int | None = None
        self._head_bytes = 0
        self._in_head = True
        # The beginning of a head that asks for HTTP/2, until the rest of it comes.
        self._held_head = b""
        # Of the current request's body: its chunks, and the bytes they came in.
        self._chunks = 0
        self._body_bytes = 0
        # Whether everything after the requests that are being answered is ignored.
        self._is_ending = False
        # Whether a request became whole in the piece that is being parsed.
        self._has_just_come = False
        # Whether a piece is being parsed, and the request whose answering waits for the end of that.
        self._is_parsing = False
        self._parsed: RequestResponseCycle | None = None
        self._trailers = _Trailers(self)
        # When the current request began to arrive; None between requests.
        self.since: float | None = self.loop.time()
        # When the client stopped reading; None while it reads.
        self.paused_since: float | None = None
        # When the last answer was given.
        self.idle_since = self.since
        # Whether it is counted among those that wait for a request to arrive, and how much of one is kept.
        self._is_counted = True
        self._kept = 0
        self.crowd.heads.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.crowd.forget(self)
        self.pipeline.clear()
        if self._answering is not None and not self._answering.response_complete:
            # uvicorn tells only the request that came last.
            self._answering.disconnected = True
            self._answering.message_event.set()
        self._answering = None
        # These refer back here; without them the connection is freed at once, not by the garbage collector.
        self.scope = self.headers = self._trailers = None  # type: ignore[assignment]
        if self.cycle is not None and self.cycle.response_complete:
            self.cycle = None  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        if self._is_resting() and (known := self.crowd.known_heads.find(data)) is not None:
            self._begin_known(*known)
            return
        if len(data) > _PIECE_BYTES:
            self._receive_in_pieces(data)
            return
        if self._is_ending:
            return
        is_first = self._in_head and not self._head_bytes
        if self._in_head:
            if self.since is None:
                self.since = self.loop.time()
            self._head_bytes += len(data)
            if self._held_head or ((b"h2c" in data or b"HTTP2" in data) and self._is_between_requests()):
                data = self._without_http_2_request(data)
        self._body_bytes += len(data)
        self._is_parsing = True
        super().data_received(data)
        self._is_parsing = self._has_just_come = False
        if self.since is not None or self.pipeline:
            self._wait_for_the_rest(len(data))
        if self._parsed is not None:
            is_alone = is_first and self.since is None and not self.pipeline
            cycle, self._parsed = self._parsed, None
            self._begin(cycle)
            if is_alone and cycle.keep_alive and HEAD in cycle.scope:
                self.crowd.known_heads.keep(data, cycle.scope)

    def _is_resting(self) -> bool:
        """Whether everything that came was answered, so that a request begins with what comes next."""
        cycle = self.cycle
        return (
            cycle is not None
            and cycle.response_complete
            and self._in_head
            and self.since is None
            and not self._is_ending
            and not self.flow.write_paused
        )

    def _begin_known(self, scope: Mapping[str, Any], body: bytes) -> None:
        """What the parser and uvicorn do for a request, if its head is known."""
        own: Any = {
            **scope,
            "client": self.client,
            "server": self.server,
            "state": self.app_state.copy(),
            AT_ONCE: self.reply_at_once,
        }
        self.cycle = self._answering = RequestResponseCycle(
            scope=own,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=not self.crowd.is_leaving,
            on_response=self.on_response_complete,
        )
        self.cycle.body += body
        self.cycle.more_body = False
        self._begin(self.cycle)

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        if self._is_parsing and app is self.app:
            self._parsed = cycle
        else:
            super()._start_asgi_task(cycle, app)

    def _begin(self, cycle: RequestResponseCycle) -> None:
        """Answer a request that came whole without a task, if the application can; give any other one its task."""
        begin = getattr(self.app, "begin", None)
        if cycle.more_body or begin is None:
            super()._start_asgi_task(cycle, self.app)
            return
        body = bytes(cycle.body)
        cycle.body = bytearray()
        cycle.message_event.clear()
        try:
            rest = begin(cycle.scope, cycle.receive, cycle.send, body)
        except Exception as exc:
            rest = _failing(exc)
        if rest is not None:
            super()._start_asgi_task(cycle, lambda *_: rest)

    def _receive_in_pieces(self, data: bytes) -> None:
        """So that a head that is too long, or a body of tiny chunks, is refused before all of it is parsed."""
        for start in range(0, len(data), _PIECE_BYTES):
            if self.transport.is_closing() or self.transport.get_protocol() is not self:
                return
            self.data_received(data[start : start + _PIECE_BYTES])

    def _is_between_requests(self) -> bool:
        return self.headers is None or self.headers is self._trailers

    def _without_http_2_request(self, data: bytes) -> bytes:
        """A head without its request for HTTP/2: RFC 9110 lets a server ignore it, the parser does not.

        The end of the head decides where the body begins, so nothing is changed before it has come.
        """
        data = self._held_head + data
        self._held_head = b""
        head, end, body = data.partition(b"\r\n\r\n")
        if not end and len(data) <= self.limits.header_bytes:
            self._held_head = data
            return b""
        stripped = _HTTP_2_REQUEST.sub(b"", head)
        if stripped == head:
            return data
        return _CONNECTION.sub(rb"\1 keep-alive", stripped) + end + body

    def on_chunk_header(self) -> None:
        self._chunks += 1
        if (self._chunks - _SMALL_CHUNKS) * _CHUNK_BYTES > self._body_bytes:
            self._stop(b"400 Bad Request")

    def _wait_for_the_rest(self, size: int) -> None:
        """A request has not arrived in full, or has to wait for its turn: count what is kept of it."""
        if self.transport.is_closing():
            return
        self._is_counted = True
        if self._in_head and self._head_bytes > self.limits.header_bytes:
            self._refuse(_TOO_LARGE)
            if self.headers is not None:
                self.headers.clear()  # thousands of them, perhaps
        elif not self._in_head or self.pipeline:
            # What goes beyond the largest message is dropped, not kept.
            self._kept = min(self._kept + size, self.limits.message_bytes)
            self.crowd.unfinished.set(self, self._kept)
        else:
            self.crowd.heads.set(self, self._head_bytes)

    def _has_arrived(self) -> None:
        """Nothing of a request is kept any longer that would have to wait."""
        self._is_counted = False
        self._kept = 0
        self.crowd.heads.drop(self)
        self.crowd.unfinished.drop(self)

    def on_headers_complete(self) -> None:
        self._in_head = False
        if self._is_counted and not self.pipeline:
            self._has_arrived()
        if self._head_bytes > self.limits.header_bytes and self._head_size() > self.limits.header_bytes:
            self._stop(_TOO_LARGE)
        if self.parser.should_upgrade():
            if self._has_just_come and self._is_answering():
                self._end_after_answers()
            if not self._can_upgrade() or self._is_answering():
                self._stop(b"400 Bad Request")
        else:
            # What uvicorn appends from here on are trailers, which are not used.
            self.headers = self._trailers
            self._trailers.bytes = 0
        if len(self.pipeline) >= _PIPELINED:
            self._stop(b"429 Too Many Requests")
        self.scope[AT_ONCE] = self.reply_at_once  # type: ignore[literal-required]
        super().on_headers_complete()
        if self.crowd.is_leaving and self.cycle is not None:
            self.cycle.keep_alive = False
        if not self.pipeline:
            self._answering = self.cycle

    def _end_after_answers(self) -> None:
        """Ignore this request and what follows it: the connection is closed after the answers to those before it."""
        self._is_ending = True
        self.since = None
        last = self._last_whole_request()
        assert last is not None, "one is being answered"
        last.keep_alive = False
        raise ConnectionError("not wanted")

    def _is_answering(self) -> bool:
        return self._answering is not None and not self._answering.response_complete

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
        self._in_head = self._has_just_come = True
        self._head_bytes = 0
        self._chunks = self._body_bytes = 0
        self.since = None
        super().on_message_complete()
        if self._is_counted and not self.pipeline:
            self._has_arrived()

    def on_response_complete(self) -> None:
        if not self.pipeline:
            self.server_state.total_requests += 1
            if self.flow.read_paused and not self.transport.is_closing():
                self.flow.resume_reading()
            # uvicorn would set a timer after each answer; the sweep comes by anyway.
            self.idle_since = self.loop.time()
        elif self.flow.write_paused:
            self._waits_for_reader = True
        else:
            self._answer_next()

    def _answer_next(self) -> None:
        self._answering = self.pipeline[-1][0]
        super().on_response_complete()
        if self.transport.is_closing():
            return
        if self.pipeline:
            self.flow.pause_reading()  # first answer the requests that are already here
        elif self.since is None:
            self._has_arrived()

    def pause_writing(self) -> None:
        self.paused_since = self.loop.time()
        super().pause_writing()
        self.crowd.unread.add(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self.paused_since = None
        self.crowd.unread.drop(self)
        super().resume_writing()
        if self._waits_for_reader and self.pipeline and not self.transport.is_closing():
            self._waits_for_reader = False
            self._answer_next()

    def eof_received(self) -> bool:  # type: ignore[override]
        """The client sends nothing more, but it may still read. Returns whether there is something to answer."""
        self.since = None
        self._has_arrived()
        last = self._last_whole_request()
        if last is None:
            return False
        last.keep_alive = False
        self._probe_soon()
        return True

    def _last_whole_request(self) -> RequestResponseCycle | None:
        """The last request that is not answered yet; one that was cut off is dropped."""
        if self.pipeline and self.pipeline[0][0].more_body:
            self.pipeline.popleft()
        if self.pipeline:
            return self.pipeline[0][0]
        answering = self._answering
        if answering is None or answering.response_complete or answering.more_body:
            return None
        return answering

    def _probe_soon(self) -> None:
        if self._probes is None:
            self._probes = 0
            self.loop.call_later(_PROBES_SECONDS[0], self._probe)

    def _probe(self) -> None:
        """Write something without meaning: a client that has left answers with a reset, which ends its requests.

        One that only sends nothing more looks just the same, and still wants its answers.
        """
        cycle = self._answering
        if self.transport.is_closing() or cycle is None or cycle.response_complete:
            self._probes = None
            return
        assert self._probes is not None, "it was started"
        if not self.flow.write_paused:
            if cycle.chunked_encoding:
                self.transport.write(b"%x\r\n%b\r\n" % (len(KEEP_ALIVE), KEEP_ALIVE))
            elif not cycle.response_started and cycle.scope["http_version"] == "1.1":
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._probes += 1
        self.loop.call_later(_PROBES_SECONDS[min(self._probes, len(_PROBES_SECONDS) - 1)], self._probe)

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _stop(self, status: bytes) -> None:
        """Refuse a request while its head is being parsed, and close the connection."""
        self._refuse(status)
        # The parser stops; uvicorn then answers 400, which is no longer sent.
        raise ConnectionError("refused")

    def _refuse(self, status: bytes) -> None:
        if self._answering is not None and self._answering.response_started and self._is_answering():
            self.transport.abort()  # it would become part of another answer
        elif not self.transport.is_closing():
            self.transport.write(
                b"HTTP/1.1 %b\r\nx-request-id: %b\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
                % (status, secrets.token_hex(8).encode())
            )
            self.transport.close()

    def send_400_response(self, msg: str) -> None:
        """Answer what is not HTTP at all."""
        if not self._is_ending:
            self._refuse(b"400 Bad Request")

    def sweep(self, now: float) -> None:
        """End a connection that sends or reads too slowly, or is not used any more."""
        if self.paused_since is not None and now - self.paused_since > self.limits.send_seconds:
            self.transport.abort()
        elif self.since is not None and now - self.since > self.limits.receive_seconds:
            self._refuse(b"408 Request Timeout")
        elif self._is_resting() and now - self.idle_since > self.timeout_keep_alive:
            self.transport.close()
        elif self.flow.read_paused and self._is_answering() and has_hung_up(self._fileno()):
            self._probe_soon()

    def _fileno(self) -> int:
        return self.transport.get_extra_info("socket").fileno()  # type: ignore[no-any-return]

    def let_go(self) -> None:
        """Make room for others: end a connection whose client neither reads nor finishes its request."""
        if self.paused_since is not None:
            self.transport.abort()
        else:
            self._refuse(b"408 Request Timeout")

    def give_up(self) -> None:
        """Shutdown: drop a request that is still arriving, and a client that does not read."""
        if self.since is not None or self.paused_since is not None:
            self.transport.abort()

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


async def _failing(exc: Exception) -> None:
    """For uvicorn, which logs what an application raises and answers with 500."""
    raise exc


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
