"""Requests that never arrive in full: they are bounded, and do not keep others out. Heartbeats are not mistaken for a flood."""

import contextlib
import re
import resource
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from tests.door import Door
from tests.transports.peers import (
    PING,
    dial,
    frame,
    lives,
    memory,
    post,
    push,
    read_until,
    websocket,
)

from qortal_mcp.limits import DEFAULT

HALF_A_HEAD = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX: "
PING_REQUEST = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
SLACK = 48 * 1024 * 1024


@contextlib.contextmanager
def many_files() -> Iterator[int]:
    """Room for thousands of connections, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        yield min(hard, 100_000)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def is_open(sock: socket.socket) -> bool:
    """Whether nothing has come back: neither a refusal nor an end."""
    sock.setblocking(False)
    try:
        sock.recv(1)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


@pytest.mark.promise("Limits and abuse", "Half-sent requests keep nobody out, however many there are.")
@pytest.mark.parametrize("sent", [HALF_A_HEAD, b""], ids=["half-a-head", "nothing"])
def test_half_sent_heads_do_not_close_the_door(door: Door, sent: bytes) -> None:
    with many_files() as files, contextlib.ExitStack() as stack:
        waiting = []
        for _ in range(min(8300, files - 200)):
            sock = stack.enter_context(dial(door))
            with contextlib.suppress(OSError):  # ended already, to make room
                sock.sendall(sent)
            waiting.append(sock)
        lives(door)
        assert door.get("/healthz").status == 200
        deadline = time.monotonic() + 15
        while (
            still := sum(map(is_open, waiting))
        ) > DEFAULT.unfinished_heads and time.monotonic() < deadline:
            time.sleep(0.05)
    assert 0 < still <= DEFAULT.unfinished_heads


def test_the_oldest_half_sent_head_makes_room_first(door: Door) -> None:
    with many_files(), contextlib.ExitStack() as stack:
        first = stack.enter_context(dial(door))
        first.sendall(HALF_A_HEAD)
        for _ in range(DEFAULT.unfinished_heads - 1):
            stack.enter_context(dial(door))
        lives(door)  # one more, which makes the first one leave
        assert read_until(first, b"\r\n\r\n").startswith(b"HTTP/1.1 408 ")
        lives(door)


@pytest.mark.promise("Limits and abuse", "Two thousand clients that come at once are all served.")
def test_clients_that_come_at_once_are_all_served(door: Door) -> None:
    with many_files(), contextlib.ExitStack() as stack:
        clients = [stack.enter_context(dial(door)) for _ in range(2000)]
        for client in clients:
            client.sendall(PING_REQUEST)
        assert {read_until(client, b"\r\n\r\n")[:12] for client in clients} == {b"HTTP/1.1 200"}


def test_half_sent_heads_are_bounded_together(door: Door) -> None:
    before = memory(door)
    head = HALF_A_HEAD + b"x" * (DEFAULT.header_bytes - len(HALF_A_HEAD) - 1)
    with many_files(), contextlib.ExitStack() as stack:
        for _ in range(DEFAULT.unfinished_heads - 1):
            push(stack.enter_context(dial(door)), head, 1)
        assert memory(door) - before < SLACK
        lives(door)


@pytest.mark.promise("Limits and abuse", "Half-sent requests keep nobody out, however many there are.")
def test_half_sent_bodies_are_bounded_together(door: Door) -> None:
    before = memory(door)
    body = b" " * (DEFAULT.message_bytes - 10)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            push(stack.enter_context(dial(door)), post(body)[:-1], 1)
        assert memory(door) - before < SLACK
        lives(door)


def test_half_sent_messages_are_bounded_together(door: Door) -> None:
    before = memory(door)
    message = frame(b" " * (DEFAULT.message_bytes - 10))[:-1]
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            push(stack.enter_context(websocket(door)), message, 1)
        assert memory(door) - before < SLACK
        lives(door)


def test_messages_that_were_answered_are_not_kept(door: Door) -> None:
    before = memory(door)
    message = frame(PING + b" " * 1_000_000)
    with contextlib.ExitStack() as stack:
        for _ in range(100):
            sock = stack.enter_context(websocket(door))
            sock.sendall(message)
            read_until(sock, b'"result":{}')
        assert memory(door) - before < SLACK


@pytest.mark.parametrize("payload", [b"", b"1", PING], ids=["empty", "rubbish", "pings"])
def test_floods_of_small_messages_are_bounded_together(door: Door, payload: bytes) -> None:
    before = memory(door)
    flood = frame(payload) * (256 * 1024 // len(frame(payload)))
    most = 0
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(websocket(door, receive_buffer=2048)) for _ in range(150)]
        for sock in sockets * 15:
            sock.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                sock.send(flood)
            most = max(most, memory(door))
        assert most - before < SLACK
        lives(door)


def test_many_messages_in_one_write_are_all_answered_in_order(door: Door) -> None:
    pings = [b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number for number in range(600)]
    pings[300] += b" " * 100_000
    with websocket(door) as sock:
        writing = threading.Thread(target=sock.sendall, args=(b"".join(map(frame, pings)),))
        writing.start()
        received = read_until(sock, b'"id":599,"result":{}')
        writing.join()
    assert [int(found) for found in re.findall(rb'"id":([0-9]+),"result"', received)] == list(range(600))


def test_a_large_body_arrives_though_others_send_half_of_theirs(door: Door) -> None:
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            push(stack.enter_context(dial(door)), post(b" " * 1_000_000)[:-1], 1)
        assert door.send(PING + b" " * 1_000_000).json["result"] == {}


@pytest.mark.promise("Limits and abuse", "A WebSocket may send heartbeats for ever; a flood of them ends it.")
def test_an_idle_websocket_may_send_heartbeats(door: Door) -> None:
    with websocket(door) as pinging, websocket(door) as ponging:
        for _ in range(80):
            pinging.sendall(frame(b"beat", opcode=9))
            ponging.sendall(frame(b"beat", opcode=10))
            time.sleep(0.05)
        for sock in (pinging, ponging):
            sock.sendall(frame(PING))
            read_until(sock, b'"id":1,"result":{}')


@pytest.mark.parametrize("opcode", [9, 10], ids=["ping", "pong"])
def test_a_flood_of_heartbeats_ends_the_connection(door: Door, opcode: int) -> None:
    with websocket(door) as sock:
        push(sock, frame(b"", opcode=opcode) * 500, 10)
        sock.settimeout(5)
        with contextlib.suppress(ConnectionResetError):
            while sock.recv(65536):
                pass
    lives(door)
