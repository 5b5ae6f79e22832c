"""Node: what the tools read from. It can only GET, and only what is on the allow-list.

reading = node.reading()
balance = await reading.get(BALANCE, address=address)
return Balance(balance=balance, asOf=reading.as_of, notes=reading.notes())
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, Struct, UnsetType, structs

from ...metrics import Metrics
from ...server.tool_errors import ToolError, too_large
from ..endpoints import ENDPOINTS
from ..endpoints.record import FOR_EVER, Endpoint, Keep, Request
from ..limits import DEFAULT, NodeLimits
from ..sample import SAMPLE_NOTICE, SampleSource
from ..words.times import span
from .as_of import AsOf, Seen, Tip
from .cache import ByteCache
from .failures import NodeFailure, NotANode, none_of, not_as_expected
from .flights import Background, Flights
from .http_source import HttpSource
from .source import Source
from .upstream import Upstream

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:12391"

_ALLOWED = frozenset(id(endpoint) for endpoint in ENDPOINTS)
# What one cached answer costs besides its own bytes and those of the request.
_ENTRY_BYTES = 500
# After this many requests other tasks get a turn, even if all were answered from memory, where nothing waits.
_TURN = 16
_NARROWER = "Narrow it down, or use a smaller offset."
# Failures that leave the rest of an answer intact: this node does not offer this part.
ABSENT = frozenset({"NOT_SUPPORTED", "NOT_FOUND", "NODE_REFUSED", "NODE_ERROR"})


class Kept(Struct, frozen=True):
    """A cached answer, the state it was read at, and when it may be reused."""

    value: Any
    seen: Seen
    # Whether it makes an answer no older: it can never change, or only helped to ask or to name.
    is_aside: bool
    read_at: float
    keep: Keep
    # The newest block before the request was made; None if unknown.
    block: str | None
    # Bytes of the reply.
    size: int


class Node:
    """One or several nodes in order: the first healthy one answers."""

    def __init__(
        self,
        sources: Sequence[Source],
        limits: NodeLimits = DEFAULT,
        *,
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
        self._upstreams = [Upstream(source, limits, self._background, now, clock) for source in sources]
        self._cache: ByteCache[Kept] = ByteCache(limits.cache_bytes, limits.cached_reply_bytes)

    @classmethod
    def at(cls, urls: Sequence[str] = (DEFAULT_URL,), limits: NodeLimits = DEFAULT) -> "Node":
        """Nodes over HTTP. Raises: ValueError for an invalid address."""
        return cls([HttpSource(url, limits) for url in urls], limits)

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

    async def close(self) -> None:
        await self._background.close()
        for upstream in self._upstreams:
            await upstream.source.close()

    def age_seconds(self, tip: Tip) -> float:
        """How long ago a block was made."""
        return max(0.0, self._clock() - tip.timestamp / 1000)

    def watch(self, metrics: Metrics) -> None:
        """Add gauges for the traffic with the nodes."""
        metrics.gauge(
            "qortal_node_requests_in_flight",
            "Requests to nodes in progress.",
            lambda: sum(upstream.gate.inside for upstream in self._upstreams),
        )
        metrics.gauge(
            "qortal_node_cache_bytes", "Answers from nodes kept in memory.", lambda: self._cache.bytes
        )

    async def kept(
        self, endpoint: Endpoint[Any], values: dict[str, Any], read: Callable[[bytes], Any] | None = None
    ) -> Kept:
        """An answer, from memory while it still holds; `read` replaces the endpoint's own reader.

        Raises: ToolError.
        """
        assert id(endpoint) in _ALLOWED, "only what is on the allow-list can be requested"
        key = (endpoint.template, read, *values, *map(_hashable, values.values()))
        found = self._cache.get(key)
        if found is not None and self._now() - found.read_at <= found.keep.seconds:
            if not found.keep.until_next_block:
                return found
            upstream = self._order()[0]
            tip = upstream.known_tip() or await _newest(upstream)
            if tip is not None and tip.block == found.block:
                return found
        request = endpoint.request(values)
        asked = endpoint if read is None else structs.replace(endpoint, read=read, height_of=None)
        return await self._flights.join(
            key, lambda: self._first_of(lambda upstream: self._ask(upstream, key, asked, request))
        )

    async def tip(self) -> Tip:
        """The newest block of the first node that answers. Raises: ToolError."""
        return await self._first_of(Upstream.tip)

    async def _ask(
        self, upstream: Upstream, key: Hashable, endpoint: Endpoint[Any], request: Request
    ) -> Kept:
        before = upstream.known_tip()
        coming = None if before is not None else upstream.tip_soon()
        read_at = self._now()
        try:
            value, size = await upstream.ask(endpoint, request)
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
        keep = endpoint.keep_of(value, None if before is None else before.height)
        block = None if before is None else before.block
        kept = Kept(value, seen, endpoint.is_aside or keep is FOR_EVER, read_at, keep, block, size)
        if before is not None or not keep.until_next_block:
            self._cache.put(key, kept, size + len(request.target) + _ENTRY_BYTES)
        return kept

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
        raise none_of(failures)

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
        self._seen: list[Seen] = []
        self._aside: list[Seen] = []
        self._asked = 0
        self._bytes = 0
        self._rows = 0

    async def get(self, endpoint: Endpoint[T], **values: Any) -> T:
        """Raises: ToolError."""
        value: T = await self._value(endpoint, values)
        return value

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

    async def get_as(self, read: Callable[[bytes], T], endpoint: Endpoint[Any], **values: Any) -> T:
        """The answer, read with another reader than the endpoint's. Raises: ToolError."""
        value: T = await self._value(endpoint, values, read)
        return value

    async def _value(
        self, endpoint: Endpoint[Any], values: dict[str, Any], read: Callable[[bytes], Any] | None = None
    ) -> Any:
        limits = self._node.limits
        self._asked += 1
        if self._asked > limits.call_requests:
            raise too_large(f"It takes more than {limits.call_requests} requests to the node. {_NARROWER}")
        if self._asked % _TURN == 0:
            await asyncio.sleep(0)
        kept = await self._node.kept(endpoint, values, read)
        self._bytes += kept.size
        if type(kept.value) is list:
            self._rows += len(kept.value)
        if self._bytes > limits.call_bytes or self._rows > limits.call_rows:
            raise too_large(f"It takes more rows from the node than one call may read. {_NARROWER}")
        (self._aside if kept.is_aside else self._seen).append(kept.seen)
        return kept.value

    async def optional(self, endpoint: Endpoint[T], **values: Any) -> T | None:
        """None if this node does not have it, or does not return it."""
        try:
            return await self.get(endpoint, **values)
        except NodeFailure as exc:
            if exc.code not in ABSENT:
                raise
            return None

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
            return seen[0].as_of
        return min((each.as_of for each in seen), key=lambda each: -1 if each.height is None else each.height)

    def _parts(self) -> list[Seen]:
        """What the answer is made of; what merely helped counts if there is nothing else."""
        assert self._seen or self._aside, "an answer without a request"
        return self._seen or self._aside

    def notes(self, *own: str) -> list[str] | UnsetType:
        """The notes on this answer."""
        notes, seen = list(own), self._parts()
        if len(seen) > 1 and len({each.as_of.node for each in seen}) > 1:
            notes.append(
                "Several nodes took part in this answer; asOf names the one that is furthest behind."
            )
        if self.as_of.height is None:
            notes.append("The node did not report its height.")
        behind, ahead, is_sample = 0.0, 0.0, False
        for each in seen:
            is_sample = is_sample or each.is_sample
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
        if is_sample:
            notes.append(SAMPLE_NOTICE)
        return notes or UNSET


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


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
