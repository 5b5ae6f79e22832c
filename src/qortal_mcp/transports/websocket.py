"""MCP over WebSocket: subprotocol `mcp`, one JSON-RPC message per text frame, otherwise as on stdio."""

import asyncio
import contextlib
import contextvars
from collections.abc import Awaitable, Callable, Hashable, MutableMapping
from typing import Any

from ..limits import Limits
from ..logs import request_id
from ..metrics import names
from ..server.receiver import Receiver
from .bounds.waiting import Waiting
from .callers import Callers
from .connection import Connection
from .guard import Refusal

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

SUBPROTOCOL = "mcp"
# Keys in the scope, if the ASGI server offers shortcuts (see bounds/websocket.py): how to send a message without waiting,
# and whom to tell who takes one so.
SEND_AT_ONCE = "qortal_mcp.send_at_once"
TAKE_WITH = "qortal_mcp.take_with"
_OVERFLOW = 1008  # policy violation: the client does not read what it asked for
_GOING_AWAY = 1001


class WebSockets:
    """The open WebSocket connections of one HTTP server."""

    def __init__(self, server: Receiver, callers: Callers) -> None:
        self._server = server
        self._callers = callers
        self._open: set[_Socket] = set()
        self._unread = Waiting(most_bytes=server.limits.unread_bytes)
        self._serving: set[asyncio.Task[Any]] = set()
        most = server.limits.connections
        server.metrics.show(names.WEBSOCKETS, self._open.__len__)
        server.metrics.show_each(names.LIMIT_USAGE, lambda: [(("connections",), len(self._open) / most)])

    async def serve(self, scope: Scope, receive: Receive, send: Send, refused: Refusal | None) -> None:
        """One connection from its upgrade to its end."""
        await receive()  # the request to connect
        if refused is None and len(self._open) >= self._server.limits.connections:
            refused = Refusal(503, "Too many connections.")
            self._server.metrics.count(names.LIMIT_REACHED, "connections")
        if refused is not None:
            self._server.metrics.count(names.HTTP_REFUSED, str(refused.status))
            await _deny(scope, send, refused)
            return
        subprotocol = SUBPROTOCOL if SUBPROTOCOL in scope.get("subprotocols", ()) else None
        await send({"type": "websocket.accept", "subprotocol": subprotocol})
        out = _Outbox(self._server.limits, self._unread, scope.get(SEND_AT_ONCE))
        socket = _Socket(self._server, receive, send, self._callers.of(scope), out)
        if TAKE_WITH in scope:
            scope[TAKE_WITH](socket.take_at_once)
        task = asyncio.current_task()
        assert task is not None, "an ASGI application runs in a task"
        self._open.add(socket)
        self._serving.add(task)
        try:
            await socket.run()
        finally:
            self._open.discard(socket)
            self._serving.discard(task)

    async def drain(self) -> None:
        """Let every connection answer what it has received, then close it."""
        for socket in self._open:
            socket.stop()
        if self._serving:
            await asyncio.wait(list(self._serving))


async def _deny(scope: Scope, send: Send, refused: Refusal) -> None:
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 1008})
        return
    heads = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"x-request-id", request_id.get().encode()),
        *refused.headers,
    ]
    await send({"type": "websocket.http.response.start", "status": refused.status, "headers": heads})
    await send({"type": "websocket.http.response.body", "body": f"{refused.message}\n".encode()})


class _Outbox:
    """Messages that wait for a client to read them, limited in number and in bytes, and together with all others.

    If none waits and the client reads, a message is sent at once.
    """

    def __init__(self, limits: Limits, unread: Waiting, send_at_once: Callable[[bytes], bool] | None) -> None:
        self._messages: asyncio.Queue[bytes] = asyncio.Queue(limits.backlog_messages)
        self._most_bytes = limits.backlog_bytes
        self._bytes = 0
        self._unread = unread
        self._send_at_once = send_at_once or _cannot_send
        self.on_overflow: Callable[[], None] = _nothing
        self._room = asyncio.Event()
        self._is_closed = False

    async def put(self, message: bytes) -> None:
        """Queue a message; waits while too much is queued already."""
        if self.post(message) or self._is_closed:
            return
        self._unread.add(self, len(message))  # it is in memory all the same
        while not self._is_closed and self._is_full():
            self._room.clear()
            await self._room.wait()
        self._unread.advance(self, len(message))
        self.post(message)

    def post(self, message: bytes) -> bool:
        if self._is_closed or self._is_full():
            return False
        if self.is_empty and self._send_at_once(message):
            return True
        self._messages.put_nowait(message)
        self._bytes += len(message)
        self._unread.add(self, len(message))
        return True

    @property
    def is_empty(self) -> bool:
        return not self._bytes

    def _is_full(self) -> bool:
        return self._bytes > self._most_bytes or self._messages.full()

    async def get(self) -> bytes:
        return await self._messages.get()

    def sent(self, message: bytes) -> None:
        self._bytes -= len(message)
        self._unread.advance(self, len(message))
        self._messages.task_done()
        self._room.set()

    async def emptied(self) -> None:
        await self._messages.join()

    def let_go(self) -> None:
        """Others need the room: forget everything at once."""
        self.on_overflow()
        self.close()

    def close(self) -> None:
        """Send nothing more, and forget what was not sent."""
        self._is_closed = True
        self._unread.drop(self)
        while not self._messages.empty():
            self._messages.get_nowait()
            self._messages.task_done()
        self._room.set()
        # These refer back to this object.
        self.on_overflow, self._send_at_once = _nothing, _cannot_send


def _nothing() -> None:
    """It is over already, or has not begun."""


def _cannot_send(message: bytes) -> bool:
    return False


class _Socket:
    """An accepted connection: frames in, a bounded queue of frames out."""

    def __init__(
        self, server: Receiver, receive: Receive, send: Send, caller: Hashable, out: _Outbox
    ) -> None:
        self._server = server
        self._receive = receive
        self._send = send
        self._out = out
        out.on_overflow = self._overflow
        self._stopping = asyncio.Event()
        self._close_code = _GOING_AWAY
        self._moving: list[asyncio.Task[None]] = []
        # Whether the reader waits for the next message.
        self._waits = False
        # In it runs what is done for the client.
        self._context = contextvars.copy_context()
        self._connection = Connection(server, self._out.put, self._post, caller, "tcp")

    def _post(self, message: bytes) -> bool:
        if self._out.post(message):
            return True
        self._overflow()
        return False

    def _overflow(self) -> None:
        """It does not read: end it without its answers."""
        self._close_code = _OVERFLOW
        self._stopping.set()
        for task in self._moving:
            task.cancel()

    def stop(self) -> None:
        self._stopping.set()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        reader, writer = loop.create_task(self._read()), loop.create_task(self._write())
        self._moving = [reader, writer]
        stopping = loop.create_task(self._stopping.wait())
        tasks: list[asyncio.Task[Any]] = [reader, writer, stopping]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if stopping.done() and not reader.done() and not writer.done():
                await self._answer_the_rest(reader)
        finally:
            await self._connection.drop()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._out.close()
            # These refer back to this object.
            self._moving = []
            self._connection.peer.post = self._connection.peer.write = None
        if reader.cancelled():
            # Do not wait for a client that does not read: the transport drops it.
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._server.limits.shutdown_seconds):
                    await self._send({"type": "websocket.close", "code": self._close_code})

    async def _answer_the_rest(self, reader: asyncio.Task[None]) -> None:
        if self._close_code == _OVERFLOW:
            return
        await self._connection.taken()
        reader.cancel()
        await self._connection.finish(self._server.limits.shutdown_seconds)
        try:
            async with asyncio.timeout(self._server.limits.shutdown_seconds):
                await self._out.emptied()
        except TimeoutError:
            pass

    async def _read(self) -> None:
        while (message := await self._next())["type"] == "websocket.receive":
            text, data = message.get("text"), message.get("bytes")
            frame = data if text is None else text.encode("utf-8", "surrogatepass")
            if not frame or not frame.strip(b" \t\r\n"):
                pass
            elif len(frame) > self._server.limits.message_bytes:
                await self._connection.refuse_too_long()
            else:
                await self._connection.take(frame)
            del message, text, data, frame  # the next one may be a long time coming

    async def _next(self) -> Message:
        self._waits = True
        try:
            return await self._receive()
        finally:
            self._waits = False

    def take_at_once(self, frame: bytes) -> bool:
        """Take a text where it was parsed, as the reader would; False if that one has to do it.

        So it is while the client has answers to read: then nothing more is taken from it.
        """
        if not self._waits or not self._out.is_empty or len(frame) > self._server.limits.message_bytes:
            return False
        if self._server.asked_rate is not None:
            return False  # there is somebody to ask first
        if not frame.strip(b" \t\r\n") or not _is_text(frame):
            return False
        self._context.run(self._connection.take_at_once, frame)
        return True

    async def _write(self) -> None:
        while True:
            message = await self._out.get()
            async with asyncio.timeout(self._server.limits.send_seconds):
                await self._send({"type": "websocket.send", "text": message.decode()})
            self._out.sent(message)
            del message  # the next one may be a long time coming


def _is_text(frame: bytes) -> bool:
    try:
        frame.decode()
    except UnicodeDecodeError:
        return False
    return True
