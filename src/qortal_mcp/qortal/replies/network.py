"""Supply, peers and the tools for developers."""

from msgspec import Struct

from .plain import Count, plain


class Peers(Struct):
    inboundConnections: Count
    outboundConnections: Count


class LayoutPart(Struct):
    """A stretch of bytes in a transaction."""

    description: str
    format: str
    # None where it varies.
    length: Count | None = None

    def __post_init__(self) -> None:
        self.description = plain(self.description)
        self.format = plain(self.format)
