"""What went over a wire, byte for byte: records, and a bounded store of them. Judges nothing."""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from ..limits import Positive
from ..protocol.framing import Event

Direction = Literal["sent", "received"]
# message  one message: a line with its ending, a frame, a body, the data of an event
# noise    bytes from the server that cannot be a message: blank lines, text that is not JSON, foreign events
# head     an HTTP request or reply without its body; a WebSocket's upgrade
# body     an HTTP body or a piece of it, exactly as it came
# event    a Server-Sent Event as it was parsed (its bytes are in the `body` records around it)
# stderr   a line of a child's standard error
# too_long something beyond the limit; its bytes were not kept
# closed   the wire is down; data says why
Kind = Literal["message", "noise", "head", "body", "event", "stderr", "too_long", "closed"]
Headers = tuple[tuple[str, str], ...]


class Http(Struct, frozen=True, kw_only=True):
    """The HTTP around a record. Header values are Latin-1, so no byte of them is lost."""

    method: str
    url: str
    status: int | None = None
    headers: Headers = ()
    # Of a reply: the request that it answers.
    request: "Http | None" = None


class Record(Struct, frozen=True, kw_only=True):
    """One thing that happened on a wire."""

    direction: Direction
    kind: Kind
    data: bytes = b""
    at: float
    http: Http | None = None
    event: Event | None = None
    # WebSocket: the message came in a binary frame.
    binary: bool = False


Observer = Callable[[Record], None]


class Recorder:
    """Makes a record of everything a wire does and passes it to the observer."""

    def __init__(self, observer: Observer | None = None, clock: Callable[[], float] = time.time) -> None:
        self._observer = observer
        self._clock = clock

    def note(
        self,
        direction: Direction,
        kind: Kind,
        data: bytes = b"",
        *,
        http: Http | None = None,
        event: Event | None = None,
        binary: bool = False,
    ) -> None:
        if self._observer is not None:
            self._observer(
                Record(
                    direction=direction,
                    kind=kind,
                    data=data,
                    at=self._clock(),
                    http=http,
                    event=event,
                    binary=binary,
                )
            )


class TranscriptLimits(Struct, frozen=True, kw_only=True):
    # An audit of a large server makes some 2,000 records.
    records: Positive = 20_000
    bytes: Positive = 64 * 1024 * 1024


class Transcript:
    """An observer that keeps the records. The oldest are dropped first when there are too many."""

    def __init__(self, limits: TranscriptLimits | None = None) -> None:
        self._limits = limits or TranscriptLimits()
        self._records: deque[Record] = deque()
        self._bytes = 0
        self._grown = asyncio.Event()
        self.dropped = 0

    def __call__(self, record: Record) -> None:
        self._records.append(record)
        self._bytes += len(record.data)
        while len(self._records) > self._limits.records or self._bytes > self._limits.bytes:
            self._bytes -= len(self._records.popleft().data)
            self.dropped += 1
        self._grown.set()

    def __len__(self) -> int:
        return len(self._records)

    @property
    def count(self) -> int:
        """How many records there have been; a mark for `since`."""
        return self.dropped + len(self._records)

    def records(
        self, direction: Direction | None = None, kind: Kind | None = None, since: int = 0
    ) -> list[Record]:
        """The records, or those of one direction, of one kind, after a mark."""
        skip = max(0, since - self.dropped)
        return [
            record
            for number, record in enumerate(self._records)
            if number >= skip and direction in (None, record.direction) and kind in (None, record.kind)
        ]

    def messages(self, direction: Direction, since: int = 0) -> list[bytes]:
        return [record.data for record in self.records(direction, "message", since)]

    async def wait_for(
        self, wanted: Callable[[Record], bool], timeout: float, since: int = 0
    ) -> Record | None:
        """The first record after the mark that is wanted; None if none came in time."""
        try:
            async with asyncio.timeout(timeout):
                while True:
                    self._grown.clear()
                    for record in self.records(since=since):
                        if wanted(record):
                            return record
                    since = self.count
                    await self._grown.wait()
        except TimeoutError:
            return None
