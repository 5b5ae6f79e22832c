"""Asks several nodes the same and compares what they say, for those who do not trust one node.

The first healthy node answers, as always. Others are asked side by side with it. What is on the chain can only be
compared at one block, so nodes that stand at different blocks are asked again once they have met, within a few seconds.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from msgspec import structs

from ....server.tool_errors import ToolError
from ...endpoints.record import Keep, Same
from ...limits import NodeLimits
from .. import failures
from ..as_of import Tip
from ..failures import NodeFailure
from ..kept import Kept
from ..side_by_side import side_by_side
from ..upstream import Upstream
from .comparing import NOTHING, Confirmation, Differs, Doubt, Question, Said, Unheard, notes_on
from .meeting import Meeting
from .patience import Patience

# Others may be able to confirm it after this long.
_DOUBTED_SECONDS = 60
# How often nodes are asked at most: a block may come while they are asked.
_ROUNDS = 4

_LATE = "did not answer in time"
_BEHIND = "is behind"
_MOVED = "moved to another block each time it was asked"
_INCOMPARABLE = "could not be compared"
# By code of the failure.
_WHY = {
    "NODE_TIMEOUT": _LATE,
    "NODE_REFUSED": "refused to answer",
    "NOT_SUPPORTED": "does not offer this",
    "RATE_LIMITED": "is too busy",
}
_NO_ANSWER = "did not answer"

# One node's answer, or its failure if it says that there is no such thing.
Outcome = Kept | NodeFailure
Ask = Callable[[Upstream], Awaitable[tuple[Upstream, Outcome]]]


class _Voice:
    """A node besides the one that answered."""

    def __init__(self, upstream: Upstream, said: Said) -> None:
        self.upstream = upstream
        self.said = said
        # False while it cannot be compared.
        self.verdict: Doubt | bool = False
        # Whether it stays at another block than the node that answered: it is not asked again.
        self.is_apart = False


class Confirming:
    """Compares the answers of a number of nodes."""

    def __init__(self, wanted: int, limits: NodeLimits, now: Callable[[], float] = time.monotonic) -> None:
        self._wanted = wanted
        self._limits = limits
        self._meeting = Meeting(limits, now)

    async def confirmed(
        self,
        question: Question,
        order: Sequence[Upstream],
        first: Callable[[], Awaitable[tuple[Upstream, Outcome]]],
        ask: Ask,
        patience: Patience,
    ) -> Kept:
        """The answer of the first healthy node, with what the others say to it while there is patience.

        `first` asks that one, `ask` any given one. Raises: ToolError.
        """
        asked = _Asked(self._limits)
        if question.same is not Same.NEVER and patience.seconds:
            asked.begin(order[1 : self._wanted], question)
        try:
            main, outcome = await first()
            if question.same is Same.NEVER or not _is_on_chain(question, outcome):
                confirmation = Confirmation(self._wanted)
            else:
                inquiry = _Inquiry(question, main, outcome, ask, self._meeting)
                others = [each for each in order if each is not main]
                confirmation = await self._heard(inquiry, others, asked, patience)
                outcome = inquiry.outcome
        finally:
            await asked.close()
        if isinstance(outcome, NodeFailure):
            raise _doubted(outcome, confirmation)
        keep = outcome.keep
        if confirmation.is_compared and not confirmation.is_complete:
            keep = Keep(min(keep.seconds, _DOUBTED_SECONDS), keep.until_next_block)
        return structs.replace(outcome, keep=keep, confirmation=confirmation)

    async def _heard(
        self, inquiry: "_Inquiry", others: Sequence[Upstream], asked: "_Asked", patience: Patience
    ) -> Confirmation:
        if patience.seconds:
            with contextlib.suppress(TimeoutError), patience.waiting():
                async with asyncio.timeout(patience.seconds):
                    return await inquiry.held(others, self._wanted, asked)
        late = (Unheard(each.source.origin, _LATE) for each in others[: self._wanted - 1])
        return Confirmation(self._wanted, (inquiry.main,), tuple(late))


class _Asked:
    """Questions to nodes in tasks of their own."""

    def __init__(self, limits: NodeLimits) -> None:
        self._limits = limits
        self._tasks: dict[Upstream, asyncio.Task[Said | str]] = {}

    def begin(self, upstreams: Sequence[Upstream], question: Question) -> None:
        """Ask those that are healthy, unless they were asked already."""
        for each in upstreams:
            if each not in self._tasks and not each.rank:
                self._tasks[each] = asyncio.create_task(_say(each, question))

    async def heard(self, upstreams: Sequence[Upstream]) -> list[Said | str]:
        """What each of these says, or why it says nothing, within the time that an answer waits for it."""
        tasks = [self._tasks[each] for each in upstreams if each in self._tasks]
        if tasks:
            await asyncio.wait(tasks, timeout=self._limits.confirm_seconds)
        return [self._outcome(each) for each in upstreams]

    def _outcome(self, upstream: Upstream) -> Said | str:
        task = self._tasks.get(upstream)
        if task is None:
            return _NO_ANSWER if upstream.is_resting else _BEHIND
        if task.done():
            return task.result()
        upstream.rest(failures.timed_out(self._limits.confirm_seconds))
        return _LATE

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)


async def _say(upstream: Upstream, question: Question) -> Said | str:
    """What a node says, or why it says nothing."""
    try:
        tip = await upstream.tip()
        if upstream.is_behind:
            return _BEHIND
        value = await _value(upstream, question)
    except ToolError as exc:
        if isinstance(exc, NodeFailure) and exc.rests_node:
            upstream.rest(exc)
        return _WHY.get(exc.code, _NO_ANSWER)
    upstream.recovered()
    return Said(upstream.source.origin, value, tip)


async def _value(upstream: Upstream, question: Question) -> Any:
    """What a node answers, or that there is nothing. Raises: ToolError."""
    try:
        value, _ = await upstream.ask(question.endpoint, question.request)
    except NodeFailure as exc:
        if exc.code != "NOT_FOUND":
            raise
        return NOTHING
    return value


class _Inquiry:
    """One question to several nodes, until enough of them were heard."""

    def __init__(
        self, question: Question, main: Upstream, outcome: Outcome, ask: Ask, meeting: Meeting
    ) -> None:
        self._question = question
        self._main = main
        # The newest answer of the node that answers.
        self.outcome = outcome
        self._ask = ask
        self._meeting = meeting

    @property
    def main(self) -> str:
        """The node that answers."""
        return self._main.source.origin

    async def held(self, others: Sequence[Upstream], wanted: int, asked: _Asked) -> Confirmation:
        """Hear as many of the others as needed, in their order."""
        voices: list[_Voice] = []
        doubts: list[Doubt] = []
        waiting = list(others)
        while waiting and (missing := wanted - 1 - len(voices)) > 0:
            batch, waiting = waiting[:missing], waiting[missing:]
            asked.begin(batch, self._question)
            for upstream, said in zip(batch, await asked.heard(batch), strict=True):
                if isinstance(said, Said):
                    voices.append(_Voice(upstream, said))
                else:
                    doubts.append(Unheard(upstream.source.origin, said))
            await self._settle(voices)
            doubts += [voice.verdict for voice in voices if isinstance(voice.verdict, Unheard)]
            voices = [voice for voice in voices if not isinstance(voice.verdict, Unheard)]
        doubts += [voice.verdict for voice in voices if isinstance(voice.verdict, Differs)]
        agreed = (voice.said.node for voice in voices if voice.verdict is True)
        return Confirmation(wanted, (self.main, *agreed), tuple(doubts))

    async def _settle(self, voices: Sequence[_Voice]) -> None:
        """Come to a verdict on each of them; ask again at one block if need be."""
        try:
            mine = self._said(await self._main.tip())
        except ToolError:
            mine = self._said(None)
        deadline = self._meeting.now() + self._meeting.limits.confirm_seconds
        why = _MOVED
        for left in reversed(range(_ROUNDS)):
            for voice in voices:
                if not voice.is_apart:
                    voice.verdict = self._question.verdict(mine, voice.said)
            undecided = [voice for voice in voices if voice.verdict is False]
            if not undecided:
                return
            if not left:
                break
            try:
                mine = await self._again(mine, undecided, deadline)
            except ToolError:  # the node that answered does so no more
                why = _INCOMPARABLE
                break
        for voice in voices:
            if voice.verdict is False:
                voice.verdict = Unheard(voice.said.node, why)

    def _said(self, tip: Tip | None, *, is_certain: bool = False) -> Said:
        value = NOTHING if isinstance(self.outcome, NodeFailure) else self.outcome.value
        return Said(self.main, value, tip, is_certain)

    async def _again(self, mine: Said, voices: Sequence[_Voice], deadline: float) -> Said:
        """Ask all again, at one block if they meet there. Raises: ToolError."""
        upstreams = [voice.upstream for voice in voices]
        my_tip, their_tips = await self._meeting.tips(self._main, upstreams, deadline)
        comparable: list[tuple[_Voice, Tip]] = []
        for voice, tip in zip(voices, their_tips, strict=True):
            doubt = await self._doubt_about(voice, mine, my_tip, tip)
            if doubt is None and tip is not None:
                comparable.append((voice, tip))
            else:
                voice.is_apart, voice.verdict = True, doubt or False
        if not comparable:
            return mine
        mine, *_ = await side_by_side(
            self._main_at(my_tip), *(self._say_again(voice, tip) for voice, tip in comparable)
        )
        return mine

    async def _doubt_about(
        self, voice: _Voice, mine: Said, my_tip: Tip, their_tip: Tip | None
    ) -> Doubt | None:
        """Why a node cannot be compared now; None if it can."""
        node = voice.said.node
        if their_tip is None:
            return Unheard(node, _NO_ANSWER)
        if my_tip.block == their_tip.block:
            return None
        is_one_chain = await self._meeting.is_one_chain(self._main, my_tip, voice.upstream, their_tip)
        if is_one_chain is None:
            return Unheard(node, _INCOMPARABLE)
        if not is_one_chain:
            return Differs(node, mine.node, f"the block at height {min(my_tip.height, their_tip.height)}")
        both = structs.replace(mine, tip=my_tip), structs.replace(voice.said, tip=their_tip)
        if self._question.is_within(*both):
            return None
        return Unheard(node, f"is at block {their_tip.height}, not {my_tip.height}")

    async def _main_at(self, tip: Tip) -> Said:
        """What the node that answers says, read between two looks at its newest block. Raises: ToolError."""
        _, self.outcome = await self._ask(self._main)
        after = await self._main.tip_since(self._meeting.now())
        return self._said(after, is_certain=after.block == tip.block)

    async def _say_again(self, voice: _Voice, tip: Tip) -> Said:
        """The same of another node, which is left out if it fails."""
        try:
            value = await _value(voice.upstream, self._question)
            after = await voice.upstream.tip_since(self._meeting.now())
        except ToolError as exc:
            voice.is_apart, voice.verdict = True, Unheard(voice.said.node, _WHY.get(exc.code, _NO_ANSWER))
        else:
            voice.said = Said(voice.said.node, value, after, after.block == tip.block)
        return voice.said


def _is_on_chain(question: Question, outcome: Outcome) -> bool:
    return isinstance(outcome, NodeFailure) or question.endpoint.is_on_chain(outcome.value)


def _doubted(failure: NodeFailure, confirmation: Confirmation) -> NodeFailure:
    """The failure, with what other nodes say to it."""
    notes = notes_on([confirmation]) if confirmation.is_compared else []
    doubted = NodeFailure(failure.code, " ".join([str(failure), *notes]))
    doubted.said = failure.said
    doubted.confirmation = confirmation
    return doubted
