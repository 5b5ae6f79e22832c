"""What the routes of the console have in common: what they take, what every reply carries, and when one is a stream."""

import msgspec

from ..transports.http import Exchange

_EVENTS = b"text/event-stream"
# Nobody takes what a route answers for something else than it is, or loads it into a page of their own.
GUARDED = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
_NOT_KEPT = (b"cache-control", b"no-store")


async def reply_json(exchange: Exchange, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    await exchange.reply(status, body, (b"content-type", b"application/json"), _NOT_KEPT, *GUARDED, *more)


async def refuse(exchange: Exchange, status: int, sentence: str, *more: tuple[bytes, bytes]) -> None:
    await reply_json(exchange, status, msgspec.json.encode({"error": sentence}), *more)


def wants_events(exchange: Exchange) -> bool:
    """Whether a stream was asked for by its name: `*/*` gets everything at once."""
    return exchange.accepts.events and _EVENTS in (exchange.header(b"accept") or b"").lower()


async def json_body(exchange: Exchange, limit: int) -> bytes | None:
    """The body of a request that must be JSON; None if it was refused, or the client left."""
    wrong = exchange.wrong_types()
    if wrong is not None:
        status, _, reason = wrong
        await refuse(exchange, status, f"{reason}.")
        return None
    return await exchange.read_body(limit, lambda sentence: refuse(exchange, 413, sentence))
