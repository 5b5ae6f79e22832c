"""How long one answer still waits for other nodes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Patience:
    """A number of seconds that all parts of an answer share. Parts that wait at the same time use them up once."""

    def __init__(self, seconds: float, now: Callable[[], float]) -> None:
        self._left = seconds
        self._now = now
        self._waiting = 0
        self._since = 0.0

    @property
    def seconds(self) -> float:
        """What is left."""
        used = self._now() - self._since if self._waiting else 0.0
        return max(0.0, self._left - used)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        if not self._waiting:
            self._since = self._now()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._left -= self._now() - self._since
