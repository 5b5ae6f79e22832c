"""What the wires of `client/wires/` put right while they read. Here is only which, and at which level."""

from typing import Any

from .repair import ALL, SAFE, Level, Repair


class Http:
    """An HTTP reply. A wire puts it right before there is a message."""


def _of_wire(code: str, level: Level, title: str, makes: str) -> Repair[Http]:
    return Repair(code=code, level=level, about=Http, apply=None, title=title, makes=makes)


WIRES: tuple[Repair[Any], ...] = (
    _of_wire(
        "content-type-header",
        SAFE,
        "The Content-Type of a reply is missing or wrong",
        "the body is read as what it is: JSON or a stream of events",
    ),
    _of_wire(
        "sse-event-name",
        ALL,
        "An event with a message has another name than message",
        "the message is taken from it",
    ),
    _of_wire("sse-data-not-json", SAFE, "The data of an event is not JSON", "the event is dropped"),
    _of_wire(
        "sse-empty-data-event",
        ALL,
        "A stream contains an event without data in a revision that has none",
        "the event is dropped",
    ),
    _of_wire(
        "sse-not-closed",
        ALL,
        "A stream stays open after the answer",
        "the answer is passed on at once, and the stream is closed",
    ),
    _of_wire("sse-no-reply", SAFE, "A stream ends without the answer", "an error that says so"),
    _of_wire(
        "no-reply", SAFE, "A request is answered with 202, 204 or an empty body", "an error that says so"
    ),
    _of_wire(
        "notification-status",
        SAFE,
        "A notification gets another status than 202, or a body",
        "it counts as delivered",
    ),
    _of_wire("notification-answered", SAFE, "A notification gets an answer", "the answer is dropped"),
    _of_wire("notification-refused", SAFE, "A notification is refused", "it counts as delivered"),
    _of_wire(
        "rpc-error-status",
        SAFE,
        "An answer to a valid request has an HTTP error status",
        "a JSON-RPC error in the body is the answer; otherwise an error with the text of the page",
    ),
    _of_wire(
        "rate-limit-status",
        SAFE,
        "A request is refused with 429",
        "an error that says when to try again; what may be repeated is repeated then",
    ),
    _of_wire("get-status", SAFE, "GET is refused with another status than 405", "no standing stream is used"),
    _of_wire("get-hangs", SAFE, "GET is never answered", "no standing stream is used"),
    _of_wire(
        "redirect",
        ALL,
        "The server redirects with 307 or 308",
        "followed once, and remembered, as long as the origin stays the same",
    ),
    _of_wire(
        "protocol-header-refused",
        SAFE,
        "MCP-Protocol-Version is refused with 400",
        "the message is sent again without the header, and all others too",
    ),
    _of_wire(
        "protocol-header-demanded",
        ALL,
        "A message without MCP-Protocol-Version is refused with 400",
        "the message is sent again with the header, and all others too",
    ),
    _of_wire(
        "session-id-not-issued",
        ALL,
        "A session id is required, but none was issued",
        "one is made up and sent with every message",
    ),
    _of_wire(
        "stale-session-status",
        SAFE,
        "A lost session is reported with something else than 404",
        "recognised all the same: a new handshake, and the message is sent again",
    ),
)
