"""Peers that send too much, too slowly or oddly, or that do not read: the server survives, serves others, and stops when asked."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest
from tests.door import Door, clean_environment
from tests.transports.peers import PING, UPGRADE, dial, frame, lives, memory, post, push, websocket

MANY_BYTES = 60 * 1024 * 1024


@pytest.mark.promise("Limits and abuse", "Deep nesting and other costly input take no noticeable time.")
def test_deep_nesting_with_an_open_string_takes_no_time(door: Door) -> None:
    answer = door.send(b'{"id":7,"a":' + b"[" * 10_000 + b'"' + b'\\"' * 400_000)
    assert answer.status == 400
    lives(door)


def test_trailers_without_end_are_refused(door: Door) -> None:
    before = memory(door)
    with dial(door) as sock:
        sock.sendall(
            b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
        )
        push(sock, b"a: b\r\n" * 20_000, 200)
    assert memory(door) - before < MANY_BYTES
    lives(door)


@pytest.mark.promise("Limits and abuse", "More requests at once than allowed are refused.")
def test_requests_piled_up_on_a_connection_are_bounded(door: Door) -> None:
    before = memory(door)
    with dial(door) as sock:
        push(sock, post(PING) * 500, 100)
    assert memory(door) - before < MANY_BYTES
    lives(door)


def test_a_request_for_http_2_is_ignored(door: Door) -> None:
    wish = (
        b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n"
    )
    with dial(door) as sock:
        sock.sendall(post(PING, wish))
        assert b'"id":1,"result":{}' in sock.recv(2000)


@pytest.mark.parametrize(
    "head",
    [
        b"GET /ws HTTP/1.1\r\nHost: evil.example\r\n" + b"X: a\r\n" * 200 + UPGRADE,
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 10_000 + b"\r\n" + UPGRADE,
        b"POST /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\n" + UPGRADE,
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n" + (b"X: " + b"a" * 4000 + b"\r\n") * 10 + UPGRADE,
    ],
    ids=["many-headers", "long-header", "with-a-body", "too-large"],
)
def test_an_odd_upgrade_is_refused_at_once(door: Door, head: bytes) -> None:
    with dial(door) as sock:
        sock.sendall(head + b"\r\n")
        assert sock.recv(100).startswith(b"HTTP/1.1 4")
    lives(door)
    assert door.stop() == 0
    assert "Traceback" not in "".join(door.log)


def test_fragments_without_end_do_not_starve_others(door: Door) -> None:
    with websocket(door) as sock:
        sock.sendall(frame(b"{", fin=False))
        push(sock, frame(b"", opcode=0, fin=False) * 10_000, 100)
        lives(door)


def test_a_client_that_does_not_read_cannot_hold_up_the_end(door: Door) -> None:
    before = memory(door)
    with websocket(door, 4096) as sock:
        big = json.dumps({"jsonrpc": "2.0", "id": "x" * 1000, "method": "x" * 900_000}).encode()
        push(sock, frame(big) * 4, 30)
        push(sock, frame(b"x" * 100, opcode=9) * 1000, 100)
        assert memory(door) - before < 2 * MANY_BYTES
        lives(door)
        assert door.stop() == 0


def test_what_a_client_says_it_can_do_is_not_kept(door: Door) -> None:
    said = b"[" + b",".join([b"[]"] * 300_000) + b"]"
    hello = (
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
        b'"capabilities":{"roots":{"x":%b}}}}' % said
    )
    sockets = [websocket(door) for _ in range(8)]
    for sock in sockets:
        sock.sendall(frame(hello))
        assert b"protocolVersion" in sock.recv(4000)
    before = memory(door)
    more = [websocket(door) for _ in range(8)]
    for sock in more:
        sock.sendall(frame(hello))
        assert b"protocolVersion" in sock.recv(4000)
    assert memory(door) - before < MANY_BYTES / 2
    for sock in (*sockets, *more):
        sock.close()


QUICK_TO_STOP = """
from qortal_mcp import Limits, Server, ServerOptions
from qortal_mcp.transports.stdio import serve_stdio
serve_stdio(Server("quick", options=ServerOptions(limits=Limits(shutdown_seconds=0.5))))
"""


@pytest.mark.parametrize("end", ["signal", "input"])
def test_stdio_ends_though_nobody_reads_its_output(end: str) -> None:
    read_end, write_end = os.pipe()
    child = subprocess.Popen(
        [sys.executable, "-c", QUICK_TO_STOP],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    os.close(write_end)
    assert child.stdin is not None
    try:
        line = json.dumps({"jsonrpc": "2.0", "id": "x" * 1000, "method": "x" * 1000}).encode() + b"\n"
        fill(child.stdin.fileno(), line * 50)
        if end == "signal":
            child.send_signal(signal.SIGTERM)
        else:
            child.stdin.close()
        assert child.wait(timeout=20) == 0
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
        if not child.stdin.closed:
            child.stdin.close()
        os.close(read_end)


def fill(fd: int, data: bytes) -> None:
    """Write until the other side has taken nothing for a while, though it did before."""
    os.set_blocking(fd, False)
    sent, quiet = 0, 0
    while sent < 1_000_000 or quiet < 10:
        assert sent < 100_000_000, "it takes whatever comes"
        try:
            sent += os.write(fd, data)
            quiet = 0
        except BlockingIOError:
            quiet += 1
            time.sleep(0.05)
