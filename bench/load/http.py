"""HTTP/1.1 with keep-alive from the client's side, only what is needed: one request at a time per connection."""

import asyncio
import re
from typing import cast

from bench.load.job import Job
from bench.load.run import Run, WrongReply, filled_length

_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)


def heads(job: Job) -> dict[str, str]:
    length = filled_length(job.body.encode())
    return {"Host": f"127.0.0.1:{job.port}", **job.headers, "Content-Length": str(length)}


def request(job: Job) -> bytes:
    body = job.body.encode()
    lines = "".join(f"{name}: {value}\r\n" for name, value in heads(job).items())
    return f"POST {job.path} HTTP/1.1\r\n{lines}\r\n".encode() + body


class HttpConnection(asyncio.Protocol):
    """Sends a request, checks the reply, sends the next."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._template = request(run.job)
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports do not derive from asyncio's classes.
        self._transport = cast(asyncio.WriteTransport, transport)
        self._run.in_turn(self._send)

    def _send(self) -> None:
        self._transport.write(self._run.fill(self._template))

    def data_received(self, data: bytes) -> None:
        self._buffer = self._buffer + data if self._buffer else data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _LENGTH.search(self._buffer, 0, end + 2)
        if not self._buffer.startswith(b"HTTP/1.1 200 ") or length is None:
            self._run.fail(WrongReply(repr(self._buffer[:600])))
            return
        last = end + 4 + int(length[1])
        if len(self._buffer) < last:
            return
        reply, self._buffer = self._buffer[end + 4 : last], self._buffer[last:]
        try:
            self._run.took(reply)
        except WrongReply as exc:
            self._run.fail(exc)
            return
        self._run.in_turn(self._send)

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.fail(WrongReply(f"connection lost: {exc}"))
