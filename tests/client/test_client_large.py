"""A large answer is gone once it has been read: a connection that says nothing more keeps none of it."""

import json
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from tests.client.fakes import INITIALIZED, after, child, web_server

from qortal_mcp.client import connect

LARGE = 4_000_000
# The child fills in the text.
ANSWER = '{"jsonrpc":"2.0","id":ID,"result":{"text":"TEXT"}}'


async def _websocket(request: web.Request) -> web.StreamResponse:
    socket = web.WebSocketResponse(protocols=("mcp",), timeout=0.1)
    await socket.prepare(request)
    async for frame in socket:
        message = json.loads(frame.data)
        if message.get("method") == "initialize":
            await socket.send_json({"jsonrpc": "2.0", "id": message["id"], "result": INITIALIZED})
        elif "id" in message:
            await socket.send_json({"jsonrpc": "2.0", "id": message["id"], "result": {"text": "x" * LARGE}})
    return socket


@asynccontextmanager
async def server_on(transport: str) -> AsyncIterator[str | list[str]]:
    if transport == "stdio":
        program = child(x=[ANSWER])
        program[2] = program[2].replace(
            'json.dumps(message.get("id")))',
            f'json.dumps(message.get("id"))).replace("TEXT", "x" * {LARGE})',
        )
        yield program
        return
    async with web_server(_websocket) as url:
        yield url.replace("http:", "ws:") + "/ws"


@pytest.mark.parametrize("transport", ["stdio", "websocket"])
async def test_a_connection_keeps_nothing_of_a_large_answer(transport: str) -> None:
    async with server_on(transport) as server, connect(server, era="legacy") as client:
        tracemalloc.start()
        try:
            reply = await client.request("x")
            assert len(reply.result) > LARGE
            del reply
            await after(10)
            assert tracemalloc.get_traced_memory()[0] < LARGE / 2
        finally:
            tracemalloc.stop()
