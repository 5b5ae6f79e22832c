"""What hostile clients cost: those that ask for much and read nothing, and those that leave with requests open."""

import contextlib
import json
import re
import socket
import time
from collections.abc import Callable, Iterable
from urllib.request import urlopen

from bench.contestants import OURS, running
from bench.figures import Budget, Figure
from bench.idle import open_websocket
from bench.load.websocket import frame
from bench.processes import Child, Failed
from bench.run import Run
from bench.wire import LIST_TOOLS, message

PART = "abuse"
_NEVER_READS = Budget(64.0, "value")
_NOTHING_LEFT = Budget(0.0, "value")
_CONNECTIONS = 150
_SETTLE_SECONDS = 10.0
# Subscribers at a time: one caller may have 256.
_AT_ONCE = 200
_BATCH = json.dumps([{**json.loads(LIST_TOOLS), "id": number} for number in range(100)]).encode()
_HELLO = message("initialize", {"protocolVersion": "2025-03-26", "capabilities": {}}, id_=0)
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_LISTEN = message("subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": _META})
_SUBSCRIPTIONS = re.compile(r"^mcp_server_subscriptions (\d+)", re.MULTILINE)


def measure(run: Run) -> list[Figure]:
    figures = []
    for subject, hold in _READ_NOTHING.items():
        with running(f"{OURS} {subject}", run.contestants.ours("asyncio", "--sample")) as child:
            figures.append(_memory(subject, child, hold(child.port())))
            run.say(f"abuse: {subject}: {figures[-1].values[0]:.1f} MB more")
    with running(f"{OURS} left alone", run.contestants.ours("asyncio", "--sample")) as child:
        figures.append(_left_open(child, run.scaled(1000)))
        run.say(f"abuse: {figures[-1].values[0]:.0f} subscriptions left open")
    return figures


def _memory(subject: str, child: Child, sends: Iterable[socket.socket]) -> Figure:
    """The most memory seen while clients send and read nothing."""
    before = most = child.rss_mb()
    with contextlib.ExitStack() as stack:
        for sock in sends:
            stack.enter_context(sock)
            most = max(most, child.rss_mb())
        most = max(most, child.settled_rss_mb())
    return Figure(PART, "memory, nothing read", subject, "MB", (most - before,), budget=_NEVER_READS)


def _push(sock: socket.socket, data: bytes, times: int) -> socket.socket:
    """Send as long as the other side accepts it."""
    sock.settimeout(0.2)
    with contextlib.suppress(OSError):
        for _ in range(times):
            sock.sendall(data)
    return sock


def _websocket(port: int) -> socket.socket:
    return open_websocket(port, _HELLO)


def _post(body: bytes, *more: str) -> bytes:
    lines = [
        "POST /mcp HTTP/1.1",
        "Host: 127.0.0.1",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    return "\r\n".join([*lines, *more, "", ""]).encode() + body


def _dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=5.0)


_READ_NOTHING: dict[str, Callable[[int], Iterable[socket.socket]]] = {
    "one WebSocket, 800 batches of 100 lists": lambda port: (
        _push(_websocket(port), frame(_BATCH), 800) for _ in range(1)
    ),
    f"{_CONNECTIONS} WebSockets, 5 batches each": lambda port: (
        _push(_websocket(port), frame(_BATCH), 5) for _ in range(_CONNECTIONS)
    ),
    f"{_CONNECTIONS} HTTP connections, 5 batches each": lambda port: (
        _push(_dial(port), _post(_BATCH), 5) for _ in range(_CONNECTIONS)
    ),
}


def _left_open(child: Child, clients: int) -> Figure:
    """How many subscriptions stay of clients that subscribed, sent another request, and left."""
    port = child.port()
    subscribe = _post(
        _LISTEN.encode(),
        "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28",
        "Mcp-Method: subscriptions/listen",
    )
    left = 0
    for number in range(clients):
        if number % _AT_ONCE == 0:
            left = max(left, _left(port))
        with _dial(port) as sock:
            sock.sendall(subscribe)
            if not sock.recv(65536).startswith(b"HTTP/1.1 200 "):
                raise Failed("a subscription was refused")
            sock.sendall(_post(message("ping").encode()))
    left = max(left, _left(port))
    return Figure(
        PART,
        "left open",
        f"{clients:,} subscribers that left",
        "subscriptions",
        (left,),
        budget=_NOTHING_LEFT,
    )


def _left(port: int) -> int:
    """How many there are once clients that have left were noticed."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while (left := _subscriptions(port)) and time.monotonic() < deadline:
        time.sleep(0.2)
    return left


def _subscriptions(port: int) -> int:
    with urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as page:
        found = _SUBSCRIPTIONS.search(page.read().decode())
    if found is None:
        raise Failed("the number of subscriptions is not on the page for operators")
    return int(found[1])
