"""How long, how many, for several servers behind one front."""

from msgspec import Struct

from ...limits import Positive, Seconds


class GatheredLimits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever the servers do, and however many there are."""

    # People have five to twenty; a list of hundreds is a mistake, and each may be a process.
    servers: Positive = 200
    # Servers that start at the same time. One that takes longer than this many seconds no longer counts.
    starts: Positive = 16
    start_turn_seconds: Seconds = 2.0
    # How long a handshake waits for the servers: many clients give up on tools after a second or two.
    handshake_seconds: Seconds = 1.0
    # How long a list waits for a slow server. What comes later is announced.
    list_seconds: Seconds = 2.0
    # After this, a list that is still being read counts as failed.
    read_seconds: Seconds = 60.0
    # One server's list of one kind. The largest seen has about 700 tools in 1 MB.
    list_pages: Positive = 100
    list_items: Positive = 5_000
    list_bytes: Positive = 8 * 1024 * 1024
    # The same list of all servers together, as a client gets it.
    front_bytes: Positive = 16 * 1024 * 1024
    # A client hears of changes of one list no more often than this.
    notice_seconds: Seconds = 1.0
    # Pauses before a server that could not be opened is tried again: the first, and the longest.
    first_retry_seconds: Seconds = 1.0
    longest_retry_seconds: Seconds = 30.0
    # How long the new server of a name waits for the old one to end.
    farewell_seconds: Seconds = 2.0
    # What a model is told about the servers: of each one, and in all.
    server_instructions_chars: Positive = 2_000
    instructions_chars: Positive = 12_000
    # Tools that one search shows, unless it asks for another number, and at most.
    found_tools: Positive = 20
    most_found_tools: Positive = 100
    # Names that an error about an unknown one suggests.
    suggestions: Positive = 3


DEFAULT = GatheredLimits()
