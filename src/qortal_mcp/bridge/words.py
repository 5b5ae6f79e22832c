"""What clients are told when the server behind has no answer for them. One sentence for each cause."""

from collections.abc import Callable

from ..client.errors import (
    ClientError,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    RequestTimeout,
)
from ..client.wires import reasons
from ..server.tool_errors import ToolError
from .failures import Lost, RequestTooLong, SessionLost, Unreachable

_LOST = "Connection to the server was lost before it answered."
_UNSURE = "Whether it ran is not known."
# What a person can look at when there is no connection.
_HINTS = {
    reasons.REFUSED: "Is the server running?",
    reasons.NO_ANSWER: "Is it a WebSocket server? Its address begins with ws:// then.",
    reasons.NOT_TLS: "Does the address begin with http:// or ws://?",
}
_PATH_HINT = " Is the path right? MCP servers often use /mcp, /sse or /ws."


def sentence(error: ClientError) -> str:
    """Why there is no answer, in words for a person or a model."""
    if isinstance(error, Unreachable):
        return str(error)
    if isinstance(error, RequestTooLong):
        return str(error)
    if isinstance(error, RequestTimeout):
        return f"The server timed out: no answer within {error.seconds:g} s (--timeout). {_UNSURE}"
    if isinstance(error, SessionLost):
        return f"The server no longer knew this session. A new one is open. {_UNSURE}"
    if isinstance(error, HttpRefused):
        return refused(error)
    if isinstance(error, ConnectionLost):
        return _LOST
    if isinstance(error, MalformedReply):
        return f"The server's answer cannot be read: {error}."
    return f"The server failed: {error}."


def refused(error: HttpRefused) -> str:
    """What an HTTP status means for whoever set up the bridge."""
    if error.status == 401:
        asked = error.challenge
        return (
            "The server wants a sign-in (HTTP status 401"
            + (f", WWW-Authenticate: {asked}" if asked else "")
            + "). Give a token with --server-token-file or --header-file, or sign in through a program that can: "
            "qortal-mcp bridge -- npx mcp-remote URL."
        )
    if error.status == 403:
        return "The server refused this client (HTTP status 403). A token can be given with --server-token-file or --header-file."
    if error.status == 429:
        return "Rate limit exceeded"
    detail = f": {error.detail.rstrip('.')}" if error.detail else ""
    hint = _PATH_HINT if error.status in (404, 405) else ""
    return f"The server answered with HTTP status {error.status} instead of a result{detail}.{hint}"


def explained(message: str, reason: str) -> str:
    """That a server cannot be reached, as a sentence with the reason and what can be done about it."""
    first, *tail = message.splitlines() or [""]
    if reason and reason not in first:
        first = f"{first}: {reason.rstrip('.')}"
    first = f"{first[:1].upper()}{first[1:]}"
    if not first.endswith((".", "?")):
        first = f"{first}."
    if reason in _HINTS:
        first = f"{first} {_HINTS[reason]}"
    return "\n".join([first, *tail])


_CODES: tuple[tuple[type[ClientError], str], ...] = (
    (Unreachable, "SERVER_UNREACHABLE"),
    (RequestTimeout, "SERVER_TIMEOUT"),
    (RequestTooLong, "REQUEST_TOO_LONG"),
    (HttpRefused, "SERVER_REFUSED"),
    (ConnectionLost, "CONNECTION_LOST"),
)


def code_of(error: ClientError) -> str:
    """One word for each cause, for programs."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), "SERVER_ERROR")


def tool_error(error: ClientError, mask: Callable[[str], str]) -> ToolError:
    """A call that has no answer, as the failure of its tool. `mask` takes out secrets that the server repeats."""
    code = code_of(error)
    text = explained(str(error), error.reason) if isinstance(error, Unreachable) else sentence(error)
    text = mask(text)
    if isinstance(error, Lost) and error.tail:
        text = f"{text}\n{error.tail}"
    return ToolError(code, text, retryable=isinstance(error, Unreachable))
