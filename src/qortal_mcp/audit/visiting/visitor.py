"""One connection to the server under audit: ask, listen, and write down every byte. Judges nothing.

A visitor goes on whatever comes: an answer that is nearly right ends a step like a right one.
"""

import json
import time
from collections.abc import Mapping
from typing import Any, Protocol

from ... import __version__
from ...client.limits import ClientLimits
from ...protocol import lenient, messages
from ...protocol.versions import MODERN_ERA
from ..evidence import Headers, Heard, Step, Transport, Visit
from ..limits import AuditLimits
from ..matching import is_reply

INFO = {"name": "qortal-mcp-audit", "version": __version__}
_HEADER_SINCE = "2025-06-18"
_JSON_HEADERS: Headers = (
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
)


class Stopped(Exception):
    """The limits of the whole audit are reached; the text says which."""


class Flooded(Exception):
    """One visit heard more than an audit keeps; the text says how much."""


class Budget:
    """What is left of the whole audit, shared by all visits."""

    def __init__(self, limits: AuditLimits) -> None:
        self.limits = limits
        self.requests = 0
        self._end = time.monotonic() + limits.total_seconds

    def take(self) -> None:
        """Raises: Stopped."""
        self.requests += 1
        if self.requests > self.limits.requests:
            raise Stopped(f"{self.limits.requests} requests were made")
        if time.monotonic() > self._end:
            raise Stopped(f"{self.limits.total_seconds:g} s are over")


def encoded(message: Any) -> bytes:
    try:
        return json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        # Half a character, from the name of a tool or a cursor: only an escape can say it.
        return json.dumps(message, separators=(",", ":")).encode()


def request(id_: int, method: str, params: Mapping[str, Any] | None = None) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": dict(params)}


def modern_params(params: Mapping[str, Any] | None, revision: str = MODERN_ERA) -> dict[str, Any]:
    """Parameters as 2026-07-28 wants them: with `_meta` that says who asks."""
    meta = {
        messages.PROTOCOL_VERSION: revision,
        messages.CLIENT_CAPABILITIES: {},
        messages.CLIENT_INFO: INFO,
    }
    return {**(params or {}), "_meta": meta}


class Visitor(Protocol):
    """What the visits need of a connection, whatever it is made of."""

    revision: str
    transport: Transport
    steps: list[Step]

    async def ask(
        self,
        name: str,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        subject: str = "",
        seconds: float | None = None,
    ) -> Step:
        """A request, and whatever comes until it is answered. Raises: Stopped."""
        ...

    async def tell(self, name: str, method: str, params: Mapping[str, Any] | None = None) -> Step:
        """A notification. Raises: Stopped."""
        ...

    async def send(
        self, name: str, data: bytes, *, expects: int | None = None, seconds: float | None = None
    ) -> Step:
        """Bytes that are no request of their own. Raises: Stopped."""
        ...

    @property
    def is_over(self) -> bool:
        """The connection is gone; asking is pointless."""
        ...

    def last_words(self) -> list[str]:
        """What the server said elsewhere before it went: the last line of a program's standard error."""
        ...

    async def close(self) -> None: ...


def visit_of(visitor: Visitor, name: str) -> Visit:
    return Visit(
        name=name, transport=visitor.transport, revision=visitor.revision, steps=tuple(visitor.steps)
    )


def answer_in(step: Step) -> dict[str, Any] | None:
    """The reply to a step, as forgiving as can be: what a visit goes on with, not what is judged."""
    nearly = None
    question = lenient.read(step.sent).values
    wanted = question[0].get("id") if question and isinstance(question[0], dict) else None
    for value in _values(step.heard):
        if is_reply(value):
            if value.get("id") == wanted:
                return dict(value)
            nearly = nearly or value
    return nearly


def _values(heard: tuple[Heard, ...]) -> list[Any]:
    from ..matching import pieces_of

    step = Step(name="", heard=heard)
    visit = Visit(name="", transport="stdio")
    found = [value for piece in pieces_of(visit, step) for value in piece.values]
    return [part for value in found for part in (value if isinstance(value, list) else [value])]


def result_in(step: Step) -> Any:
    """The result of a step; None where it has none."""
    reply = answer_in(step)
    return None if reply is None else reply.get("result")


def client_limits(limits: AuditLimits) -> ClientLimits:
    return ClientLimits(
        message_bytes=limits.message_bytes,
        request_seconds=limits.request_seconds,
        send_seconds=limits.request_seconds,
        exit_seconds=limits.exit_seconds,
        linger_seconds=limits.linger_seconds,
    )
