"""Recent answers, bounded in bytes: the least recently used goes first."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

V = TypeVar("V")


class ByteCache(Generic[V]):
    """Values and their sizes. How long a value stays good is up to its owner."""

    def __init__(self, most_bytes: int, most_each: int) -> None:
        self._most_bytes = most_bytes
        self._most_each = most_each
        self._values: OrderedDict[Hashable, tuple[V, int]] = OrderedDict()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Hashable) -> V | None:
        found = self._values.get(key)
        if found is None:
            return None
        self._values.move_to_end(key)
        return found[0]

    def put(self, key: Hashable, value: V, size: int) -> None:
        self.drop(key)
        if size > self._most_each:
            return
        self._values[key] = (value, size)
        self.bytes += size
        while self.bytes > self._most_bytes:
            _, (_, oldest) = self._values.popitem(last=False)
            self.bytes -= oldest

    def drop(self, key: Hashable) -> None:
        found = self._values.pop(key, None)
        if found is not None:
            self.bytes -= found[1]
