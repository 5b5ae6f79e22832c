"""Requests that look like one before: their heads are not parsed again, and nobody can tell."""

import json
import re
import socket
import sys
from collections.abc import Iterator

import pytest
from tests.door import Door, open_program
from tests.transports.peers import dial, post, read_all

SERVER = """
from qortal_mcp.server import Server, tool
from qortal_mcp.transports import serve
from qortal_mcp.transports.guard import Guard
from qortal_mcp.transports.http import HttpApp, Page

@tool(quick=True)
def echo(text: str) -> str:
    '''Says it again.'''
    return text

def renew() -> Page:
    app.renew_token("second")
    return Page(b"{}")

app = HttpApp(Server("echo", tools=[echo]), guard=Guard(token=TOKEN), routes={"/renew": renew}, open_routes=["/renew"])
serve._KEEP_ALIVE_SECONDS = 1
serve.run_http(app, serve.bind("127.0.0.1", 0))
"""
_ID = re.compile(rb"x-request-id: ([^\r]+)\r\n")


@pytest.fixture
def door() -> Iterator[Door]:
    with open_program([sys.executable, "-c", SERVER.replace("TOKEN", "None")]) as door:
        yield door


def call(text: str, head: bytes = b"") -> bytes:
    params = {"name": "echo", "arguments": {"text": text}}
    return post(
        json.dumps({"jsonrpc": "2.0", "id": text, "method": "tools/call", "params": params}).encode(), head
    )


class Replies:
    """What comes back on a connection, reply by reply."""

    def __init__(self, sock: socket.socket) -> None:
        self._file = sock.makefile("rb")

    def next(self) -> tuple[bytes, bytes]:
        """Head and body."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self._file.readline()
            assert line, f"the connection was closed after {head!r}"
            head += line
        length = re.search(rb"content-length: (\d+)", head)
        return head, self._file.read(int(length[1])) if length else b""

    def text(self) -> str:
        head, body = self.next()
        assert head.startswith(b"HTTP/1.1 200 "), head
        said = json.loads(body)
        assert said["id"] == said["result"]["content"][0]["text"]
        return str(said["id"])


def test_each_gets_its_own_answer_and_its_own_id(door: Door) -> None:
    ids = set()
    for _ in range(2):  # heads are known beyond their connection
        with dial(door) as sock:
            replies = Replies(sock)
            for text in ("one", "two", "six", "more", "ten"):
                sock.sendall(call(text))
                head, body = replies.next()
                assert json.loads(body)["id"] == text
                ids.update(_ID.findall(head))
    assert len(ids) == 10


@pytest.mark.promise("Transports", "A request is read the same way, however its bytes are cut on their way.")
def test_the_bytes_may_be_cut_anywhere(door: Door) -> None:
    known, other = call("one"), call("other")
    with dial(door) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        replies = Replies(sock)
        for _ in range(2):
            sock.sendall(known)
            assert replies.text() == "one"
        for cut in range(1, len(known) + 20, 9):
            both = known + other
            sock.sendall(both[:cut])
            sock.sendall(both[cut:])
            assert [replies.text(), replies.text()] == ["one", "other"]
        sock.sendall(known * 5)
        assert [replies.text() for _ in range(5)] == ["one"] * 5


def test_a_body_that_is_not_a_message_is_refused_after_good_ones(door: Door) -> None:
    good = call("one")
    bad = good[:-1] + b"!"
    with dial(door) as sock:
        replies = Replies(sock)
        for _ in range(3):
            sock.sendall(good)
            assert replies.text() == "one"
        sock.sendall(bad)
        head, body = replies.next()
        assert head.startswith(b"HTTP/1.1 400 ")
        assert json.loads(body)["error"]["code"] == -32700
        sock.sendall(good)
        assert replies.text() == "one"


def test_what_is_not_http_ends_the_connection_after_good_ones(door: Door) -> None:
    with dial(door) as sock:
        replies = Replies(sock)
        for _ in range(3):
            sock.sendall(call("one"))
            assert replies.text() == "one"
        sock.sendall(b"\0" + call("one"))
        assert replies.next()[0].startswith(b"HTTP/1.1 400 ")
        assert read_all(sock) == b""


def test_a_client_that_wants_the_connection_closed_gets_that_each_time(door: Door) -> None:
    for _ in range(3):
        with dial(door) as sock:
            sock.sendall(call("one", b"Connection: close\r\n"))
            assert b"connection: close" in read_all(sock)


def test_a_token_that_was_replaced_opens_nothing_although_its_head_is_known() -> None:
    with (
        open_program([sys.executable, "-c", SERVER.replace("TOKEN", "'first'")]) as door,
        dial(door) as sock,
    ):
        replies = Replies(sock)
        for _ in range(3):
            sock.sendall(call("one", b"Authorization: Bearer first\r\n"))
            assert replies.text() == "one"
        assert door.send(method="GET", path="/renew").status == 200
        sock.sendall(call("one", b"Authorization: Bearer first\r\n"))
        assert replies.next()[0].startswith(b"HTTP/1.1 401 ")
        sock.sendall(call("one", b"Authorization: Bearer second\r\n"))
        assert replies.text() == "one"


def test_a_connection_that_is_not_used_any_more_is_closed(door: Door) -> None:
    with dial(door) as sock:
        sock.settimeout(20)
        sock.sendall(call("one"))
        assert Replies(sock).text() == "one"
        assert sock.recv(1) == b""
