"""Streamable HTTP: status codes, headers, streams, sessions, authorization."""

from collections.abc import Iterator
from typing import Any

from ..check import (
    ADVICE,
    IN_LEGACY,
    MUST,
    PORTABILITY,
    SHOULD,
    Check,
    Defect,
    check,
    since,
)
from ..evidence import Http, Step
from ..subjects import Exchange, Piece, Whole, is_notice, is_reply

_HTTP = "basic/transports: Streamable HTTP"
_SESSIONS = "basic/transports: session management"
_VERSION_HEADER = "basic/transports: protocol version header"
_AUTH = "basic/authorization"
_EVENTS = "text/event-stream"
_JSON = "application/json"
# Questions that any client asks; probes of this audit have checks of their own.
ORDINARY = frozenset(
    {
        "initialize",
        "ping",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "tools/call",
        "unknown-method",
        "unknown-tool",
    }
)
# These say something about the caller or the moment, not about the message.
_NOT_ABOUT_THE_MESSAGE = (401, 403, 429)


def _http(exchange: Exchange) -> Http:
    assert exchange.step.http is not None, "only steps over HTTP are exchanges"
    return exchange.step.http


def _status(exchange: Exchange) -> int:
    return _http(exchange).status or 0


def _body(step: Step) -> bytes:
    return b"".join(one.data for one in step.heard)


def _seen(exchange: Exchange) -> bytes:
    return f"HTTP {_status(exchange)} ".encode() + _body(exchange.step)


def _sent_header(http: Http, name: str) -> str | None:
    return next((value for key, value in http.sent if key.lower() == name), None)


# -- notifications ------------------------------------------------------------------------------------


@check(
    "notification-status",
    MUST,
    Exchange,
    only="POST",
    clause=_HTTP,
    expected="A notification is answered with 202 and no body.",
    fix="Return 202 Accepted.",
)
def notification_status(exchange: Exchange) -> Iterator[Defect]:
    """A notification is taken with another status than 202."""
    status = _status(exchange)
    answered = any(is_reply(value) for value in _values(exchange.step))
    if is_notice(exchange.step) and 200 <= status < 300 and status != 202 and not answered:
        case = "http-notif-204" if status == 204 else "http-notif-200-empty"
        yield Defect(evidence=_seen(exchange), case=case)


def _values(step: Step) -> list[Any]:
    from ...protocol import lenient

    return [value for heard in step.heard for value in lenient.read(heard.data).values]


@check(
    "notification-refused",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_HTTP,
    expected="notifications/initialized is answered with 202.",
    fix="Take every notification with 202, also those you do not know.",
)
def notification_refused(exchange: Exchange) -> Iterator[Defect]:
    """A notification is refused."""
    status = _status(exchange)
    if is_notice(exchange.step) and status >= 400 and status not in _NOT_ABOUT_THE_MESSAGE:
        case = {404: "http-notif-404", 500: "http-notif-500"}.get(status, "http-notif-400-rpc")
        yield Defect(evidence=_seen(exchange), case=case)


# -- GET ----------------------------------------------------------------------------------------------


@check(
    "get-status",
    MUST,
    Exchange,
    only="GET",
    revisions=IN_LEGACY,
    clause=_HTTP,
    expected="GET opens a stream (200, text/event-stream) or is answered with 405.",
    fix="Return 405 where you offer no stream.",
)
def get_status(exchange: Exchange) -> Iterator[Defect]:
    """GET is answered with neither a stream nor 405."""
    http = _http(exchange)
    if exchange.step.name != "get-stream" or http.status in (None, 405, 429):
        return
    if http.status == 200 and http.media_type == _EVENTS:
        return
    case = {404: "http-get-404", 500: "http-get-500", 401: "http-get-401"}.get(
        http.status or 0, "http-get-200-html"
    )
    yield Defect(evidence=_seen(exchange), case=case, note=http.media_type)


@check(
    "get-hangs",
    MUST,
    Exchange,
    only="GET",
    revisions=IN_LEGACY,
    clause=_HTTP,
    expected="GET is answered at once: with the head of a stream, or with 405.",
    fix="Send the headers of the stream before the first event, or return 405.",
)
def get_hangs(exchange: Exchange) -> Iterator[Defect]:
    """GET is never answered."""
    if exchange.step.name == "get-stream" and exchange.step.end == "silent" and not _http(exchange).status:
        yield Defect(evidence=b"GET", note=f"no headers within {exchange.step.seconds:.0f} s")


# -- bodies and streams -------------------------------------------------------------------------------


@check(
    "content-type-header",
    MUST,
    Exchange,
    only="POST",
    clause=_HTTP,
    expected="A reply has the Content-Type application/json or text/event-stream.",
    fix="Set the Content-Type.",
)
def content_type_header(exchange: Exchange) -> Iterator[Defect]:
    """A reply without the right Content-Type."""
    http = _http(exchange)
    if http.status == 200 and exchange.reply is not None and http.media_type not in (_JSON, _EVENTS):
        case = "http-ct-text" if http.media_type else "http-ct-missing"
        yield Defect(evidence=http.header("content-type") or "(no Content-Type)", case=case)


@check(
    "sse-not-closed",
    SHOULD,
    Exchange,
    only="POST",
    clause=_HTTP,
    expected="The stream ends after the reply.",
    fix="Close the stream when the reply is sent.",
)
def sse_not_closed(exchange: Exchange) -> Iterator[Defect]:
    """A stream that stays open after the reply."""
    http = _http(exchange)
    if http.media_type == _EVENTS and exchange.reply is not None and not http.is_whole:
        yield Defect(evidence=_body(exchange.step)[-200:])


@check(
    "sse-no-reply",
    MUST,
    Exchange,
    only="POST",
    clause=_HTTP,
    expected="A stream carries the reply before it ends.",
    fix="Send the reply as the last event of its stream.",
)
def sse_no_reply(exchange: Exchange) -> Iterator[Defect]:
    """A stream that ends without a reply."""
    http = _http(exchange)
    if (
        http.media_type == _EVENTS
        and exchange.reply is None
        and http.is_whole
        and not is_notice(exchange.step)
    ):
        yield Defect(evidence=_body(exchange.step) or b"(an empty stream)")


@check(
    "sse-event-name",
    SHOULD,
    Piece,
    only="http",
    clause=_HTTP,
    expected="Events are named message, or have no name: clients skip the others.",
    fix="Leave the event: line out.",
)
def sse_event_name(piece: Piece) -> Iterator[Defect]:
    """A reply in an event of another name than message."""
    if piece.heard.event not in ("", "message") and any(is_reply(value) for value in piece.values):
        yield Defect(evidence=f"event: {piece.heard.event}")


@check(
    "sse-empty-data-event",
    PORTABILITY,
    Piece,
    only="http",
    clause="2025-11-25 basic/transports: resumability",
    expected="No event without data, but to clients of 2025-11-25 that can resume: Gemini CLI fails on it.",
    fix="Send the first event id together with the first message, or only to 2025-11-25.",
)
def sse_empty_data_event(piece: Piece) -> Iterator[Defect]:
    """An event with empty data."""
    if piece.heard.event and not piece.data.strip() and piece.step.http and piece.step.http.method == "POST":
        yield Defect(evidence=b"data:")


@check(
    "sse-data-not-json",
    MUST,
    Piece,
    only="http",
    clause=_HTTP,
    expected="The data of an event is a JSON-RPC message.",
    fix="Keep a stream alive with comment lines that begin with a colon, not with events.",
)
def sse_data_not_json(piece: Piece) -> Iterator[Defect]:
    """An event whose data is no JSON."""
    if piece.heard.event and piece.data.strip() and not piece.values:
        yield Defect(evidence=piece.data)


# -- errors -------------------------------------------------------------------------------------------


@check(
    "rpc-error-status",
    SHOULD,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_HTTP,
    expected="A JSON-RPC error travels with 200: a 404 means that the session is gone, and other statuses hide the error.",
    fix="Return 200 for every request that could be read.",
)
def rpc_error_status(exchange: Exchange) -> Iterator[Defect]:
    """An answer to a good request travels with an error of HTTP."""
    status = _status(exchange)
    if exchange.step.name not in ORDINARY or status < 400 or status in _NOT_ABOUT_THE_MESSAGE:
        return
    told = exchange.reply is not None and exchange.reply.match in ("same", "type")
    if told:
        case = {404: "http-err-404", 500: "http-err-500"}.get(status, "http-err-400")
        yield Defect(evidence=_seen(exchange), case=case)
    elif status >= 500:
        yield Defect(evidence=_seen(exchange), severity=MUST, case="http-err-500-html")


@check(
    "rate-limit-status",
    PORTABILITY,
    Exchange,
    only="POST",
    expected="No client retries after 429: the call is lost.",
    fix="Let callers wait, or answer with a tool error that says when to try again.",
)
def rate_limit_status(exchange: Exchange) -> Iterator[Defect]:
    """A request is refused with 429."""
    if _status(exchange) == 429:
        note = "" if _http(exchange).header("retry-after") else "without Retry-After"
        yield Defect(evidence=_seen(exchange), note=note)


@check(
    "redirect",
    PORTABILITY,
    Exchange,
    only="POST",
    expected="The address itself answers: not every client follows a redirect of a POST.",
    fix="Publish the address with (or without) its slash as it is served.",
)
def redirect(exchange: Exchange) -> Iterator[Defect]:
    """The address redirects."""
    if 300 <= _status(exchange) < 400:
        yield Defect(evidence=f"HTTP {_status(exchange)} Location: {_http(exchange).header('location')}")


# -- sessions -----------------------------------------------------------------------------------------


def _unanswered(exchange: Exchange) -> bool:
    return exchange.reply is None or exchange.reply.match not in ("same", "type")


@check(
    "session-lost",
    PORTABILITY,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session lasts while it is used: most clients do not begin a new one by themselves.",
    fix="Keep sessions for minutes at least, and outside of the process if it restarts often; or do without.",
)
def session_lost(exchange: Exchange) -> Iterator[Defect]:
    """A session that was just opened is gone."""
    http = _http(exchange)
    held = _sent_header(http, "mcp-session-id") is not None
    if held and exchange.step.name in ORDINARY and http.status == 404 and _unanswered(exchange):
        yield Defect(evidence=_seen(exchange))


@check(
    "stale-session-status",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session that is over is answered with 404: the sign to begin a new one.",
    fix="Return 404 for every session id you do not know (any more).",
)
def stale_session_status(exchange: Exchange) -> Iterator[Defect]:
    """A session that is over is answered with another status than 404."""
    http, name = _http(exchange), exchange.step.name
    refused = 400 <= (http.status or 0) < 500 and http.status not in (404, *_NOT_ABOUT_THE_MESSAGE)
    if not refused or not _sent_header(http, "mcp-session-id") or not _unanswered(exchange):
        return
    if name == "after-delete" or (name in ORDINARY and http.status == 400):
        yield Defect(evidence=_seen(exchange))
    elif name == "unknown-session":
        yield Defect(evidence=_seen(exchange), severity=PORTABILITY)


@check(
    "session-not-checked",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A session id that was ended is answered with 404.",
    fix="Look the id up, and forget it at DELETE.",
)
def session_not_checked(exchange: Exchange) -> Iterator[Defect]:
    """A session goes on after its end, or one that never was is accepted."""
    worked = _status(exchange) == 200 and exchange.reply is not None and "result" in exchange.reply.value
    if exchange.step.name == "after-delete" and worked:
        yield Defect(evidence=_seen(exchange))
    elif exchange.step.name == "unknown-session" and worked:
        yield Defect(evidence=_seen(exchange), severity=SHOULD, note="an id that was never given out")


@check(
    "session-id-not-issued",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=_SESSIONS,
    expected="A server that wants a session id gives one with its answer to initialize.",
    fix="Send Mcp-Session-Id with the result of initialize, and expose it to browsers.",
)
def session_id_not_issued(exchange: Exchange) -> Iterator[Defect]:
    """A session id is wanted that was never given."""
    http = _http(exchange)
    if exchange.step.name not in ORDINARY - {"initialize"} and not is_notice(exchange.step):
        return
    if (
        http.status == 400
        and not _sent_header(http, "mcp-session-id")
        and b"session" in _body(exchange.step).lower()
    ):
        yield Defect(evidence=_seen(exchange))


# -- the version header -------------------------------------------------------------------------------


@check(
    "version-header-not-checked",
    MUST,
    Exchange,
    only="POST",
    revisions=since("2025-06-18") & IN_LEGACY,
    clause=_VERSION_HEADER,
    expected="A MCP-Protocol-Version that does not exist is answered with 400.",
    fix="Compare the header with the versions you speak.",
)
def version_header_not_checked(exchange: Exchange) -> Iterator[Defect]:
    """A version header that does not exist is accepted."""
    worked = exchange.reply is not None and "result" in exchange.reply.value
    if exchange.step.name == "bad-version-header" and worked:
        yield Defect(evidence=b"MCP-Protocol-Version: 1999-01-01")


@check(
    "protocol-header-refused",
    MUST,
    Whole,
    clause=_VERSION_HEADER,
    expected="MCP-Protocol-Version with the version agreed on is accepted.",
    fix="Compare the header with all versions you speak, not with a single one.",
)
def protocol_header_refused(whole: Whole) -> Iterator[Defect]:
    """Requests with MCP-Protocol-Version are refused."""
    for visit in whole.evidence.visits:
        bare = [step for step in visit.named("no-version-header") if step.http and step.http.status == 200]
        refused = [
            step
            for step in visit.named("tools/list")
            if step.http and step.http.status == 400 and _sent_header(step.http, "mcp-protocol-version")
        ]
        if bare and refused:
            yield Defect(evidence=_body(refused[0]))
            return


@check(
    "protocol-header-demanded",
    SHOULD,
    Whole,
    clause=_VERSION_HEADER,
    expected="Without MCP-Protocol-Version a server goes by the session, or assumes 2025-03-26: Gemini CLI sends none.",
    fix="Take requests without the header.",
)
def protocol_header_demanded(whole: Whole) -> Iterator[Defect]:
    """Requests without MCP-Protocol-Version are refused."""
    for visit in whole.evidence.visits:
        good = any(step.http and step.http.status == 200 for step in visit.named("tools/list"))
        for step in visit.named("no-version-header"):
            if (
                good
                and step.http
                and 400 <= (step.http.status or 0) < 500
                and step.http.status not in _NOT_ABOUT_THE_MESSAGE
            ):
                yield Defect(evidence=_body(step))
                return


# -- who may ask --------------------------------------------------------------------------------------


@check(
    "origin-not-checked",
    ADVICE,
    Exchange,
    clause=f"{_HTTP}: security warning",
    expected="A web page of a stranger (header Origin) is refused with 403, unless every page may use the server.",
    fix="Compare Origin with a list of your own; a local server without that can be used by any page a person opens.",
)
def origin_not_checked(exchange: Exchange) -> Iterator[Defect]:
    """Any web page may use this server."""
    if exchange.step.name == "foreign-origin" and 0 < _status(exchange) < 300:
        yield Defect(evidence=b"Origin: https://attacker.example")


@check(
    "auth-challenge-missing",
    MUST,
    Whole,
    clause=_AUTH,
    expected="401 comes with WWW-Authenticate, or the metadata is at /.well-known/oauth-protected-resource.",
    fix='Add WWW-Authenticate: Bearer resource_metadata="…", and serve that document.',
)
def auth_challenge_missing(whole: Whole) -> Iterator[Defect]:
    """401 without a way to authorize."""
    refused = _unauthorized(whole)
    if refused is None or any(_is_document(step) for step in _metadata(whole)):
        return
    challenge = refused.header("www-authenticate") or ""
    if not challenge.lower().startswith("bearer"):
        yield Defect(evidence=f"HTTP 401 {challenge or 'without WWW-Authenticate'}")


@check(
    "auth-metadata-missing",
    MUST,
    Whole,
    clause=_AUTH,
    expected="The address in resource_metadata answers with the metadata.",
    fix="Serve the document of RFC 9728 there.",
)
def auth_metadata_missing(whole: Whole) -> Iterator[Defect]:
    """The metadata of the authorization is not there."""
    refused = _unauthorized(whole)
    if refused is None or "resource_metadata" not in (refused.header("www-authenticate") or ""):
        return
    asked = _metadata(whole)
    if asked and not any(_is_document(step) for step in asked):
        yield Defect(evidence=refused.header("www-authenticate"))


def _unauthorized(whole: Whole) -> Http | None:
    steps = [step for visit in whole.evidence.visits for step in visit.named("initialize", "server/discover")]
    good = any(step.http is None or step.http.status == 200 for step in steps if step.name == "initialize")
    refused = [step.http for step in steps if step.http is not None and step.http.status == 401]
    return refused[0] if refused and not good else None


def _metadata(whole: Whole) -> list[Step]:
    return [step for visit in whole.evidence.visits for step in visit.named("auth-metadata")]


def _is_document(step: Step) -> bool:
    return step.http is not None and step.http.status == 200 and step.http.media_type == _JSON


@check(
    "legacy-sse-transport",
    PORTABILITY,
    Whole,
    clause="2024-11-05 basic/transports: HTTP with SSE",
    expected="Streamable HTTP: clients of today are configured for that.",
    fix="Answer POST on one address; keep the old addresses beside it as long as you need them.",
)
def legacy_sse_transport(whole: Whole) -> Iterator[Defect]:
    """Only the HTTP+SSE transport of 2024-11-05 is served."""
    if any(visit.transport == "sse" for visit in whole.evidence.visits):
        yield Defect(evidence=b"event: endpoint")


CHECKS: tuple[Check[Any], ...] = (
    notification_status,
    notification_refused,
    get_status,
    get_hangs,
    content_type_header,
    sse_not_closed,
    sse_no_reply,
    sse_event_name,
    sse_empty_data_event,
    sse_data_not_json,
    rpc_error_status,
    rate_limit_status,
    redirect,
    session_lost,
    stale_session_status,
    session_not_checked,
    session_id_not_issued,
    version_header_not_checked,
    protocol_header_refused,
    protocol_header_demanded,
    origin_not_checked,
    auth_challenge_missing,
    auth_metadata_missing,
    legacy_sse_transport,
)
