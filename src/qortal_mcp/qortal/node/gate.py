"""The waiting places in front of a node, shared between callers."""

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Hashable
from types import TracebackType

from ...server.caller import asking
from ...server.tool_errors import rate_limited

# A refused caller may come back after this many seconds: a full queue is done by then.
_RETRY_SECONDS = 1.0
# After this many requests that had to wait, for each waiting place, what was counted before counts half.
_REMEMBERED = 64

# What the server asks for itself, all callers wait for: there is little of it, and it is never refused.
_SERVER = ""

_Place = asyncio.Future[None]


class Gate:
    """A fixed number at once, a fixed number waiting, as many again for callers that have nothing waiting, and no more.

    Those who wait are admitted in turn, one of each caller. When all places are taken, whoever has the most of them
    loses one to a caller with fewer. Between callers with as many, whoever asked most often lately loses it: a
    pool of connections that asks again at once must not crowd out a client that asks now and then.
    """

    def __init__(self, at_once: int, waiting: int) -> None:
        self._free = at_once
        self._most_waiting = waiting
        # The places of each caller, the oldest first; the caller whose turn is next comes first.
        self._queues: OrderedDict[Hashable, deque[_Place]] = OrderedDict()
        self._waiting = 0
        # How often each caller asked since all places were last free.
        self._asked: Counter[Hashable] = Counter()
        self._counted = 0
        self.inside = 0

    @property
    def waiting(self) -> int:
        return self._waiting

    async def __aenter__(self) -> None:
        if self._free:
            self._free -= 1
        else:
            await self._wait()
        self.inside += 1

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.inside -= 1
        self._admit_next()

    async def _wait(self) -> None:
        """Raises: ToolError if there is no place, or another caller gets it."""
        loop = asyncio.get_running_loop()
        caller = asking.get()
        self._count(caller)
        # As many places again are kept for callers that have none yet.
        if self._waiting >= self._most_waiting * (1 if caller in self._queues else 2):
            self._make_room(caller)
        place: _Place = loop.create_future()
        self._queues.setdefault(caller, deque()).append(place)
        self._waiting += 1
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._leave(caller, place)
            elif place.exception() is None:
                self._admit_next()  # it was admitted just before its task was cancelled
            raise

    def _admit_next(self) -> None:
        """Pass a free place inside to the next one who waits."""
        while self._queues:
            caller, queue = next(iter(self._queues.items()))
            place = queue[0]
            self._leave(caller, place)
            if caller in self._queues:
                self._queues.move_to_end(caller)
            if not place.done():
                place.set_result(None)
                return
        self._free += 1
        self._asked.clear()
        self._counted = 0

    def _leave(self, caller: Hashable, place: _Place) -> None:
        queue = self._queues.get(caller)
        if queue is None or place not in queue:
            return
        queue.remove(place)
        self._waiting -= 1
        if not queue:
            del self._queues[caller]

    def _make_room(self, caller: Hashable) -> None:
        """Take a place from whoever has the most. Raises: ToolError if that would be this caller."""
        mine = len(self._queues.get(caller, ())) + 1, self._asked[caller]
        most = max((other for other in self._queues if other != _SERVER), key=self._share, default=None)
        if caller != _SERVER and (most is None or self._share(most) <= mine):
            raise rate_limited(_RETRY_SECONDS)
        if most is not None:
            place = self._queues[most][-1]
            self._leave(most, place)
            if not place.done():
                place.set_exception(rate_limited(_RETRY_SECONDS))

    def _share(self, caller: Hashable) -> tuple[int, int]:
        return len(self._queues.get(caller, ())), self._asked[caller]

    def _count(self, caller: Hashable) -> None:
        self._asked[caller] += 1
        self._counted += 1
        if self._counted > _REMEMBERED * self._most_waiting:
            self._asked = Counter({each: times // 2 for each, times in self._asked.items() if times > 1})
            self._counted = self._asked.total()
