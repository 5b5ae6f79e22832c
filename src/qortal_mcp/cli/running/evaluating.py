"""Ask all questions of a file, each in a conversation of its own, and check the answers."""

from __future__ import annotations

import asyncio

import msgspec
from msgspec import Struct

from ...agent import evaluation, events
from ...agent.evaluation import Question, Verdict
from ..input import files
from ..output import terminal, verdicts, view
from ..output.answers import AnswerPrinter
from ..output.progress import Progress
from . import failures
from .asking import Wanted, agent_of


class Evaluated(Struct, frozen=True, kw_only=True):
    """What `--eval --json` prints."""

    model: str
    right: int
    questions: tuple[Verdict, ...]


def evaluate(wanted: Wanted, path: str, *, as_json: bool, traces: bool) -> int:
    """0: every answer has its facts; 1: some do not; 3: some question had no complete answer.

    Raises: WrongUsage.
    """
    try:
        questions = evaluation.read(files.read(path, "questions"))
    except evaluation.NotQuestions as exc:
        raise failures.WrongUsage(f"{path} does not hold questions: {exc}.") from None
    model, found = asyncio.run(_ask_all(wanted, questions, as_json=as_json, traces=traces))
    if as_json:
        right = sum(verdict.is_right for verdict in found)
        terminal.write_json(msgspec.json.encode(Evaluated(model=model, right=right, questions=tuple(found))))
    else:
        terminal.write(verdicts.total(found, model))
    if any(verdict.missing and verdict.is_complete for verdict in found):
        return failures.BAD
    return failures.GOOD if all(verdict.is_complete for verdict in found) else failures.UNDETERMINED


async def _ask_all(
    wanted: Wanted, questions: list[Question], *, as_json: bool, traces: bool
) -> tuple[str, list[Verdict]]:
    palette = view.COLOURED if terminal.has_colours() else view.PLAIN
    progress = Progress()
    printer = AnswerPrinter(traces=True)
    found: list[Verdict] = []
    model = ""

    def on_event(event: events.Event) -> None:
        if traces and isinstance(event, events.Called):
            printer(event)

    async with agent_of(wanted) as agent:
        for number, question in enumerate(questions, 1):
            progress.say(f"{number} of {len(questions)}: {question.question}")
            agent.conversation.clear()
            run = await agent.ask(question.question, on_event)
            model = run.model
            found.append(evaluation.judge(question, run))
            progress.clear()
            if not as_json:
                terminal.write(verdicts.line(number, found[-1], palette))
    return model, found
