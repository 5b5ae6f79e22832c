"""How often one caller may ask: a token bucket each, in a table that cannot grow without bound."""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Protocol, runtime_checkable

_MOST_CALLERS = 4096


class Rate(Protocol):
    """Says who may ask now."""

    def wait(self, caller: Hashable) -> float:
        """0 when the caller may go on, which counts as a call; else the seconds after which it may."""
        ...


@runtime_checkable
class AskedRate(Rate, Protocol):
    """One that has to ask somebody else: before a message is taken, for all requests in it."""

    async def ask(self, caller: Hashable, requests: int) -> None: ...


def burst_of(per_second: float) -> float:
    """How many calls may come at once."""
    return max(1.0, 2 * per_second)


class RateLimit:
    """`per_second` calls for each caller, and twice as many at once."""

    def __init__(self, per_second: float, now: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._burst = burst_of(per_second)
        self._now = now
        self._buckets: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()

    def wait(self, caller: Hashable) -> float:
        """0 when the caller may go on, else the seconds after which it may."""
        now = self._now()
        tokens, since = self._buckets.pop(caller, (self._burst, now))
        tokens = min(self._burst, tokens + (now - since) * self._per_second)
        allowed = tokens >= 1
        self._buckets[caller] = (tokens - 1 if allowed else tokens, now)
        if len(self._buckets) > _MOST_CALLERS:
            self._buckets.popitem(last=False)
        return 0.0 if allowed else (1 - tokens) / self._per_second
