"""What workers ask the process that looks after them for: the numbers of all, and places that all of them share."""

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from .....console.asking.allowance import Allowance, Place, Refusal
from .....console.auditing.limits import AUDITS
from .....console.auditing.places import OwnPlaces
from . import messages
from .process import Worker

# Somebody who asks for the metrics again and again gets those that were there last.
_MOST_LOOKS = 64


class _Looking(Struct):
    """Workers that have not left their numbers yet, until when they are waited for, and who waits."""

    missing: set[int]
    until: float
    done: Callable[[], None]


class Desk:
    def __init__(self, workers: Sequence[Worker]) -> None:
        self._workers = workers
        self._looks: dict[int, _Looking] = {}
        self._tickets = 0
        self._allowance = Allowance()
        self._questions: dict[int, tuple[int, Place]] = {}
        self._audits = OwnPlaces(AUDITS)
        self._auditing: dict[str, int] = {}
        self._numbers = 0

    def look(
        self,
        show_own: Callable[[], None],
        until: float,
        done: Callable[[], None],
        asking: Worker | None = None,
    ) -> None:
        """Have every worker leave its numbers where all see them, but the one that asks; then, or when it is time, `done`."""
        show_own()
        others = [worker for worker in self._workers if worker.is_ready and worker is not asking]
        if not others or len(self._looks) >= _MOST_LOOKS:
            done()
            return
        self._tickets += 1
        self._looks[self._tickets] = _Looking({worker.number for worker in others}, until, done)
        for worker in others:
            worker.tell(messages.Show(self._tickets))

    def due(self) -> float | None:
        return min((looking.until for looking in self._looks.values()), default=None)

    def look_up(self, now: float) -> None:
        """Tell those who have waited long enough."""
        for ticket in [each for each, looking in self._looks.items() if now >= looking.until]:
            self._looks.pop(ticket).done()

    def _shown(self, ticket: int, worker: Worker) -> None:
        looking = self._looks.get(ticket)
        if looking is None:
            return
        looking.missing.discard(worker.number)
        if not looking.missing:
            self._looks.pop(ticket).done()

    def serve(self, worker: Worker, message: messages.FromWorker) -> None:
        if isinstance(message, messages.Shown):
            self._shown(message.ticket, worker)
        elif isinstance(message, messages.TakeQuestion):
            worker.tell(self._take_question(worker, message))
        elif isinstance(message, messages.GiveQuestion):
            if (taken := self._questions.pop(message.number, None)) is not None:
                self._allowance.give_back(taken[1], message.calls, message.tokens)
        elif isinstance(message, messages.TakeAudit):
            busy = self._audits.take_now(message.caller)
            if busy is None:
                self._auditing[message.caller] = worker.number
            worker.tell(messages.Answer(message.id, busy=busy))
        elif isinstance(message, messages.GiveAudit):
            self._give_audit(message.caller)

    def _take_question(self, worker: Worker, message: messages.TakeQuestion) -> messages.Answer:
        place = self._allowance.take(message.caller, message.tokens, message.seconds)
        if isinstance(place, Refusal):
            return messages.Answer(message.id, refusal=place)
        self._numbers += 1
        self._questions[self._numbers] = (worker.number, place)
        return messages.Answer(message.id, place=replace(place, number=self._numbers))

    def _give_audit(self, caller: str) -> None:
        if self._auditing.pop(caller, None) is not None:
            self._audits.give_back(caller)

    def ended(self, worker: Worker) -> None:
        """Give back what it cannot any more. What its questions took is not known, so all that they might have counts."""
        for number in [each for each, (who, _) in self._questions.items() if who == worker.number]:
            _, place = self._questions.pop(number)
            self._allowance.give_back(place, 0, place.may_take.tokens)
        for caller in [each for each, who in self._auditing.items() if who == worker.number]:
            self._give_audit(caller)
        for ticket in list(self._looks):
            self._shown(ticket, worker)
