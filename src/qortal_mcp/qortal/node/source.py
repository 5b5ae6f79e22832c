"""Where answers come from: a node over HTTP, or the sample chain in this process. Only GET can be said."""

from typing import Protocol

from msgspec import Struct

from ..endpoints.record import Request


class RawReply(Struct, frozen=True):
    """An answer as it came."""

    status: int
    content_type: str
    body: bytes


class Source(Protocol):
    """One place to ask."""

    # How answers name it: an address without user info, or `sample`.
    origin: str

    async def fetch(self, request: Request) -> RawReply:
        """Raises: NodeFailure where no whole answer came in time."""

    async def warm(self) -> None:
        """Load what the first question will need, without asking it."""

    async def close(self) -> None: ...
