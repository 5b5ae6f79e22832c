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
from ..endpoints.record import Endpoint, Keep, Request
from ..limits import DEFAULT, NodeLimits
from ..sample import SAMPLE_NOTICE, SampleSource
from .as_of import AsOf, Tip
from .cache import ByteCache
from .failures import NodeFailure, not_as_expected, unreachable
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
_ABSENT = frozenset({"NOT_SUPPORTED", "NOT_FOUND", "NODE_REFUSED", "NODE_ERROR"})


class Kept(Struct, frozen=True):
    """A cached answer, the state it was read at, and when it may be reused."""

    value: Any
    as_of: AsOf
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
        notice: str | None = None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not sources:
            raise ValueError("a node needs at least one source")
        self.notice = notice
        self.limits = limits
        self._now = now
        self._flights: Flights[Kept] = Flights()
        self._background = Background()
        self._upstreams = [Upstream(source, limits, self._background, now) for source in sources]
        self._cache: ByteCache[Kept] = ByteCache(limits.cache_bytes, limits.cached_reply_bytes)

    @classmethod
    def at(cls, urls: Sequence[str] = (DEFAULT_URL,), limits: NodeLimits = DEFAULT) -> "Node":
        """Nodes over HTTP. Raises: ValueError for an invalid address."""
        return cls([HttpSource(url, limits) for url in urls], limits)

    @classmethod
    def sample(cls, limits: NodeLimits = DEFAULT) -> "Node":
        """The sample chain; its answers say that they are sample data."""
        return cls([SampleSource()], limits, notice=SAMPLE_NOTICE)

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
            tip = upstream.known_tip() or await _tip_or_none(upstream.tip_soon())
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
        value, size = await upstream.ask(endpoint, request)
        tip = before if coming is None else await _tip_or_none(coming)
        # A node that does not report its height has still answered.
        as_of = AsOf(upstream.source.origin, None, None, None) if tip is None else tip.as_of
        keep = endpoint.keep_of(value, None if before is None else before.height)
        kept = Kept(value, as_of, read_at, keep, None if before is None else before.block, size)
        if before is not None or not keep.until_next_block:
            self._cache.put(key, kept, size + len(request.target) + _ENTRY_BYTES)
        return kept

    async def _first_of(self, ask: Callable[[Upstream], Awaitable[T]]) -> T:
        failures: list[tuple[str, NodeFailure]] = []
        for upstream in self._order():
            try:
                result = await ask(upstream)
            except NodeFailure as exc:
                if exc.rests_node:
                    upstream.rest(exc.code)
                if not exc.try_next:
                    raise
                failures.append((upstream.source.origin, exc))
            else:
                upstream.recovered()
                return result
        assert failures, "there is at least one upstream"
        if len(failures) > 1 and all(exc.code == "NODE_UNREACHABLE" for _, exc in failures):
            raise unreachable(*(origin for origin, _ in failures))
        raise failures[0][1]

    def _order(self) -> list[Upstream]:
        """Healthy ones first. If all are resting, they are asked anyway."""
        if len(self._upstreams) == 1:
            return self._upstreams
        healthy = [upstream for upstream in self._upstreams if not upstream.is_resting]
        resting = [upstream for upstream in self._upstreams if upstream.is_resting]
        if healthy:
            for upstream in resting:
                upstream.probe_if_due()
        return healthy + resting


class Reading:
    """One answer being put together: its requests, and the state they were read at.

    Bounds apply to all of it together: a node must not decide how much is requested and kept.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._seen: list[AsOf] = []
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
        self._seen.append(kept.as_of)
        return kept.value

    async def optional(self, endpoint: Endpoint[T], **values: Any) -> T | None:
        """None if this node does not have it, or does not return it."""
        try:
            return await self.get(endpoint, **values)
        except NodeFailure as exc:
            if exc.code not in _ABSENT:
                raise
            return None

    async def height(self) -> int:
        """The height of the newest block. Raises: ToolError."""
        tip = await self._node.tip()
        self._seen.append(tip.as_of)
        return tip.height

    @property
    def as_of(self) -> AsOf:
        """The oldest state that any part of the answer was read at."""
        assert self._seen, "an answer without a request"
        if len(self._seen) == 1:
            return self._seen[0]
        return min(self._seen, key=lambda seen: -1 if seen.height is None else seen.height)

    def notes(self, *own: str) -> list[str] | UnsetType:
        """The notes on this answer."""
        notes = list(own)
        if len(self._seen) > 1 and len({seen.node for seen in self._seen}) > 1:
            notes.append(
                "Several nodes took part in this answer; asOf names the one that is furthest behind."
            )
        if self.as_of.height is None:
            notes.append("The node did not report its height.")
        if self._node.notice is not None:
            notes.append(self._node.notice)
        return notes or UNSET


async def _tip_or_none(coming: "asyncio.Task[Tip]") -> Tip | None:
    try:
        return await asyncio.shield(coming)
    except ToolError:
        return None


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
