"""Questions with the facts that a right answer has: how well does a model answer from the tools?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta, Raw, Struct

from ..protocol.decoding import decode_as
from ..protocol.jsonrpc import UNREADABLE
from .grounding.check import occurs
from .limits import DEFAULT
from .run import Run

_Text = Annotated[str, Meta(min_length=1, max_length=DEFAULT.question_chars)]
_Fact = Annotated[str, Meta(min_length=1, max_length=1_000)]


class ExpectedCall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that leads to the facts. It is not required: a model may find them in another way."""

    tool: _Text
    arguments: Mapping[str, Any] = {}


class Question(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question, and what its answer must say: numbers, names, addresses or words."""

    question: _Text
    facts: Annotated[tuple[_Fact, ...], Meta(min_length=1, max_length=100)]
    calls: tuple[ExpectedCall, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a run is worth."""

    question: str
    answer: str
    facts: int
    missing: tuple[str, ...]
    not_from_a_tool: tuple[str, ...]
    # The tools that were called, and those that were expected and were not.
    tools: tuple[str, ...]
    not_called: tuple[str, ...]
    is_complete: bool
    problem: str
    tokens: int
    ms: float

    @property
    def is_right(self) -> bool:
        return self.is_complete and not self.missing


class NotQuestions(ValueError):
    """A file that does not hold questions, and why."""


def read(data: bytes) -> list[Question]:
    """From a JSON array, or one JSON object per line. Raises: NotQuestions."""
    is_array = data.lstrip()[:1] == b"["
    try:
        items = decode_as(data, list[Raw]) if is_array else data.splitlines()
    except UNREADABLE as exc:
        raise NotQuestions(str(exc)) from None
    what = "question" if is_array else "line"
    found = [
        _question(item, f"{what} {number}") for number, item in enumerate(items, 1) if bytes(item).strip()
    ]
    if not found:
        raise NotQuestions("there is no question in it")
    return found


def _question(data: bytes | Raw, where: str) -> Question:
    try:
        return decode_as(data, Question)
    except UNREADABLE as exc:
        raise NotQuestions(f"{where}: {exc}") from None


def judge(question: Question, run: Run) -> Verdict:
    called = tuple(dict.fromkeys(call.tool for call in run.calls))
    expected = dict.fromkeys(call.tool for call in question.calls)
    return Verdict(
        question=question.question,
        answer=run.answer,
        facts=len(question.facts),
        missing=tuple(fact for fact in question.facts if not occurs(fact, run.answer)),
        not_from_a_tool=tuple(claim.text for claim in run.grounding.not_from_a_tool if not claim.in_question),
        tools=called,
        not_called=tuple(tool for tool in expected if tool not in called),
        is_complete=run.is_complete,
        problem=run.problem,
        tokens=run.spent.tokens,
        ms=run.spent.ms,
    )
