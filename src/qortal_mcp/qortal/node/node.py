"""Node: what the tools read from. It can only GET, and only what is on the allow-list.

reading = node.reading()
balance = await reading.get(BALANCE, address=address)
return Balance(balance=balance, asOf=reading.as_of, notes=reading.notes())
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import UNSET, UnsetType, structs

from ...metrics import Metrics
from ...server.at_once import in_a_task
from ...server.tool_errors import ToolError, too_large
from ..endpoints import ENDPOINTS
from ..endpoints.admin import NODE_INFO
from ..endpoints.record import FOR_EVER, Endpoint, Request
from ..limits import DEFAULT, NodeLimits
from ..sample import SAMPLE_NOTICE, SampleSource
from ..words.times import span
from .as_of import AsOf, Seen, Tip
from .cache import ByteCache
from .confirm.comparing import Confirmation, Question, confirmed_by, notes_on
from .confirm.patience import Patience
from .failures import NodeFailure, NotANode, none_of, not_as_expected
from .flights import Background, Flights
from .http_source import HttpSource
from .kept import Kept
from .source import Source
from .traffic import Traffic
from .upstream import Upstream

if TYPE_CHECKING:
    from ...store.store import Store
    from .confirm.confirming import Confirming, Outcome
    from .shared import SharedReplies

T = TypeVar("T")
Reader: TypeAlias = Callable[[bytes], Any]

DEFAULT_URL = "http://127.0.0.1:12391"

_ALLOWED = frozenset(id(endpoint) for endpoint in ENDPOINTS)
# What one cached answer costs besides its own bytes and those of the request.
_ENTRY_BYTES = 500
# After this many requests other tasks get a turn, even if all were answered from memory, where nothing waits.
_TURN = 16
# Whoever reads as much as one call may stops at this part of it, so that the answer can still be completed.
_NEARLY = 0.75
# Whoever looks at the numbers of a node that does not answer waits no longer than this for new ones.
_LOOK_SECONDS = 1.0
_NARROWER = "Narrow it down, or use a smaller offset."
# Failures that leave the rest of an answer intact: this node does not offer this part.
ABSENT = frozenset({"NOT_SUPPORTED", "NOT_FOUND", "NODE_REFUSED", "NODE_ERROR"})


class Node:
    """One or several nodes in order: the first healthy one answers.

    `confirm` is how many of them should say the same; `store` is where processes share what they read.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        limits: NodeLimits = DEFAULT,
        *,
        confirm: int = 1,
        store: "Store | None" = None,
        now: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        if not sources:
            raise ValueError("a node needs at least one source")
        self.limits = limits
        self._now = now
        self._clock = clock
        self._flights: Flights[Kept] = Flights()
        self._background = Background()
        self._traffic = traffic = Traffic()
        self._upstreams = [
            Upstream(source, limits, self._background, traffic, now, clock) for source in sources
        ]
        self._cache: ByteCache[Kept] = ByteCache(limits.cache_bytes, limits.cached_reply_bytes)
        traffic.show(self._upstreams, limits, lambda: self._cache.bytes, clock)
        self._confirming = _confirming(confirm, limits, now) if confirm > 1 else None
        # What other processes read. Not with `confirm`: whoever compares nodes does not want to believe one more place.
        self._replies = (
            _replies(store, self._upstreams, limits, now, clock) if store and confirm == 1 else None
        )
        traffic.has_store = self._replies is not None

    @classmethod
    def at(
        cls,
        urls: Sequence[str] = (DEFAULT_URL,),
        limits: NodeLimits = DEFAULT,
        *,
        confirm: int = 1,
        wrap: Callable[[Source], Source] = lambda source: source,
        store: "Store | None" = None,
    ) -> "Node":
        """Nodes over HTTP, each perhaps wrapped by what looks at its requests.

        Raises: ValueError for an invalid address.
        """
        return cls([wrap(HttpSource(url, limits)) for url in urls], limits, confirm=confirm, store=store)

    @classmethod
    def sample(cls, limits: NodeLimits = DEFAULT) -> "Node":
        """The sample chain; its answers say that they are sample data."""
        return cls([SampleSource()], limits)

    @property
    def origin(self) -> str:
        """The node that would be asked now."""
        return self._order()[0].source.origin

    def reading(self) -> "Reading":
        """Begin one answer."""
        return Reading(self)

    async def warm(self) -> None:
        """Load what the first request needs."""
        for upstream in self._upstreams:
            await upstream.source.warm()

    def learn_chain(self) -> None:
        """Ask the nodes in the background which chain they are on, if answers are shared: until it is known, none are."""
        if self._replies is not None:
            for upstream in self._upstreams:
                upstream.genesis()

    async def close(self) -> None:
        await self._background.close()
        for upstream in self._upstreams:
            await upstream.source.close()

    def age_seconds(self, tip: Tip) -> float:
        """How long ago a block was made."""
        return max(0.0, self._clock() - tip.timestamp / 1000)

    def lead_seconds(self, kept: Kept, timestamp_ms: int) -> float:
        """How far a time that a node reported is ahead of this machine's clock when it was requested."""
        return timestamp_ms / 1000 - (self._clock() - (self._now() - kept.read_at))

    def watch(self, metrics: Metrics) -> None:
        """Show the traffic with the nodes there."""
        metrics.include(self._traffic.metrics)

    async def look(self) -> None:
        """Bring what is shown about the nodes up to date, if they answer soon."""
        asked = [upstream.look() for upstream in self._upstreams if upstream.known_tip() is None]
        if asked:
            await asyncio.wait(asked, timeout=_LOOK_SECONDS)

    def patience(self) -> Patience | None:
        """How long one answer waits for nodes that confirm it, if any do."""
        if self._confirming is None:
            return None
        return Patience(self.limits.confirm_answer_seconds, self._now)

    async def kept(
        self,
        endpoint: Endpoint[Any],
        values: dict[str, Any],
        read: Reader | None = None,
        patience: Patience | None = None,
    ) -> Kept:
        """An answer, from memory while it still holds; `read` replaces the endpoint's own reader.

        Raises: ToolError.
        """
        assert id(endpoint) in _ALLOWED, "only what is on the allow-list can be requested"
        hashable = [tuple(value) if type(value) is list else value for value in values.values()]
        key = (endpoint.template, read, *values, *hashable)
        if found := self._at_hand(key):
            return found
        await in_a_task()
        # It may have come meanwhile, or hold although the newest block has to be asked for.
        if (found := self._cache.get(key)) and await self._still_holds(found):
            self._traffic.from_cache += 1
            return found
        asked = endpoint
        if read is not None:
            asked = structs.replace(endpoint, read=read, height_of=None, last_block_of=None)
        request = asked.request(values)
        question = Question(asked, request, asked.same_for(values))
        kept: Kept | None = None
        try:
            kept = await self._flights.join(
                key, lambda: self._found(key, question, patience or self.patience())
            )
            return kept
        finally:
            self._traffic.read(is_shared=kept is not None and kept.is_shared)

    def _at_hand(self, key: Hashable) -> Kept | None:
        """An answer from memory, if it is known without waiting that it holds."""
        found = self._cache.get(key)
        if found is None or self._is_too_old(found):
            return None
        if found.keep.until_next_block:
            tip = self._order()[0].known_tip()
            if tip is None or tip.block != found.block:
                return None
        self._traffic.from_cache += 1
        return found

    async def _still_holds(self, found: Kept) -> bool:
        if self._is_too_old(found):
            return False
        return not found.keep.until_next_block or await self._is_at_newest_block(found)

    def _is_too_old(self, found: Kept) -> bool:
        return self._now() - found.read_at > found.keep.seconds

    async def _is_at_newest_block(self, found: Kept) -> bool:
        """Whether the newest block is still the one that an answer was read at."""
        upstream = self._order()[0]
        tip = upstream.known_tip() or await _newest(upstream)
        return tip is not None and tip.block == found.block

    async def _shared(self, endpoint: Endpoint[Any], request: Request) -> Kept | None:
        """What another process read, if it still holds here."""
        replies = self._replies
        if replies is None or not replies.takes(endpoint):
            return None
        genesis = self._order()[0].genesis()
        found = None if genesis is None else await replies.find(genesis, endpoint, request)
        if found is None:
            return None
        is_fresh = not found.keep.until_next_block or await self._is_at_newest_block(found)
        replies.used(is_fresh=is_fresh)
        return found if is_fresh else None

    async def _found(self, key: Hashable, question: Question, patience: Patience | None) -> Kept:
        endpoint, request = question.endpoint, question.request
        confirming = self._confirming
        if self._replies is not None and (shared := await self._shared(endpoint, request)) is not None:
            self._cache.put(key, shared, shared.size + len(request.target) + _ENTRY_BYTES)
            return shared
        if confirming is None:
            kept = await self._first_of(lambda upstream: self._ask(upstream, endpoint, request))
        else:

            async def ask(upstream: Upstream) -> "tuple[Upstream, Outcome]":
                try:
                    return upstream, await self._ask(upstream, endpoint, request)
                except NodeFailure as exc:
                    if exc.code != "NOT_FOUND":
                        raise
                    return upstream, exc

            assert patience is not None, "whoever confirms has it"
            kept = await confirming.confirmed(
                question, self._order(), lambda: self._first_of(ask), ask, patience
            )
        if kept.block is not None or not kept.keep.until_next_block:
            self._cache.put(key, kept, kept.size + len(request.target) + _ENTRY_BYTES)
        return kept

    async def tip(self) -> Tip:
        """The newest block of the first node that answers. Raises: ToolError."""
        return await self._first_of(Upstream.tip)

    async def _ask(self, upstream: Upstream, endpoint: Endpoint[Any], request: Request) -> Kept:
        before = upstream.known_tip()
        coming = None if before is not None else upstream.tip_soon()
        read_at = self._now()
        try:
            value, body = await upstream.ask(endpoint, request)
        except NodeFailure as exc:
            if coming is not None and exc.is_foreign:
                await _tip_or_none(coming)  # raises if this is not a node at all
            raise
        is_sample = upstream.is_sample
        tip = before if coming is None else await _tip_or_none(coming)
        # A node that does not report its height has still answered.
        seen = Seen(AsOf(upstream.source.origin, None, None, None)) if tip is None else tip.seen
        if is_sample and not seen.is_sample:
            seen = structs.replace(seen, is_sample=True)
        keep = endpoint.keep_of(value, None if before is None else before.height, request.last_block)
        block = None if before is None else before.block
        kept = Kept(value, seen, endpoint.is_aside or keep is FOR_EVER, read_at, keep, block, len(body))
        if self._replies is not None and not seen.is_sample:
            self._share(upstream, endpoint, request, body, kept, before)
        return kept

    def _share(
        self,
        upstream: Upstream,
        endpoint: Endpoint[Any],
        request: Request,
        body: bytes,
        kept: Kept,
        before: Tip | None,
    ) -> None:
        """Give an answer to other processes, if it is known which chain it is about and when it ends to hold."""
        replies, genesis = self._replies, upstream.genesis()
        is_dated = kept.block is not None or not kept.keep.until_next_block
        if replies is not None and genesis is not None and is_dated and replies.takes(endpoint):
            replies.keep(genesis, request, body, kept, before)

    async def _first_of(self, ask: Callable[[Upstream], Awaitable[T]]) -> T:
        failures: list[tuple[str, NodeFailure]] = []
        waiting = list(self._order())
        while waiting:
            upstream = waiting.pop(0)
            try:
                if waiting and not upstream.is_met:
                    await _meet(upstream)
                if any(each.rank < upstream.rank for each in waiting):
                    waiting.append(upstream)  # it turned out to be behind, and others may not be
                    continue
                result = await ask(upstream)
            except NodeFailure as exc:
                if exc.rests_node:
                    upstream.rest(exc)
                if not exc.try_next:
                    raise
                failures.append((upstream.source.origin, exc))
            else:
                upstream.recovered()
                return result
        assert failures, "there is at least one upstream"
        try:
            raise none_of(failures)
        finally:
            del failures  # they refer to this frame

    def _order(self) -> list[Upstream]:
        """Healthy ones first, then those that are behind. If all are resting, they are asked anyway."""
        if len(self._upstreams) == 1:
            return self._upstreams
        order = sorted(self._upstreams, key=lambda upstream: upstream.rank)
        if not order[0].is_resting:
            for upstream in order[1:]:
                if upstream.rank:
                    upstream.probe_if_due()
        return order


class Reading:
    """One answer being put together: its requests, and the state they were read at.

    Bounds apply to all of it together: a node must not decide how much is requested and kept.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._patience = node.patience()
        self._seen: list[Seen] = []
        self._aside: list[Seen] = []
        # Of each part, if parts are confirmed.
        self.confirmations: list[Confirmation] = []
        self._asked = 0
        self._bytes = 0
        self._rows = 0

    def get(self, endpoint: Endpoint[T], **values: Any) -> Coroutine[Any, Any, T]:
        """Raises: ToolError."""
        return self._value(endpoint, values)

    async def follow(self, endpoint: Endpoint[T], **values: Any) -> T:
        """Request with values that came from the node itself: if they do not fit, that is not the caller's fault.

        Raises: ToolError.
        """
        try:
            return await self.get(endpoint, **values)
        except ToolError as exc:
            if exc.code != "INVALID_ARGUMENT":
                raise
            raise not_as_expected() from None

    def get_as(
        self, read: Callable[[bytes], T], endpoint: Endpoint[Any], **values: Any
    ) -> Coroutine[Any, Any, T]:
        """The answer, read with another reader than the endpoint's. Raises: ToolError."""
        return self._value(endpoint, values, read)

    async def _value(
        self, endpoint: Endpoint[Any], values: dict[str, Any], read: Reader | None = None
    ) -> Any:
        limits = self._node.limits
        self._asked += 1
        if self._asked > limits.call_requests:
            raise too_large(f"It takes more than {limits.call_requests} requests to the node. {_NARROWER}")
        if self._asked % _TURN == 0:
            await asyncio.sleep(0)
        try:
            kept = await self._node.kept(endpoint, values, read, self._patience)
        except NodeFailure as exc:
            if exc.confirmation is not None:
                self.confirmations.append(exc.confirmation)
            raise
        if kept.confirmation is not None:
            self.confirmations.append(kept.confirmation)
        self._bytes += kept.size
        if type(kept.value) is list:
            self._rows += len(kept.value)
        if self._bytes > limits.call_bytes or self._rows > limits.call_rows:
            raise too_large(f"It takes more rows from the node than one call may read. {_NARROWER}")
        (self._aside if kept.is_aside else self._seen).append(kept.seen)
        return kept.value

    @property
    def has_room(self) -> bool:
        """Whether there is room for many more rows in this answer."""
        limits = self._node.limits
        return self._bytes < _NEARLY * limits.call_bytes and self._rows < _NEARLY * limits.call_rows

    async def optional(self, endpoint: Endpoint[T], **values: Any) -> T | None:
        """None if this node does not have it, or does not return it."""
        try:
            return await self.get(endpoint, **values)
        except NodeFailure as exc:
            if exc.code not in ABSENT:
                raise
            return None

    async def clock_lead_seconds(self) -> float | None:
        """How far the node's clock is ahead of this machine's; None if it does not tell. Raises: ToolError."""
        kept = await self._node.kept(NODE_INFO, {})
        time_ms: int | None = kept.value.currentTimestamp
        return None if time_ms is None else self._node.lead_seconds(kept, time_ms)

    async def tip(self) -> Tip | None:
        """The newest block of the node that this answer comes from; None if it does not report it."""
        as_of = self.as_of
        if as_of.height is None:
            return None
        tip = await self._node.tip()
        return tip if tip.seen.as_of.node == as_of.node else None

    async def height(self) -> int:
        """The height of the newest block. Raises: ToolError."""
        tip = await self._node.tip()
        self._seen.append(tip.seen)
        return tip.height

    @property
    def as_of(self) -> AsOf:
        """The oldest state that any part of the answer was read at."""
        seen = self._parts()
        if len(seen) == 1:
            oldest = seen[0].as_of
        else:
            oldest = min(
                (each.as_of for each in seen), key=lambda each: -1 if each.height is None else each.height
            )
        if self.confirmations:
            return structs.replace(oldest, confirmedBy=confirmed_by(self.confirmations))
        return oldest

    @property
    def is_sample(self) -> bool:
        """Whether any part of the answer is data of the sample chain."""
        return any(each.is_sample for each in self._parts())

    def _parts(self) -> list[Seen]:
        """What the answer is made of; what merely helped counts if there is nothing else."""
        assert self._seen or self._aside, "an answer without a request"
        return self._seen or self._aside

    def notes(self, *own: str) -> list[str] | UnsetType:
        """The notes on this answer."""
        notes, seen = list(own), self._parts()
        if len(seen) == 1 and seen[0].is_unremarkable and not self.confirmations:
            return notes or UNSET
        if len(seen) > 1 and len({each.as_of.node for each in seen}) > 1:
            notes.append(
                "Several nodes took part in this answer; asOf names the one that is furthest behind."
            )
        if self.as_of.height is None:
            notes.append("The node did not report its height.")
        behind, ahead = 0.0, 0.0
        for each in seen:
            if each.behind_seconds is not None:
                behind = max(behind, each.behind_seconds)
            if each.ahead_seconds is not None:
                ahead = max(ahead, each.ahead_seconds)
        if behind:
            notes.append(f"The node is behind: its newest block is {span(behind)} old.")
        if ahead:
            notes.append(
                f"The node's newest block is {span(ahead)} in the future: the clock of the node or of this machine is wrong."
            )
        if self.confirmations:
            notes += notes_on(self.confirmations)
        if self.is_sample:
            notes.append(SAMPLE_NOTICE)
        return notes or UNSET


def _confirming(confirm: int, limits: NodeLimits, now: Callable[[], float]) -> "Confirming":
    from .confirm.confirming import Confirming  # only those who compare nodes pay for it

    return Confirming(confirm, limits, now)


def _replies(
    store: "Store",
    upstreams: Sequence[Upstream],
    limits: NodeLimits,
    now: Callable[[], float],
    clock: Callable[[], float],
) -> "SharedReplies":
    from .shared import SharedReplies  # only those who share pay for it

    return SharedReplies(store, [each.source.origin for each in upstreams], limits, now, clock)


async def _newest(upstream: Upstream) -> Tip | None:
    """None if the node does not report it."""
    try:
        return await upstream.tip()
    except ToolError:
        return None


async def _meet(upstream: Upstream) -> None:
    """Learn whether a node is healthy before the first question. Raises: NodeFailure if it should not be asked."""
    try:
        await upstream.tip()
    except NodeFailure as exc:
        if exc.rests_node:
            raise
    except ToolError:
        pass


async def _tip_or_none(coming: "asyncio.Task[Tip]") -> Tip | None:
    """None if the node does not report it. Raises: NotANode."""
    try:
        return await asyncio.shield(coming)
    except NotANode:
        raise
    except ToolError:
        return None
