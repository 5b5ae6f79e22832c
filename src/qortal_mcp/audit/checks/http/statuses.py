"""HTTP status codes: notifications, GET, errors and redirects."""

from collections.abc import Iterator
from typing import Any

from ....protocol.headers import SESSION_ID
from ...judging.check import IN_LEGACY, IN_MODERN, MUST, PORTABILITY, SHOULD, Check, Defect, check
from ...matching import is_notice, is_reply
from ...subjects import Exchange, Whole
from .exchanges import (
    EVENTS,
    HTTP,
    NOT_ABOUT_THE_MESSAGE,
    ORDINARY,
    http_of,
    seen_in,
    sent_header,
    status_of,
    takes_no_version_header,
    values_in,
    wants_session,
)


@check(
    "notification-status",
    MUST,
    Exchange,
    only="POST",
    clause=HTTP,
    expected="A notification gets status 202 and no body.",
    fix="Return 202 Accepted.",
)
def notification_status(exchange: Exchange) -> Iterator[Defect]:
    """A notification gets a status other than 202."""
    status = status_of(exchange)
    answered = any(is_reply(value) for value in values_in(exchange.step))
    if is_notice(exchange.step) and 200 <= status < 300 and status != 202 and not answered:
        case = "http-notif-204" if status == 204 else "http-notif-200-empty"
        yield Defect(evidence=seen_in(exchange), case=case)


@check(
    "notification-refused",
    MUST,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=HTTP,
    expected="notifications/initialized gets status 202.",
    fix="Accept every notification with 202, even those you do not know.",
)
def notification_refused(exchange: Exchange) -> Iterator[Defect]:
    """A notification is refused."""
    status = status_of(exchange)
    if wants_session(exchange) or takes_no_version_header(exchange.visit):
        return  # reported by the checks of these headers
    if is_notice(exchange.step) and status >= 400 and status not in NOT_ABOUT_THE_MESSAGE:
        case = {404: "http-notif-404", 500: "http-notif-500"}.get(status, "http-notif-400-rpc")
        yield Defect(evidence=seen_in(exchange), case=case)


@check(
    "get-status",
    MUST,
    Exchange,
    only="GET",
    revisions=IN_LEGACY,
    clause=HTTP,
    expected="GET opens a stream (200, text/event-stream) or gets 405.",
    fix="Return 405 if you offer no stream.",
)
def get_status(exchange: Exchange) -> Iterator[Defect]:
    """GET gets neither a stream nor 405."""
    http = http_of(exchange)
    if exchange.step.name != "get-stream" or http.status in (None, 405, 429):
        return
    if http.status == 200 and http.media_type == EVENTS:
        return
    if http.status == 400 and (wants_session(exchange) or takes_no_version_header(exchange.visit)):
        return
    case = {404: "http-get-404", 500: "http-get-500", 401: "http-get-401"}.get(
        http.status or 0, "http-get-200-html"
    )
    yield Defect(evidence=seen_in(exchange), case=case, note=http.media_type)


@check(
    "get-hangs",
    MUST,
    Exchange,
    only="GET",
    revisions=IN_LEGACY,
    clause=HTTP,
    expected="GET is answered at once: with the headers of a stream, or with 405.",
    fix="Send the headers of the stream before the first event, or return 405.",
)
def get_hangs(exchange: Exchange) -> Iterator[Defect]:
    """GET is never answered."""
    if exchange.step.name == "get-stream" and exchange.step.end == "silent" and not http_of(exchange).status:
        yield Defect(note=f"no headers within {exchange.step.seconds:.0f} s")


@check(
    "modern-get-status",
    SHOULD,
    Exchange,
    only="GET",
    revisions=IN_MODERN,
    clause="2026-07-28 basic/transports: Streamable HTTP",
    expected="GET with the version header of 2026-07-28 gets 405.",
    fix="Return 405 with Allow: POST; streams opened by GET belong to older revisions.",
)
def modern_get_status(exchange: Exchange) -> Iterator[Defect]:
    """GET of 2026-07-28 gets a status other than 405."""
    status = status_of(exchange)
    if exchange.step.name == "modern-get" and status not in (0, 405, *NOT_ABOUT_THE_MESSAGE):
        yield Defect(evidence=seen_in(exchange))


_UNKNOWN = ("unknown-method", "unknown-tool")


def _has_other_cause(exchange: Exchange) -> bool:
    """Refused for its session or its version header, which have their own checks."""
    has_session = sent_header(http_of(exchange), SESSION_ID) is not None
    return has_session or wants_session(exchange) or takes_no_version_header(exchange.visit) is not None


@check(
    "rpc-error-status",
    SHOULD,
    Exchange,
    only="POST",
    revisions=IN_LEGACY,
    clause=HTTP,
    expected="A JSON-RPC error has status 200: a 404 means that the session is gone, and other statuses hide the error.",
    fix="Return 200 for every request that could be parsed.",
)
def rpc_error_status(exchange: Exchange) -> Iterator[Defect]:
    """An answer to a valid request has an HTTP error status."""
    status = status_of(exchange)
    if exchange.step.name not in ORDINARY or status < 400 or status in NOT_ABOUT_THE_MESSAGE:
        return
    if exchange.reply is not None and exchange.reply.match in ("same", "type"):
        case = {404: "http-err-404", 500: "http-err-500"}.get(status, "http-err-400")
        yield Defect(evidence=seen_in(exchange), case=case)
    elif status >= 500:
        yield Defect(evidence=seen_in(exchange), severity=MUST, case="http-err-500-html")
    elif exchange.step.name != "initialize" and not _has_other_cause(exchange):
        # An unknown method or tool may be refused, though not like this; one that exists has to be answered.
        severity = SHOULD if exchange.step.name in _UNKNOWN else MUST
        yield Defect(evidence=seen_in(exchange), severity=severity, case="http-err-400")


@check(
    "rate-limit-status",
    PORTABILITY,
    Exchange,
    only="POST",
    expected="A caller that is too fast waits, or gets a tool error: no client retries after 429, so the call is lost.",
    fix="Let callers wait, or answer with a tool error that says when to try again.",
)
def rate_limit_status(exchange: Exchange) -> Iterator[Defect]:
    """A request is refused with 429."""
    if status_of(exchange) == 429:
        note = "" if http_of(exchange).header("retry-after") else "without Retry-After"
        yield Defect(evidence=seen_in(exchange), note=note)


@check(
    "redirect",
    PORTABILITY,
    Exchange,
    only="POST",
    expected="The address itself answers: not every client follows redirects of a POST.",
    fix="Publish the address exactly as it is served, with or without the final slash.",
)
def redirect(exchange: Exchange) -> Iterator[Defect]:
    """The address redirects."""
    if 300 <= status_of(exchange) < 400:
        yield Defect(evidence=f"HTTP {status_of(exchange)} Location: {http_of(exchange).header('location')}")


@check(
    "legacy-sse-transport",
    PORTABILITY,
    Whole,
    clause="2024-11-05 basic/transports: HTTP with SSE",
    expected="Streamable HTTP is served: clients today are configured for it.",
    fix="Answer POST on one address; keep the old addresses for as long as you need them.",
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
    modern_get_status,
    rpc_error_status,
    rate_limit_status,
    redirect,
    legacy_sse_transport,
)
