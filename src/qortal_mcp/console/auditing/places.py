"""How many audits may run at once: one of each caller, and a few in all."""

from collections.abc import Hashable
from typing import Literal, Protocol

# Why there is no place: the caller has one, or all are taken.
Busy = Literal["yours", "full"]


class Places(Protocol):
    """Whoever keeps the places of all callers."""

    async def take(self, caller: Hashable) -> Busy | None:
        """None if the caller may begin; it has to give the place back."""
        ...

    def give_back(self, caller: Hashable) -> None: ...


class OwnPlaces:
    """The places of a server that is one process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: set[Hashable] = set()

    def take_now(self, caller: Hashable) -> Busy | None:
        if caller in self._taken:
            return "yours"
        if len(self._taken) >= self._most:
            return "full"
        self._taken.add(caller)
        return None

    async def take(self, caller: Hashable) -> Busy | None:
        return self.take_now(caller)

    def give_back(self, caller: Hashable) -> None:
        self._taken.discard(caller)
