"""The reference for tools that need the node: a bare ASGI function, one GET by aiohttp, the body decoded, the reply."""

import argparse

import aiohttp
import msgspec
from msgspec import Struct
from yarl import URL

from bench.servers.bare_http import App, Message, Receive, Send, answer
from bench.servers.envelope import reply, results
from bench.servers.web_server import serve


class Arguments(Struct):
    address: str


class Params(Struct):
    name: str
    arguments: Arguments


class Call(Struct):
    id: int | str
    params: Params


_decode_call = msgspec.json.Decoder(Call).decode
_decode_balance = msgspec.json.Decoder(float, strict=False).decode


def make_app(options: argparse.Namespace) -> App:
    result = results(options.fixtures)["tools/call"]
    session: aiohttp.ClientSession | None = None

    async def ask(address: str) -> float:
        nonlocal session
        if session is None:
            session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=64),
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=10, sock_connect=5),
                auto_decompress=False,
                headers={"accept-encoding": "identity"},
            )
        url = URL(f"{options.node}/addresses/balance/{address}", encoded=True)
        async with session.get(url, allow_redirects=False) as found:
            return _decode_balance(await found.read())

    async def app(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            call = _decode_call((await receive())["body"])
            await ask(call.params.arguments.address)
            await answer(send, reply(call.id, result))
        elif scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            if session is not None:
                await session.close()
            await send({"type": "lifespan.shutdown.complete"})

    return app


if __name__ == "__main__":
    serve(make_app)
