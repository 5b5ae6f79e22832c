"""How long a process waits for the shared store, how much it takes from it, and how much it sends."""

from msgspec import Struct

from ..limits import Positive, Seconds


class StoreLimits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever the store does."""

    # A store on the same network answers in a millisecond. Whoever waits for it waits no longer than this, or half as much again
    # behind others, and only once: then the store is left alone.
    reply_seconds: Seconds = 0.1
    # In the background, where nobody waits.
    connect_seconds: Seconds = 2.0
    # A store that failed is left alone for this long, then tried again in the background.
    rest_seconds: Seconds = 1.0
    # A connection that nobody uses is tried this often, so that its end is noticed before somebody needs it.
    idle_seconds: Seconds = 5.0
    # What is shared has to be worth a round trip and must not crowd out the rest: nearly all replies of nodes are below 64 kB.
    value_bytes: Positive = 256 * 1024
    # Commands that wait for their turn on one connection. More callers than this are never worked on at once.
    waiting_commands: Positive = 4096
    # Commands sent together.
    commands_at_once: Positive = 256
    # Values on their way to the store; what comes on top is not sent.
    waiting_writes: Positive = 256
    waiting_write_bytes: Positive = 4 * 1024 * 1024
    # What can never change is still forgotten after a day, so that what nobody asks for leaves by itself.
    longest_seconds: Positive = 86_400


DEFAULT = StoreLimits()
