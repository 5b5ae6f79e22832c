"""What is known about the way to a server before anybody asks: the target, and how its operator wants it used."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from ..client.options import Options
from ..client.transcript import Observer
from ..client.wires.targets import Target
from ..repairs.chosen import Repairs
from .limits import DEFAULT, BridgeLimits


class Way(Struct, frozen=True, kw_only=True):
    """One server behind a bridge. Most fields have a default."""

    # `http(s)://…`, `ws(s)://…`, a command with its arguments, or a server in this process.
    target: Target
    # How the target is shown: without anything secret.
    name: str
    repairs: Repairs
    # The revision that the server is spoken to in; None: the client's own if the server has it, else one that both sides know.
    revision: str | None = None
    # How long a call may take, and how long a client waits for a server that is not there yet.
    timeout: float = 300.0
    start_timeout: float = 60.0
    # What the server can take as one message; None: anything.
    request_bytes: int | None = None
    # Offer only tools that declare themselves read-only, none of the hidden ones, and if some are chosen, no others.
    read_only: bool = False
    hidden: frozenset[str] = frozenset()
    chosen: frozenset[str] | None = None
    # Show control and invisible characters in what the server says.
    printable: bool = False
    # One connection for all clients.
    shared: bool = False
    # Connections to the server (for a command: children) at the same time.
    max_children: int = 32
    # Takes secrets out of what is shown of the server.
    mask: Callable[[str], str] = str
    # Headers, environment, observer and certificates for the connection.
    client: Options = Options()
    # Makes an observer for each new connection to the server.
    watch: Callable[[], Observer] | None = None
    limits: BridgeLimits = DEFAULT

    @property
    def withholds_tools(self) -> bool:
        """Whether there may be tools that clients must not reach."""
        return self.read_only or bool(self.hidden) or self.chosen is not None

    @property
    def is_command(self) -> bool:
        return isinstance(self.target, Sequence) and not isinstance(self.target, str)
