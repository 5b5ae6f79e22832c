"""WebSocket from the client's side, only what is needed: one text frame out, one text frame in."""

import asyncio
import base64
import secrets
import struct
from typing import cast

from bench.load.job import Job
from bench.load.run import Run, WrongReply

_TEXT = 0x81


def upgrade(port: int, path: str) -> bytes:
    key = base64.b64encode(secrets.token_bytes(16)).decode()
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: mcp\r\n\r\n"
    ).encode()


def frame(text: bytes) -> bytes:
    """One masked text frame. The mask is zero, which is allowed and costs the server the same."""
    if len(text) < 126:
        head = struct.pack("!BB", _TEXT, 0x80 | len(text))
    else:
        head = struct.pack("!BBH", _TEXT, 0x80 | 126, len(text))
    return head + bytes(4) + text


def unframe(data: bytes) -> tuple[bytes, int] | None:
    """The payload of the first frame and where the next one begins; None while it is incomplete."""
    if len(data) < 2:
        return None
    length, start = data[1] & 0x7F, 2
    if length == 126:
        start = 4
        length = int.from_bytes(data[2:4])
    elif length == 127:
        start = 10
        length = int.from_bytes(data[2:10])
    if len(data) < start + length:
        return None
    return data[start : start + length], start + length


class WebSocketConnection(asyncio.Protocol):
    """Upgrades, shakes hands, then sends a message, checks the reply and sends the next."""

    def __init__(self, run: Run, hello: bytes) -> None:
        self._run = run
        self._hello = hello
        self._message = frame(run.job.body.encode())
        self._buffer = b""
        self._is_open = self._is_greeted = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's classes.
        self._transport = cast(asyncio.WriteTransport, transport)
        job: Job = self._run.job
        self._transport.write(upgrade(job.port, job.path))

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        if not self._is_open:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            if not self._buffer.startswith(b"HTTP/1.1 101 "):
                self._run.fail(WrongReply(repr(self._buffer[:600])))
                return
            self._buffer = self._buffer[end + 4 :]
            self._is_open = True
            self._transport.write(frame(self._hello))
        while (found := unframe(self._buffer)) is not None:
            payload, used = found
            self._buffer = self._buffer[used:]
            self._took(payload)

    def _took(self, payload: bytes) -> None:
        if self._is_greeted:
            try:
                self._run.took(payload)
            except WrongReply as exc:
                self._run.fail(exc)
                return
        self._is_greeted = True
        if self._run.may_send():
            self._transport.write(self._message)

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.fail(WrongReply(f"connection lost: {exc}"))
