"""uvicorn's WebSocket connection with the limits it lacks: fragments, control frames, and slow or silent peers."""

from collections.abc import Callable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ..websocket import SEND_AT_ONCE, TAKE_WITH
from .crowd import Crowd

# Parts that one message may come in.
_FRAGMENTS = 256
# Less than this is not worth counting if it is a whole message; and what a waiting message takes beside its text.
_NOTABLE_BYTES = 4096
_MESSAGE_BYTES = 300
# A read of up to this size is parsed at once. A larger one may hold thousands of tiny messages, so it is parsed in
# pieces, which grow while a long message arrives, until enough messages wait; the rest stays as it came.
_AT_ONCE_BYTES = 512
_PIECE_BYTES = 128
_LARGEST_PIECE_BYTES = 4096
_WAITING_MESSAGES = 8
# Pieces that are parsed before others get their turn.
_PIECES = 64
# The code of a close for a client that does not read what it asked for.
_POLICY_VIOLATION = 1008


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """One WebSocket connection."""

    crowd = Crowd()

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.limits = self.crowd.limits
        # Whatever the system does not take at once waits for the client: from then on it is counted.
        transport.set_write_buffer_limits(high=0)
        self.since: float | None = self.loop.time()
        self.paused_since: float | None = None
        self._fragments = 0
        # Control frames: how many more may come now, and when that was counted.
        self._controls = float(self.limits.control_frames)
        self._controls_at = self.loop.time()
        self._kept = 0
        # Takes a message where it was parsed, if it can.
        self._take: Callable[[bytes], bool] = _takes_nothing
        # What was read and not parsed yet, and how much of it was parsed.
        self._rest = b""
        self._parsed = 0

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_messages()  # nobody waits for their answers
        super().connection_lost(exc)
        self.crowd.forget(self)
        # Freed now, not when the garbage collector comes by.
        self.conn.reader.buffer.clear()
        self.frames = []
        self._take = _takes_nothing  # it refers back here
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        if not self._rest and (len(data) <= _AT_ONCE_BYTES or self.since is not None):
            super().data_received(data)
        elif self._rest:
            # It came although reading is paused: it takes its turn.
            self._rest = self._rest[self._parsed :] + data
            self._parsed = 0
        else:
            self._rest = data
            self._parsed = 0
            self._parse_rest()
        if not self.read_paused:
            self._keep(self._unfinished())
        elif self._kept or len(data) >= _NOTABLE_BYTES:
            self._keep(self._kept + len(data) + _MESSAGE_BYTES * self.queue.qsize())

    def _parse_rest(self) -> None:
        """Parse what was read until enough messages wait. Nothing more is read before all of it is parsed."""
        size = _PIECE_BYTES
        for _ in range(_PIECES):
            if self.transport.is_closing() or self._parsed >= len(self._rest):
                self._rest = b""
                break
            if self.queue.qsize() >= _WAITING_MESSAGES:
                break
            piece = self._rest[self._parsed : self._parsed + size]
            self._parsed += size
            super().data_received(piece)
            # As long as one message fills the pieces they may be larger.
            is_long = len(self.conn.reader.buffer) > size // 2
            size = min(size * 2, _LARGEST_PIECE_BYTES) if is_long else _PIECE_BYTES
        if self._rest:
            self._pause_reading()
            if self.queue.empty():
                self.loop.call_soon(self._parse_more)

    def _parse_more(self) -> None:
        """All messages that were parsed have been taken: go on with the rest, and read on after it."""
        if self._rest and self.queue.empty():
            self._parse_rest()
        if not self._rest and self.queue.empty() and self.read_paused and not self.transport.is_closing():
            self.read_paused = False
            self.transport.resume_reading()
            self._keep(self._unfinished())

    def _pause_reading(self) -> None:
        if not self.read_paused and not self.transport.is_closing():
            self.read_paused = True
            self.transport.pause_reading()

    async def receive(self) -> Any:
        message = await self.queue.get()
        if self.read_paused and self.queue.empty():
            if self._rest:
                self.loop.call_soon(self._parse_more)
            else:
                self.read_paused = False
                self.transport.resume_reading()
        if self._kept and not self.read_paused:
            self._keep(self._unfinished())
        return message

    async def send(self, message: Any) -> None:
        closes = message["type"] == "websocket.close"
        if closes and message.get("code") == _POLICY_VIOLATION and self.paused_since is not None:
            self.transport.abort()  # it would not read this either
            return
        await super().send(message)
        if closes:
            self._forget_messages()
            if self._rest:
                # The client's own close may be in it.
                self._pause_reading()
                self.loop.call_soon(self._parse_more)

    def take_with(self, take: Callable[[bytes], bool]) -> None:
        """From now on, offer each text to this function first: queueing it and waking a task cost as much as answering it."""
        self._take = take

    def send_receive_event_to_app(self) -> None:
        is_next = self.curr_msg_data_type == "text" and not self.close_sent and self.queue.empty()
        if is_next and self._take(b"".join(self.frames)):
            self.frames = []
        else:
            super().send_receive_event_to_app()

    def send_at_once(self, text: bytes) -> bool:
        """Send a message without waiting; False if it has to wait for the client, or nothing is sent any more.

        What `send` does, without a task that waits for messages, a timer for each, and decoding what was just encoded.
        """
        if not self.writable.is_set() or self.disconnected or self.close_sent or self.transport.is_closing():
            return False
        # Either side may have begun to close it; then only `send` knows what to do.
        if self.conn.close_rcvd is not None or self.conn.close_sent is not None:
            return False
        self.conn.send_text(text)
        self.transport.write(b"".join(self.conn.data_to_send()))
        return True

    def _forget_messages(self) -> None:
        while not self.queue.empty():
            self.queue.get_nowait()

    def _unfinished(self) -> int:
        """The bytes of a message that has not arrived in full."""
        return len(self.conn.reader.buffer) + sum(map(len, self.frames))

    def _keep(self, size: int) -> None:
        """Count what is kept of messages that are not whole, or that nobody has taken yet."""
        if size != self._kept and not self.transport.is_closing():
            self._kept = size
            if size:
                self.crowd.unfinished.set(self, size)
            else:
                self.crowd.unfinished.drop(self)

    def handle_connect(self, event: Any) -> None:
        self.since = None
        super().handle_connect(event)
        if not self.close_sent:
            self.scope[SEND_AT_ONCE] = self.send_at_once  # type: ignore[literal-required]
            self.scope[TAKE_WITH] = self.take_with  # type: ignore[literal-required]

    def handle_text(self, event: Any) -> None:
        self._fragments = 0
        super().handle_text(event)
        event.data = b""  # the parser keeps the frame until the next one comes

    def handle_bytes(self, event: Any) -> None:
        self._fragments = 0
        super().handle_bytes(event)
        event.data = b""

    def handle_cont(self, event: Any) -> None:
        self._fragments += 1
        if self._fragments > _FRAGMENTS:
            self.transport.abort()
        else:
            super().handle_cont(event)
            event.data = b""

    def handle_ping(self) -> None:
        if self._is_honest():
            super().handle_ping()
        else:
            self.transport.abort()

    def handle_pong(self, event: Any) -> None:
        if self._is_honest():
            super().handle_pong(event)
        else:
            self.transport.abort()

    def _is_honest(self) -> bool:
        """Whether control frames come as often as a heartbeat may."""
        now, limits = self.loop.time(), self.limits
        more = (now - self._controls_at) * limits.control_frames_per_second
        self._controls_at = now
        self._controls = min(self._controls + more, limits.control_frames) - 1
        return self._controls >= 0

    def handle_events(self) -> None:
        if not self.transport.is_closing():
            super().handle_events()

    def pause_writing(self) -> None:
        self.paused_since = self.loop.time()
        super().pause_writing()
        self.crowd.unread.add(self, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        self.paused_since = None
        self.crowd.unread.drop(self)
        super().resume_writing()

    def sweep(self, now: float) -> None:
        """End a connection whose upgrade never came, or that does not read."""
        waits = self.paused_since is not None and now - self.paused_since > self.limits.send_seconds
        if waits or (self.since is not None and now - self.since > self.limits.receive_seconds):
            self.transport.abort()

    def let_go(self) -> None:
        """Make room for others: its client neither reads nor finishes its message."""
        self.transport.abort()

    def give_up(self) -> None:
        """Shutdown: drop an upgrade that never came, and a client that does not read."""
        if self.since is not None or self.paused_since is not None:
            self.transport.abort()


def _takes_nothing(text: bytes) -> bool:
    return False
