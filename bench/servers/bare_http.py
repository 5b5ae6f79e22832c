"""The reference over HTTP and WebSocket: an ASGI function that reads the envelope and answers the recorded bytes."""

import argparse
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from msgspec import UNSET

from bench.servers.envelope import decode, reply, results
from bench.servers.web_server import serve

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


async def answer(send: Send, body: bytes) -> None:
    heads = [(b"content-length", b"%d" % len(body)), (b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": heads})
    await send({"type": "http.response.body", "body": body})


def make_app(options: argparse.Namespace) -> App:
    known = results(options.fixtures)

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            message = decode((await receive())["body"])
            assert message.id is not UNSET, "only requests are sent"
            await answer(send, reply(message.id, known[message.method]))
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.accept", "subprotocol": "mcp"})
            while (event := await receive())["type"] == "websocket.receive":
                message = decode(event["text"])
                assert message.id is not UNSET, "only requests are sent"
                text = reply(message.id, known[message.method]).decode()
                await send({"type": "websocket.send", "text": text})
        else:
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})

    return app


if __name__ == "__main__":
    serve(make_app)
