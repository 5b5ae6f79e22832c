"""What a caller may choose about a connection."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from msgspec import Raw, Struct

from .. import __version__
from ..protocol.messages import ClientCapabilities, Implementation, LogLevel
from .answering import Handlers
from .errors import ClientError, ServerError
from .forgiving import OnForgiven
from .limits import DEFAULT, ClientLimits
from .pending import OnNotification, Reply
from .reading import Changes, Reading, Splitter
from .transcript import Headers, Observer

OnHandshake = Callable[[Reply | ServerError], Reply]


class Options(Struct, frozen=True, kw_only=True):
    """Every field has a default that suits a program that only sends requests."""

    # Who we say we are: a record, or JSON.
    info: Implementation | Raw = Implementation(name="qortal-mcp", version=__version__)
    # The handlers of a server's questions: see `answering`. Other questions are refused.
    handlers: Handlers = {}
    # The capabilities declared to servers; None: those that the handlers support.
    capabilities: ClientCapabilities | Raw | None = None
    # Called with every notification that belongs to no request and no subscription.
    on_notification: OnNotification | None = None
    # Sees every byte: a `Transcript`, or any function that takes a `Record`.
    observer: Observer | None = None
    # Modern era: the level of the log messages wanted with each request.
    log_level: LogLevel | None = None
    limits: ClientLimits = DEFAULT

    # HTTP and WebSocket: headers on every request, such as Authorization. They go to the target's origin only.
    headers: Headers = ()
    # Honour HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY. Headers never pass a proxy unencrypted.
    proxies: bool = False
    # Certificates in PEM form that are trusted besides those of the system.
    ca_file: str | None = None
    # WebSocket: the subprotocol that is offered; None or empty: none. The server need not select it.
    subprotocol: str | None = "mcp"
    # Codes of mistakes that the wire overlooks (see `repairs`), and a callback for each: code and detail.
    forgives: frozenset[str] = frozenset()
    on_forgiven: OnForgiven | None = None
    # Legacy HTTP: keep the standing stream open. None: if there are handlers for what may come there.
    standing_stream: bool | None = None

    # Child processes: the whole environment (None: ours), the working directory, and a callback for stderr.
    env: Mapping[str, str] | None = None
    cwd: str | Path | None = None
    on_stderr: Callable[[bytes], None] | None = None
    # Child processes: makes what splits their output, given the limit of a message. None: one message per line.
    splitter: Callable[[int], Splitter] | None = None

    # Reads what servers send more leniently; None: what is not a correct message is refused.
    reading: Reading | None = None
    # Takes the answer to `initialize` and returns it as it should be, or raises the error that it is. None: as it came.
    handshake: OnHandshake | None = None
    # Called when a lasting connection ends by itself.
    on_lost: Callable[[ClientError], None] | None = None
    # Called with what was put right in a message that is not a reply, and with why something was dropped.
    on_dropped: Callable[[Changes], None] | None = None
    # Legacy HTTP: an expired session is replaced silently. False: `SessionGone` is raised.
    renews_sessions: bool = True
    # Says that nothing more can be taken now; wires stop reading until `room` returns.
    is_full: Callable[[], bool] | None = None
    room: Callable[[], Awaitable[None]] | None = None

    @property
    def wants_stream(self) -> bool:
        if self.standing_stream is not None:
            return self.standing_stream
        return bool(self.handlers) or self.on_notification is not None
