"""What all open connections of a process share: what they keep for slow clients, and the heads that they know."""

from ...limits import DEFAULT, Limits
from .known_heads import KnownHeads
from .waiting import Holder, Waiting


class Crowd:
    """The connections that wait for their clients, by what they wait for."""

    def __init__(self, limits: Limits = DEFAULT) -> None:
        self.limits = limits
        # Whether the process will stop soon: each connection is closed after the answer to its next request.
        self.is_leaving = False
        # For a head or the rest of it; for the rest of a body or message, or for its turn; for an answer to be read.
        self.heads = Waiting(most=limits.unfinished_heads, most_bytes=limits.unfinished_bytes)
        self.unfinished = Waiting(most_bytes=limits.unfinished_bytes)
        self.unread = Waiting(most_bytes=limits.unread_bytes)
        self.known_heads = KnownHeads()

    def forget(self, connection: Holder) -> None:
        for waiting in (self.heads, self.unfinished, self.unread):
            waiting.drop(connection)
