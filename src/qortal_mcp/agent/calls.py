"""The calls that a model wants: each gets exactly one result, in the order in which they were asked for."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..protocol.decoding import decode
from ..protocol.jsonrpc import UNREADABLE
from ..text import visible
from ..tokens import estimate
from . import words
from .events import Called, Calling, Event
from .limits import AgentLimits
from .model.messages import Message, WantedCall
from .prompt.framing import Frame, cut
from .prompt.room import Space
from .run import Call, Source
from .secrets import Secrets
from .tools.results import Seen
from .tools.toolbox import Toolbox

_SHOWN_CHARS = 200


class _Plan(Struct):
    """One wanted call: what it asks for, or why it is not made."""

    wanted: WantedCall
    arguments: Any
    refusal: str = ""
    # The same for every call of the same tool with the same arguments.
    key: bytes = b""
    is_repeated: bool = False


class _Made(Struct, frozen=True):
    """What came of a call: its result, how long it took, and when it was made."""

    seen: Seen
    ms: float = 0.0
    time: str = ""
    # Bytes of its text; what is kept may be less.
    whole: int = 0
    # Its place among the results that are kept.
    result: int | None = None


class Calls:
    """All calls of one question."""

    def __init__(
        self,
        toolbox: Toolbox,
        frame: Frame,
        limits: AgentLimits,
        secrets: Secrets,
        on_event: Callable[[Event], None],
    ) -> None:
        self._toolbox = toolbox
        self._frame = frame
        self._limits = limits
        self._secrets = secrets
        self._on_event = on_event
        self._free = asyncio.Semaphore(limits.parallel_calls)
        self._made: dict[bytes, _Made] = {}
        self._times: Counter[bytes] = Counter()
        self.records: list[Call] = []
        self.sources: list[Source] = []
        # What the tools returned, as far as it is kept: what an answer says is looked up here.
        self.results: list[str] = []
        # The call that each of them is of, by their places: repeating a call returns nothing new.
        self.call_of_result: dict[int, int] = {}

    @property
    def is_stuck(self) -> bool:
        """Whether the model asks for the same thing again and again."""
        return any(times > self._limits.repetitions + 1 for times in self._times.values())

    async def make(
        self, wanted: Sequence[WantedCall], round_: int, space: Space, *, written: bool
    ) -> list[Message]:
        """The answers to all of them, as the model gets them."""
        plans = [self._plan(call, number) for number, call in enumerate(wanted)]
        new: dict[bytes, _Plan] = {}
        for plan in plans:
            if not plan.refusal and plan.key not in self._made:
                new.setdefault(plan.key, plan)
        for plan in plans:
            plan.is_repeated = not plan.refusal and new.get(plan.key) is not plan
        try:
            await asyncio.gather(*(self._run(plan) for plan in new.values()))
        except asyncio.CancelledError:
            # The time is over, and a person should see what it was spent on.
            self._answer(plans, round_, space, written)
            raise
        return self._answer(plans, round_, space, written)

    def _answer(self, plans: Sequence[_Plan], round_: int, space: Space, written: bool) -> list[Message]:
        made_of = [self._made_of(plan) for plan in plans]
        result_bytes = space.each(len(made.seen.text.encode("utf-8", "replace")) for made in made_of)
        messages = []
        for plan, made in zip(plans, made_of, strict=True):
            record = self._record(plan, made, round_, result_bytes, written)
            if made.result is not None:
                self.call_of_result.setdefault(made.result, len(self.records))
            self.records.append(record)
            self._on_event(Called(call=record))
            framed = self._frame.framed(plan.wanted.name, record.text, ok=record.ok)
            messages.append(Message(role="tool", content=framed, call_id=plan.wanted.id))
        return messages

    def _made_of(self, plan: _Plan) -> _Made:
        refusal = plan.refusal or ("" if plan.key in self._made else words.UNANSWERED)
        return _Made(_refused(refusal)) if refusal else self._made[plan.key]

    def _plan(self, wanted: WantedCall, number: int) -> _Plan:
        wanted = replace(wanted, name=self._secrets.hidden(wanted.name))
        text = self._secrets.hidden(wanted.arguments).strip() or "{}"
        if number >= self._limits.round_calls:
            refusal = words.NO_CALL_LEFT.format(most=self._limits.round_calls)
            return _Plan(wanted, _shortened(text), refusal)
        if len(text) > self._limits.argument_chars:
            most = self._limits.argument_chars
            return _Plan(wanted, _shortened(text), f"arguments are too long: at most {most:,} characters")
        try:
            # Again: a secret may have been spelt with escapes.
            arguments = self._secrets.hidden_in(decode(text))
        except UNREADABLE as exc:
            return _Plan(wanted, _shortened(text), f"arguments are not valid JSON: {exc}")
        if arguments is None:
            arguments = {}
        if not isinstance(arguments, dict):
            return _Plan(wanted, arguments, "arguments are not valid: they must be a JSON object")
        key = wanted.name.encode("utf-8", "replace") + b" " + msgspec.json.encode(arguments, order="sorted")
        self._times[key] += 1
        return _Plan(wanted, arguments, key=key)

    async def _run(self, plan: _Plan) -> None:
        name = plan.wanted.name
        async with self._free:
            self._on_event(
                Calling(tool=visible(name), arguments=plan.arguments, server=self._server_of(name))
            )
            moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            began = time.perf_counter()
            seen = self._safe(await self._toolbox.call(name, plan.arguments))
            whole = len(seen.text.encode("utf-8", "replace"))
            made = _Made(seen, (time.perf_counter() - began) * 1000, moment, whole)
        if seen.ok:
            self.sources.append(self._source(name, made))
        # What we say about a tool that does not exist repeats the model's own words, and was returned by nobody.
        text, result = self._kept(seen.text) if name in self._toolbox.offers else (seen.text, None)
        self._made[plan.key] = replace(made, seen=replace(seen, text=text, structured=None), result=result)

    def _kept(self, text: str) -> tuple[str, int]:
        """The whole text while there is room for it, and always what a model can get of it; and its place."""
        left = self._limits.kept_results_bytes - sum(map(len, self.results))
        kept = text[: max(min(self._limits.kept_result_bytes, left), self._limits.result_bytes)]
        self.results.append(kept)
        return kept, len(self.results) - 1

    def _safe(self, seen: Seen) -> Seen:
        """Without our secrets and hidden characters. What we wrote ourselves comes out as it is."""
        return replace(
            seen,
            text=visible(self._secrets.hidden(seen.text)),
            warnings=tuple(visible(self._secrets.hidden(warning)) for warning in seen.warnings),
        )

    def _server_of(self, name: str) -> str:
        offer = self._toolbox.offers.get(name)
        return offer.server if offer is not None else ""

    def _source(self, name: str, made: _Made) -> Source:
        structured = made.seen.structured
        as_of = structured.get("asOf") if isinstance(structured, dict) else None
        told: dict[str, Any] = as_of if isinstance(as_of, dict) else {}
        node, height, moment = told.get("node"), told.get("height"), told.get("time")
        return Source(
            tool=visible(name),
            server=self._server_of(name),
            time=made.time,
            node=visible(_shortened(node)) if isinstance(node, str) else "",
            height=height if isinstance(height, int) and not isinstance(height, bool) else None,
            as_of=visible(_shortened(moment)) if isinstance(moment, str) else "",
            is_synchronizing=told.get("isSynchronizing") is True,
        )

    def _record(self, plan: _Plan, made: _Made, round_: int, result_bytes: int, written: bool) -> Call:
        text = cut(made.seen.text, result_bytes, made.whole)
        return Call(
            tool=visible(_shortened(plan.wanted.name)),
            arguments=plan.arguments,
            ok=made.seen.ok,
            text=text,
            server=self._server_of(plan.wanted.name),
            round=round_,
            ms=0.0 if plan.is_repeated else round(made.ms, 1),
            bytes=max(made.whole, made.seen.size),
            tokens=estimate(text),
            warnings=made.seen.warnings,
            written=written,
            repeated=plan.is_repeated,
        )


def _refused(why: str) -> Seen:
    return Seen(text=visible(why), ok=False)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
