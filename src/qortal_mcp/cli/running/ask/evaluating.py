"""Ask all questions of a file, each in a conversation of its own, and check the answers."""

from __future__ import annotations

import msgspec
from msgspec import Struct

from ....agent import evaluation, events
from ....agent.evaluation import Question, Verdict
from ....agent.words import counted
from ....text import visible
from ...input import files
from ...output import terminal, view
from ...output.asked import verdicts
from ...output.asked.answers import AnswerPrinter
from ...output.progress import Progress
from .. import failures
from ..until_stopped import until_stopped
from .asking import CONNECTING, Wanted, agent_of

# In a row: the endpoint is down, or the key is wrong.
_MOST_FAILURES = 3


class Evaluated(Struct, frozen=True, kw_only=True, rename="camel"):
    """What `--eval --json` prints."""

    model: str
    right: int
    # Questions of the file, after an interrupt or a failure.
    not_asked: int
    questions: tuple[Verdict, ...]


def evaluate(wanted: Wanted, path: str, *, as_json: bool, traces: bool) -> int:
    """0: every answer has its facts; 1: some do not; 3: some question had no complete answer.

    Raises: WrongUsage, Undetermined.
    """
    try:
        questions = evaluation.read(files.read(path, "questions"))
    except evaluation.NotQuestions as exc:
        raise failures.WrongUsage(f"{path} does not hold questions: {visible(str(exc))}.") from None
    asking = _Evaluation(questions, as_json=as_json, traces=traces)
    try:
        until_stopped(asking.run(wanted))
    finally:  # what is known after an interrupt, too
        asking.show()
    return asking.exit_code


class _Evaluation:
    """The questions of a file, one after the other."""

    def __init__(self, questions: list[Question], *, as_json: bool, traces: bool) -> None:
        self._questions = questions
        self._as_json = as_json
        self._traces = traces
        self._palette = view.palette()
        self._progress = Progress()
        self._printer = AnswerPrinter(traces=True)
        self._found: list[Verdict] = []
        self._model = ""

    async def run(self, wanted: Wanted) -> None:
        """Raises: Undetermined."""
        self._progress.say(CONNECTING)
        async with agent_of(wanted) as agent:
            failed = 0
            for number, question in enumerate(self._questions, 1):
                self._progress.say(f"{number} of {len(self._questions)}: {question.question}")
                agent.conversation.clear()
                run = await agent.ask(question.question, self._on_event)
                self._model = run.model
                self._add(evaluation.judge(question, run))
                failed = failed + 1 if run.ended == "endpoint" else 0
                if failed == _MOST_FAILURES and number < len(self._questions):
                    left = counted(len(self._questions) - number, "question")
                    raise failures.Undetermined(
                        f"The endpoint failed {failed} times in a row; not asked: {left}"
                    )

    def _on_event(self, event: events.Event) -> None:
        if self._traces and isinstance(event, events.Called):
            self._progress.clear()
            self._printer.trace(event.call)

    def _add(self, verdict: Verdict) -> None:
        self._found.append(verdict)
        self._progress.clear()
        if not self._as_json:
            terminal.write(verdicts.lines(len(self._found), verdict, self._palette))

    def show(self) -> None:
        """Everything that is known so far."""
        self._progress.clear()
        if not self._found:
            return
        if self._as_json:
            right = sum(verdict.is_right for verdict in self._found)
            left = len(self._questions) - len(self._found)
            found = Evaluated(model=self._model, right=right, not_asked=left, questions=tuple(self._found))
            terminal.write_json(msgspec.json.encode(found))
        else:
            terminal.write(verdicts.total(self._found, len(self._questions), self._model))

    @property
    def exit_code(self) -> int:
        if any(verdict.missing and verdict.is_complete for verdict in self._found):
            return failures.BAD
        return failures.GOOD if all(verdict.is_complete for verdict in self._found) else failures.UNDETERMINED
