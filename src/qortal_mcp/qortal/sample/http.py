"""The sample chain as a node over HTTP: an ASGI application."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ..node.source import SAMPLE_HEADER, RawReply
from .core.replies import page
from .reader import answer

Message = MutableMapping[str, Any]


async def app(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Message]],
    send: Callable[[Message], Awaitable[None]],
) -> None:
    """Answers GET and HEAD like the Core that the chain was read from."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif scope["type"] == "http":
        await _reply(scope, send)
    else:
        raise RuntimeError(f"a node does not speak {scope['type']}")


async def _live(
    receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def _reply(scope: MutableMapping[str, Any], send: Callable[[Message], Awaitable[None]]) -> None:
    reply = _answer(scope) if scope["method"] in ("GET", "HEAD") else page(405).reply
    headers = [SAMPLE_HEADER, (b"content-length", str(len(reply.body)).encode())]
    if reply.body:
        headers.append((b"content-type", reply.content_type.encode()))
    await send({"type": "http.response.start", "status": reply.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else reply.body})


def _answer(scope: MutableMapping[str, Any]) -> RawReply:
    # The path as sent: unquoted, an escaped slash would look like a real one.
    path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
    query = scope["query_string"].decode("latin-1")
    return answer(f"{path}?{query}" if query else path)
