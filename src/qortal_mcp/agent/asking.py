"""One question on its way to an answer: rounds of tool calls, within limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from . import words
from .calls import Calls
from .conversation import Conversation
from .events import Event, Notice, Text
from .grounding.check import ground
from .in_turn import in_turn
from .inert import inert
from .limits import AgentLimits
from .model.endpoint import Endpoint
from .model.messages import Completion, Function, Message, WantedCall
from .model.refusals import EndpointError, PromptTooLong, ToolsRefused
from .model.requests import sendable
from .prompt import fitting
from .prompt.framing import Frame
from .prompt.room import Room
from .run import Ending, Grounding, Run, Spent
from .secrets import Secrets
from .shown_text import ShownText
from .tools.toolbox import Toolbox
from .written.calls import written_calls

# What endpoints call an answer that was withheld, and one that did not end by itself.
_FILTERED = "content_filter"
_CUT_OFF = ("length", _FILTERED)
# How often a question is asked again because a prompt was cut or refused. The first time says how much fits.
_MOST_REFITS = 3


class Means(Struct, frozen=True, kw_only=True):
    """What all questions of a conversation share."""

    endpoint: Endpoint
    toolbox: Toolbox
    frame: Frame
    room: Room
    limits: AgentLimits
    secrets: Secrets


class Asking:
    """Made for one question. `run` always ends, and says how."""

    def __init__(self, question: str, means: Means, on_event: Callable[[Event], None]) -> None:
        self.calls = Calls(means.toolbox, means.frame, means.limits, means.secrets, on_event)
        self._question = question
        self._endpoint = means.endpoint
        self._toolbox = means.toolbox
        self._room = means.room
        self._limits = means.limits
        self._secrets = means.secrets
        self._on_event = on_event
        self._system = ""
        # What was said before the question, as far as it fits; up to it; and since then.
        self._before: Callable[[int], list[Message]] = lambda chars: []
        self._beginning: list[Message] = []
        self._since: list[Message] = []
        # How often the model was asked again with less.
        self._refits = 0
        self._functions: Mapping[str, Function] = {}
        self._shown = ShownText(self._say_within, means.secrets)
        # What the tools returned for earlier questions.
        self._earlier: list[str] = []
        # What the model has said since it was last asked.
        self._said: list[str] = []
        self._left_to_say = means.limits.answer_chars
        self._notices: list[str] = []
        self._problem = ""
        # What the question has taken so far.
        self.spent = Spent()
        self._rounds = 0

    async def run(self, conversation: Conversation, system: str) -> Run:
        began = time.monotonic()
        self._earlier = conversation.results
        self._before = conversation.messages
        self._system = system
        down = self._name_those_down()
        had_tools = bool(self._toolbox.offers)
        ended = await self._ended()
        if ended == "answer" and not had_tools:
            ended = "no-tools"
        said = "".join(self._said)
        self._add(
            words.ended(
                ended,
                rounds=words.counted(self._rounds, "round"),
                tokens=self._limits.tokens,
                seconds=self._limits.question_seconds,
                why=" ".join(["", *down]),
            )
        )
        # A call that could not be run says nothing that could be looked up.
        grounding = Grounding() if ended == "no-calls" else await self._grounding(said)
        return Run(
            question=self._question,
            answer="".join(self._said),
            calls=tuple(self.calls.records),
            sources=tuple(self.calls.sources),
            grounding=grounding,
            notices=tuple(self._notices),
            problem=self._problem,
            ended=ended,
            model=self._endpoint.model,
            endpoint=self._endpoint.name,
            servers=self._toolbox.servers_seen(),
            spent=replace(self.spent, rounds=self._rounds, ms=round((time.monotonic() - began) * 1000, 1)),
        )

    async def _grounding(self, said: str) -> Grounding:
        results = [*self._earlier, *self.calls.results]
        calls = {
            len(self._earlier) + place: call for place, call in sorted(self.calls.call_of_result.items())
        }
        # A pile of large results takes seconds, and connections must live on meanwhile.
        found = await in_turn(ground, said, results, self._question, self._toolbox.offers.keys(), calls)
        if found.is_partial:
            self._notice_once(words.partly_checked(found.checked))
        return found

    async def _ended(self) -> Ending:
        try:
            self._offer()
            async with asyncio.timeout(self._limits.question_seconds):
                return await self._go_on()
        except TimeoutError:
            self._shown.finish()
            return "time"
        except EndpointError as exc:
            self._shown.finish()
            self._problem = str(exc)
            return "no-calls" if isinstance(exc, ToolsRefused) else "endpoint"

    def _name_those_down(self) -> list[str]:
        """Say which servers cannot be used, each once."""
        down = words.unavailable(self._toolbox.servers_seen())
        for sentence in down:
            self._notice_once(sentence)
        return down

    def _offer(self, why: str = "") -> None:
        """Choose what the model is told and the tools again: the list or the window has changed.

        Raises: PromptTooLong if no tool fits.
        """
        self._beginning = [
            Message(role="system", content=self._system),
            *self._before(self._room.history_chars),
            Message(role="user", content=self._question),
        ]
        offered = [offer.function for offer in self._toolbox.offers.values()]
        try:
            chosen, said = self._room.functions(offered, self._beginning, self._question)
        except PromptTooLong:
            self._notice_once(why)
            raise
        self._functions = {function.name: function for function in chosen}
        self._notice_once(f"{why} {said}".strip())

    async def _go_on(self) -> Ending:
        """Rounds of calls until the model answers, or has to."""
        is_reminded = False
        while True:
            completion = await self._complete()
            wanted = await self._wanted(completion)
            says_nothing = not wanted and not completion.text.strip() and completion.finish != _FILTERED
            if says_nothing and not is_reminded:
                is_reminded = True
                self._since.append(Message(role="user", content=words.ANSWER_NOW))
                continue
            if not wanted:
                return self._answered(completion)
            self._rounds += 1
            taken = fitting.weight(self._beginning, tuple(self._functions.values()))
            wanted = self._as_many_as_fit(wanted, taken)
            self._since.append(_remembered(completion, wanted))
            space = self._room.space(taken, self._since)
            self._since += await self.calls.make(wanted, self._rounds, space, written=not completion.calls)
            limit = self._limit_reached()
            if limit is not None:
                return await self._last_word(limit)
            await self._look_again()

    async def _wanted(self, completion: Completion) -> tuple[WantedCall, ...]:
        """The calls that the model makes, or else those that it writes as text."""
        if completion.calls:
            self._finish(completion)
            return completion.calls
        results = [*self._earlier, *self.calls.results]
        written = await in_turn(written_calls, completion.text, self._functions, results)
        if written.calls:
            self._shown.drop()
            self._notice_once(words.written_as_text([call.name for call in written.calls]))
            return written.calls
        if written.is_attempt:
            self._problem = words.does_not_call(self._endpoint.model)
        self._finish(completion)
        return ()

    def _as_many_as_fit(self, wanted: tuple[WantedCall, ...], taken: int) -> tuple[WantedCall, ...]:
        """The first of the calls: more results than a small window holds would push out the question."""
        most = self._room.most_calls(taken)
        if len(wanted) > most:
            self._notice_once(words.fewer_calls(most, len(wanted)))
        return wanted[:most]

    def _answered(self, completion: Completion) -> Ending:
        """The model has said something without calling a tool."""
        if not completion.text.strip():
            self._problem = words.FILTERED if completion.finish == _FILTERED else words.NO_ANSWER
            return "no-answer"
        if self._problem:
            return "no-calls"
        is_whole = completion.is_whole and completion.finish not in _CUT_OFF and self._left_to_say >= 0
        return "answer" if is_whole else "cut-off"

    def _limit_reached(self) -> Ending | None:
        if self.calls.is_stuck:
            return "repetition"
        if self._rounds >= self._limits.rounds:
            return "rounds"
        if self._limits.tokens is not None and self.spent.tokens >= self._limits.tokens:
            return "tokens"
        return None

    async def _last_word(self, limit: Ending) -> Ending:
        self._since.append(Message(role="user", content=words.LAST_WORD))
        self._finish(await self._complete(with_tools=False))
        return limit

    async def _look_again(self) -> None:
        """Tools may have come or gone while they were called."""
        before = self._toolbox.offers
        await self._toolbox.catch_up()
        self._name_those_down()
        if self._toolbox.offers != before:
            self._offer()

    async def _complete(self, *, with_tools: bool = True) -> Completion:
        """What the model says next; asked again with less if the prompt was cut, or refused as too long."""
        while True:
            functions = tuple(self._functions.values()) if with_tools else ()
            self._since = self._room.making_room(self._since, fitting.weight(self._beginning, functions))
            sent = fitting.weight([*self._beginning, *self._since], functions)
            may_ask_again = self._refits < _MOST_REFITS
            try:
                completion = await self._ask(functions, sent)
                said = self._room.learn(sent, completion.usage)
                if not said or not may_ask_again:
                    self._notice_once(said)
                    return completion
            except PromptTooLong as exc:
                said = self._room.shrink(sent, str(exc))
                if not said or not may_ask_again:
                    raise
            self._refits += 1
            self._shown.drop()
            self._offer(said)

    async def _ask(self, functions: Sequence[Function], sent: int) -> Completion:
        holds_back = self._room.may_be_cut(sent)
        self._shown = ShownText(self._say_within, self._secrets, tools=self._functions, holds_back=holds_back)
        self._said = []
        self._left_to_say = self._limits.answer_chars
        messages = [*self._beginning, *self._since]
        try:
            completion = await self._endpoint.complete(
                messages, functions, on_text=self._shown.add, on_notice=self._notice
            )
        except asyncio.CancelledError:
            # The endpoint has read the prompt, and whoever pays for it wants to know.
            self.spent = self.spent.more(Completion(text="".join(self._said)), sent)
            raise
        self.spent = self.spent.more(completion, sent)
        return completion

    def _say_within(self, text: str) -> None:
        """As much of it as an answer may have: a hidden character is written as eight that are not."""
        if self._left_to_say > 0:
            self._say(text[: self._left_to_say])
        self._left_to_say -= len(text)

    def _say(self, text: str) -> None:
        self._said.append(text)
        self._on_event(Text(text=text))

    def _finish(self, completion: Completion) -> None:
        """All of it is shown. Reasoning that was shown before it was known to be that is no part of the answer."""
        self._shown.finish()
        answer = inert(self._secrets.hidden(completion.text))
        self._left_to_say = self._limits.answer_chars - len(answer)
        self._said = [answer[: self._limits.answer_chars]] if answer else []

    def _add(self, sentence: str) -> None:
        """A sentence of ours at the end of the answer."""
        if sentence:
            self._say(f"\n\n[{sentence}]" if self._said else f"[{sentence}]")

    def _notice_once(self, text: str) -> None:
        if text and text not in self._notices:
            self._notice(text)

    def _notice(self, text: str) -> None:
        self._notices.append(text)
        self._on_event(Notice(text=text))


def _remembered(completion: Completion, wanted: Sequence[WantedCall]) -> Message:
    """What the model said, as it is sent back to it: what is weighed must be what is sent."""
    calls = tuple(replace(call, arguments=sendable(call.arguments)) for call in wanted)
    return Message(role="assistant", content=completion.text if completion.calls else "", calls=calls)
