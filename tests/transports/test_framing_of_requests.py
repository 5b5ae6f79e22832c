"""How requests are cut out of what arrives: across pieces, in tiny chunks, and before an upgrade."""

import time

import pytest
from tests.door import Door
from tests.transports.peers import PING, UPGRADE, dial, lives, post, read_all, read_until

HTTP_2 = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
CHUNKED = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"


def in_chunks(body: bytes, size: int) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return CHUNKED + b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize("before", [b"", post(PING)], ids=["first", "after-another"])
def test_a_body_is_left_alone_wherever_the_head_is_cut(door: Door, before: bytes) -> None:
    body = b'{"jsonrpc":"2.0","id":7,\r\nUpgrade: h2cAAAA\r\n"method":"ping"}'
    request = post(body)
    end = request.index(b"\r\n\r\n") + 3
    with dial(door) as sock:
        sock.sendall(before + request[:end])
        time.sleep(0.1)
        sock.sendall(request[end:] + post(PING.replace(b'"id":1', b'"id":8')))
        received = read_until(sock, b'"id":8')
    assert received.count(b"HTTP/1.1 ") == 2 + bool(before)
    assert b"-32700" in received


@pytest.mark.parametrize("cut", [1, 3, 40, 60])
def test_a_request_for_http_2_is_ignored_though_it_comes_in_two_pieces(door: Door, cut: int) -> None:
    request = post(PING, HTTP_2)
    end = request.index(b"\r\n\r\n") + 4
    with dial(door) as sock:
        sock.sendall(request[: end - cut])
        time.sleep(0.05)
        sock.sendall(request[end - cut :])
        assert b"HTTP/1.1 200 " in read_until(sock, b'"result":{}')


def test_a_body_of_countless_tiny_chunks_is_refused(door: Door) -> None:
    with dial(door) as sock:
        sock.sendall(CHUNKED + b"1\r\n \r\n" * 8000)
        assert read_until(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    lives(door)


@pytest.mark.parametrize(("padding", "size"), [(1800, 1), (500_000, 256)])
def test_a_body_may_come_in_small_chunks(door: Door, padding: int, size: int) -> None:
    with dial(door) as sock:
        sock.sendall(in_chunks(PING + b" " * padding, size))
        assert b"HTTP/1.1 200 " in read_until(sock, b'"result":{}')


def test_a_head_of_countless_headers_is_refused(door: Door) -> None:
    with dial(door) as sock:
        sock.sendall(b"GET / HTTP/1.1\r\n" + b"a:b\r\n" * 10_000)
        assert read_until(sock, b"\r\n\r\n").startswith(b"HTTP/1.1 431 ")


def test_a_request_is_answered_though_an_upgrade_follows_it(door: Door) -> None:
    with dial(door) as sock:
        sock.sendall(post(PING) + b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n" + UPGRADE + b"\r\n")
        received = read_all(sock)
    assert received.startswith(b"HTTP/1.1 200 ")
    assert b'"result":{}' in received
    assert received.count(b"HTTP/1.1 ") == 1
