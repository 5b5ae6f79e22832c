"""Clients that ask for much and read nothing: what they cost is bounded, alone and all together."""

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import threading
import time
from typing import Any

import pytest
from tests.door import Door, clean_environment
from tests.transports.peers import dial, frame, lives, memory, post, push, websocket

from qortal_mcp.limits import Limits
from qortal_mcp.server import Server, ServerOptions, tool
from qortal_mcp.transports.memory import MemoryConnection

NEVER_READS = 64 * 1024 * 1024
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": "hello",
    "method": "initialize",
    "params": {"protocolVersion": "2025-03-26", "capabilities": {}},
}
LISTS = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(100)]
CALL = {
    "jsonrpc": "2.0",
    "id": "call",
    "method": "tools/call",
    "params": {"name": "get_node_status", "arguments": {}},
}
SENT = {
    "lists": json.dumps(LISTS).encode(),
    "lists-and-a-call": json.dumps([CALL, *LISTS[1:]]).encode(),
    "single-lists": json.dumps(LISTS[0]).encode(),
    "single-calls": json.dumps(CALL).encode(),
    "tiny": b"{}",
}


class Peak:
    """The most memory that a server takes while something is done to it, beyond what it took before."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._before = memory(door)
        self._most = self._before
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self) -> None:
        while not self._over.wait(0.005):
            self._most = max(self._most, memory(self._door))

    def __enter__(self) -> "Peak":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def more(self) -> int:
        return self._most - self._before


@pytest.mark.promise(
    "Limits and abuse", "A client that never reads costs less than 64 MB, whatever it sends."
)
@pytest.mark.parametrize("message", SENT.values(), ids=SENT)
def test_a_websocket_that_reads_nothing_fills_no_memory(door: Door, message: bytes) -> None:
    door.rpc("tools/list")
    with Peak(door) as peak, websocket(door, 4096) as sock:
        sock.sendall(frame(json.dumps(HELLO).encode()))
        assert b"2025-03-26" in sock.recv(4000)
        push(sock, frame(message) * max(1, 20_000 // len(message)), 300)
        lives(door)
    assert peak.more < NEVER_READS


@pytest.mark.promise(
    "Limits and abuse", "A client that never reads costs less than 64 MB, whatever it sends."
)
@pytest.mark.parametrize("message", SENT.values(), ids=SENT)
def test_http_clients_that_read_nothing_fill_no_memory_together(door: Door, message: bytes) -> None:
    door.rpc("tools/list")
    with Peak(door) as peak, contextlib.ExitStack() as stack:
        for _ in range(150):
            sock = stack.enter_context(dial(door, 4096))
            sock.setblocking(False)
            with contextlib.suppress(OSError):  # ended to make room for another
                sock.send(post(message) * 6)
        assert door.rpc("ping")["result"] == {}
    assert peak.more < NEVER_READS


def test_one_stdio_client_that_reads_nothing_fills_no_memory() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "qortal_mcp", "stdio", "--sample"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=clean_environment(),
    )
    assert child.stdin is not None
    assert child.stdout is not None
    door = Door(child, 0, [])  # type: ignore[arg-type]
    try:
        child.stdin.write(json.dumps(HELLO).encode() + b"\n")
        child.stdin.flush()
        child.stdout.readline()
        with Peak(door) as peak:
            os.set_blocking(child.stdin.fileno(), False)
            for message in (SENT["lists-and-a-call"], SENT["single-calls"]):
                for _ in range(400):
                    try:
                        os.write(child.stdin.fileno(), message + b"\n")
                    except BlockingIOError:
                        time.sleep(0.005)
        assert peak.more < NEVER_READS
    finally:
        child.kill()
        child.wait()
        child.stdin.close()
        child.stdout.close()


@tool
async def long(size: int) -> str:
    """As many letters as wanted, in the next moment."""
    await asyncio.sleep(0)
    return "x" * size


def batch(*items: tuple[Any, str, dict[str, Any]]) -> bytes:
    return json.dumps(
        [{"jsonrpc": "2.0", "id": id_, "method": method, "params": params} for id_, method, params in items]
    ).encode()


async def answers(message: bytes, **limits: int) -> list[dict[str, Any]]:
    server = Server("s", tools=[long], options=ServerOptions(limits=Limits(**limits)))
    async with MemoryConnection(server) as connection, asyncio.timeout(30):
        await connection.send(json.dumps(HELLO).encode())
        await connection.receive()
        await connection.send(message)
        found: list[dict[str, Any]] = json.loads(await connection.receive())
        await connection.send(b'{"jsonrpc":"2.0","id":"after","method":"tools/list"}')
        assert "result" in json.loads(await connection.receive())
        assert server.busy == 0
        assert (server.batched.replies, server.batched.bytes) == (0, 0)
    return found


@pytest.mark.promise(
    "Messages", "Every request of a batch gets exactly one answer, even if they are too large together."
)
@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
async def test_answers_of_a_batch_are_bounded_and_every_request_gets_one(method: str) -> None:
    params = {} if method == "tools/list" else {"name": "long", "arguments": {"size": 200}}
    found = await answers(batch(*((n, method, params) for n in range(40))), batch_reply_bytes=2000)
    assert sorted(answer["id"] for answer in found) == list(range(40))
    refused = [answer["error"] for answer in found if "error" in answer]
    assert {(error["code"], error["message"]) for error in refused} == {
        (-32603, "the answers of this batch are too large")
    }
    assert 30 < len(refused) < 40
    assert sum(len(json.dumps(answer)) for answer in found if "result" in answer) < 4000


@pytest.mark.parametrize("method", ["tools/list", "tools/call"])
async def test_a_batch_counts_as_its_requests(method: str) -> None:
    params = {} if method == "tools/list" else {"name": "long", "arguments": {"size": 1}}
    found = await answers(batch(*((n, method, params) for n in range(10))), peer_requests=4)
    refused = [answer["id"] for answer in found if "error" in answer]
    assert refused == [4, 5, 6, 7, 8, 9]
    assert len(found) == 10


async def test_a_batch_of_pings_is_never_too_much() -> None:
    found = await answers(batch(*((n, "ping", {}) for n in range(100))), peer_requests=4)
    assert [answer["result"] for answer in found] == [{}] * 100
