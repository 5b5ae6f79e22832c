"""Clients that leave with requests open: what they asked for ends. Those that only send nothing more get their answers."""

import json
import socket
import sys
from collections.abc import Iterator

import pytest
from tests.door import Door, open_program
from tests.transports.peers import PING, UPGRADE, becomes, dial, lives, metric, post, read_all, read_until

LISTEN = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": "sub",
        "method": "subscriptions/listen",
        "params": {
            "notifications": {"resourceSubscriptions": ["qortal://node"], "toolsListChanged": True},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "x", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    }
).encode()
MODERN = (
    b"Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
    b"Mcp-Method: subscriptions/listen\r\n"
)
SUBSCRIPTIONS, REQUESTS = "mcp_server_subscriptions", "mcp_server_requests_in_flight"
AFTERWARDS = {
    "nothing": b"",
    "a-request": post(PING),
    "many-requests": post(PING) * 20,
    "half-a-request": post(PING)[:-5],
    "half-a-head": post(PING)[:20],
    "an-upgrade": b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n" + UPGRADE + b"\r\n",
}

PATIENT = """
import asyncio
from qortal_mcp.server import Server, ServerOptions, tool
from qortal_mcp.transports.http import HttpApp, Page
from qortal_mcp.transports.serve import bind, run_http

@tool
async def wait(seconds: float) -> str:
    '''Takes its time.'''
    await asyncio.sleep(seconds)
    return "waited"

server = Server("patient", tools=[wait], options=ServerOptions(announces_changes=True))
metrics = lambda: Page(server.metrics.render().encode(), "text/plain")
run_http(HttpApp(server, routes={"/metrics": metrics}), bind("127.0.0.1", 0))
"""


@pytest.fixture(params=["asyncio", "uvloop"])
def patient(request: pytest.FixtureRequest) -> Iterator[Door]:
    """A server with a tool that takes its time, on either loop."""
    hidden = "" if request.param == "uvloop" else "import sys; sys.modules['uvloop'] = None\n"
    with open_program([sys.executable, "-c", hidden + PATIENT]) as door:
        yield door


def waiting(seconds: float, id_: int = 1) -> bytes:
    params = {"name": "wait", "arguments": {"seconds": seconds}}
    return post(json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode())


@pytest.mark.promise("Limits and abuse", "When a client leaves, every request it left open ends.")
@pytest.mark.parametrize("afterwards", AFTERWARDS.values(), ids=AFTERWARDS)
def test_a_subscription_ends_with_its_connection(patient: Door, afterwards: bytes) -> None:
    for _ in range(5):
        with dial(patient) as sock:
            sock.sendall(post(LISTEN, MODERN))
            read_until(sock, b"acknowledged")
            sock.sendall(afterwards)
    assert becomes(patient, SUBSCRIPTIONS, 0)
    lives(patient)


@pytest.mark.promise("Limits and abuse", "When a client leaves, every request it left open ends.")
@pytest.mark.parametrize("afterwards", AFTERWARDS.values(), ids=AFTERWARDS)
def test_a_tool_call_ends_with_its_connection(patient: Door, afterwards: bytes) -> None:
    for _ in range(5):
        with dial(patient) as sock:
            sock.sendall(waiting(50) + afterwards)
    assert becomes(patient, REQUESTS, 0)
    lives(patient)


def test_an_upgrade_is_refused_while_a_request_is_open(patient: Door) -> None:
    with dial(patient) as sock:
        sock.sendall(waiting(50))
        assert becomes(patient, REQUESTS, 1)
        sock.sendall(AFTERWARDS["an-upgrade"])
        assert read_all(sock).startswith(b"HTTP/1.1 400 ")
    assert becomes(patient, REQUESTS, 0)


def test_an_upgrade_never_becomes_part_of_an_open_stream(patient: Door) -> None:
    with dial(patient) as sock:
        sock.sendall(post(LISTEN, MODERN))
        read_until(sock, b"acknowledged")
        sock.sendall(AFTERWARDS["an-upgrade"])
        try:
            rest = read_all(sock)
        except ConnectionResetError:
            rest = b""
        assert b"400 Bad Request" not in rest
    assert becomes(patient, SUBSCRIPTIONS, 0)


@pytest.mark.promise("Transports", "A client that sends nothing more still gets the answers to what it sent.")
@pytest.mark.parametrize("count", [1, 2, 30])
@pytest.mark.parametrize(
    "cut", [b"", post(PING)[:-5], post(PING)[:20]], ids=["whole", "cut-body", "cut-head"]
)
def test_whoever_closes_only_the_sending_side_gets_all_answers(patient: Door, count: int, cut: bytes) -> None:
    with dial(patient) as sock:
        sock.sendall(b"".join(waiting(0.01, number) for number in range(count)) + cut)
        sock.shutdown(socket.SHUT_WR)
        received = read_all(sock)
    assert received.count(b"HTTP/1.1 200 OK") == count
    assert [received.count(b'"id":%d,' % number) for number in range(count)] == [1] * count


def test_a_slow_answer_reaches_whoever_closed_the_sending_side(patient: Door) -> None:
    with dial(patient) as sock:
        sock.sendall(waiting(1))
        sock.shutdown(socket.SHUT_WR)
        received = read_all(sock)
    *interim, final = received.split(b"HTTP/1.1 ")[1:]
    assert set(interim) == {b"100 Continue\r\n\r\n"}
    assert final.startswith(b"200 OK\r\n")
    assert b'"waited"' in final


def test_a_subscription_goes_on_for_whoever_closed_the_sending_side(patient: Door) -> None:
    with dial(patient) as sock:
        sock.sendall(post(LISTEN, MODERN))
        read_until(sock, b"acknowledged")
        sock.shutdown(socket.SHUT_WR)
        assert sock.recv(100) == b"3\r\n:\n\n\r\n"
        assert metric(patient, SUBSCRIPTIONS) == 1
    assert becomes(patient, SUBSCRIPTIONS, 0)
