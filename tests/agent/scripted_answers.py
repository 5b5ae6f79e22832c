"""A model for the scripted endpoint that answers the questions of examples/questions.json with what tools told it."""

import re
from collections.abc import Sequence
from typing import Any

from tests.agent.questions import QUESTIONS, Call, Question
from tests.agent.scripted_endpoint import Reply, Request, calls, says

from qortal_mcp.agent.grounding.check import occurs

_FRAME = re.compile(r"^\[(?:data from .*|end of data), mark \w+(?:;.*)?\]\n?", re.MULTILINE)

# What a model cannot know by itself: it is in the question, or in a result.
_TO_BE_READ = frozenset(
    {"account", "address", "group_id", "identifier", "minter", "name", "owner", "recipient", "sender"}
)


def answer(request: Request) -> Reply:
    """The next calls of the question, then the text of their results.

    Calls are made together as far as the question itself has what they need. One whose address, name or number
    is in no result so far is not made, nor one of a tool that is not offered: the answer is then what is wrong.
    """
    question, results = _conversation(request.body["messages"])
    if question is None:
        return says("I only know the questions of the file.")
    wanted = question.calls[len(results) :]
    if not wanted:
        return says("\n".join(["The tools say:", *results]))
    offered = {tool["function"]["name"] for tool in request.body.get("tools", ())}
    if wanted[0].tool not in offered:
        return says(f"There is no tool {wanted[0].tool}.")
    if unknown := _unknown(wanted[0], [question.question, *results]):
        return says(f"I have not read {unknown[0]}.")
    together = _together(wanted, question.question, offered)
    return calls(*((call.tool, call.arguments) for call in together))


def _conversation(messages: Sequence[dict[str, Any]]) -> tuple[Question | None, list[str]]:
    """The question that was asked last, and the results since then."""
    asked: Question | None = None
    results: list[str] = []
    for message in messages:
        content = message.get("content") or ""
        if message["role"] == "user":
            found = [question for question in QUESTIONS if question.question in content]
            if found:
                asked, results = found[0], []
        elif message["role"] == "tool":
            results.append(_FRAME.sub("", content).rstrip("\n"))
    return asked, results


def _together(wanted: Sequence[Call], question: str, offered: set[str]) -> list[Call]:
    together = [wanted[0]]
    for call in wanted[1:]:
        if call.tool not in offered or _unknown(call, [question]):
            break
        together.append(call)
    return together


def _unknown(call: Call, texts: Sequence[str]) -> list[str]:
    """The arguments that are in none of these texts."""
    needed = [str(value) for name, value in call.arguments.items() if name in _TO_BE_READ]
    return [value for value in needed if not any(occurs(value, text) for text in texts)]
