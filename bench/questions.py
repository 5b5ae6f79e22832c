"""The questions that people ask, cold, on a node as slow as a measured one: how long the median question takes."""

import asyncio
import shlex
import time
from statistics import median

from docgen.questions import QUESTIONS, Question

from bench.contestants import OURS
from bench.costs import node_seconds
from bench.figures import Budget, Figure
from bench.processes import Failed
from bench.run import Run
from qortal_mcp.cli.input import call_arguments
from qortal_mcp.cli.running.own_server import ask_server
from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample import SampleSource
from qortal_mcp.qortal.server import make_server

PART = "questions"


class _SlowNode(SampleSource):
    """The sample chain behind one worker that takes its time for each row."""

    def __init__(self) -> None:
        self._worker = asyncio.Lock()

    async def fetch(self, request: Request) -> RawReply:
        reply = await super().fetch(request)
        async with self._worker:
            await asyncio.sleep(node_seconds(request, reply))
        return reply


def measure(run: Run) -> list[Figure]:
    rounds = [asyncio.run(_all(run)) for _ in range(3 if run.quick else 7)]
    return [
        Figure(
            PART,
            f"the median of {len(QUESTIONS)} questions, cold, 110 searches of 20 rows a second",
            OURS,
            "s",
            tuple(median(seconds) for seconds in rounds),
            budget=Budget(2, "value"),
        ),
        Figure(PART, "the slowest of them", OURS, "s", tuple(max(seconds) for seconds in rounds)),
    ]


async def _all(run: Run) -> list[float]:
    seconds = [await _seconds(question) for question in QUESTIONS]
    run.say(f"questions: {', '.join(f'{each:.2f}' for each in seconds)} s")
    return seconds


async def _seconds(question: Question) -> float:
    """How long one question takes on a node that was asked nothing before. Raises: Failed."""
    node = Node([_SlowNode()])
    server = make_server(node, toolsets="all")
    tool, *words = shlex.split(question.call)
    began = time.perf_counter()
    reply = await ask_server(
        server, "tools/call", {"name": tool, "arguments": call_arguments.read(words, None)}
    )
    taken = time.perf_counter() - began
    await node.close()
    if b'"isError":false' not in bytes(reply.result):
        raise Failed(f"{question.call}: {bytes(reply.result)[:300]!r}")
    return taken
