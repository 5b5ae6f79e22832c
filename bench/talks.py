"""A client that keeps several calls in flight, on stdio and on HTTP, and sleeps while it waits.

Unlike the load generator it shares its core with the proxy in front of it, so it must not poll.
"""

import os
import re
import select
import selectors
import socket
import time
from typing import Protocol

from bench.contestants import LOCAL_TOOL
from bench.lines import Lines
from bench.processes import Child, Failed
from bench.wire import INITIALIZE, INITIALIZED, LEGACY, call, headers

_SECONDS = 30.0
_ID = re.compile(rb'"id":(\d+)')
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
_SESSION = re.compile(rb"\r\nmcp-session-id: *([^\r]+)", re.IGNORECASE)
_VALID = b'"isValid":true'


class Channel(Protocol):
    """A way to send calls, of which several may be open."""

    def resume(self) -> None: ...

    def send(self, slot: int, message: str) -> None: ...

    def receive(self) -> list[tuple[int, bytes]]:
        """The replies that are in, at least one, each with the slot that is free again. Raises: Failed."""
        ...


class Talk:
    """Calls on one channel. Every reply must be the right one, once."""

    # As many as a channel has room for.
    IN_FLIGHT = 16

    def __init__(self, channel: Channel, revision: str = LEGACY) -> None:
        self._channel = channel
        self._call = call(LOCAL_TOOL, revision=revision)
        self._last = 100
        self._open: set[int] = set()

    def resume(self) -> None:
        """Go on after a pause: some servers close connections that are not used for a few seconds."""
        self._channel.resume()
        self.seconds(self.IN_FLIGHT, self.IN_FLIGHT)

    def seconds(self, calls: int, in_flight: int = 1) -> float:
        """How long so many calls take. Raises: Failed."""
        began = time.perf_counter()
        for slot in range(in_flight):
            self._send(slot)
        left, missing = calls - in_flight, calls
        while missing:
            for slot, reply in self._channel.receive():
                self._check(reply)
                missing -= 1
                if left:
                    left -= 1
                    self._send(slot)
        return time.perf_counter() - began

    def _send(self, slot: int) -> None:
        self._last += 1
        self._open.add(self._last)
        self._channel.send(slot, self._call.replace('"id":7', f'"id":{self._last}'))

    def _check(self, reply: bytes) -> None:
        found = _ID.search(reply)
        if found is None or _VALID not in reply or int(found[1]) not in self._open:
            raise Failed(f"wrong reply: {reply[:500]!r}")
        self._open.remove(int(found[1]))


class PipeChannel:
    """The standard input and output of a child, after the handshake."""

    def __init__(self, child: Child) -> None:
        lines = Lines(child)
        lines.greet()
        lines.list_tools()
        self._child = child
        self._buffer = b""

    def resume(self) -> None:
        """A pipe stays open."""

    def send(self, slot: int, message: str) -> None:
        os.write(self._child.stdin.fileno(), message.encode() + b"\n")

    def receive(self) -> list[tuple[int, bytes]]:
        stdout = self._child.stdout
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([stdout], [], [], _SECONDS)
            data = os.read(stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                raise Failed(f"{self._child.name} did not answer: {self._child.tail()}")
            self._buffer += data
        *lines, self._buffer = self._buffer.split(b"\n")
        return [(0, line) for line in lines]


class HttpChannel:
    """Connections to a child that listens on a port, all in one session if the revision has sessions."""

    def __init__(self, child: Child, port: int, revision: str = LEGACY) -> None:
        self._child = child
        self._port = port
        self._headers = headers(LOCAL_TOOL, revision=revision)
        self._selector = selectors.DefaultSelector()
        self._buffers = [b""]
        self._sockets = [self._connected()]
        if revision == LEGACY:
            self._shake_hands()

    def close(self) -> None:
        self._selector.close()
        for sock in self._sockets:
            sock.close()

    def resume(self) -> None:
        self.close()
        self._selector = selectors.DefaultSelector()
        self._sockets = [self._connected() for _ in range(Talk.IN_FLIGHT)]
        self._buffers = [b""] * Talk.IN_FLIGHT
        for slot, sock in enumerate(self._sockets):
            self._selector.register(sock, selectors.EVENT_READ, slot)

    def _connected(self) -> socket.socket:
        """Raises: Failed if nobody listens in time."""
        deadline = time.monotonic() + _SECONDS
        while self._child.is_running and time.monotonic() < deadline:
            try:
                sock = socket.create_connection(("127.0.0.1", self._port), _SECONDS)
            except OSError:
                time.sleep(0.02)
                continue
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return sock
        raise Failed(f"{self._child.name} does not listen: {self._child.tail()}")

    def _shake_hands(self) -> None:
        head, _ = self._ask(INITIALIZE)
        if session := _SESSION.search(head):
            self._headers["Mcp-Session-Id"] = session[1].decode()
        self._ask(INITIALIZED)

    def _ask(self, message: str) -> tuple[bytes, bytes]:
        self.send(0, message)
        while (found := self._read(0)) is None:
            pass
        return found

    def send(self, slot: int, message: str) -> None:
        body = message.encode()
        heads = {"Host": f"127.0.0.1:{self._port}", **self._headers, "Content-Length": str(len(body))}
        lines = "".join(f"{name}: {value}\r\n" for name, value in heads.items())
        self._sockets[slot].sendall(f"POST /mcp HTTP/1.1\r\n{lines}\r\n".encode() + body)

    def receive(self) -> list[tuple[int, bytes]]:
        found: list[tuple[int, bytes]] = []
        while not found:
            ready = self._selector.select(_SECONDS)
            if not ready:
                raise Failed(f"{self._child.name} did not answer: {self._child.tail()}")
            for key, _ in ready:
                if (reply := self._read(key.data)) is not None:
                    found.append((key.data, reply[1]))
        return found

    def _read(self, slot: int) -> tuple[bytes, bytes] | None:
        """Head and body of a reply; None while it is incomplete. Raises: Failed."""
        data = self._sockets[slot].recv(1 << 16)
        buffer = self._buffers[slot] + data
        head, blank, rest = buffer.partition(b"\r\n\r\n")
        body = _body(head + b"\r\n", rest) if blank else None
        if not data or (blank and not head.startswith((b"HTTP/1.1 200 ", b"HTTP/1.1 202 "))):
            raise Failed(f"{self._child.name}: wrong reply: {buffer[:600]!r}; {self._child.tail()}")
        self._buffers[slot] = buffer if body is None else b""
        return None if body is None else (head, body)


def _body(head: bytes, rest: bytes) -> bytes | None:
    """A whole body, with a length or in chunks; None while it is incomplete."""
    if length := _LENGTH.search(head):
        return rest if len(rest) >= int(length[1]) else None
    body = b""
    while True:
        size, line_end, rest = rest.partition(b"\r\n")
        if not line_end:
            return None
        count = int(size, 16)
        if len(rest) < count + 2:
            return None
        if not count:
            return body
        body, rest = body + rest[:count], rest[count + 2 :]
