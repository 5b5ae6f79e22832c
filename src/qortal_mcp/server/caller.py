"""Who is asking: what rate limits and waiting places are counted for.

A caller is the holder of the token, an address, or one connection, given as its address and port: never something that
the client claims.
"""

from collections.abc import Hashable
from contextvars import ContextVar

# The caller of the request that the current task works on. Empty: the server itself.
asking: ContextVar[Hashable] = ContextVar("asking", default="")


# All addresses of loopback are one machine: whoever can bind one of them can bind any.
THIS_MACHINE = "this machine"


def rated(caller: Hashable) -> Hashable:
    """Whose calls a rate limit counts. Connections of one machine share a rate: opening another one must not lift the limit."""
    return THIS_MACHINE if isinstance(caller, tuple) else caller
