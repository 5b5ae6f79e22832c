"""Connections that are opened, used once, and then stay silent."""

import socket
from collections.abc import Callable

from bench.load.http import request
from bench.load.job import Job
from bench.load.websocket import frame, unframe, upgrade
from bench.processes import Failed
from bench.wire import INITIALIZE

_SECONDS = 20.0


def open_http(job: Job) -> socket.socket:
    """A keep-alive connection after one call. Raises: Failed."""
    sock = _connect(job.port)
    sock.sendall(request(job))
    reply = _read_until(sock, lambda data: job.marks[0].encode() in data)
    if not reply.startswith(b"HTTP/1.1 200 "):
        raise Failed(f"wrong reply: {reply[:300]!r}")
    return sock


def open_websocket(port: int, hello: str = INITIALIZE) -> socket.socket:
    """A WebSocket after the MCP handshake. Raises: Failed."""
    sock = _connect(port)
    sock.sendall(upgrade(port, "/ws"))
    head = _read_until(sock, lambda data: b"\r\n\r\n" in data)
    if not head.startswith(b"HTTP/1.1 101 "):
        raise Failed(f"wrong reply: {head[:300]!r}")
    sock.sendall(frame(hello.encode()))
    _read_until(sock, lambda data: unframe(data) is not None)
    return sock


def _connect(port: int) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", port), timeout=_SECONDS)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def _read_until(sock: socket.socket, is_enough: Callable[[bytes], bool]) -> bytes:
    found = b""
    while not is_enough(found):
        data = sock.recv(1 << 16)
        if not data:
            raise Failed(f"closed after {found[:300]!r}")
        found += data
    return found
