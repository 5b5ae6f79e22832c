"""A server on the sample chain, and a way to call its tools as a client would."""

import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply
from qortal_mcp.server.work import Work

Call = Callable[..., Awaitable[dict[str, Any]]]

_ids = itertools.count(1)


async def request(server: Server, method: str, params: dict[str, Any]) -> dict[str, Any]:
    """One request through the server's front door; the whole reply."""
    message = {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": params}
    outcome = server.receive(json.dumps(message).encode(), Peer(lasting=False))
    if isinstance(outcome, Work):
        outcome = await outcome.run(_nowhere)
    assert isinstance(outcome, Reply)
    reply: dict[str, Any] = json.loads(outcome.body)
    return reply


async def _nowhere(message: bytes) -> None:
    raise AssertionError("these tools send nothing on the side")


def caller(server: Server) -> Call:
    async def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
        reply = await request(server, "tools/call", {"name": tool, "arguments": arguments})
        result: dict[str, Any] = reply["result"]
        return result

    return call


@pytest.fixture
async def node() -> AsyncIterator[Node]:
    node = Node.sample()
    yield node
    await node.close()


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node)


@pytest.fixture
def call(server: Server) -> Call:
    return caller(server)
