"""What the server reads, where it listens and what it logs."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from .option import Options
from .variables import TOKEN_VARIABLE

# Default calls per second and caller if the server can be reached from other machines.
RATE_BEYOND_LOOPBACK = 50.0

_HOST = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
_PORT = r"(:[0-9]{1,5})?"

NodeAddress = Annotated[str, Meta(pattern=r"^https?://[^\s/]+\S*\Z", max_length=500)]
# As clients write them in the Host header, and browsers in the Origin header: no other form ever matches.
HostName = Annotated[str, Meta(pattern=rf"^{_HOST}{_PORT}\Z", max_length=300)]
WebOrigin = Annotated[str, Meta(pattern=rf"^[A-Za-z][A-Za-z0-9+.-]*://{_HOST}{_PORT}/?\Z", max_length=300)]
NetworkAddress = Annotated[str, Meta(pattern=r"^[0-9A-Fa-f:.]+(/[0-9]{1,3})?\Z", max_length=60)]
Duration = Annotated[str, Meta(pattern=r"^0*[1-9][0-9]{0,7}[smhd]?\Z", max_length=20)]
DrainSeconds = Annotated[float, Meta(ge=0, le=600)]
CallsPerSecond = Annotated[float, Meta(ge=0, le=1_000_000)]
NodeCount = Annotated[int, Meta(ge=1, le=100)]
# As many as there may be requests to a node at once: each worker needs a share of every limit.
MOST_WORKERS = 16
WorkerCount = Annotated[int, Meta(ge=1, le=MOST_WORKERS)]
ListenAddress = Annotated[
    str, Meta(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/]+):[0-9]{1,5}\Z", max_length=300)
]
# Numbers from 65536 on.
NO_PORT = {
    r":(6553[6-9]|655[4-9][0-9]|65[6-9][0-9]{2}|6[6-9][0-9]{3}|[7-9][0-9]{4})\Z": "needs a port from 0 to 65535"
}


class NodeOptions(Options, frozen=True, kw_only=True):
    """Which chain is read, and which tools are offered."""

    title: ClassVar[str] = "Node and tools"

    node: Annotated[
        tuple[NodeAddress, ...],
        Meta(
            description="Address of a Qortal Core node. If repeated, the first healthy one answers.",
            extra={
                "metavar": "URL",
                "expected": "an address that starts with http:// or https://",
                "refused": {
                    r"^[^:]+://[^/?#]*@": "must not contain a user name or password: none is ever sent"
                },
            },
        ),
    ] = ("http://127.0.0.1:12391",)
    confirm: Annotated[
        NodeCount,
        Meta(
            description="How many of the given nodes are asked and compared. What is on the chain must be the same on each at one block: "
            "asOf.confirmedBy names those that agree, and a note those that do not.",
            extra={"metavar": "NUMBER", "expected": "a number from 1 to 100"},
        ),
    ] = 1
    max_tip_age: Annotated[
        Duration,
        Meta(
            description="A node whose newest block is older than this is behind: others answer first, and /readyz says 503. "
            "A number with s, m, h or d.",
            extra={"metavar": "TIME", "expected": "a number with s, m, h or d, such as 15m"},
        ),
    ] = "15m"
    sample: Annotated[
        bool, Meta(description="Read the built-in sample chain instead of a node. Every answer says so.")
    ] = False
    toolsets: Annotated[
        str,
        Meta(
            description="Which groups of tools to offer: `all`, a list, or changes to the default such as `+chat,-raw`. `qortal-mcp tools` shows them.",
            extra={"metavar": "LIST"},
        ),
    ] = "default"


class ListenOptions(Options, frozen=True, kw_only=True):
    """Where the HTTP server listens, and who may use it."""

    title: ClassVar[str] = "Listening"

    listen: Annotated[
        ListenAddress,
        Meta(
            description="Address to listen on. Port 0 picks a free port; an IPv6 address goes in brackets.",
            extra={
                "metavar": "HOST:PORT",
                "expected": "HOST:PORT, such as 127.0.0.1:8000 or [::1]:8000",
                "refused": NO_PORT,
            },
        ),
    ] = "127.0.0.1:8000"
    token_file: Annotated[
        str | None,
        Meta(
            description=f"File with the token that clients must send. The variable {TOKEN_VARIABLE} may hold the token itself.",
            extra={"metavar": "FILE"},
        ),
    ] = None
    without_token: Annotated[bool, Meta(description="Allow listening beyond loopback without a token.")] = (
        False
    )
    allow_host: Annotated[
        tuple[HostName, ...],
        Meta(
            description="A name that clients may use in the Host header, besides the loopback names.",
            extra={
                "metavar": "NAME[:PORT]",
                "expected": "NAME or NAME:PORT without scheme and path, such as mcp.example:8000",
            },
        ),
    ] = ()
    allow_origin: Annotated[
        tuple[WebOrigin, ...],
        Meta(
            description="An origin whose web pages may use the server, besides the server's own.",
            extra={
                "metavar": "ORIGIN",
                "expected": "SCHEME://HOST or SCHEME://HOST:PORT, such as https://app.example",
            },
        ),
    ] = ()
    trusted_proxy: Annotated[
        tuple[NetworkAddress, ...],
        Meta(
            description="Address or network of a reverse proxy whose X-Forwarded-For or Forwarded header says who the caller is.",
            extra={
                "metavar": "ADDRESS[/BITS]",
                "expected": "an address or a network, such as 10.0.0.1 or 10.0.0.0/8",
            },
        ),
    ] = ()
    rate_limit: Annotated[
        CallsPerSecond | None,
        Meta(
            description="Calls per second that one caller may make; 0 for no limit.",
            extra={
                "metavar": "NUMBER",
                "expected": "a number, 0 or more",
                "default": f"none on loopback, {RATE_BEYOND_LOOPBACK:g} beyond",
            },
        ),
    ] = None
    drain_seconds: Annotated[
        DrainSeconds,
        Meta(
            description="On SIGTERM, go on serving for so long while /readyz says 503, so that a balancer sends nobody here any more. Ctrl-C does not wait.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds, 0 or more"},
        ),
    ] = 0.0


class WorkerOptions(Options, frozen=True, kw_only=True):
    """How many processes serve."""

    title: ClassVar[str] = "Workers"

    workers: Annotated[
        WorkerCount,
        Meta(
            description="How many processes serve, all at the same address: one for each core that it may use. Limits hold for all of them together.",
            extra={"metavar": "NUMBER", "expected": f"a number from 1 to {MOST_WORKERS}"},
        ),
    ] = 1


class SampleNodeOptions(Options, frozen=True, kw_only=True):
    """Where the sample chain listens as a node."""

    title: ClassVar[str] = "Listening"

    listen: Annotated[
        ListenAddress,
        Meta(
            description="Address to listen on: by default the one where clients look for a node.",
            extra={
                "metavar": "HOST:PORT",
                "expected": "HOST:PORT, such as 127.0.0.1:12391",
                "refused": NO_PORT,
            },
        ),
    ] = "127.0.0.1:12391"


class LogOptions(Options, frozen=True, kw_only=True):
    """What is written to standard error."""

    title: ClassVar[str] = "Logging"

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(
            description="The lowest level of lines to write. `ask`, `call` and `tools` write only errors unless it is given."
        ),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "text"],
        Meta(
            description="`auto` is text on a terminal and for `ask`, `call` and `tools`, and JSON lines elsewhere."
        ),
    ] = "auto"


def seconds(duration: Duration) -> int:
    """The length of a duration; without a unit it is in seconds."""
    number = duration.rstrip("smhd")
    return int(number) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}[duration[len(number) :]]


def host_and_port(listen: str) -> tuple[str, int]:
    """The two parts of an address to listen on; the host without the brackets of IPv6."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)
