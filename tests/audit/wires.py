"""Stub servers on the wires of this machine: a program, HTTP, a WebSocket. Loopback only."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from aiohttp import WSMsgType, web
from tests.audit.stub import EXIT, HANG, Connection, HttpDoor, HttpReply, Server, Sleep, encoded

_CHILD = Path(__file__).with_name("child.py")


def command(case: str) -> tuple[str, ...]:
    """The command line of a case's server as a program."""
    # Without site-packages it starts in half the time, and it needs none.
    return (sys.executable, "-I", "-S", str(_CHILD), case)


@contextlib.asynccontextmanager
async def http_server(server: Server) -> AsyncIterator[str]:
    """The address of a stub. Replies go out byte for byte: nothing is added but what frames them."""
    door = HttpDoor(server)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None, "runs as one"
        tasks.add(task)
        try:
            while await _exchange(door, reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            tasks.discard(task)
            writer.close()

    listener = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    finally:
        listener.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _exchange(door: HttpDoor, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """One request and its reply. False: the connection is over."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.rstrip().split("\r\n")
    verb, path, _ = first.split(" ")
    headers = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    reply = door.reply(verb, path, headers, body)
    await asyncio.sleep(reply.wait)
    writer.write(_bytes_of(reply))
    if reply.then == "hold":
        await reader.read()  # until the other side goes
    return reply.then == "go on" and not _is_stream(reply)


def _is_stream(reply: HttpReply) -> bool:
    return any(value.startswith("text/event-stream") for _, value in reply.headers)


def _bytes_of(reply: HttpReply) -> bytes:
    if reply.status is None:
        return b""
    lines = [f"HTTP/1.1 {reply.status} Said", *(f"{name}: {value}" for name, value in reply.headers)]
    if _is_stream(reply):
        lines.append("connection: close")
    elif reply.status != 204:
        lines.append(f"content-length: {len(reply.body)}")
    return "\r\n".join([*lines, "", ""]).encode() + reply.body


@contextlib.asynccontextmanager
async def websocket_server(server: Server, *, any_origin: bool = False) -> AsyncIterator[str]:
    async def handle(request: web.Request) -> web.StreamResponse:
        if "origin" in request.headers and not any_origin:
            raise web.HTTPForbidden
        socket = web.WebSocketResponse(protocols=("mcp",))
        await socket.prepare(request)
        connection = Connection(server)
        async for frame in socket:
            if frame.type is WSMsgType.TEXT:
                for reply in connection.receive(frame.data.encode()):
                    if reply is HANG:
                        break
                    if reply is EXIT:
                        await socket.close()
                        break
                    if isinstance(reply, Sleep):
                        await asyncio.sleep(reply.seconds)
                        continue
                    data = encoded(reply)
                    await (socket.send_bytes(data) if server.binary else socket.send_str(data.decode()))
        return socket

    app = web.Application()
    app.router.add_get("/mcp", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"ws://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def old_sse_server(server: Server) -> AsyncIterator[str]:
    """The transport of 2024-11-05: GET opens a stream that names the address to post to; POST there is 405."""

    async def stream(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        await response.write(b"event: endpoint\ndata: /messages\n\n")
        streams.append(response)
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return response

    async def post(request: web.Request) -> web.StreamResponse:
        for reply in connection.receive(await request.read()):
            await streams[-1].write(b"event: message\ndata: " + encoded(reply) + b"\n\n")
        return web.Response(status=202)

    streams: list[web.StreamResponse] = []
    connection = Connection(server)
    app = web.Application()
    app.router.add_get("/mcp", stream)
    app.router.add_post("/messages", post)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/mcp"
    finally:
        await runner.cleanup()
