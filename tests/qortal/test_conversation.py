"""Whole conversations with the Qortal server: over stdio as a client starts it, and in memory."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest
from tests.door import clean_environment

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server import Offer, Server, completer, prompt
from qortal_mcp.transports.memory import MemoryConnection

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "0"},
    },
}
CALLS = [
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
    {"jsonrpc": "2.0", "id": "two", "method": "tools/call", "params": {"name": "get_node_status"}},
    {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"},
]


def lines(*messages: Any) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def talk(*messages: Any) -> tuple[list[Any], int]:
    """Everything `qortal-mcp stdio` says to these messages, and its exit code."""
    done = subprocess.run(
        [sys.executable, "-m", "qortal_mcp", "stdio", "--sample"],
        input=lines(*messages),
        capture_output=True,
        timeout=20,
        check=False,
        env=clean_environment(),
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.returncode


@pytest.mark.promise(
    "Transports", "On stdio every request is answered, and the end of the input ends the server."
)
def test_stdio_answers_and_ends_with_its_input() -> None:
    replies, code = talk(INITIALIZE, *CALLS)
    assert code == 0
    assert {reply["id"] for reply in replies} == {0, 1, "two"}
    status = next(reply for reply in replies if reply["id"] == "two")["result"]
    assert status["structuredContent"]["height"] == 596


@pytest.mark.promise(
    "Handshake",
    "The Qortal server sends a client nothing that it did not ask for: no requests and no `list_changed` notices.",
)
def test_nothing_is_sent_that_was_not_asked_for() -> None:
    replies, _ = talk(INITIALIZE, *CALLS)
    assert all("method" not in reply for reply in replies)
    assert len(replies) == 3


@pytest.mark.promise(
    "Handshake", "A legacy call before `initialize` is refused on connections that last: stdio and WebSocket."
)
async def test_a_call_before_the_handshake_is_refused_on_a_lasting_connection() -> None:
    async with MemoryConnection(make_server(Node.sample())) as connection, asyncio.timeout(30):
        await connection.send(lines(CALLS[2]))
        assert json.loads(await connection.receive())["error"]["code"] == -32602
        await connection.send(lines({"jsonrpc": "2.0", "id": 3, "method": "ping"}))
        assert json.loads(await connection.receive())["result"] == {}


@pytest.mark.promise(
    "Errors", "A fault of the server outside a tool is error -32603, never a bare status 500."
)
async def test_a_fault_outside_a_tool_is_an_internal_error() -> None:
    @prompt
    def ready() -> str:
        """A prompt."""
        raise RuntimeError("broken")

    @completer("ready", "word")
    def words(typed: str, chosen: Any) -> list[str]:
        raise RuntimeError("broken")

    async with (
        MemoryConnection(Server("faulty", offer=Offer(prompts=[ready], completers=[words]))) as connection,
        asyncio.timeout(30),
    ):
        await connection.send(lines(INITIALIZE))
        await connection.receive()
        await connection.send(
            lines({"jsonrpc": "2.0", "id": 1, "method": "prompts/get", "params": {"name": "ready"}})
        )
        assert json.loads(await connection.receive())["error"] == {
            "code": -32603,
            "message": "Internal error",
        }
