"""Transports below their wires: session clocks, accept headers, loopback names, the one-line runner."""

import asyncio
import os
import subprocess
import sys

import pytest

from qortal_mcp.limits import Limits
from qortal_mcp.server import Server, ServerOptions, tool
from qortal_mcp.transports.guard import is_loopback
from qortal_mcp.transports.head import Accepts, accepts
from qortal_mcp.transports.memory import MemoryConnection
from qortal_mcp.transports.serve import bind, url_of
from qortal_mcp.transports.sessions import Sessions
from qortal_mcp.transports.stdio import serve_fds


@tool
def echo(text: str) -> str:
    """Says it again."""
    return text


def server(**limits: float) -> Server:
    return Server(
        "s",
        tools=[echo],
        options=ServerOptions(announces_changes=True, limits=Limits(**limits)),  # type: ignore[arg-type]
    )


def open_one(sessions: Sessions) -> str:
    peer = sessions.candidate("here")
    peer.shake_hands("2025-11-25", peer.capabilities)
    opened = sessions.open(peer)
    assert opened is not None
    return opened


@pytest.mark.parametrize("started", [0.0, 1000.0, 1e9])
async def test_an_idle_session_is_ended_when_another_one_opens(started: float) -> None:
    clock = [started]
    sessions = Sessions(server(session_idle_seconds=10.0), lambda: clock[0])
    old = open_one(sessions)
    clock[0] += 9
    kept = open_one(sessions)
    assert sessions.find(old) is not None
    clock[0] += 9
    assert sessions.find(kept) is not None
    clock[0] += 9
    open_one(sessions)
    assert sessions.find(old) is None
    assert sessions.find(kept) is not None
    await sessions.close()
    assert sessions.find(kept) is None


async def test_a_session_keeps_a_bounded_number_of_notices() -> None:
    subject = server(session_events=3)
    sessions = Sessions(subject)
    session = sessions.find(open_one(sessions))
    assert session is not None
    for _ in range(10):
        subject.hub.list_changed("tools")
    session.standalone.finish()
    kept = [event.number async for event in session.standalone.read(0, 1) if event is not None]
    assert kept == [8, 9, 10]
    await sessions.close()


async def test_a_connection_that_reads_nothing_loses_notices_not_the_server() -> None:
    subject = server(backlog_messages=4)
    async with MemoryConnection(subject) as connection:
        await connection.send(
            b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}'
        )
        await connection.receive()
        for _ in range(100):
            subject.hub.list_changed("tools")
        for _ in range(4):
            assert b"list_changed" in await connection.receive()
        await connection.send(b'{"jsonrpc":"2.0","id":2,"method":"ping"}')
        assert await connection.receive() == b'{"jsonrpc":"2.0","id":2,"result":{}}'


@pytest.mark.promise("Limits and abuse", "A client that does not read its notices is let go.")
async def test_a_subscriber_that_reads_nothing_is_ended() -> None:
    from qortal_mcp.protocol.messages import ListenFilter

    subject = server(backlog_messages=3)
    listener = subject.hub.listen("id", ListenFilter(toolsListChanged=True))
    for _ in range(10):
        subject.hub.list_changed("tools")
    found = []
    async with asyncio.timeout(30):
        while (message := await listener.next()) is not None:
            found.append(message)
    assert len(found) < 4
    subject.hub.drop(listener)
    assert len(subject.hub) == 0


@pytest.mark.promise("Limits and abuse", "One caller cannot take all subscriptions.")
async def test_a_caller_has_a_share_of_the_subscriptions() -> None:
    from qortal_mcp.protocol.errors import ProtocolError
    from qortal_mcp.protocol.messages import ListenFilter

    hub = server(caller_subscriptions=2, server_subscriptions=5).hub
    first, _ = (hub.listen(number, ListenFilter(), "192.0.2.1") for number in (1, 2))
    with pytest.raises(ProtocolError, match="one caller may hold 2; end another one"):
        hub.listen(3, ListenFilter(), "192.0.2.1")
    hub.listen(4, ListenFilter(), "192.0.2.2")
    hub.drop(first)
    hub.listen(5, ListenFilter(), "192.0.2.1")
    hub.listen(6, ListenFilter(), "192.0.2.2")
    hub.listen(7, ListenFilter(), "192.0.2.3")
    with pytest.raises(ProtocolError, match=r"too many subscriptions$"):
        hub.listen(8, ListenFilter(), "192.0.2.4")


async def test_descriptors_are_served_until_input_ends() -> None:
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    os.write(our_out, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    os.close(our_out)
    async with asyncio.timeout(30):
        await serve_fds(server(), their_in, their_out)
    assert os.read(our_in, 1000) == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'
    for fd in (their_in, their_out, our_in):
        os.close(fd)


async def test_a_client_that_stops_listening_ends_the_server() -> None:
    their_in, our_out = os.pipe()
    our_in, their_out = os.pipe()
    os.close(our_in)
    os.write(our_out, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    async with asyncio.timeout(30):
        await serve_fds(server(), their_in, their_out)
    os.close(our_out)
    for fd in (their_in, their_out):
        os.close(fd)


ACCEPT = [
    (None, True, False),
    (b"", False, False),
    (b"*/*", True, True),
    (b"application/json", True, False),
    (b"text/event-stream", False, True),
    (b"text/event-stream;q=0.9, application/json ; q=1", True, True),
    (b"application/json;q=0", False, False),
    (b"application/json;q=0.0", False, False),
    (b"application/json; q=0.001", True, False),
    (b"text/html", False, False),
]


@pytest.mark.parametrize(("header", "json", "events"), ACCEPT)
def test_an_accept_header_is_read_for_what_it_allows(header: bytes | None, json: bool, events: bool) -> None:
    assert accepts(header) == Accepts(json=json, events=events)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("LOCALHOST", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.com", False),
        ("", False),
    ],
)
def test_loopback_is_told_from_the_rest_of_the_world(host: str, local: bool) -> None:
    assert is_loopback(host) == local


def test_a_socket_says_where_it_listens() -> None:
    with bind("127.0.0.1", 0) as sock:
        port = sock.getsockname()[1]
        assert url_of(sock) == f"http://127.0.0.1:{port}/mcp"
        with pytest.raises(OSError, match="in use"):
            bind("127.0.0.1", port)


BAD_LISTEN = ["nonsense", ":80", "127.0.0.1", "127.0.0.1:x", "127.0.0.1:70000", "0.0.0.0:0"]


@pytest.mark.parametrize("listen", BAD_LISTEN)
def test_the_runner_refuses_where_it_cannot_or_should_not_listen(
    listen: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from qortal_mcp.transports.run import run

    with pytest.raises(SystemExit) as caught:
        run(server(), ["--listen", listen])
    assert caught.value.code == 2
    assert "loopback" in capsys.readouterr().err or listen != "0.0.0.0:0"


def test_the_runner_says_that_a_port_is_taken() -> None:
    from qortal_mcp.transports.run import run

    with bind("127.0.0.1", 0) as sock:
        with pytest.raises(SystemExit) as caught:
            run(server(), ["--listen", f"127.0.0.1:{sock.getsockname()[1]}"])
        assert "Cannot listen" in str(caught.value.code)


def test_stdio_does_not_load_what_only_http_needs() -> None:
    """Clients wait for the start of a stdio server; uvicorn and its kin have no part in it."""
    code = (
        "import sys; import qortal_mcp.transports.run, qortal_mcp.transports.stdio;"
        "print([m for m in ('uvicorn', 'uvloop', 'aiohttp', 'websockets', 'jsonschema_rs', 'click') if m in sys.modules])"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20
    )
    assert found.stdout.strip() == "[]"
