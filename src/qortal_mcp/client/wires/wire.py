"""What every wire is to a client: something to send on, and somebody to tell what came.

A wire moves bytes. It knows no method, reads no message, and matches no reply to a request.
"""

from typing import Protocol

from msgspec import Struct

from ...protocol.jsonrpc import RequestId
from ..errors import ClientError
from ..transcript import Headers


class Outgoing(Struct, frozen=True):
    """One message on its way, and what a wire with HTTP around it needs to know."""

    data: bytes
    # Set for requests: whose answer the reply to this message is.
    id: RequestId | None = None
    headers: Headers = ()
    # The revision in force; None before it is agreed upon.
    revision: str | None = None
    # Legacy HTTP: a reply stream that breaks may be taken up again; its first reply may open a session.
    resumable: bool = False
    opens_session: bool = False
    # Legacy HTTP: a 404 means that the session is over, not that the server answered.
    may_renew: bool = False


class Sink(Protocol):
    """Who hears what a wire receives."""

    def arrived(self, data: bytes, via: RequestId | None = None, status: int | None = None) -> bool:
        """One message. `via` is the request whose own reply it came in; True when that one is settled."""
        ...

    def lost(self, error: ClientError) -> None:
        """Nothing more will come."""
        ...


class Deaf:
    """A sink for those who only read the transcript."""

    def arrived(self, data: bytes, via: RequestId | None = None, status: int | None = None) -> bool:
        return False

    def lost(self, error: ClientError) -> None:
        return None


class Wire(Protocol):
    """One way to reach a server."""

    @property
    def is_exchange(self) -> bool:
        """True where each message has a reply of its own (HTTP): when `send` is done, no more will come."""
        ...

    async def send(self, message: Outgoing) -> None:
        """Put a message on the wire. With `is_exchange`, wait for the end of its reply too.

        Raises: ClientError.
        """
        ...

    async def close(self) -> None: ...


class RawWire(Wire, Protocol):
    """A wire that also takes bytes that are deliberately no message."""

    async def send_raw(self, data: bytes) -> None:
        """Bytes as they are: no line ending is added, nothing is checked."""
        ...
