"""What was opened is closed, at whatever moment the one who opened it is cancelled."""

import asyncio
import json

import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.client.fakes import OPTIONS, after, legacy, ok, unclosed, web_server

from qortal_mcp.client.client import Client
from qortal_mcp.client.transcript import Record
from qortal_mcp.client.wires.http_sse import HttpSseWire
from qortal_mcp.client.wires.websocket import WebSocketWire

TICKS = range(1, 9)


class OldServer:
    """HTTP+SSE at any address that is asked with GET; POST is for `/messages` alone."""

    def __init__(self) -> None:
        self._streams: list[web.StreamResponse] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            if request.path != "/messages":
                return web.Response(status=405)
            for answer in legacy(ok)(json.loads(await request.text())):
                await self._streams[-1].write(b"event: message\ndata: %b\n\n" % answer)
            return web.Response(status=202)
        stream = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await stream.prepare(request)
        self._streams.append(stream)
        await stream.write(b"event: endpoint\ndata: /messages\n\n")
        await asyncio.Event().wait()
        return stream


async def cancelled(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize("ticks", TICKS)
async def test_an_end_of_http_sse_that_is_cancelled_closes_everything(ticks: int) -> None:
    with unclosed() as left:
        async with asyncio.timeout(30), web_server(OldServer()) as url:
            wire = await HttpSseWire.open(url, limits=OPTIONS.limits)
            closing = asyncio.ensure_future(wire.close())
            await after(ticks)
            await cancelled(closing)
            del wire, closing
    assert left == []


@pytest.mark.parametrize("ticks", TICKS)
async def test_an_end_of_a_websocket_that_is_cancelled_closes_everything(ticks: int) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        socket = web.WebSocketResponse(protocols=("mcp",), autoclose=False, timeout=0.1)
        await socket.prepare(request)
        await asyncio.Event().wait()
        return socket

    with unclosed() as left:
        async with asyncio.timeout(30), web_server(handle) as url:
            wire = await WebSocketWire.open(url, limits=OPTIONS.limits)
            closing = asyncio.ensure_future(wire.close())
            await after(ticks)
            await cancelled(closing)
            del wire, closing
    assert left == []


@pytest.mark.parametrize("ticks", TICKS)
async def test_a_client_that_is_cancelled_while_it_changes_wires_closes_both(ticks: int) -> None:
    named = asyncio.Event()

    def watch(record: Record) -> None:
        if record.event is not None and record.event.event == "endpoint":
            named.set()

    with unclosed() as left:
        async with asyncio.timeout(30), web_server(OldServer()) as url:
            client = Client(url, replace(OPTIONS, observer=watch))
            opening = asyncio.ensure_future(client.open("legacy"))
            await named.wait()
            await after(ticks)
            await cancelled(opening)
            await client.close()
            del client, opening
    assert left == []
