"""What the routes of the console have in common: refusals as JSON, and when a reply is a stream."""

import msgspec

from ..transports.http import Exchange

JSON = (b"content-type", b"application/json")
_EVENTS = b"text/event-stream"


async def refuse(exchange: Exchange, status: int, sentence: str, *more: tuple[bytes, bytes]) -> None:
    await exchange.reply(status, msgspec.json.encode({"error": sentence}), JSON, *more)


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
