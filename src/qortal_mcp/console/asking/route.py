"""`/ask`: POST asks a model a question, answered by a stream of events or by the whole run; GET says whether that is possible.

Nothing is remembered between questions, and nothing is shared between those who ask.
"""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from ...server.caller import rated
from ...server.dispatch import Server
from ...text import printable
from ...transports.http import Exchange
from ...transports.streams import EventSender, Watch
from ..replies import GUARDED, json_body, refuse, reply_json, wants_events
from ..setup import ConsoleSetup
from .allowance import Allowing, OwnAllowance, Place, Refusal
from .limits import DEFAULT, ConsoleLimits

if TYPE_CHECKING:
    from ...agent.events import Event
    from ...agent.run import Run
    from .answering import Answering, Asked
    from .questions import Question

log = logging.getLogger(__name__)

_STOPPING = "The server is shutting down, and the question was stopped. Ask again when it is back."
_BROKEN = "The question could not be processed: the log of the server says why. Ask in other words."
_encode = msgspec.json.encode


class Bounds(Struct, frozen=True, kw_only=True, rename="camel"):
    """What one question may have, and what all questions of a caller may take within a period."""

    body_bytes: int
    question_chars: int
    turns: int
    rounds: int
    tokens: int | None
    seconds: float
    questions_at_once: int
    period_seconds: float
    period_calls: int
    period_tokens: int
    period_model_seconds: float


class Availability(Struct, frozen=True, kw_only=True):
    """What GET answers: the model that would be asked, or why there is none."""

    available: bool
    limits: Bounds
    model: str = ""
    endpoint: str = ""
    why: str = ""


class Asking:
    """All questions of this process."""

    def __init__(
        self,
        server: Server,
        setup: ConsoleSetup,
        limits: ConsoleLimits = DEFAULT,
        allowance: Allowing | None = None,
    ) -> None:
        self._server = server
        self._setup = setup
        self._limits = limits
        self._allowance: Allowing = allowance or OwnAllowance(limits)
        self._made: Answering | None = None
        self._running: set[asyncio.Task[Run]] = set()
        self._is_closed = False

    @property
    def _answering(self) -> "Answering":
        if self._made is None:
            from .answering import Answering

            self._made = Answering(self._server, self._setup, self._limits)
        return self._made

    async def handle(self, exchange: Exchange) -> None:
        method = exchange.scope["method"]
        if method == "POST":
            await self._post(exchange)
        elif method in ("GET", "HEAD"):
            await reply_json(exchange, 200, _encode(await self._availability()))
        else:
            await refuse(
                exchange, 405, "Only GET and POST are served here.", (b"allow", b"GET, HEAD, POST, OPTIONS")
            )

    def close(self) -> None:
        """End what runs, and begin nothing more."""
        self._is_closed = True
        for task in self._running:
            task.cancel()

    async def _availability(self) -> Availability:
        from .answering import Unavailable

        try:
            chosen = await self._answering.model()
        except Unavailable as exc:
            return Availability(available=False, why=str(exc), limits=self._bounds())
        return Availability(
            available=True,
            model=printable(chosen.model),
            endpoint=printable(chosen.base_url),
            limits=self._bounds(),
        )

    def _bounds(self) -> Bounds:
        from ...agent.limits import DEFAULT as AGENT

        question, limits = self._setup.question, self._limits
        return Bounds(
            body_bytes=self._server.limits.message_bytes,
            question_chars=AGENT.question_chars,
            turns=limits.turns,
            rounds=question.max_rounds,
            tokens=question.max_tokens,
            seconds=question.max_time,
            questions_at_once=limits.caller_questions,
            period_seconds=limits.period_seconds,
            period_calls=limits.caller_calls,
            period_tokens=limits.caller_tokens,
            period_model_seconds=limits.caller_seconds,
        )

    async def _post(self, exchange: Exchange) -> None:
        from .questions import NotAQuestion, read_question

        body = await json_body(exchange, self._server.limits.message_bytes)
        if body is None:
            return
        try:
            question = read_question(body, self._server.limits)
        except NotAQuestion as exc:
            await refuse(exchange, 400, str(exc))
            return
        if self._is_closed:
            await refuse(exchange, 503, _STOPPING)
            return
        options = self._setup.question
        place = await self._allowance.take(rated(exchange.caller), options.max_tokens, options.max_time)
        if isinstance(place, Refusal):
            again = (b"retry-after", b"%d" % max(1, round(place.retry_after + 0.5)))
            await refuse(exchange, 429, place.sentence, again)
        else:
            await self._ask(exchange, question, place)

    async def _ask(self, exchange: Exchange, question: "Question", place: Place) -> None:
        from .answering import Unavailable

        asked: Asked | None = None
        try:
            with Watch(exchange, None) as watch:
                asked = self._answering.asked(question, await self._answering.model(), place.may_take)
                if wants_events(exchange):
                    await self._stream(exchange, asked, watch)
                else:
                    await self._whole(exchange, asked)
        except Unavailable as exc:
            log.warning("no model can be asked", extra={"qortal_mcp.reason": str(exc)})
            await refuse(exchange, 503, str(exc))
        finally:
            calls, tokens = (asked.calls, asked.tokens) if asked is not None else (0, 0)
            self._allowance.give_back(place, calls, tokens)
            taken = {"qortal_mcp.calls": calls, "qortal_mcp.tokens": tokens}
            log.debug("question ended", extra={**taken, "qortal_mcp.ms": _since(place.began)})

    async def _whole(self, exchange: Exchange, asked: "Asked") -> None:
        outcome = await self._outcome(asked, lambda event: None)
        if isinstance(outcome, str):
            await refuse(exchange, 503 if outcome == _STOPPING else 500, outcome)
        else:
            await reply_json(exchange, 200, _encode(outcome))

    async def _stream(self, exchange: Exchange, asked: "Asked", watch: Watch) -> None:
        from ...agent.events import Ended, Notice
        from .event_queue import EventQueue

        sender = EventSender(exchange, self._server.limits, watch, GUARDED)
        queue = EventQueue(sender, self._server.limits.backlog_bytes, watch.give_up)

        def put(event: "Event") -> None:
            if not isinstance(event, Ended):
                queue.put(_encode(event))

        sending = asyncio.get_running_loop().create_task(queue.send_all())
        try:
            outcome = await self._outcome(asked, put)
            queue.end()
            await sending
            last = Notice(text=outcome) if isinstance(outcome, str) else Ended(run=outcome)
            await sender.finish(_encode(last))
        finally:
            sending.cancel()
            sender.stop()

    async def _outcome(self, asked: "Asked", on_event: Callable[["Event"], None]) -> "Run | str":
        """The run, or why there is none. Whoever cancels this cancels the question."""
        from .whole_run import sendable_run

        task = asyncio.get_running_loop().create_task(asked.answer(on_event))
        self._running.add(task)
        try:
            await asyncio.wait([task])
        finally:
            self._running.discard(task)
            if not task.done():
                task.cancel()
                await asyncio.wait([task])
        if task.cancelled():
            return _STOPPING
        if (error := task.exception()) is not None:
            log.error("internal error", exc_info=error)
            return _BROKEN
        run = task.result()
        if run.problem:
            log.warning("question not answered", extra={"qortal_mcp.ended": run.ended})
        return sendable_run(run, self._limits.run_calls_bytes)


def _since(began: float) -> float:
    return round((time.monotonic() - began) * 1000, 1)
