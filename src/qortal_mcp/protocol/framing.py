"""Cut and join bytes: lines for stdio, events for Server-Sent Events. Knows nothing about their content."""

from msgspec import Struct

from ..limits import DEFAULT


class TooLong(Struct, frozen=True):
    """A line or an event that was dropped because it exceeded the limit."""

    limit: int
    # Of a line: how it begins, which may say what it was.
    start: bytes = b""


# More than anything that a message has before its large part.
_START_BYTES = 200


def too_long(limit: int, *line: bytes | bytearray) -> TooLong:
    """A line over the limit, in pieces."""
    most = min(limit, _START_BYTES)
    return TooLong(limit, b"".join(bytes(piece[:most]) for piece in line)[:most])


class LineSplitter:
    """Splits bytes, in any pieces, into whole lines. A line over the limit is dropped, and reported once.

    With `exact`, lines come as they were on the wire: endings, white space and blank lines included.
    """

    def __init__(self, limit: int = DEFAULT.message_bytes, exact: bool = False) -> None:
        self._limit = limit
        self._exact = exact
        # One buffer, not a list of pieces: a line may arrive byte by byte.
        self._held = bytearray()
        self._dropping = False

    def feed(self, data: bytes) -> list[bytes | TooLong]:
        """The lines that end in `data`, without their ending; blank ones are left out."""
        lines: list[bytes | TooLong] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start : end + 1] if self._exact else data[start:end], lines)
            self._finish(lines)
            start = end + 1
        if start < len(data):
            self._keep(data[start:], lines)
        return lines

    def close(self) -> list[bytes | TooLong]:
        """What came after the last line ending."""
        lines: list[bytes | TooLong] = []
        self._finish(lines)
        return lines

    def _keep(self, piece: bytes, lines: list[bytes | TooLong]) -> None:
        if self._dropping:
            return
        if len(self._held) + len(piece) > self._limit:
            lines.append(too_long(self._limit, self._held, piece))
            self._held.clear()
            self._dropping = True
        else:
            self._held += piece

    def _finish(self, lines: list[bytes | TooLong]) -> None:
        if not self._dropping:
            line = bytes(self._held)
            if not self._exact:
                line = line.strip(b" \t\r")
            if line:
                lines.append(line)
        self._held.clear()
        self._dropping = False


class Event(Struct, frozen=True):
    """One Server-Sent Event. `data` is None if the event had no data line."""

    data: str | None = None
    event: str = "message"
    id: str | None = None
    retry_ms: int | None = None


KEEP_ALIVE = b":\n\n"


def sse_event(data: bytes, id_: str | None = None, retry_ms: int | None = None) -> bytes:
    """An event around one line of JSON; `data` may be empty (a priming event)."""
    head = b"" if id_ is None else b"id: %b\n" % id_.encode()
    if retry_ms is not None:
        head += b"retry: %d\n" % retry_ms
    if not data:
        return head + b"data: \n\n"
    return head + b"event: message\ndata: " + data + b"\n\n"


class EventSplitter:
    """Splits the bytes of a text/event-stream, in any pieces, into events. Comments are skipped."""

    def __init__(self, limit: int = 16 * DEFAULT.message_bytes) -> None:
        self._limit = limit
        self._line = bytearray()
        self._data: list[str] = []
        self._size = 0
        self._event = ""
        self._id: str | None = None
        self._retry_ms: int | None = None
        self._seen = False
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> list[Event | TooLong]:
        """The events that end in `data`."""
        events: list[Event | TooLong] = []
        if self._after_cr and data.startswith(b"\n"):
            data = data[1:]
            self._after_cr = False
        if data:
            self._after_cr = data.endswith(b"\r")
        self._line += data
        if b"\n" not in data and b"\r" not in data:
            # No line ends here: what is already held is not scanned again, however small the pieces are.
            if len(self._line) > self._limit:
                self._line.clear()
                self._forget()
                events.append(TooLong(self._limit))
            return events
        *lines, rest = bytes(self._line).replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._line = bytearray(rest)
        for line in lines:
            if self._at_start:
                line = line.removeprefix(b"\xef\xbb\xbf")
                self._at_start = False
            self._take(line, events)
        return events

    def _take(self, line: bytes, events: list[Event | TooLong]) -> None:
        if not line:
            if self._seen:
                data = "\n".join(self._data) if self._data else None
                events.append(Event(data, self._event or "message", self._id, self._retry_ms))
            self._forget()
            return
        if line.startswith(b":"):
            return
        name, _, value = line.decode("utf-8", "surrogateescape").partition(":")
        value = value.removeprefix(" ")
        self._seen = True
        if name == "data":
            self._size += len(value) + 1
            if self._size > self._limit:
                self._forget()
                events.append(TooLong(self._limit))
            else:
                self._data.append(value)
        elif name == "event":
            self._event = value
        elif name == "id" and "\0" not in value:
            self._id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self._retry_ms = int(value[:9])

    def _forget(self) -> None:
        self._data = []
        self._size = 0
        self._event = ""
        self._id = None
        self._retry_ms = None
        self._seen = False
