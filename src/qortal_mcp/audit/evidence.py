"""What an audit has seen: visits to a server, made of steps, each with what was sent and what came back.

Only data, exact to the byte, and how it is kept in a file. `subjects` and `checks` judge it,
so evidence from a file is judged like evidence from a wire.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from ..protocol.jsonrpc import UNREADABLE

# sse: the two addresses of 2024-11-05
Transport = Literal["stdio", "http", "websocket", "sse"]
# answered  a reply came, whatever it looks like
# silent    none came in time
# closed    the connection ended first
# sent      nothing was waited for: a notification
Ending = Literal["answered", "silent", "closed", "sent"]
Headers = tuple[tuple[str, str], ...]


class Heard(Struct, frozen=True, omit_defaults=True):
    """One piece that came: a line with its ending, a frame, a body, the data of an event."""

    # One of the two: bytes that are not UTF-8 are kept as Base64.
    text: str = ""
    base64: bytes = b""
    # Seconds after the step began.
    at: float = 0.0
    # The name of the Server-Sent Event it was the data of; empty elsewhere.
    event: str = ""
    event_id: str = ""
    # It was larger than the limit and was not kept.
    too_long: bool = False
    binary: bool = False

    @property
    def data(self) -> bytes:
        return self.base64 or self.text.encode()

    @classmethod
    def of(cls, data: bytes, **more: object) -> "Heard":
        try:
            return cls(text=data.decode(), **more)  # type: ignore[arg-type]
        except UnicodeDecodeError:
            return cls(base64=data, **more)  # type: ignore[arg-type]


class Http(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The HTTP around a step. `is_whole`: the reply ended by itself, and in time."""

    method: str = "POST"
    path: str = ""
    sent: Headers = ()
    # None: no reply began.
    status: int | None = None
    headers: Headers = ()
    is_whole: bool = True

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)

    @property
    def media_type(self) -> str:
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


class Step(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One question to a server and everything that came while its answer was waited for."""

    # What was asked: a method, or the name of a probe such as "unknown-method".
    name: str
    # The tool, cursor or version it was about.
    subject: str = ""
    text: str = ""
    base64: bytes = b""
    heard: tuple[Heard, ...] = ()
    http: Http | None = None
    seconds: float = 0.0
    end: Ending = "answered"
    # What the wire said about its end: an exit code, a close code.
    remark: str = ""

    @property
    def sent(self) -> bytes:
        return self.base64 or self.text.encode()


class Visit(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One connection: which revision it was made for, and its steps in order."""

    name: str
    transport: Transport
    # The revision that was agreed on; empty where none was.
    revision: str = ""
    # What a client of a bridge got: answers after their repair.
    is_repaired: bool = False
    steps: tuple[Step, ...] = ()

    def named(self, *names: str) -> Iterator[Step]:
        return (step for step in self.steps if step.name in names)


class Gap(Struct, frozen=True, omit_defaults=True):
    """Something that could not be determined, and why."""

    what: str
    reason: str
    # Without it no server can be said to conform.
    weighs: bool = False


class Evidence(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Everything an audit has seen of one server."""

    # An address without secrets, or a command line.
    target: str
    argv: tuple[str, ...] = ()
    transport: Transport
    # Every request carried headers that are kept nowhere: an authorization.
    has_secret_headers: bool = False
    # The only revisions that were to be looked at; empty: all.
    revisions_asked: tuple[str, ...] = ()
    visits: tuple[Visit, ...] = ()
    gaps: tuple[Gap, ...] = ()


FORMAT = "qortal-mcp audit capture"


class _Title(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """The first line of a file."""

    format: str = field(name="capture", default="")
    version: int = 1
    target: str = ""
    argv: tuple[str, ...] = ()
    transport: Transport = "stdio"
    has_secret_headers: bool = False
    revisions_asked: tuple[str, ...] = ()
    gaps: tuple[Gap, ...] = ()


class NotACapture(Exception):
    """A file that is not a capture; the text says what is wrong with it."""


def to_file(evidence: Evidence) -> bytes:
    """One line for the whole, one for each visit, one for each of its steps."""
    title = _Title(
        format=FORMAT,
        target=evidence.target,
        argv=evidence.argv,
        transport=evidence.transport,
        has_secret_headers=evidence.has_secret_headers,
        revisions_asked=evidence.revisions_asked,
        gaps=evidence.gaps,
    )
    lines: list[bytes] = [_line(title)]
    for visit in evidence.visits:
        lines.append(_line(msgspec.structs.replace(visit, steps=())))
        lines += [_line(step) for step in visit.steps]
    return b"\n".join(lines) + b"\n"


def _line(value: Struct) -> bytes:
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:  # half a character, in a name or a header
        return msgspec.json.encode(_writable(msgspec.to_builtins(value)))


def _writable(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {key: _writable(part) for key, part in value.items()}
    return [_writable(part) for part in value] if isinstance(value, list | tuple) else value


class _Line(Struct, frozen=True):
    """Enough of a line to distinguish a visit from a step."""

    transport: str = ""


def begins_capture(line: bytes) -> bool:
    """Whether a file with this first line is a capture."""
    return _title(line).format == FORMAT


def _title(line: bytes) -> _Title:
    try:
        return msgspec.json.decode(line, type=_Title)
    except UNREADABLE:
        return _Title()


def from_file(data: bytes) -> Evidence:
    """Raises: NotACapture."""
    lines = [line for line in data.splitlines() if line.strip()]
    title = _title(lines[0] if lines else b"")
    if title.format != FORMAT:
        raise NotACapture(f"the first line does not say that this is a capture: {FORMAT!r}")
    if title.version != 1:
        raise NotACapture(f"captures of version {title.version} are not supported here")
    visits: list[tuple[Visit, list[Step]]] = []
    for number, line in enumerate(lines[1:], 2):
        try:
            if msgspec.json.decode(line, type=_Line).transport:
                visits.append((msgspec.json.decode(line, type=Visit), []))
            elif visits:
                visits[-1][1].append(msgspec.json.decode(line, type=Step))
            else:
                raise NotACapture(f"line {number}: a step before the first visit")
        except UNREADABLE as exc:
            raise NotACapture(f"line {number}: {exc}") from None
    return Evidence(
        target=title.target,
        argv=title.argv,
        transport=title.transport,
        has_secret_headers=title.has_secret_headers,
        revisions_asked=title.revisions_asked,
        visits=tuple(msgspec.structs.replace(visit, steps=tuple(steps)) for visit, steps in visits),
        gaps=title.gaps,
    )
