"""What a caller may put between the bytes of a server and the client, which only takes correct messages."""

from collections.abc import Container, Mapping, Sequence
from typing import Any, Protocol

from ..protocol.framing import TooLong
from ..protocol.jsonrpc import Message, RequestId

# What was wrong with a message; whatever `Reading` and `Splitter` make of it.
Changes = tuple[Any, ...]


class ReadMessage(Protocol):
    """One message in the bytes that came. Without data: it was dropped; without changes either: it came too late."""

    @property
    def data(self) -> bytes: ...
    @property
    def changes(self) -> Changes: ...
    @property
    def parsed(self) -> Message | None:
        """The message if it is read already; an `Invalid` of something that was dropped fails its request."""
        ...


class Reading(Protocol):
    """Turns the bytes of a server into well-formed messages."""

    def __call__(
        self,
        data: bytes,
        waiting: Mapping[RequestId, str],
        via: RequestId | None,
        latest: int,
        lasting: bool,
        given_up: Container[RequestId],
    ) -> Sequence[ReadMessage]:
        """`waiting`: the methods of the requests in flight, by id. `via`: the one in whose own HTTP reply the bytes came.

        `latest` is the highest id so far; `lasting`: everything comes on one connection, so that a reply without an id
        can be told to belong to the only request in flight. `given_up` are requests that timed out or were cancelled.
        """
        ...


class SplitPiece(Protocol):
    """Part of a child's output. Without data: it was skipped."""

    @property
    def raw(self) -> bytes: ...
    @property
    def data(self) -> bytes: ...
    @property
    def changes(self) -> Changes: ...


class Splitter(Protocol):
    """Finds the messages in a child's output."""

    def feed(self, data: bytes) -> Sequence[SplitPiece | TooLong]: ...
    def close(self) -> Sequence[SplitPiece | TooLong]: ...
