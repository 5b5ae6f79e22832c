"""An agent with the tools of the sample chain, or with those of a test, in the process of the test."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct
from tests.agent.scripted_endpoint import ScriptedEndpoint

from qortal_mcp.agent.agent import Agent, Setup
from qortal_mcp.agent.events import Event, Text
from qortal_mcp.agent.limits import DEFAULT, AgentLimits
from qortal_mcp.agent.model.endpoint import Endpoint
from qortal_mcp.agent.run import Run
from qortal_mcp.agent.tools.server import ToolServer
from qortal_mcp.agent.tools.toolbox import Toolbox
from qortal_mcp.client import Options
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

MARK = "k7Qp2Zx9"


class Asker(Struct):
    """Asks, and keeps what was shown."""

    agent: Agent
    events: list[Event]

    async def ask(self, question: str) -> Run:
        self.events.clear()
        return await self.agent.ask(question, self.events.append)

    @property
    def shown(self) -> str:
        return "".join(event.text for event in self.events if isinstance(event, Text))


@asynccontextmanager
async def asker(
    server: ScriptedEndpoint, *tool_servers: Any, limits: AgentLimits = DEFAULT, **setup: Any
) -> AsyncIterator[Asker]:
    """Without `tool_servers`, the tools are those of the sample chain."""
    node = Node.sample()
    targets = tool_servers or (make_server(node),)
    toolbox = Toolbox([ToolServer(one, options=Options()) for one in targets], limits)
    endpoint = Endpoint(server.base_url, "stand-in:8b", limits=limits)
    setup = {
        "mark": MARK,
        "is_qortal": not tool_servers,
        "may_cut": True,
        "raise_window": "Raise it.",
        **setup,
    }
    try:
        await toolbox.open()
        yield Asker(Agent(endpoint, toolbox, Setup(limits=limits, **setup)), [])
    finally:
        await endpoint.close()
        await toolbox.close()
        await node.close()
