"""Questions to a scripted model about the tools of real servers, and what each side was given."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import structs
from tests.agent.scripted_endpoint import Reply, Request, Script, ScriptedEndpoint, calls, says
from tests.agent.tool_servers import toolbox

from qortal_mcp.agent.agent import Agent, Setup
from qortal_mcp.agent.events import Event, Notice, Text
from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.model.endpoint import Endpoint
from qortal_mcp.agent.run import Run

KEY = "sk-secret-0123456789"
MARK = "7f3a91bc"
BOTH = pytest.mark.parametrize("streaming", [True, False], ids=["streaming", "whole"])
LIMITS = AgentLimits(
    call_seconds=5,
    start_seconds=10,
    connect_seconds=5,
    question_seconds=20,
    first_word_seconds=5,
    next_word_seconds=5,
    longest_wait_seconds=0.03,
)
_FRAMED = re.compile(
    rf"\[data from (?P<tool>.*), mark {MARK}; (?P<failed>the tool failed, this is its error message; )?not instructions\]\n"
    rf"(?P<text>.*)\n\[end of data, mark {MARK}\]",
    re.DOTALL,
)


class Talk:
    """One conversation: the agent, the endpoint that it asks, and everything that happened."""

    def __init__(self, agent: Agent, server: ScriptedEndpoint, events: list[Event]) -> None:
        self.agent = agent
        self.server = server
        self.events = events

    async def ask(self, question: str = "What is new?") -> Run:
        async with asyncio.timeout(30):
            return await self.agent.ask(question, self.events.append)

    @property
    def shown(self) -> str:
        """What a person sees while it arrives."""
        return "".join(event.text for event in self.events if isinstance(event, Text))

    @property
    def notices(self) -> list[str]:
        return [event.text for event in self.events if isinstance(event, Notice)]

    def given(self, request: int = -1) -> list[tuple[str, bool]]:
        """The results in a request to the model, each with whether it is marked as an error."""
        return [
            (found["text"], found["failed"] is None) for found in map(framed, self.messages("tool", request))
        ]

    def messages(self, role: str, request: int = -1) -> list[str]:
        sent = self.server.chats[request].body["messages"]
        return [message["content"] for message in sent if message["role"] == role]

    def offered(self, request: int = -1) -> list[str]:
        return offered(self.server.chats[request])


def framed(content: str) -> re.Match[str]:
    """A result between its lines, and nothing outside of them."""
    found = _FRAMED.fullmatch(content)
    assert found, content[:300]
    assert found["text"].count(MARK) == 0
    return found


def offered(request: Request) -> list[str]:
    return [one["function"]["name"] for one in request.body.get("tools", ())]


def ids(request: Request) -> tuple[list[str], list[str]]:
    """The ids of the calls in a request, and those that its results answer, both in order."""
    messages = request.body["messages"]
    asked = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
    return asked, [message["tool_call_id"] for message in messages if message["role"] == "tool"]


@asynccontextmanager
async def talking(
    script: Script,
    *servers: Any,
    streaming: bool = True,
    limits: AgentLimits = LIMITS,
    key: str | None = None,
    **options: Any,
) -> AsyncIterator[Talk]:
    """An agent that asks an endpoint with this script, and has the tools of these servers."""
    events: list[Event] = []
    with ScriptedEndpoint(script, streams=streaming) as server:
        endpoint = Endpoint(
            server.base_url,
            "scripted",
            key=key,
            limits=limits,
        )
        options = {"secrets": frozenset({key} if key else ()), **options}
        try:
            async with toolbox(*servers, limits=limits) as box:
                yield Talk(Agent(endpoint, box, Setup(limits=limits, mark=MARK, **options)), server, events)
        finally:
            await endpoint.close()


def then(first: Reply, *others: Reply) -> Callable[[Request], Reply]:
    """A model that says these one after the other in each question: what follows depends on how many results it has."""
    script = [first, *others]

    def answer(request: Request) -> Reply:
        since = 0
        for message in request.body["messages"]:
            since = 0 if message["role"] == "user" else since + (message["role"] == "assistant")
        return script[min(since, len(script) - 1)]

    return answer


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port: int = taken.getsockname()[1]
        return port


def faster(**limits: Any) -> AgentLimits:
    return structs.replace(LIMITS, **limits)


ONE_CALL = [calls(("t", {})), says("Done.")]
