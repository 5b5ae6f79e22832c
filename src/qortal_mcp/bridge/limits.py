"""How long, how many, on the way to a server behind a bridge."""

from msgspec import Struct

from ..limits import Positive, Seconds


class BridgeLimits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever the server does, and however many clients come."""

    # Pauses between attempts to reach a server: the first, the longest while somebody waits, and while nobody does.
    first_pause_seconds: Seconds = 0.1
    waited_pause_seconds: Seconds = 1.0
    idle_pause_seconds: Seconds = 30.0
    # How long a server may take to say whether it is modern, before it is asked as an old one: a client is waiting.
    probe_seconds: Seconds = 2.0
    # A program that ends right after its start does so again: this often is enough to be sure.
    start_attempts: Positive = 3
    # How long a request waits for a server that was there before and is gone.
    reconnect_seconds: Seconds = 10.0
    # How long a client waits for the bridge to get to know the server's lists: many wait only a second or two for tools.
    # What has not come by then is read when somebody asks for it.
    survey_seconds: Seconds = 5.0
    # How long the list that the bridge has read itself is good enough for a client that asks for it.
    list_seconds: Seconds = 2.0
    # A server that asks to come back later is asked again once, unless that is later than this.
    retry_seconds: Seconds = 5.0
    # A connection that was lost sooner than this does not count as one that works: the pauses keep growing.
    steady_seconds: Seconds = 10.0
    # What the server says, during one call or outside all, and its client has not read yet. With more, the server has to wait.
    unread_messages: Positive = 64
    unread_bytes: Positive = 256 * 1024
    # Notifications of a client that a server has not read yet; more are dropped.
    unsent_notices: Positive = 64
    # Subscriptions that are repeated after a reconnect.
    kept_subscriptions: Positive = 1024
    # Calls of modern clients that are away to get answers for an old server, in all and of one caller. Each holds a call to
    # the server, for as long as a person may take to answer.
    suspended_calls: Positive = 256
    caller_suspended_calls: Positive = 32
    # How long a lost connection may take to end before the next one is opened.
    farewell_seconds: Seconds = 1.0
    # Tools and codes whose first repair is logged; a server may invent names without end.
    logged_repairs: Positive = 10_000
    # The last lines of a program's standard error that a client is shown.
    stderr_lines: Positive = 10
    stderr_chars: Positive = 2000
    # A request that must have a connection for itself waits so long for the usual one before another is opened.
    free_seconds: Seconds = 0.25
    # Connections that nobody has used for so long are closed.
    idle_seconds: Seconds = 1800.0
    sweep_seconds: Seconds = 30.0


DEFAULT = BridgeLimits()
