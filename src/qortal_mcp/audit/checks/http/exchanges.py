"""What the HTTP checks need to know about an exchange."""

from typing import Any

from ....protocol import lenient
from ....protocol.headers import SESSION_ID
from ...evidence import Http, Step, Visit
from ...subjects import Exchange

HTTP = "basic/transports: Streamable HTTP"
EVENTS = "text/event-stream"
JSON = "application/json"
# Requests that any client sends; other probes of this audit have their own checks.
ORDINARY = frozenset(
    {
        "initialize",
        "ping",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "tools/call",
        "prompts/get",
        "resources/read",
        "unknown-method",
        "unknown-tool",
    }
)
# These statuses are about the caller or the moment, not about the message.
NOT_ABOUT_THE_MESSAGE = (401, 403, 429)


def http_of(exchange: Exchange) -> Http:
    assert exchange.step.http is not None, "only steps over HTTP are exchanges"
    return exchange.step.http


def status_of(exchange: Exchange) -> int:
    return http_of(exchange).status or 0


def body_of(step: Step) -> bytes:
    return b"".join(one.data for one in step.heard)


def seen_in(exchange: Exchange) -> bytes:
    return f"HTTP {status_of(exchange)} ".encode() + body_of(exchange.step)


def sent_header(http: Http, name: str) -> str | None:
    return next((value for key, value in http.sent if key.lower() == name), None)


def wants_session(exchange: Exchange) -> bool:
    """Refused because of a missing session id that the server never gave out."""
    http = http_of(exchange)
    return (
        http.status == 400
        and not sent_header(http, SESSION_ID)
        and b"session" in body_of(exchange.step).lower()
    )


def takes_no_version_header(visit: Visit) -> Step | None:
    """The refusal of a request with the version header, where the same without it is taken."""
    # A visit without the probe has its handshake, which never carries the header.
    without = list(visit.named("no-version-header")) or visit.named("initialize")
    bare = any(step.http and step.http.status == 200 for step in without)
    refused = (
        step
        for step in visit.named("tools/list", "ping")
        if step.http and step.http.status == 400 and sent_header(step.http, "mcp-protocol-version")
        if b"session" not in body_of(step).lower()
    )
    return next(refused, None) if bare else None


def is_unanswered(exchange: Exchange) -> bool:
    return exchange.reply is None or exchange.reply.match not in ("same", "type")


def values_in(step: Step) -> list[Any]:
    return [value for heard in step.heard for value in lenient.read(heard.data).values]
