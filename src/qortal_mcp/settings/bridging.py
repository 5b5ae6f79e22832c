"""How servers that are not ours are reached, and what is done to their answers."""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from .option import Options
from .serving import NO_PORT, ListenAddress, ListenOptions
from .variables import SERVER_TOKEN_VARIABLE

ToolName = Annotated[str, Meta(min_length=1, max_length=300)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z", max_length=200)]
RepairCode = Annotated[str, Meta(pattern=r"^[a-z0-9-]+\Z", max_length=60)]
SubprotocolName = Annotated[str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]*\Z", max_length=100)]
LongSeconds = Annotated[float, Meta(ge=0.1, le=86_400)]


class BridgeListenOptions(ListenOptions, frozen=True, kw_only=True):
    """Where a bridge listens, if it does."""

    title: ClassVar[str] = "Listening"

    listen: Annotated[
        ListenAddress | None,
        Meta(
            description="Serve HTTP at /mcp and WebSocket at /ws at this address, instead of the client that started this process.",
            extra={
                "metavar": "HOST:PORT",
                "expected": "HOST:PORT, such as 127.0.0.1:8000 or [::1]:8000",
                "refused": NO_PORT,
                "default": "stdin and stdout",
            },
        ),
    ] = None  # type: ignore[assignment]


class ChosenRepairs(Options, frozen=True, kw_only=True):
    """Which repairs are made in the answers of a server that is not ours."""

    title: ClassVar[str] = "Repairs"

    repair: Annotated[
        Literal["all", "safe", "none"],
        Meta(
            description="`safe` repairs what breaks the specification, and neither loses nor invents anything; `all` also repairs what only some clients cannot read."
        ),
    ] = "safe"
    without_repair: Annotated[
        tuple[RepairCode, ...],
        Meta(
            description="Do not make this repair; docs/bridge.md lists the codes.",
            extra={"metavar": "CODE", "expected": "the code of a repair, such as content-missing"},
        ),
    ] = ()


class RepairOptions(ChosenRepairs, frozen=True, kw_only=True):
    """What a bridge does to the answers of a server that is not ours."""

    read_only: Annotated[bool, Meta(description="Offer only tools that declare themselves read-only.")] = (
        False
    )
    hide_tool: Annotated[
        tuple[ToolName, ...],
        Meta(
            description="Do not offer this tool.", extra={"metavar": "NAME", "expected": "the name of a tool"}
        ),
    ] = ()
    printable: Annotated[
        bool, Meta(description="Show control and invisible characters in the server's texts as \\u{XXXX}.")
    ] = False


class GatherOptions(Options, frozen=True, kw_only=True):
    """Several servers behind one front."""

    title: ClassVar[str] = "Several servers"

    servers: Annotated[
        str | None,
        Meta(
            description="Offer all servers of this file, each under its name: the file of a client, with mcpServers, servers or mcp_servers (JSON or TOML). Read again when it changes, and on SIGHUP.",
            extra={"metavar": "FILE"},
        ),
    ] = None
    tools_by_search: Annotated[
        bool,
        Meta(
            description="With several servers: offer four tools to find, describe and call the others, instead of all definitions."
        ),
    ] = False


class ReachOptions(Options, frozen=True, kw_only=True):
    """How a server that is not ours is reached."""

    title: ClassVar[str] = "Reaching the server"

    header_file: Annotated[
        str | None,
        Meta(
            description="Headers for the server, one 'Name: value' per line; never shown.",
            extra={"metavar": "FILE"},
        ),
    ] = None
    server_token_file: Annotated[
        str | None,
        Meta(
            description=f"File with the token that the server wants. The variable {SERVER_TOKEN_VARIABLE} may hold the token itself.",
            extra={"metavar": "FILE"},
        ),
    ] = None
    env: Annotated[
        tuple[VariableName, ...],
        Meta(
            description="A variable of this environment that the program may see, besides PATH, HOME and the like.",
            extra={
                "metavar": "NAME",
                "expected": "the name of a variable; its value is taken from the environment",
            },
        ),
    ] = ()
    subprotocol: Annotated[
        SubprotocolName,
        Meta(
            description="WebSocket: the subprotocol to offer; empty for none.",
            extra={"metavar": "NAME", "expected": "the name of a subprotocol"},
        ),
    ] = "mcp"
    ca_file: Annotated[
        str | None,
        Meta(
            description="Certificates (PEM) to trust for https:// and wss://, besides the system's.",
            extra={"metavar": "FILE"},
        ),
    ] = None


class WaitOptions(Options, frozen=True, kw_only=True):
    """How long a server named with `--server` is waited for."""

    title: ClassVar[str] = "Reaching the server"

    timeout: Annotated[
        LongSeconds,
        Meta(
            description="How long one answer may take. Progress starts the clock again.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds from 0.1 to 86400"},
        ),
    ] = 300.0
    start_timeout: Annotated[
        LongSeconds | None,
        Meta(
            description="How long to wait for a server that is not there yet.",
            extra={
                "metavar": "SECONDS",
                "expected": "a number of seconds from 0.1 to 86400",
                "default": "60 for a program, 5 for an address, never more than --timeout",
            },
        ),
    ] = None


class ServerOptions(ReachOptions, frozen=True, kw_only=True):
    """How a server behind a bridge is reached and used."""

    title: ClassVar[str] = "Reaching the server"

    timeout: Annotated[
        LongSeconds,
        Meta(
            description="How long one call may take. Progress starts the clock again.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds from 0.1 to 86400"},
        ),
    ] = 300.0
    start_timeout: Annotated[
        LongSeconds,
        Meta(
            description="How long to wait for a server that is not there yet.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds from 0.1 to 86400"},
        ),
    ] = 60.0
    server_revision: Annotated[
        Literal["auto", "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"],
        Meta(
            description="The revision that the server is spoken to in. `auto`: the client's own if the server has it, else one that both sides know."
        ),
    ] = "auto"
    request_bytes: Annotated[
        Annotated[int, Meta(ge=64)] | None,
        Meta(
            description="The longest message that the server can take; longer calls fail with both sizes.",
            extra={"metavar": "BYTES", "expected": "a number of bytes, 64 or more", "default": "no limit"},
        ),
    ] = None
    shared: Annotated[
        bool,
        Meta(
            description="One connection to the server for all clients. It cannot ask one of them anything then."
        ),
    ] = False
    max_children: Annotated[
        Annotated[int, Meta(ge=1, le=10_000)],
        Meta(
            description="With --listen: how many clients may have a connection to the server (a program: a process) of their own.",
            extra={"metavar": "NUMBER", "expected": "a number from 1 to 10000"},
        ),
    ] = 32
