"""Alarms that hardly ever ring, all of the same length: they share one timer of the event loop."""

import asyncio
from collections.abc import Callable


class Alarms:
    """Each rings a fixed number of seconds after it was set, unless it is taken back first.

    A timer of its own for every request would cost as much as reading the request does.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        # What to call, and when. All are of one length, so the order in which they were set is that in which they ring.
        self._set: dict[Callable[[], None], float] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def set(self, ring: Callable[[], None]) -> None:
        """Call this later. It also identifies the alarm: a bound method, or a function made for it."""
        loop = asyncio.get_running_loop()
        when = loop.time() + self._seconds
        self._set[ring] = when
        if self._loop is not loop:  # no timer is running, or only one of a loop that has ended
            self._loop = loop
            loop.call_at(when, self._look)

    def take_back(self, ring: Callable[[], None]) -> None:
        self._set.pop(ring, None)

    def _look(self) -> None:
        """Ring what is due, and look again when the next one will be."""
        assert self._loop is not None, "it called"
        now = self._loop.time()
        while self._set:
            ring, when = next(iter(self._set.items()))
            if when > now:
                self._loop.call_at(when, self._look)
                return
            del self._set[ring]
            ring()
        self._loop = None
