"""What an operator can change: options in groups, which each command combines.

An option is spelt once, as a field. Its flag, its variable, the `--help` text and docs/settings.md are derived
from the field's name, type, default and description. A flag beats a variable, a variable beats the default.

WrongSetting: a setting cannot be used. Its text names the setting and never its value.
"""

import functools
import re
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct

PREFIX = "QORTAL_MCP_"
# The token that clients send. There is no flag for it: other users of a machine can read command lines.
TOKEN_VARIABLE = PREFIX + "TOKEN"
# The same for a server that is not ours: what it is sent must never be our own token.
SERVER_TOKEN_VARIABLE = PREFIX + "SERVER_TOKEN"
# The variables that programs for OpenAI-compatible endpoints have in common.
BASE_URL_VARIABLE = "OPENAI_BASE_URL"
KEY_VARIABLE = "OPENAI_API_KEY"
MODEL_VARIABLE = "OPENAI_MODEL"
# Read only by the tests, and often set in the same shell.
TEST_VARIABLES = (PREFIX + "LIVE_NODE",)

# Default calls per second and caller if the server can be reached from other machines.
RATE_BEYOND_LOOPBACK = 50.0
# No header is longer; a larger file is the wrong file.
_TOKEN_FILE_CHARS = 8192
# Shorter ones can be guessed by trying. `openssl rand -hex 16` gives twice as many.
_TOKEN_LEAST_CHARS = 16
# Suggestions less similar than this are not shown.
_LIKENESS = 0.6

_Group = TypeVar("_Group", bound="Options")


class WrongSetting(Exception):
    """A setting that cannot be used."""


class Options(Struct, frozen=True, kw_only=True):
    """A group of options. `title` is its heading wherever options are listed."""

    title: ClassVar[str]


_HOST = r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
_PORT = r"(:[0-9]{1,5})?"

NodeAddress = Annotated[str, Meta(pattern=r"^https?://[^\s/]+\S*\Z", max_length=500)]
# As clients write them in the Host header, and browsers in the Origin header: no other form ever matches.
HostName = Annotated[str, Meta(pattern=rf"^{_HOST}{_PORT}\Z", max_length=300)]
WebOrigin = Annotated[str, Meta(pattern=rf"^[A-Za-z][A-Za-z0-9+.-]*://{_HOST}{_PORT}/?\Z", max_length=300)]
NetworkAddress = Annotated[str, Meta(pattern=r"^[0-9A-Fa-f:.]+(/[0-9]{1,3})?\Z", max_length=60)]
Duration = Annotated[str, Meta(pattern=r"^0*[1-9][0-9]{0,7}[smhd]?\Z", max_length=20)]
CallsPerSecond = Annotated[float, Meta(ge=0, le=1_000_000)]
ListenAddress = Annotated[
    str, Meta(pattern=r"^(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]/]+):[0-9]{1,5}\Z", max_length=300)
]
# Numbers from 65536 on.
_NO_PORT = {
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
                "refused": _NO_PORT,
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
                "refused": _NO_PORT,
            },
        ),
    ] = "127.0.0.1:12391"


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
                "refused": _NO_PORT,
                "default": "stdin and stdout",
            },
        ),
    ] = None  # type: ignore[assignment]


ToolName = Annotated[str, Meta(min_length=1, max_length=300)]
VariableName = Annotated[str, Meta(pattern=r"^[A-Za-z_][A-Za-z0-9_]*\Z", max_length=200)]
RepairCode = Annotated[str, Meta(pattern=r"^[a-z0-9-]+\Z", max_length=60)]
SubprotocolName = Annotated[str, Meta(pattern=r"^[!#$%&'*+.^_`|~0-9A-Za-z-]*\Z", max_length=100)]
LongSeconds = Annotated[float, Meta(ge=0.1, le=86_400)]
ServerTarget = Annotated[str, Meta(min_length=1, max_length=8192)]
ModelName = Annotated[str, Meta(min_length=1, max_length=300)]


class RepairOptions(Options, frozen=True, kw_only=True):
    """What is done to the answers of a server that is not ours."""

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


ModelAddress = Annotated[str, Meta(pattern=r"^https?://[^\s/]+\S*\Z", max_length=500)]


class ModelOptions(Options, frozen=True, kw_only=True):
    """Which language model is asked."""

    title: ClassVar[str] = "Model"

    base_url: Annotated[
        ModelAddress | None,
        Meta(
            description="Address of an OpenAI-compatible endpoint. OPENAI_BASE_URL counts too; without either, an Ollama, LM Studio, llama.cpp or vLLM on this machine is used.",
            extra={
                "metavar": "URL",
                "expected": "an address that starts with http:// or https://",
                "refused": {
                    r"^[^:]+://[^/?#]*@": f"must not contain a user name or password: use {KEY_VARIABLE} or --key-file"
                },
            },
        ),
    ] = None
    model: Annotated[
        ModelName | None,
        Meta(
            description="Name of the model. OPENAI_MODEL counts too; without either, the first one that the endpoint has.",
            extra={"metavar": "NAME", "expected": "the name of a model"},
        ),
    ] = None
    key_file: Annotated[
        str | None,
        Meta(
            description=f"File with the key for the endpoint. The variable {KEY_VARIABLE} may hold the key itself.",
            extra={"metavar": "FILE"},
        ),
    ] = None


class AskOptions(Options, frozen=True, kw_only=True):
    """What a question may use."""

    title: ClassVar[str] = "Question"

    server: Annotated[
        tuple[ServerTarget, ...],
        Meta(
            description="An MCP server whose tools may be called, instead of Qortal's: an address, or a command in quotes. With --node or --sample, besides Qortal's.",
            extra={"metavar": "TARGET", "expected": "an address, or a command in quotes"},
        ),
    ] = ()
    max_rounds: Annotated[
        Annotated[int, Meta(ge=1, le=1000)],
        Meta(
            description="How many times the model may ask for tools before it has to answer.",
            extra={"metavar": "NUMBER", "expected": "a number from 1 to 1000"},
        ),
    ] = 12
    max_tokens: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        Meta(
            description="How many tokens one question may use, prompts and answers of all rounds together.",
            extra={"metavar": "NUMBER", "expected": "a number, 1 or more", "default": "no limit"},
        ),
    ] = None
    max_time: Annotated[
        LongSeconds,
        Meta(
            description="How long one question may take.",
            extra={"metavar": "SECONDS", "expected": "a number of seconds from 0.1 to 86400"},
        ),
    ] = 600.0


class LogOptions(Options, frozen=True, kw_only=True):
    """What is written to standard error."""

    title: ClassVar[str] = "Logging"

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(
            description="The lowest level of lines to write. `call` and `tools` write only errors unless it is given."
        ),
    ] = "info"
    log_format: Annotated[
        Literal["auto", "json", "text"],
        Meta(
            description="`auto` is text on a terminal and for `call` and `tools`, and JSON lines elsewhere."
        ),
    ] = "auto"


GROUPS: tuple[type[Options], ...] = (
    NodeOptions,
    ListenOptions,
    SampleNodeOptions,
    RepairOptions,
    ServerOptions,
    BridgeListenOptions,
    ModelOptions,
    AskOptions,
    LogOptions,
)

# Either may be given, but not both from the same source.
_EITHER_OR = (("node", "sample"),)

# Variables of an earlier server, by the start of their names, and what replaces them here.
OLD_VARIABLES = (
    ("QORTAL_BASE_URL", f"use --node or {PREFIX}NODE"),
    ("QORTAL_PUBLIC_NODES", f"use --node or {PREFIX}NODE, once for each node"),
    ("QORTAL_ALLOW_PUBLIC_FALLBACK", f"name every node that may answer with --node or {PREFIX}NODE"),
    ("QORTAL_FALLBACK_", "not needed: a failing node is rested and probed automatically"),
    ("QORTAL_HTTP_TIMEOUT", "not needed: the time for an answer is fixed"),
    ("QORTAL_API_KEY", "not needed: no API key is ever read or sent"),
)


class Option(Struct, frozen=True):
    """One field of a group, as flags, variables and documents need it."""

    field: str
    kind: Any
    default: Any
    description: str
    metavar: str
    expected: str
    default_text: str
    choices: tuple[str, ...] = ()
    # What is refused with its own message, by pattern.
    refused: Mapping[str, str] = {}
    repeatable: bool = False
    is_switch: bool = False

    @property
    def flag(self) -> str:
        return "--" + self.field.replace("_", "-")

    @property
    def variable(self) -> str:
        return PREFIX + self.field.upper()


@functools.cache
def options_of(group: type[Options]) -> tuple[Option, ...]:
    """The options of a group, in the order of its fields."""
    return tuple(_option(field) for field in msgspec.structs.fields(group))


def _option(field: msgspec.structs.FieldInfo) -> Option:
    plain, *_, meta = typing.get_args(
        field.type
    )  # if there are several annotations, the last one is the option's own
    extra = meta.extra or {}
    choices = typing.get_args(plain) if typing.get_origin(plain) is Literal else ()
    return Option(
        field=field.name,
        kind=field.type,
        default=field.default,
        description=meta.description,
        metavar=extra.get("metavar") or "|".join(choices),
        expected=extra.get("expected") or _expected(plain, choices),
        default_text=extra.get("default") or _default_text(field.default),
        choices=choices,
        refused=extra.get("refused", {}),
        repeatable=typing.get_origin(plain) is tuple,
        is_switch=plain is bool,
    )


def _expected(plain: Any, choices: tuple[str, ...]) -> str:
    if choices:
        return "one of " + ", ".join(choices)
    if plain is bool:
        return "true or false"
    assert plain is str or typing.get_origin(plain) in (tuple, types.UnionType), (
        "other types must give `expected`"
    )
    return "text"


def _default_text(default: Any) -> str:
    if default is None or default is False or default == ():
        return ""
    return ", ".join(default) if isinstance(default, tuple) else str(default)


def read(group: type[_Group], flags: Mapping[str, Any], environ: Mapping[str, str]) -> _Group:
    """A group from the flags that were given (by field name) and the environment.

    Raises: WrongSetting.
    """
    values: dict[str, Any] = {}
    for option in options_of(group):
        if option.field in flags:
            values[option.field] = _converted(option, flags[option.field], option.flag)
        elif text := environ.get(option.variable, "").strip():
            values[option.field] = _converted(option, _listed(option, text), option.variable)
    for pair in _EITHER_OR:
        _settle(pair, values, flags)
    return group(**values)


def _listed(option: Option, text: str) -> Any:
    return [part for piece in text.split(",") if (part := piece.strip())] if option.repeatable else text


def _converted(option: Option, raw: Any, source: str) -> Any:
    if option.choices and isinstance(raw, str):
        raw = raw.lower()
    for pattern, why in option.refused.items():
        if any(re.search(pattern, text) for text in ([raw] if isinstance(raw, str) else raw)):
            raise WrongSetting(f"{source} {why}.")
    try:
        return msgspec.convert(raw, option.kind, strict=False)
    except msgspec.ValidationError:
        raise WrongSetting(f"{source} must be {option.expected}.") from None


def _settle(pair: tuple[str, str], values: dict[str, Any], flags: Mapping[str, Any]) -> None:
    """If two settings cannot be combined, a flag beats a variable."""
    given = [name for name in pair if values.get(name)]
    if len(given) < 2:
        return
    by_variable = [name for name in given if name not in flags]
    if len(by_variable) != 1:
        names = [(f"--{name}" if name in flags else PREFIX + name.upper()) for name in given]
        raise WrongSetting(f"{names[0]} and {names[1]} cannot be combined; give one of them.")
    del values[by_variable[0]]


def known_variables() -> tuple[str, ...]:
    """Every variable with our prefix that is read."""
    ours = (option.variable for group in GROUPS for option in options_of(group))
    return (*dict.fromkeys(ours), TOKEN_VARIABLE, SERVER_TOKEN_VARIABLE, *TEST_VARIABLES)


def refuse_unknown_variables(environ: Mapping[str, str]) -> None:
    """A misspelt variable would otherwise be a setting that silently does nothing.

    Raises: WrongSetting, naming the variable and the nearest existing one, if any is similar.
    """
    known = known_variables()
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in known:
            raise WrongSetting(f"Unknown variable {name}. {_instead_of(name, known)}")


def _instead_of(name: str, known: Iterable[str]) -> str:
    import difflib  # slow to import, and only needed for a mistake

    # The shared prefix says nothing about which one was meant.
    endings = [variable.removeprefix(PREFIX) for variable in known]
    near = difflib.get_close_matches(name.removeprefix(PREFIX), endings, n=1, cutoff=_LIKENESS)
    if near:
        return f"Did you mean {PREFIX}{near[0]}?"
    return "The help of each command names its variables."


def old_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables of an earlier server, with what to use instead. Their values are never used."""
    return {
        name: instead
        for name in sorted(environ)
        for beginning, instead in OLD_VARIABLES
        if name.startswith(beginning)
    }


def seconds(duration: Duration) -> int:
    """The length of a duration; without a unit it is in seconds."""
    number = duration.rstrip("smhd")
    return int(number) * {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}[duration[len(number) :]]


def host_and_port(listen: str) -> tuple[str, int]:
    """The two parts of an address to listen on; the host without the brackets of IPv6."""
    host, _, port = listen.rpartition(":")
    return host.strip("[]"), int(port)


def token(options: ListenOptions, environ: Mapping[str, str]) -> str | None:
    """The token that clients must send: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    found, source = _secret(options.token_file, "--token-file", TOKEN_VARIABLE, environ)
    if found is not None and len(found) < _TOKEN_LEAST_CHARS:
        raise WrongSetting(
            f"The token in {source} must have at least {_TOKEN_LEAST_CHARS} characters: a shorter one can be guessed."
        )
    return found


def server_token(options: ReachOptions, environ: Mapping[str, str]) -> str | None:
    """The token that a server wants from us: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    return _secret(options.server_token_file, "--server-token-file", SERVER_TOKEN_VARIABLE, environ)[0]


def model_key(options: ModelOptions, environ: Mapping[str, str]) -> str | None:
    """The key for a model's endpoint: from the file, or else the variable, or else None.

    Raises: WrongSetting.
    """
    return _secret(options.key_file, "--key-file", KEY_VARIABLE, environ)[0]


def _secret(
    file_name: str | None, flag: str, variable: str, environ: Mapping[str, str]
) -> tuple[str | None, str]:
    """A token and where it comes from. Raises: WrongSetting."""
    if file_name is None:
        found, source = environ.get(variable), variable
        if not found:
            return None, source
    else:
        source = flag
        try:
            with open(file_name, encoding="utf-8") as file:
                found = file.read(_TOKEN_FILE_CHARS)
        except (OSError, UnicodeDecodeError) as exc:
            why = exc.strerror if isinstance(exc, OSError) else "not text"
            raise WrongSetting(f"{source} cannot be read: {why}.") from None
    stripped = found.strip()
    if not stripped or not stripped.isascii() or not stripped.isprintable() or " " in stripped:
        raise WrongSetting(f"The token in {source} must be one word of printable ASCII characters.")
    return stripped, source
