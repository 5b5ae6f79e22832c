"""A rate limit that several processes count together, in the shared store; each by itself while that is away."""

import asyncio
import functools
import socket
from collections import deque
from collections.abc import Hashable

from ...metrics import names
from ...store.line import StoreAway
from ...store.store import PREFIX, Script, Store
from ..caller import THIS_MACHINE
from .rate import Rate, burst_of

_VERSION = 1
_MICROSECONDS = 1_000_000
_KEYS = 1024
# The bucket of one caller, kept as the time at which it will be full again, in microseconds of the store's own clock. What cannot
# be such a time counts as nothing. Returns how long the caller has to wait.
_TAKE = Script(
    """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local step, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local kept = redis.pcall('GET', KEYS[1])
local full = now
if type(kept) == 'string' then full = tonumber(kept) or now end
if not (full >= now) then full = now end
if full > now + burst then full = now + burst end
local over = full + step - now - burst
if over > 0 then return math.ceil(over) end
full = full + step
redis.call('SET', KEYS[1], string.format('%.0f', full), 'PX', math.ceil((full - now) / 1000))
return 0
"""
)


class SharedRate:
    """Asked before a message is taken, since the store takes a moment; `wait` then hands out what it said."""

    def __init__(self, store: Store, group: str, per_second: float, alone: Rate) -> None:
        self._store = store
        # What is counted together: the machines that serve the same.
        self._group = group
        self._alone = alone
        self._step = max(1, round(_MICROSECONDS / per_second))
        self._burst = round(burst_of(per_second) * _MICROSECONDS / per_second)
        self._machine = socket.gethostname()
        self._verdicts: deque[float] = deque()
        # Callers seldom come alone.
        self._key = functools.lru_cache(maxsize=_KEYS)(self._made_key)

    async def ask(self, caller: Hashable, requests: int) -> None:
        """Whether a caller may make so many requests. The message that has them is taken right after this, without a pause."""
        if requests == 1:
            found = [await self._verdict(caller)]
        else:
            found = await asyncio.gather(*(self._verdict(caller) for _ in range(requests)))
        self._verdicts = deque(found)

    def wait(self, caller: Hashable) -> float:
        """0 when the caller may go on, else the seconds after which it may."""
        return self._verdicts.popleft() if self._verdicts else self._alone.wait(caller)

    async def _verdict(self, caller: Hashable) -> float:
        metrics = self._store.metrics
        try:
            said = await self._store.count(_TAKE, self._key(caller), self._step, self._burst)
            if not 0 <= said <= self._step:
                raise StoreAway  # no honest answer
        except StoreAway:
            metrics.count(names.STORE_REQUESTS, "limit", "alone")
            return self._alone.wait(caller)
        metrics.count(names.STORE_REQUESTS, "limit", "shared")
        return said / _MICROSECONDS

    def _made_key(self, caller: Hashable) -> str:
        """Without the chain: limits hold also while no node says which one it is. Nobody can read a caller's address from it."""
        # Loopback is another place on every machine.
        who = f"{caller} {self._machine}" if caller == THIS_MACHINE else str(caller)
        hashed = self._store.hashed(b"caller", who.encode("utf-8", "surrogatepass"))
        return f"{PREFIX}:{_VERSION}:rate:{self._group}:{hashed.hex()}"
