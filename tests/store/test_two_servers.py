"""Two real servers that share a store: answers, limits, and what happens when the store dies."""

import json
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from tests.cli.running import INITIALIZE, Listening, listening
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from .servers import RecordingNode, call, number, two_servers
from .tiny_store import TinyStore, tiny_store

NAME = "/names/alice-test"
VALIDATE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "validate_address", "arguments": {"address": "x"}},
}


@pytest.fixture
def node() -> Iterator[RecordingNode]:
    with RecordingNode().running() as running:
        yield running


@pytest.fixture
def store() -> Iterator[TinyStore]:
    with tiny_store() as running:
        yield running


def until(true: Callable[[], object]) -> None:
    ends = time.monotonic() + 30
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.02)


def is_up(server: Listening) -> bool:
    return number(server, "qortal_mcp_store_up") == 1


@pytest.mark.promise(
    "Operations", "Several servers can share what they read from nodes through Valkey or Redis."
)
def test_a_reply_that_one_server_read_is_served_by_the_other(node: RecordingNode, store: TinyStore) -> None:
    with two_servers(node, store.url) as (a, b):
        first = call(a, "get_name", name="alice-test")
        until(lambda: store.commands("SET"))
        second = call(b, "get_name", name="alice-test")
        assert second["structuredContent"] == first["structuredContent"]
        assert node.asked.count(NAME) == 1
        assert number(b, 'qortal_node_reads_total{source="store"}') == 1
        assert number(b, 'qortal_mcp_store_requests_total{operation="read",outcome="hit"}') == 1


@pytest.mark.promise("Operations", "A rate limit holds in total for servers that share a store.")
@pytest.mark.promise("Operations", "Forwarded addresses count only if they come from a trusted proxy.")
def test_a_limit_holds_in_total_for_each_caller(node: RecordingNode, store: TinyStore) -> None:
    def asked(server: Listening, caller: str, body: object = VALIDATE) -> bytes:
        return server.ask("/mcp", body, {"X-Forwarded-For": caller})[1]

    with two_servers(node, store.url, "--rate-limit", "2", "--trusted-proxy", "127.0.0.1") as (a, b):
        began = time.monotonic()
        answers = [asked((a, b)[at % 2], "203.0.113.7") for at in range(16)]
        allowed = sum(b"RATE_LIMITED" not in answer for answer in answers)
        # Twice the rate at once, and what comes back meanwhile.
        assert 4 <= allowed <= 5 + 2 * (time.monotonic() - began)
        assert any(
            b"Rate limit exceeded"
            in asked(server, "203.0.113.7", {"jsonrpc": "2.0", "id": 1, "method": "ping"})
            for server in (a, b, a, b, a, b)
        )
        # Another caller has its own, over WebSocket too.
        assert b"RATE_LIMITED" not in asked(b, "203.0.113.8")
        url = b.url.replace("http", "ws", 1).removesuffix("/mcp") + "/ws"
        headers = {"X-Forwarded-For": "203.0.113.9"}
        with connect(url, subprotocols=[Subprotocol("mcp")], additional_headers=headers) as socket:
            socket.send(INITIALIZE.decode())
            for at in range(2, 14):
                socket.send(json.dumps({**VALIDATE, "id": at}))
            said = [str(socket.recv(timeout=30)) for _ in range(13)]
            assert 0 < sum("RATE_LIMITED" in each for each in said) < 13
        assert number(a, 'qortal_mcp_store_requests_total{operation="limit",outcome="shared"}') > 0
        told = b"".join(word for words in store.asked for word in words)
        assert b"203.0.113" not in told
    with two_servers(node, store.url, "--rate-limit", "0.01") as (a, b):
        # Nobody may say of himself who he is: all of these are one machine.
        assert b"RATE_LIMITED" in b"".join(asked((a, b)[at % 2], f"203.0.113.{at}") for at in range(3))


@pytest.mark.promise("Operations", "The shared store may vanish and return: no caller sees an error of it.")
def test_the_store_dies_and_returns_under_load_without_a_failed_call(
    node: RecordingNode, store: TinyStore
) -> None:
    failed: list[object] = []
    stopping = threading.Event()

    def load(server: Listening) -> None:
        height = 0
        while not stopping.is_set():
            height = height % 500 + 1
            result = call(server, "get_block", height=height)
            if result.get("isError"):
                failed.append(result)

    with two_servers(node, store.url, "--rate-limit", "100000") as (a, b):
        callers = [threading.Thread(target=load, args=(server,)) for server in (a, b)]
        for caller in callers:
            caller.start()
        try:
            for _ in range(2):
                store.stop()
                until(lambda: not is_up(a) and not is_up(b))
                store.start()
                until(lambda: is_up(a) and is_up(b))
        finally:
            stopping.set()
            for caller in callers:
                caller.join()
        assert failed == []
        for server in (a, b):
            assert "the shared store does not answer" in server.err
            assert "Traceback" not in server.err


def test_a_wrong_password_is_no_error_and_is_never_shown(node: RecordingNode) -> None:
    with tiny_store("right-password") as store:
        env = {"QORTAL_MCP_CACHE_PASSWORD": "wrong-password"}
        with listening("serve", "--node", node.url, "--cache", store.url, env=env) as server:
            server.wait_for(lambda said: "the shared store does not answer" in said)
            assert call(server, "get_block", height=2)["isError"] is False
            assert "wrong-password" not in server.err
