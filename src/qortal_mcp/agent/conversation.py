"""What is remembered of a conversation: the newest questions and answers, and what the tools returned for them."""

from collections import deque

from msgspec import Struct

from .limits import AgentLimits
from .model.messages import Message
from .prompt.framing import cut


class Turn(Struct, frozen=True, kw_only=True):
    """A question that was answered, and the results its answer may rest on."""

    question: str
    answer: str
    results: tuple[str, ...]

    @property
    def chars(self) -> int:
        return len(self.question) + len(self.answer)

    @property
    def result_chars(self) -> int:
        return sum(map(len, self.results))


class Conversation:
    """The newest turns that fit; older ones are forgotten."""

    def __init__(self, limits: AgentLimits) -> None:
        self._limits = limits
        self._turns: deque[Turn] = deque()

    def __len__(self) -> int:
        return len(self._turns)

    def add(self, question: str, answer: str, results: tuple[str, ...]) -> None:
        self._turns.append(Turn(question=question, answer=answer, results=self._newest(results)))
        while len(self._turns) > 1 and self._is_too_much():
            self._turns.popleft()

    def _newest(self, results: tuple[str, ...]) -> tuple[str, ...]:
        """As many of the results as may be kept, from the last one on."""
        left = self._limits.kept_results_bytes
        kept: list[str] = []
        for result in reversed(results):
            left -= len(result)
            if left < 0:
                break
            kept.append(result)
        return tuple(reversed(kept))

    def _is_too_much(self) -> bool:
        said = sum(turn.chars for turn in self._turns)
        returned = sum(turn.result_chars for turn in self._turns)
        return said > self._limits.history_chars or returned > self._limits.kept_results_bytes

    def messages(self, at_most_chars: int) -> list[Message]:
        """The newest questions and answers that fit, oldest first. Of the newest, as much as fits."""
        found: list[Message] = []
        left = at_most_chars
        for turn in reversed(self._turns):
            question, answer = turn.question, turn.answer
            if turn.chars > left:
                if found:
                    break
                question = cut(question, left // 4)
                answer = cut(answer, max(left - len(question), 0))
            left -= turn.chars
            found += [
                Message(role="assistant", content=answer),
                Message(role="user", content=question),
            ]
        return found[::-1]

    @property
    def results(self) -> list[str]:
        """What the tools returned for the turns that are remembered."""
        return [result for turn in self._turns for result in turn.results]

    def clear(self) -> None:
        self._turns.clear()
