"""The bodies of HTTP replies, and streams of events."""

from collections.abc import Iterator
from typing import Any

from ...judging.check import MUST, PORTABILITY, SHOULD, Check, Defect, check, count_note
from ...matching import is_notice, is_reply
from ...subjects import Exchange, Piece, Whole
from .exchanges import EVENTS, HTTP, JSON, body_of, http_of

# It begins a stream with an event id and no data, so that a client can resume. Clients that fail on that ask for an older revision.
_PRIMES = "2025-11-25"


@check(
    "content-type-header",
    MUST,
    Exchange,
    only="POST",
    clause=HTTP,
    expected="A reply has the Content-Type application/json or text/event-stream.",
    fix="Set the Content-Type.",
)
def content_type_header(exchange: Exchange) -> Iterator[Defect]:
    """A reply without the right Content-Type."""
    http = http_of(exchange)
    if http.status == 200 and exchange.reply is not None and http.media_type not in (JSON, EVENTS):
        case = "http-ct-text" if http.media_type else "http-ct-missing"
        yield Defect(evidence=http.header("content-type") or "(no Content-Type)", case=case)


@check(
    "sse-not-closed",
    SHOULD,
    Exchange,
    only="POST",
    clause=HTTP,
    expected="The stream ends after the reply.",
    fix="Close the stream after sending the reply.",
)
def sse_not_closed(exchange: Exchange) -> Iterator[Defect]:
    """A stream that stays open after the reply."""
    http = http_of(exchange)
    if http.media_type == EVENTS and exchange.reply is not None and not http.is_whole:
        yield Defect(evidence=body_of(exchange.step)[-200:])


@check(
    "sse-no-reply",
    MUST,
    Exchange,
    only="POST",
    clause=HTTP,
    expected="A stream carries the reply before it ends.",
    fix="Send the reply as the last event of its stream.",
)
def sse_no_reply(exchange: Exchange) -> Iterator[Defect]:
    """A stream that ends without a reply."""
    http = http_of(exchange)
    if (
        http.media_type == EVENTS
        and exchange.reply is None
        and http.is_whole
        and not is_notice(exchange.step)
    ):
        yield Defect(evidence=body_of(exchange.step) or b"(an empty stream)")


@check(
    "sse-event-name",
    SHOULD,
    Piece,
    only="http",
    clause=HTTP,
    expected="Events are named message, or have no name: clients skip others.",
    fix="Leave out the event: line.",
)
def sse_event_name(piece: Piece) -> Iterator[Defect]:
    """A reply in an event that is not named message."""
    if piece.heard.event not in ("", "message") and any(is_reply(value) for value in piece.values):
        yield Defect(evidence=f"event: {piece.heard.event}")


@check(
    "sse-empty-data-event",
    PORTABILITY,
    Piece,
    only="http",
    clause="2025-11-25 basic/transports: resumability",
    expected="Events without data are sent only to clients of 2025-11-25, which can resume: Gemini CLI fails on them.",
    fix="Send the first event id together with the first message, or only to 2025-11-25.",
)
def sse_empty_data_event(piece: Piece) -> Iterator[Defect]:
    """An event with empty data."""
    if piece.revision == _PRIMES:
        return
    if piece.heard.event and not piece.data.strip() and piece.step.http and piece.step.http.method == "POST":
        yield Defect(evidence=b"data:")


@check(
    "sse-data-not-json",
    MUST,
    Piece,
    only="http",
    clause=HTTP,
    expected="The data of an event is a JSON-RPC message.",
    fix="Keep a stream alive with comment lines that begin with a colon, not with events.",
)
def sse_data_not_json(piece: Piece) -> Iterator[Defect]:
    """An event whose data is not JSON."""
    if piece.heard.event and piece.data.strip() and not piece.values:
        yield Defect(evidence=piece.data)


@check(
    "sse-buffered",
    SHOULD,
    Whole,
    clause="2026-07-28 basic/transports: Streamable HTTP",
    expected="A stream of 2026-07-28 carries the header X-Accel-Buffering: no, so that proxies pass events on at once.",
    fix="Add X-Accel-Buffering: no to every reply of type text/event-stream.",
)
def sse_buffered(whole: Whole) -> Iterator[Defect]:
    """A stream that a proxy may hold back."""
    streams = [one for one in whole.all(Exchange) if one.is_modern and http_of(one).media_type == EVENTS]
    held = [one for one in streams if (http_of(one).header("x-accel-buffering") or "").lower() != "no"]
    for one in held[:1]:
        evidence = f"HTTP {http_of(one).status} content-type: {http_of(one).header('content-type')}"
        yield Defect(path="headers", evidence=evidence, note=count_note(held), at=(one.visit, one.step))


CHECKS: tuple[Check[Any], ...] = (
    content_type_header,
    sse_not_closed,
    sse_no_reply,
    sse_event_name,
    sse_empty_data_event,
    sse_data_not_json,
    sse_buffered,
)
