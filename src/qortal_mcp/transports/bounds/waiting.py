"""What waits for slow clients, counted over all connections: with too much of it, the one that waited longest is ended."""

from typing import Protocol


class Holder(Protocol):
    """A connection that holds memory while it waits for its client."""

    def let_go(self) -> None:
        """End it now; another one needs the room."""


class Waiting:
    """Connections that wait, the longest first, each with its bytes; bounded in number, in bytes, or in both.

    One alone may always wait: its own limits apply.
    """

    def __init__(self, *, most: int | None = None, most_bytes: int | None = None) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._holders: dict[Holder, int] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._holders)

    def add(self, holder: Holder, size: int = 0) -> None:
        """It waits, or holds this much more than before."""
        self.set(holder, self._holders.get(holder, 0) + size)

    def set(self, holder: Holder, size: int) -> None:
        """It waits, and holds this much now."""
        self.bytes += size - self._holders.get(holder, 0)
        self._holders[holder] = size
        while len(self._holders) > 1 and self._is_too_much():
            oldest = next(iter(self._holders))
            self.drop(oldest)
            oldest.let_go()

    def _is_too_much(self) -> bool:
        if self._most is not None and len(self._holders) > self._most:
            return True
        return self._most_bytes is not None and self.bytes > self._most_bytes

    def advance(self, holder: Holder, size: int) -> None:
        """Its client took this much: if it still waits, it does so from now on."""
        held = self._holders.pop(holder, 0)
        if held > size:
            self._holders[holder] = held - size
        self.bytes -= min(held, size)

    def drop(self, holder: Holder) -> None:
        """It waits no longer."""
        self.bytes -= self._holders.pop(holder, 0)
