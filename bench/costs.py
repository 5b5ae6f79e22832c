"""What each of the questions that people ask costs a node as slow as a measured one, the first time and again."""

import asyncio
import shlex

from docgen.questions import QUESTIONS, Question
from msgspec import Struct

from qortal_mcp.cli.input import call_arguments
from qortal_mcp.cli.running.own_server import ask_server
from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample import SampleSource
from qortal_mcp.qortal.server import make_server

# A Core on two cores was seen to answer 110 searches of twenty transactions a second, one after the other.
_SEARCH_ROW_SECONDS = 1 / 110 / 20
_REQUEST_SECONDS = 0.0005
_ABOUT_AN_ACCOUNT = ("address=", "account=", "creator=", "voter=", "owner=", "admin=")


class Cost(Struct, frozen=True):
    """Requests to a node, and seconds of its time."""

    requests: float
    seconds: float


class QuestionCost(Struct, frozen=True):
    """`again`: once more while the newest block is the same."""

    asked: str
    # Whether the answer is about one account: then nobody else asks the same.
    is_personal: bool
    first: Cost
    again: Cost


def node_seconds(request: Request, reply: RawReply) -> float:
    """How long such a node takes for this."""
    rows = reply.body.count(b'"signature"') if "/search" in request.target else 0
    return _REQUEST_SECONDS + rows * _SEARCH_ROW_SECONDS


class _Accounted(SampleSource):
    """The sample chain, which adds up what it is asked."""

    def __init__(self) -> None:
        self.requests = 0
        self.seconds = 0.0

    async def fetch(self, request: Request) -> RawReply:
        reply = await super().fetch(request)
        self.requests += 1
        self.seconds += node_seconds(request, reply)
        return reply


def question_costs() -> list[QuestionCost]:
    return asyncio.run(_all())


async def _all() -> list[QuestionCost]:
    return [await _cost(question) for question in QUESTIONS]


async def _cost(question: Question) -> QuestionCost:
    source = _Accounted()
    node = Node([source], now=lambda: 0.0)  # nothing grows old meanwhile
    server = make_server(node, toolsets="all")
    tool, *words = shlex.split(question.call)
    params = {"name": tool, "arguments": call_arguments.read(words, None)}
    costs = []
    for _ in range(2):
        requests, seconds = source.requests, source.seconds
        await ask_server(server, "tools/call", params)
        costs.append(Cost(source.requests - requests, source.seconds - seconds))
    await node.close()
    is_personal = any(word.startswith(_ABOUT_AN_ACCOUNT) for word in words)
    return QuestionCost(question.asked, is_personal, *costs)
