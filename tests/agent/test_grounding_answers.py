"""Answers as models write them, about what the tools really return: what is right is not marked, what is made up is."""

import json
from typing import Any

import pytest
from tests.agent.answers import ANSWERS

from qortal_mcp.agent.grounding.check import ground
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply
from qortal_mcp.server.work import Work


async def called(tool: str, arguments: dict[str, Any]) -> str:
    """The text that a tool returns on the sample chain."""
    node = Node.sample()
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    outcome = make_server(node).receive(json.dumps(message).encode(), Peer(lasting=False))
    assert isinstance(outcome, Work)
    reply = await outcome.run(_nowhere)
    await node.close()
    assert isinstance(reply, Reply)
    text: str = json.loads(reply.body)["result"]["content"][0]["text"]
    return text


async def _nowhere(message: bytes) -> None:
    raise AssertionError("these tools send nothing on the side")


@pytest.mark.parametrize("which", ANSWERS)
async def test_only_what_no_tool_said_is_marked(which: str) -> None:
    calls, answer, expected = ANSWERS[which]
    results = [await called(tool, arguments) for tool, arguments in calls]
    seen = ground(answer, results)
    assert [claim.text for claim in seen.not_from_a_tool] == expected
    assert seen.checked >= max(1, len(expected))
