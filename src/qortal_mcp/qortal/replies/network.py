"""Supply, peers and the tools for developers."""

from .reply import Count, Reply, Text


class Peers(Reply):
    inboundConnections: Count
    outboundConnections: Count


class LayoutPart(Reply):
    """A stretch of bytes in a transaction."""

    description: Text
    format: Text
    # None where it varies.
    length: Count | None = None
