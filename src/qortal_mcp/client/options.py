"""What a caller may choose about a connection."""

from collections.abc import Callable, Mapping
from pathlib import Path

from msgspec import Struct

from .. import __version__
from ..protocol.jsonrpc import Notification
from ..protocol.messages import ClientCapabilities, Implementation, LogLevel
from .answering import Handlers
from .limits import DEFAULT, ClientLimits
from .transcript import Headers, Observer

OnNotification = Callable[[Notification], None]


class Options(Struct, frozen=True, kw_only=True):
    """Everything has a default that suits a program that only asks."""

    info: Implementation = Implementation(name="qortal-mcp", version=__version__)
    # Who answers a server's questions: see `answering`. What is not here is refused.
    handlers: Handlers = {}
    # What is declared to servers; None: what the handlers can do.
    capabilities: ClientCapabilities | None = None
    # Hears every notification that belongs to no request and no subscription.
    on_notification: OnNotification | None = None
    # Sees every byte: a `Transcript`, or any function that takes a `Record`.
    observer: Observer | None = None
    # Modern era: the log messages wanted of each request.
    log_level: LogLevel | None = None
    limits: ClientLimits = DEFAULT

    # HTTP and WebSocket: headers on every request, such as an authorization.
    headers: Headers = ()
    # Legacy HTTP: keep the standing stream open. None: when somebody listens to what may come there.
    standing_stream: bool | None = None

    # Child processes: the whole environment (None: ours), the folder, and who hears standard error.
    env: Mapping[str, str] | None = None
    cwd: str | Path | None = None
    on_stderr: Callable[[bytes], None] | None = None

    @property
    def wants_stream(self) -> bool:
        if self.standing_stream is not None:
            return self.standing_stream
        return bool(self.handlers) or self.on_notification is not None
