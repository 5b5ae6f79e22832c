"""What can go wrong on the client's side.

ClientError
├── ServerError      the server answered with a JSON-RPC error
├── RequestTimeout   no answer in time
├── ConnectionLost   the connection was lost, or never opened
│   ├── CannotRun    there is no such program
│   └── HttpRefused  an HTTP status instead of an answer
│       └── SessionGone  the session of the legacy era has expired
├── MalformedReply   an answer that is not a valid reply
│   └── StreamEnded  the reply ended before the answer
└── NotSupported     the two sides have no common revision, or this one lacks the method

Each carries `evidence`: the bytes that led to it, cut to a limit.
AnswerRefused goes the other way: a handler raises it to answer a server's question with an error.
"""

from typing import Any

from msgspec import UNSET, Raw, UnsetType

from ..protocol.errors import INTERNAL_ERROR, ErrorObject
from ..text import printable, shortened
from . import refusals
from .reading import Changes

_SHOWN_CHARS = 300


class ClientError(Exception):
    """A request that has no result."""

    def __init__(self, message: str, evidence: tuple[bytes, ...] = ()) -> None:
        super().__init__(shown(message))
        self.evidence = evidence


class ServerError(ClientError):
    """The server's own JSON-RPC error, as it was sent. `status` is the HTTP status it came with."""

    def __init__(
        self,
        error: ErrorObject,
        evidence: tuple[bytes, ...] = (),
        status: int | None = None,
        raw: Raw | None = None,
        changes: Changes = (),
    ) -> None:
        super().__init__(f"{error.message} ({error.code})", evidence)
        # The error object as JSON, and what `Options.reading` and the wire put right in the message.
        self.raw = raw
        self.changes = changes
        self.code = error.code
        self.message = error.message
        self.data: Any | UnsetType = error.data
        self.status = status


class RequestTimeout(ClientError):
    """Evidence: the messages that arrived meanwhile and belonged to no request."""

    def __init__(self, what: str, seconds: float, evidence: tuple[bytes, ...] = ()) -> None:
        super().__init__(f"no answer to {what} within {seconds:g} s", evidence)
        self.seconds = seconds


class ConnectionLost(ClientError):
    """Evidence: the last output, such as a child's standard error."""


class CannotRun(ConnectionLost):
    """There is no such program, or it may not be run."""


class HttpRefused(ConnectionLost):
    """An HTTP status without a JSON-RPC body. `detail` says more, if the body does."""

    def __init__(
        self, status: int, headers: tuple[tuple[str, str], ...], body: bytes, detail: str = ""
    ) -> None:
        super().__init__(f"HTTP status {status}" + (f": {detail}" if detail else ""), (body,) if body else ())
        self.status = status
        self.headers = headers
        self.detail = detail

    @property
    def challenge(self) -> str:
        """What WWW-Authenticate asks for; empty if there is none."""
        return refusals.challenge(self.headers)

    @property
    def retry_after(self) -> float | None:
        """How many seconds to wait before the next attempt, if the server said so."""
        return refusals.retry_after(self.headers)


class SessionGone(HttpRefused):
    """The server does not know the session id, so the message was not processed. See `lost_sessions`.

    `session_id` is empty if no id was sent.
    """

    def __init__(
        self,
        status: int,
        headers: tuple[tuple[str, str], ...],
        body: bytes,
        session_id: str,
        detail: str = "",
    ) -> None:
        super().__init__(status, headers, body, detail)
        self.session_id = session_id


class MalformedReply(ClientError):
    """The message says what is wrong with it."""


class StreamEnded(MalformedReply):
    """The stream of events that should have brought the answer ended before it."""


class NotSupported(ClientError):
    """The other side did not declare that it supports this."""


class AnswerRefused(Exception):
    """Raised by a handler: the server's question is answered with this error."""

    def __init__(self, message: str, code: int = INTERNAL_ERROR, data: Any | UnsetType = UNSET) -> None:
        super().__init__(message)
        self.error = ErrorObject(code, message, data)


def shown(text: str) -> str:
    """Untrusted text, shortened and made printable."""
    return shortened(printable(text), _SHOWN_CHARS)
