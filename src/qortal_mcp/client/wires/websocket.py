"""A server reached over WebSocket: one message per text frame, subprotocol `mcp`."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from ..errors import ConnectionLost, HttpRefused
from ..limits import DEFAULT, ClientLimits
from ..transcript import Headers, Http, Observer, Recorder
from .routes import DIRECT, Route
from .turns import Turn
from .web import Web, raw_headers, translated
from .wire import NoSink, Outgoing, Sink

if TYPE_CHECKING:
    from aiohttp import ClientWebSocketResponse

SUBPROTOCOL = "mcp"


class WebSocketWire:
    """One connection. Made by `open`."""

    is_exchange = False

    def __init__(
        self, socket: ClientWebSocketResponse[bool], sink: Sink, web: Web, limits: ClientLimits
    ) -> None:
        self._socket = socket
        self._sink = sink
        self._web = web
        self._limits = limits
        self._writing = asyncio.Lock()
        self._reader = asyncio.get_running_loop().create_task(self._read())

    @classmethod
    async def open(
        cls,
        url: str,
        sink: Sink | None = None,
        *,
        headers: Headers = (),
        observer: Observer | None = None,
        limits: ClientLimits = DEFAULT,
        subprotocol: str | None = SUBPROTOCOL,
        route: Route = DIRECT,
    ) -> WebSocketWire:
        """Raises: ConnectionLost if there is no WebSocket: HttpRefused if the server gave a status instead."""
        import aiohttp
        from yarl import URL

        web = Web(Recorder(observer), limits, headers, route=route)
        offered = (("sec-websocket-protocol", subprotocol),) if subprotocol else ()
        sent = Http(method="GET", url=url, headers=(*headers, *offered))
        web.recorder.note("sent", "head", http=sent)
        try:
            with translated():
                async with asyncio.timeout(limits.connect_seconds):
                    socket = await web.session().ws_connect(
                        URL(url, encoded=True),
                        protocols=(subprotocol,) if subprotocol else (),
                        headers=list(headers),
                        max_msg_size=limits.message_bytes,
                        heartbeat=limits.heartbeat_seconds,
                        proxy=web.proxy(url),
                        # Frames as they came: whether they are UTF-8 is decided where the message is read.
                        decode_text=False,
                        timeout=aiohttp.ClientWSTimeout(ws_close=limits.goodbye_seconds),
                    )
        except ConnectionLost as exc:
            await web.close()
            raise _refusal(exc, web.recorder, sent) from exc
        except BaseException:
            await web.close()
            raise
        response = socket._response
        web.recorder.note(
            "received",
            "head",
            http=Http(method="GET", url=url, status=response.status, headers=raw_headers(response)),
        )
        return cls(socket, sink or NoSink(), web, limits)

    @property
    def subprotocol(self) -> str | None:
        """What the server chose; None if it chose nothing."""
        return self._socket.protocol

    async def send(self, message: Outgoing) -> None:
        await self.send_raw(message.data)

    async def send_raw(self, data: bytes, *, binary: bool = False) -> None:
        """One frame. A text frame takes any bytes here, UTF-8 or not."""
        from aiohttp import WSMsgType

        try:
            with translated():
                async with asyncio.timeout(self._limits.send_seconds), self._writing:
                    self._web.recorder.note("sent", "message", data, binary=binary)
                    await self._socket.send_frame(data, WSMsgType.BINARY if binary else WSMsgType.TEXT)
        except ConnectionLost:
            raise self._gone() from None

    async def _read(self) -> None:
        from aiohttp import WSMsgType

        turn = Turn()
        with contextlib.suppress(ConnectionLost), translated():
            while True:
                frame = await self._socket.receive()
                if frame.type not in (WSMsgType.TEXT, WSMsgType.BINARY):
                    break
                data = bytes(frame.data)
                binary = frame.type is WSMsgType.BINARY
                self._web.recorder.note("received", "message", data, binary=binary)
                self._sink.arrived(data)
                # It may be large, and the next one may never come.
                del data, frame
                if self._sink.is_full:
                    await self._sink.room()
                await turn.took_one()
        self._web.recorder.note("received", "closed", str(self._gone()).encode())
        self._sink.lost(self._gone())

    def _gone(self) -> ConnectionLost:
        code, reason = self._socket.close_code, self._socket.exception()
        return ConnectionLost(f"the WebSocket is closed ({code})" + (f": {reason}" if reason else ""))

    async def close(self) -> None:
        try:
            with contextlib.suppress(ConnectionLost, TimeoutError), translated():
                async with asyncio.timeout(self._limits.goodbye_seconds):
                    await self._socket.close()
        finally:
            self._reader.cancel()
            # Before the reader is waited for: whoever waits may be cancelled, and a goodbye that is closes nothing.
            self._socket._response.close()
            await self._web.close()
        await asyncio.gather(self._reader, return_exceptions=True)


def _refusal(exc: ConnectionLost, recorder: Recorder, sent: Http) -> ConnectionLost:
    """The error of a failed upgrade: with its status, if it was answered with one."""
    from aiohttp import WSServerHandshakeError

    cause = exc.__cause__
    if not isinstance(cause, WSServerHandshakeError):
        return exc
    answered = tuple((cause.headers or {}).items())
    recorder.note(
        "received", "head", http=Http(method="GET", url=sent.url, status=cause.status, headers=answered)
    )
    return HttpRefused(cause.status, answered, b"")
