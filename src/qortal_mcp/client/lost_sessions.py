"""The forms in which servers of the legacy era say that they do not know our session, in one table.

2025-03-26 and later: 404 to a session id, and nothing else. What servers send instead was collected from real ones.
"""

import re

from msgspec import Struct

from ..protocol import jsonrpc
from ..protocol.decoding import decode_as
from ..protocol.errors import ErrorObject
from ..protocol.jsonrpc import UNREADABLE, RequestId

_SESSION = re.compile(r"session", re.IGNORECASE)
_GONE = re.compile(
    r"session\b.{0,60}\b(?:not found|unknown|expired|gone|terminated|does not exist|doesn't exist|no longer)"
    r"|\b(?:unknown|invalid|no valid|expired|no such) (?:mcp[ -])?session",
    re.IGNORECASE | re.DOTALL,
)
# Of the server or the session, or of nothing in particular: a database of a tool is another matter.
_NOT_INITIALIZED = re.compile(
    r"(?:^\W*|[:.]\s*|\b(?:server|session|client|connection|transport|mcp)\s+)(?:is |was |has )?not (?:yet |been )*"
    r"initiali[sz]ed|before initiali[sz]ation",
    re.IGNORECASE,
)
_ALREADY = re.compile(r"already\b.{0,20}\binitiali[sz]ed", re.IGNORECASE)
_TIME_OUT = re.compile(r"time[d -]*out", re.IGNORECASE)
# Codes of the envelope. An error of a tool has others, and may be about a session of the tool's own.
_ENVELOPE = frozenset({-32000, -32001, -32600})
# 401 and 403 are about permission, 429 is about speed, whatever their bodies say.
_OTHER_CAUSE = frozenset({401, 403, 429})


class Refused(Struct, frozen=True, kw_only=True):
    """An answer that is not a result: its status, and what its body says. No code: it is not a JSON-RPC error."""

    status: int | None = None
    code: int | None = None
    text: str = ""
    # The request carried a session id; it was `initialize`; the error has the id of the request.
    had_session: bool = False
    opens: bool = False
    is_addressed: bool = False


class Form(Struct, frozen=True, kw_only=True):
    """One way to say it. What is not set does not matter.

    A form with a status is not for errors that have the id of the request: they may be about anything.
    """

    name: str
    status: int | None = None
    codes: frozenset[int] | None = None
    words: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    needs_session: bool = True
    opens: bool = False

    def fits(self, refused: Refused) -> bool:
        return (
            self.opens == refused.opens
            and (refused.had_session or not self.needs_session)
            and (self.status is None or (self.status == refused.status and not refused.is_addressed))
            and (self.codes is None or refused.code in self.codes)
            and (self.words is None or self.words.search(refused.text) is not None)
            and (self.unless is None or self.unless.search(refused.text) is None)
        )


NOT_FOUND = "404 to a session id"
FORMS = (
    Form(name=NOT_FOUND, status=404),
    Form(name="400 that speaks of the session", status=400, words=_SESSION),
    Form(name="400 that speaks of the handshake", status=400, words=_NOT_INITIALIZED),
    # Also what some servers give a time-out.
    Form(name="the code -32001", codes=frozenset({-32001}), unless=_TIME_OUT),
    Form(name="an error that says so", codes=_ENVELOPE, words=_GONE),
    Form(name="a server without a handshake", codes=_ENVELOPE, words=_NOT_INITIALIZED, needs_session=False),
    Form(name="a second handshake", words=_ALREADY, needs_session=False, opens=True),
)


def form_of(refused: Refused) -> str | None:
    """The name of the form in which a session is reported as lost; None if it is not."""
    if refused.status in _OTHER_CAUSE:
        return None
    return next((form.name for form in FORMS if form.fits(refused)), None)


def read(
    body: bytes, status: int | None, id_: RequestId | None, *, had_session: bool, opens: bool
) -> Refused | None:
    """What a body says; None if it is a result, or another message that refuses nothing."""
    message = jsonrpc.read(body)
    if isinstance(message, jsonrpc.Response) and message.error is not None:
        try:
            error = decode_as(message.error, ErrorObject)
        except UNREADABLE:
            error = ErrorObject(0, bytes(message.error).decode("utf-8", "replace"))
        return Refused(
            status=status,
            code=error.code,
            text=error.message,
            had_session=had_session,
            opens=opens,
            is_addressed=message.id is not None and message.id == id_,
        )
    if status is None or status < 400:
        return None
    text = body.decode("utf-8", "replace")
    return Refused(status=status, text=text, had_session=had_session, opens=opens)
