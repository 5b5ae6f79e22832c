"""How big, how long, how many, for what clients send and are sent, each with the reason for its value."""

from collections.abc import Iterable
from typing import Annotated, TypeVar

from msgspec import Meta, Struct
from msgspec.structs import replace

Positive = Annotated[int, Meta(ge=1)]
Seconds = Annotated[float, Meta(gt=0)]


class Limits(Struct, frozen=True, kw_only=True):
    """Bounds that hold whatever a peer sends."""

    # The largest honest request is a prompt or sampling answer of about 100 kB; 1 MiB leaves room.
    message_bytes: Positive = 1024 * 1024
    # Lists, objects and what they hold in the arguments or answers of a client: decoding a megabyte of empty lists would hold up everybody else.
    message_values: Positive = 50_000
    # uvicorn has no bound of its own; browsers and proxies stay below 16 kB.
    header_bytes: Positive = 32 * 1024
    # Batches of 2025-03-26: the TypeScript SDK sends at most 100.
    batch_messages: Positive = 100
    # What one batch may be answered, in all: six lists of all tools, or four large answers of one. The rest is refused.
    batch_reply_bytes: Positive = 512 * 1024
    # A log line names things, it does not quote them.
    log_value_chars: Positive = 200

    # What one tool may answer: 64 kB is what a model can still read (about 20,000 tokens).
    result_bytes: Positive = 64 * 1024
    # Images, audio and files in a tool's answer, all together.
    content_bytes: Positive = 8 * 1024 * 1024
    # Items in one page of tools/list and the other lists. Some clients read only the first page.
    page_items: Positive = 250

    # Requests worked on at once, for one connection and for the process.
    peer_requests: Positive = 64
    server_requests: Positive = 1024
    # Plain functions of tools, resources and prompts that run at once, each in a thread: as many as one connection may ask for. One that
    # finds no thread waits a moment, which is enough for a burst of short calls.
    threads: Positive = 64
    thread_wait_seconds: Seconds = 1.0
    # Subscriptions one connection may hold, and the process in all.
    peer_subscriptions: Positive = 64
    server_subscriptions: Positive = 2048
    # Those of one caller, over all its connections: one that opens all it can must leave most of them to others.
    caller_subscriptions: Positive = 256
    # Different resources that are looked at again and again for their subscribers: in all, and for one caller. Each costs a few
    # requests to a node with each new block.
    watched_resources: Positive = 512
    caller_watched_resources: Positive = 128
    # Notifications queued for a subscriber or a connection that reads slowly; one more ends it.
    backlog_messages: Positive = 256
    # The same in bytes: a few large answers count as much as many notifications.
    backlog_bytes: Positive = 4 * 1024 * 1024
    # What all clients together have been answered and have not read yet: once for batches that are not complete, once for
    # queues of WebSockets, once for sockets. The client that has read nothing for the longest is let go, so that
    # clients that never read cost less than 64 MB.
    unread_bytes: Positive = 16 * 1024 * 1024
    # Requests that have not arrived in full: heads by number, as many as clients that come back at once after a restart but never
    # more than half of the files that may be open, and heads and the rest in bytes. With more, the oldest is ended, so
    # that requests that have arrived get through.
    unfinished_heads: Positive = 2048
    unfinished_bytes: Positive = 16 * 1024 * 1024
    # Pings and pongs of a WebSocket: so many at once, and so many a second for ever. A heartbeat needs one in 20 s.
    control_frames: Positive = 64
    control_frames_per_second: Positive = 20
    # Long-lived connections: WebSockets, and sessions of the legacy era.
    connections: Positive = 2048
    sessions: Positive = 1024
    session_idle_seconds: Seconds = 3600.0
    # What a session keeps to replay after a lost connection.
    session_events: Positive = 256
    session_event_bytes: Positive = 1024 * 1024
    session_streams: Positive = 32

    # A tool that has not answered by then is ended and says so.
    call_seconds: Seconds = 60.0
    # A person may need minutes to answer a tool's question.
    ask_seconds: Seconds = 300.0
    # How long a request may take to arrive, byte by byte.
    receive_seconds: Seconds = 20.0
    # A stream that says nothing gets a comment line, so that proxies keep it open.
    keep_alive_seconds: Seconds = 15.0
    # A client that stops reading keeps a reply in memory; not for longer than this.
    send_seconds: Seconds = 30.0
    # Work in flight when the process is asked to stop may still finish within this time.
    shutdown_seconds: Seconds = 5.0

    # What a tool's question may carry back and forth in requestState.
    state_bytes: Positive = 32 * 1024
    state_seconds: Seconds = 3600.0
    # Completion: the protocol's own bound.
    completion_values: Positive = 100


DEFAULT = Limits()

# What is counted in each process for all its clients together. Of several processes each gets a share; the rest of the
# limits hold for one message, one connection or one moment, wherever it is served.
OF_A_PROCESS = (
    "server_requests",
    "threads",
    "server_subscriptions",
    "caller_subscriptions",
    "watched_resources",
    "caller_watched_resources",
    "unread_bytes",
    "unfinished_heads",
    "unfinished_bytes",
    "connections",
    "sessions",
)

_Some = TypeVar("_Some", bound=Struct)


def share_of(limits: _Some, divided: Iterable[str], number: int, of: int) -> _Some:
    """The limits of one process, the `number`th `of` several from 1 on: what is divided adds up to the whole."""
    shares = {name: max(1, (getattr(limits, name) + of - number) // of) for name in divided}
    return replace(limits, **shares)
