"""Where answers come from: a node over HTTP, or the sample chain in this process. GET is the only method."""

from typing import Protocol

from msgspec import Struct

from ..endpoints.record import Request


class RawReply(Struct, frozen=True):
    """An answer as received."""

    status: int
    content_type: str
    body: bytes
    # Whether the node says that its data is made up.
    is_sample: bool = False


# The header with which a node says so, and its value.
SAMPLE_HEADER = (b"x-qortal-mcp-sample", b"true")


class Source(Protocol):
    """One place that answers requests."""

    # How answers name it: an address without user info, or `sample`.
    origin: str

    async def fetch(self, request: Request) -> RawReply:
        """Raises: NodeFailure if no complete answer arrived in time."""

    async def warm(self) -> None:
        """Load what the first request will need, without making one."""

    async def close(self) -> None: ...
