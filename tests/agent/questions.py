"""The questions of examples/questions.json, and what the sample chain answers to their calls."""

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from qortal_mcp.client import connect
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

_FILE = Path(__file__).parents[2] / "examples" / "questions.json"


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    tool: str
    arguments: dict[str, Any]


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    question: str
    facts: tuple[str, ...]
    calls: tuple[Call, ...]


class Result(Struct, frozen=True):
    text: str
    is_error: bool


QUESTIONS = msgspec.json.decode(_FILE.read_bytes(), type=tuple[Question, ...])


async def results_of(questions: tuple[Question, ...]) -> dict[str, list[Result]]:
    """What the calls of each question return, in their order."""
    node = Node.sample()
    found: dict[str, list[Result]] = {}
    async with connect(make_server(node)) as client:
        for question in questions:
            results = [await client.call_tool(call.tool, call.arguments) for call in question.calls]
            found[question.question] = [Result(result.text, result.is_error) for result in results]
    await node.close()
    return found
