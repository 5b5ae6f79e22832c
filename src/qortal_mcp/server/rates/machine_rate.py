"""How often one caller may ask, counted by several processes in memory that all of them see.

The same rule as `RateLimit`. Of each caller one number is kept: the time at which all its calls so far would have been made
at the allowed rate. The clock is the system's monotonic one, which is the same for all processes of a machine.
"""

import fcntl
import time
from collections.abc import Callable, Hashable
from hashlib import blake2b

from .rate import burst_of

# Callers whose numbers share a lock. A caller is always in the same set, chosen by a secret hash: nobody can aim at another's.
_WAYS = 8
_SETS = 1024
# Of each caller a tag, which tells it from others of its set, and its number.
_TAG_BYTES = 8
_SET_BYTES = 2 * _WAYS * _TAG_BYTES
TABLE_BYTES = _SETS * _SET_BYTES
# A lock is held for microseconds. Whoever holds it longer was stopped in the middle, and callers must not wait for that.
_LOCK_SECONDS = 0.02


class MachineRate:
    """`per_second` calls for each caller over all processes, and twice as many at once.

    Callers beyond the size of the table displace those that have been idle for the longest.
    """

    def __init__(
        self,
        per_second: float,
        table: memoryview,
        lock_file: int,
        key: bytes,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`table` has `TABLE_BYTES`, zero at first; `lock_file` and `key` are the same for all processes."""
        self._interval = 1 / per_second
        # A little more: the last of as many calls as may be made at once must not fail for the rounding of a sum.
        self._ahead = (burst_of(per_second) - 1 + 1e-6) / per_second
        self._tags = table[: TABLE_BYTES // 2].cast("Q")
        self._times = table[TABLE_BYTES // 2 :].cast("d")
        self._lock_file = lock_file
        self._key = key
        self._now = now

    def wait(self, caller: Hashable) -> float:
        digest = blake2b(repr(caller).encode(), key=self._key, digest_size=_TAG_BYTES + 2).digest()
        tag = int.from_bytes(digest[:_TAG_BYTES]) or 1
        at = int.from_bytes(digest[_TAG_BYTES:]) % _SETS
        is_locked = self._lock(at)
        try:
            return self._wait(tag, at * _WAYS)
        finally:
            if is_locked:
                fcntl.lockf(self._lock_file, fcntl.LOCK_UN, 1, at)

    def _wait(self, tag: int, first: int) -> float:
        places = range(first, first + _WAYS)
        times = self._times
        place = next((each for each in places if self._tags[each] == tag), None)
        if place is None:
            place = min(places, key=times.__getitem__)
            self._tags[place], times[place] = tag, 0.0
        now = self._now()
        due = max(times[place], now)
        if due - now > self._ahead:
            return due - now - self._ahead
        times[place] = due + self._interval
        return 0.0

    def _lock(self, at: int) -> bool:
        """Locks of this kind end with the process that holds them, however it ends."""
        deadline = 0.0
        while True:
            try:
                fcntl.lockf(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, at)
            except OSError:
                now = time.monotonic()
                deadline = deadline or now + _LOCK_SECONDS
                if now > deadline:
                    return False
                time.sleep(0)
            else:
                return True
