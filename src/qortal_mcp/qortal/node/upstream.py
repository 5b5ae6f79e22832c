"""One node as the rest of the program sees it: bounded requests, its newest block, a rest after a failure."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from typing import TypeVar

import msgspec

from ...protocol.jsonrpc import UNREADABLE
from ...server.at_once import in_a_task
from ...server.caller import asking
from ...server.tool_errors import ToolError
from ..endpoints.admin import NODE_STATUS
from ..endpoints.blocks import FIRST_BLOCK, LAST_BLOCK
from ..endpoints.record import Endpoint, Request, TooManyValues
from ..limits import REPLY_VALUES, NodeLimits
from ..words.times import iso
from . import failures
from .as_of import AsOf, Seen, Tip
from .failures import NodeFailure
from .flights import Background
from .gate import Gate
from .source import Source
from .traffic import Traffic

log = logging.getLogger(__name__)

T = TypeVar("T")

# A frozen node is probed again after this long. A probe waits for its answer, so it is seldom late.
_PROBE_PAUSE_SECONDS = 1.0


class Upstream:
    """A source with its bounds, its tip and its health."""

    def __init__(
        self,
        source: Source,
        limits: NodeLimits,
        background: Background,
        traffic: Traffic,
        now: Callable[[], float] = time.monotonic,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.source = source
        self.gate = Gate(limits.requests, limits.waiting_requests)
        self._limits = limits
        self._background = background
        self._traffic = traffic
        self._now = now
        # The time of day: blocks carry it.
        self._clock = clock
        self._tip: Tip | None = None
        self.is_resting = False
        # Whether its newest block is too old or in the future, or it says itself that it is catching up.
        self.is_behind = False
        # Whether it was asked for its newest block, so that its health is known.
        self.is_met = False
        # Whether its data is the sample chain's, as it says itself.
        self.is_sample = False
        # Accepts requests and answers none of them: nobody needs to wait for it until a probe is answered.
        self._is_frozen = False
        self._replies = 0
        # The signature of its first block, if it is known: which chain this is.
        self._genesis: str | None = None
        self._ask_genesis_at = 0.0
        # When a node that rests or is behind is worth another look.
        self._look_at = 0.0

    async def ask(self, endpoint: Endpoint[T], request: Request) -> tuple[T, bytes]:
        """The answer, and the reply that it was read from.

        Raises: ToolError.
        """
        started, node = self._now(), self.source.origin
        try:
            return await self._ask(endpoint, request)
        except ToolError as exc:
            self._traffic.failed(node, exc.code)
            # Where it was raised the reply is at hand, perhaps megabytes, which would stay for as long as anybody has the failure.
            exc.__context__ = None
            raise exc.with_traceback(None) from None
        finally:
            self._traffic.answered(node, self._now() - started)

    async def _ask(self, endpoint: Endpoint[T], request: Request) -> tuple[T, bytes]:
        if self._is_frozen:
            raise failures.frozen()
        async with self.gate:
            if self._is_frozen:  # since it queued
                raise failures.frozen()
            replies = self._replies
            try:
                reply = await self.source.fetch(request)
            except NodeFailure as exc:
                if exc.code == "NODE_TIMEOUT":
                    if endpoint.may_take_long:
                        raise failures.still_fetching(self._limits.reply_seconds) from None
                    if self._replies == replies:
                        self._freeze()
                raise
        self._replies += 1
        self._is_frozen = False
        self.is_sample = reply.is_sample
        if reply.status != 200:
            raise failures.failure_of(reply, endpoint.noun, endpoint.absent)
        return read_reply(endpoint, request, reply.body), reply.body

    @property
    def last_tip(self) -> Tip | None:
        """The newest block as it was last read; None if the node has failed since."""
        return self._tip

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
        if self.known_tip() is None:
            await in_a_task()  # so that somebody waits for the shield, whatever becomes of the call
        tip = self.known_tip()
        return tip if tip is not None else await asyncio.shield(self.tip_soon())

    async def tip_since(self, moment: float) -> Tip:
        """The newest block, requested at this moment or later. Raises: ToolError."""
        tip = self._tip
        while tip is None or tip.read_at < moment:
            tip = await asyncio.shield(self.tip_soon())
        return tip

    async def _read_tip(self) -> Tip:
        asking.set("")  # in a task of its own: every caller waits for this
        started, replies = self._now(), self._replies
        try:
            async with asyncio.timeout(self._limits.tip_seconds):
                said = await asyncio.gather(
                    self.ask(NODE_STATUS, NODE_STATUS.request({})),
                    self.ask(LAST_BLOCK, LAST_BLOCK.request({})),
                    return_exceptions=True,
                )
        except TimeoutError:
            if self._replies == replies:
                self._background.start(("thaw", self), self._probe_until_answered)
            raise failures.timed_out(self._limits.tip_seconds) from None
        finally:
            self.is_met = True
        told, newest = said
        if isinstance(told, BaseException) or isinstance(newest, BaseException):
            raise _failure(told, newest)
        (status, _), (block, _) = told, newest
        age = self._clock() - block.timestamp / 1000
        is_old = age > self._limits.max_tip_age_seconds and not self.is_sample
        is_ahead = -age > self._limits.max_tip_lead_seconds and not self.is_sample
        self.is_behind = is_old or is_ahead or status.isSynchronizing
        if self.is_behind:
            self._look_at = self._now() + self._limits.rest_seconds
        as_of = AsOf(self.source.origin, block.height, iso(block.timestamp), status.isSynchronizing)
        seen = Seen(as_of, age if is_old else None, -age if is_ahead else None, self.is_sample)
        self._tip = Tip(seen, block.height, block.signature, block.timestamp, started)
        return self._tip

    def genesis(self) -> str | None:
        """The signature of the first block; None until it is known, for which it is requested in the background."""
        if self._genesis is None and self._now() >= self._ask_genesis_at and not self.is_resting:
            self._ask_genesis_at = self._now() + self._limits.rest_seconds
            self._background.start(("genesis", self), self._read_genesis)
        return self._genesis

    async def _read_genesis(self) -> None:
        asking.set("")
        with contextlib.suppress(ToolError):
            block, _ = await self.ask(FIRST_BLOCK, FIRST_BLOCK.request({}))
            self._genesis = block.signature

    @property
    def rank(self) -> int:
        """The lower, the sooner it is asked: healthy ones, those that are behind, those that failed."""
        return 2 if self.is_resting else int(self.is_behind)

    def rest(self, failure: NodeFailure) -> None:
        """Leave the node alone for a while."""
        if not self.is_resting:
            about = {"qortal_mcp.node": self.source.origin, "qortal_mcp.why": failure.code}
            if isinstance(failure, failures.NotANode):
                log.warning("this is not a Qortal node", extra=about)
            else:
                log.warning("node failed", extra=about)
        self.is_resting = True
        self._look_at = self._now() + self._limits.rest_seconds
        self._tip = None
        self._genesis = None  # it may come back as another one

    def recovered(self) -> None:
        if self.is_resting:
            log.info("node is back", extra={"qortal_mcp.node": self.source.origin})
        self.is_resting = False

    def probe_if_due(self) -> None:
        """Once it is time, check whether the node is back or has caught up, while another one answers."""
        if self._now() >= self._look_at:
            self._background.start(("probe", self), self._probe)

    def look(self) -> "asyncio.Task[None]":
        """Learn its newest block and whether it is well, for somebody who watches it."""
        return self._background.start(("probe", self), self._probe)

    async def _probe(self) -> None:
        asking.set("")
        try:
            await asyncio.shield(self.tip_soon())
        except NodeFailure as exc:
            self.rest(exc)
        except ToolError:
            pass  # its queue is full: too busy to say
        else:
            self.recovered()

    def _freeze(self) -> None:
        self._is_frozen = True
        self._background.start(("thaw", self), self._probe_until_answered)

    async def _probe_until_answered(self) -> None:
        """Ask past the queue, which may be full of requests that are never answered."""
        while True:
            replies = self._replies
            try:
                async with asyncio.timeout(self._limits.tip_seconds):
                    await self.source.fetch(NODE_STATUS.request({}))
            except TimeoutError:
                is_silent = True
            except NodeFailure as exc:
                is_silent = exc.code == "NODE_TIMEOUT"
            else:
                is_silent = False
            self._is_frozen = is_silent and self._replies == replies
            if not self._is_frozen:
                return
            await asyncio.sleep(_PROBE_PAUSE_SECONDS)


def read_reply(endpoint: Endpoint[T], request: Request, body: bytes) -> T:
    """What a node answered, typed and bounded, wherever its reply was kept meanwhile. Raises: NodeFailure."""
    try:
        value = endpoint.read(body)
    except TooManyValues:
        raise failures.too_many_values(REPLY_VALUES) from None
    except msgspec.ValidationError:
        raise failures.not_as_expected() from None
    except UNREADABLE:
        raise failures.not_readable() from None
    except ValueError:
        raise failures.not_as_expected() from None
    if request.most_rows is not None and isinstance(value, list):
        del value[request.most_rows :]
    return value


def _failure(status: object, block: object) -> BaseException:
    """Why the newest block is unknown, given what came of both requests."""
    found = [outcome for outcome in (status, block) if isinstance(outcome, BaseException)]
    if len(found) == 2 and all(isinstance(each, NodeFailure) and each.is_foreign for each in found):
        return failures.NotANode()
    return found[0]
