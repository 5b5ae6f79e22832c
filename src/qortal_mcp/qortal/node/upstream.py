"""One node as the rest of the program sees it: bounded requests, its newest block, a rest after a failure."""

import asyncio
import logging
import time
from collections.abc import Callable
from types import TracebackType
from typing import TypeVar

import msgspec

from ...protocol.jsonrpc import UNREADABLE
from ...server.tool_errors import ToolError, rate_limited
from ..endpoints.admin import NODE_STATUS
from ..endpoints.blocks import LAST_BLOCK
from ..endpoints.record import Endpoint, Request
from ..limits import NodeLimits
from ..words.times import iso
from . import failures
from .as_of import AsOf, Tip
from .flights import Background
from .side_by_side import side_by_side
from .source import Source

log = logging.getLogger(__name__)

T = TypeVar("T")

# A refused caller may come back after this many seconds: a full queue is done by then.
_RETRY_SECONDS = 1.0


class Gate:
    """A fixed number at once, a fixed number waiting, and no more."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(at_once)
        self._most_waiting = waiting
        self._waiting = 0
        self.inside = 0

    async def __aenter__(self) -> None:
        if self._waiting >= self._most_waiting and self._free.locked():
            raise rate_limited(_RETRY_SECONDS)
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        self.inside += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.inside -= 1
        self._free.release()


class Upstream:
    """A source with its bounds, its tip and its health."""

    def __init__(
        self,
        source: Source,
        limits: NodeLimits,
        background: Background,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.source = source
        self.gate = Gate(limits.requests, limits.waiting_requests)
        self._limits = limits
        self._background = background
        self._now = now
        self._tip: Tip | None = None
        self._rests_until: float | None = None

    async def ask(self, endpoint: Endpoint[T], request: Request) -> tuple[T, int]:
        """The answer, and its size in bytes.

        Raises: ToolError.
        """
        async with self.gate:
            reply = await self.source.fetch(request)
        if reply.status != 200:
            raise failures.failure_of(reply, endpoint.noun, endpoint.absent)
        try:
            value = endpoint.read(reply.body)
        except msgspec.ValidationError:
            raise failures.not_as_expected() from None
        except UNREADABLE:
            raise failures.not_readable() from None
        except ValueError:
            raise failures.not_as_expected() from None
        if request.most_rows is not None and isinstance(value, list):
            del value[request.most_rows :]
        return value, len(reply.body)

    def known_tip(self) -> Tip | None:
        """The newest block, if it was read recently enough."""
        tip = self._tip
        if tip is None or self._now() - tip.read_at > self._limits.tip_age_seconds:
            return None
        return tip

    def tip_soon(self) -> "asyncio.Task[Tip]":
        """Request the newest block, concurrently with other requests."""
        return self._background.start(("tip", self), self._read_tip)

    async def tip(self) -> Tip:
        """Raises: ToolError."""
        tip = self.known_tip()
        return tip if tip is not None else await asyncio.shield(self.tip_soon())

    async def _read_tip(self) -> Tip:
        started = self._now()
        try:
            async with asyncio.timeout(self._limits.tip_seconds):
                (status, _), (block, _) = await side_by_side(
                    self.ask(NODE_STATUS, NODE_STATUS.request({})),
                    self.ask(LAST_BLOCK, LAST_BLOCK.request({})),
                )
        except TimeoutError:
            raise failures.timed_out(self._limits.tip_seconds) from None
        as_of = AsOf(self.source.origin, block.height, iso(block.timestamp), status.isSynchronizing)
        self._tip = Tip(as_of, block.height, block.signature, started)
        return self._tip

    @property
    def is_resting(self) -> bool:
        return self._rests_until is not None

    def rest(self, why: str) -> None:
        """Leave the node alone for a while."""
        if not self.is_resting:
            log.warning("node failed", extra={"qortal_mcp.node": self.source.origin, "qortal_mcp.why": why})
        self._rests_until = self._now() + self._limits.rest_seconds
        self._tip = None

    def recovered(self) -> None:
        if self.is_resting:
            log.info("node is back", extra={"qortal_mcp.node": self.source.origin})
        self._rests_until = None

    def probe_if_due(self) -> None:
        """Once the rest is over, check whether the node is back, while another one answers."""
        if self._rests_until is not None and self._now() >= self._rests_until:
            self._background.start(("probe", self), self._probe)

    async def _probe(self) -> None:
        try:
            await self.ask(NODE_STATUS, NODE_STATUS.request({}))
        except ToolError as exc:
            self.rest(exc.code)
        else:
            self.recovered()
