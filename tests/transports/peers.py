"""Hostile peers of the HTTP door, byte by byte: what they send, and what that costs the server."""

import resource
import socket
import struct
import time
from pathlib import Path

from tests.door import Door

PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
UPGRADE = (
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
)


def dial(door: Door, receive_buffer: int | None = None) -> socket.socket:
    sock = socket.socket()
    if receive_buffer is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    sock.settimeout(5)
    sock.connect(("127.0.0.1", door.port))
    return sock


def post(body: bytes, head: bytes = b"") -> bytes:
    return (
        b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n%bContent-Length: %d\r\n\r\n%b"
        % (head, len(body), body)
    )


def frame(payload: bytes, opcode: int = 1, fin: bool = True) -> bytes:
    size = len(payload)
    head = bytes([fin << 7 | opcode])
    if size < 126:
        head += bytes([128 | size])
    elif size < 65536:
        head += bytes([254]) + struct.pack("!H", size)
    else:
        head += bytes([255]) + struct.pack("!Q", size)
    return head + b"\0\0\0\0" + payload


def websocket(door: Door, receive_buffer: int | None = None) -> socket.socket:
    sock = dial(door, receive_buffer)
    sock.sendall(b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n" + UPGRADE + b"\r\n")
    assert b"101" in sock.recv(1000)
    return sock


def push(sock: socket.socket, data: bytes, times: int) -> None:
    """Send as long as the other side accepts it."""
    sock.settimeout(0.5)
    try:
        for _ in range(times):
            sock.sendall(data)
    except OSError:
        return


def memory(door: Door) -> int:
    pages = int(Path(f"/proc/{door.process.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def lives(door: Door) -> None:
    """It answers before the door's client gives up, which is sooner than any limit ends what others left open."""
    assert door.rpc("ping")["result"] == {}


def metric(door: Door, name: str) -> int:
    """A number from the page for operators."""
    lines = door.get("/metrics").body.decode().splitlines()
    return next(int(float(line.split()[-1])) for line in lines if line.startswith(f"{name} "))


def becomes(door: Door, name: str, wanted: int) -> bool:
    """Whether a number on the page for operators becomes what it should within a while."""
    deadline = time.monotonic() + 15
    while (found := metric(door, name)) != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    return found == wanted


def read_all(sock: socket.socket) -> bytes:
    """Whatever comes until the other side closes."""
    pieces = []
    while piece := sock.recv(65536):
        pieces.append(piece)
    return b"".join(pieces)


def read_until(sock: socket.socket, end: bytes) -> bytes:
    """Whatever comes, up to the piece that contains this text."""
    received = b""
    while end not in received:
        piece = sock.recv(65536)
        assert piece, f"closed before {end!r}: {received!r}"
        received += piece
    return received
