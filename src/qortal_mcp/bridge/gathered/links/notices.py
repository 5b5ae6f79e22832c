"""Tells a client that a list has changed: at once, and then no more often than it makes sense to read a list again."""

import asyncio
from collections.abc import Callable

from ..rewriting import Listing


class Notices:
    """Notices of changed lists for one client, or for all who share what they are told."""

    def __init__(self, seconds: float, tell: Callable[[Listing], bool]) -> None:
        """`tell` returns False if the client cannot take the notice now; then it is told later."""
        self._seconds = seconds
        self._tell = tell
        self._last: dict[Listing, float] = {}
        self._later: dict[Listing, asyncio.TimerHandle] = {}
        self._closed = False

    def changed(self, listing: Listing) -> None:
        if self._closed or listing in self._later:
            return
        loop = asyncio.get_running_loop()
        wait = self._last.get(listing, float("-inf")) + self._seconds - loop.time()
        if wait <= 0 and self._tell(listing):
            self._last[listing] = loop.time()
        else:
            self._later[listing] = loop.call_later(max(wait, self._seconds / 4), self._due, listing)

    def _due(self, listing: Listing) -> None:
        del self._later[listing]
        self._last.pop(listing, None)
        self.changed(listing)

    def close(self) -> None:
        self._closed = True
        for timer in self._later.values():
            timer.cancel()
        self._later.clear()
