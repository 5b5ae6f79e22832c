"""What every wire offers a client: a way to send, and a sink for what arrives.

A wire moves bytes. It does not know methods, read messages, or match replies to requests.
"""

from typing import Protocol

from msgspec import Struct

from ...protocol.framing import TooLong
from ...protocol.jsonrpc import RequestId
from ..errors import ClientError
from ..reading import Changes
from ..transcript import Headers


class Outgoing(Struct, frozen=True):
    """One outgoing message, and what an HTTP wire needs to know about it."""

    data: bytes
    # Set for requests: the id that the reply answers.
    id: RequestId | None = None
    headers: Headers = ()
    # The revision in force; None before it is agreed upon.
    revision: str | None = None
    # Legacy HTTP: a reply stream that breaks may be resumed; the first reply may open a session.
    resumable: bool = False
    opens_session: bool = False
    # Legacy HTTP: a 404 means that the session has expired, not that the server answered.
    may_renew: bool = False


class Sink(Protocol):
    """Receives what arrives on a wire."""

    def arrived(
        self,
        data: bytes,
        via: RequestId | None = None,
        status: int | None = None,
        changes: Changes = (),
    ) -> bool:
        """Take one message. `via` is the request in whose own reply it came; True once that one is settled.

        `changes`: what was wrong with the bytes around it.
        """
        ...

    def dropped(self, changes: Changes) -> None:
        """Something was not handed over, for these reasons."""
        ...

    def too_long(self, line: TooLong) -> None:
        """A message was not handed over because of its size."""
        ...

    @property
    def is_full(self) -> bool:
        """No more can be taken now: the wire stops reading and waits for `room`."""
        ...

    async def room(self) -> None:
        """Returns when more can be taken."""
        ...

    def lost(self, error: ClientError) -> None:
        """Nothing more will come."""
        ...


class NoSink:
    """A sink that ignores everything, for callers that only read the transcript."""

    is_full = False

    def arrived(
        self,
        data: bytes,
        via: RequestId | None = None,
        status: int | None = None,
        changes: Changes = (),
    ) -> bool:
        return False

    def dropped(self, changes: Changes) -> None:
        return None

    def too_long(self, line: TooLong) -> None:
        return None

    async def room(self) -> None:
        return None

    def lost(self, error: ClientError) -> None:
        return None


class Wire(Protocol):
    """One way to reach a server."""

    @property
    def is_exchange(self) -> bool:
        """True if each message has its own reply (HTTP): when `send` is done, no more will come."""
        ...

    async def send(self, message: Outgoing) -> None:
        """Put a message on the wire. With `is_exchange`, wait for the end of its reply too.

        Raises: ClientError.
        """
        ...

    async def close(self) -> None: ...


class RawWire(Wire, Protocol):
    """A wire that also takes bytes that are deliberately not a message."""

    async def send_raw(self, data: bytes) -> None:
        """Bytes as they are: no line ending is added, nothing is checked."""
        ...
