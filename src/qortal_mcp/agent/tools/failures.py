"""Why a call has no reply, or a server no connection: one sentence that names the server and the cause. Pure."""

import re
from collections.abc import Callable

from ...client.errors import (
    CannotRun,
    ClientError,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    NotSupported,
    RequestTimeout,
    ServerError,
)
from ...client.wires import reasons
from ...text import printable, shortened

_UNSURE = "Whether the call ran is not known."
_LONGEST = 600
_DETAIL_CHARS = 200
# An address in a message of the client or the server: only its host is repeated, the rest may be secret.
_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]{1,20}://(?:[^\s/?#@\"'<>]*@)?([^\s/?#\"'<>]+)[^\s\"'<>]*", re.IGNORECASE
)
_MEANT = {
    401: "wants a sign-in (HTTP status 401)",
    403: "refused this client (HTTP status 403)",
    404: "has nothing at this address (HTTP status 404); MCP servers often use /mcp, /sse or /ws",
    429: "has too many requests at the moment (HTTP status 429)",
}


class Unavailable(ClientError):
    """There is no connection, so nothing was sent. The text is a sentence for a person or a model."""

    def __init__(self, sentence: str) -> None:
        super().__init__("no connection")
        self.args = (sentence,)


def timed_out(tool: str, seconds: float) -> str:
    return f"{tool} timed out after {seconds:g} s"


def of_call(error: ClientError, server: str, mask: Callable[[str], str] = str) -> str:
    """Why a call that was sent has no result."""
    if isinstance(error, Unavailable):
        return str(error)
    is_lost = isinstance(error, ConnectionLost) and not isinstance(error, HttpRefused | CannotRun)
    if is_lost and str(error) != reasons.REFUSED:
        return f"The connection to {server} was lost before it answered: {_clause(error, mask)}. {_UNSURE}"
    return _sentence(error, server, mask)


def of_opening(error: ClientError, server: str, mask: Callable[[str], str] = str, tail: str = "") -> str:
    """Why there is no connection. `tail`: what a program wrote last, safe to show."""
    said = _sentence(error, server, mask)
    return f"{said} Its last output: {tail}" if tail else said


def _sentence(error: ClientError, server: str, mask: Callable[[str], str]) -> str:
    if isinstance(error, HttpRefused):
        meant = _MEANT.get(error.status)
        if meant is not None:
            return f"{server} {meant}."
        # A page may hold a whole stack.
        said = error.detail.partition("Traceback")[0][:_DETAIL_CHARS]
        detail = f": {_safe(printable(said), mask)}" if said.strip() else ""
        return f"{server} answered with HTTP status {error.status} instead of a result{detail}."
    if isinstance(error, RequestTimeout):
        return f"{server} did not answer within {error.seconds:g} s."
    if isinstance(error, CannotRun):
        # The client names the program first.
        return f"{server} cannot be started: {_clause(error, mask).rpartition(': ')[2]}."
    if isinstance(error, ConnectionLost):
        return f"{server} cannot be reached: {_clause(error, mask)}."
    if isinstance(error, ServerError):
        return f"{server} answered with an error: {_clause(error, mask)}."
    if isinstance(error, NotSupported):
        return f"{server} cannot be used: {_clause(error, mask)}."
    what = "sent a reply that cannot be read" if isinstance(error, MalformedReply) else "failed"
    return f"{server} {what}: {_clause(error, mask)}."


def _clause(error: ClientError, mask: Callable[[str], str]) -> str:
    return _safe(str(error), mask)  # the client has made it printable


def _safe(text: str, mask: Callable[[str], str]) -> str:
    """A text of strangers within a sentence: on one line, without addresses and secrets."""
    plain = _ADDRESS.sub(r"\1", mask(" ".join(text.split())))
    return shortened(plain, _LONGEST).rstrip(" .")
