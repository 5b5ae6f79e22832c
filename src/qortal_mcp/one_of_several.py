"""What a process has to know that serves together with others: which of them it is, and what all of them share."""

import hmac
import mmap
from collections.abc import Awaitable, Callable

from .limits import OF_A_PROCESS, share_of
from .metrics import Metrics
from .server.rates.machine_rate import TABLE_BYTES, MachineRate
from .server.rates.rate import Rate
from .server.receiver import Receiver
from .shared_memory import RATES_BYTES, board_in


class OneOfSeveral:
    """The `number`th `of` several workers, from 1 on. `secret` is known to all of them and nobody else."""

    def __init__(self, number: int, of: int, secret: bytes, memory: int) -> None:
        self.number = number
        self.of = of
        self.board = board_in(memory, of)
        self._secret = secret
        self._memory = memory
        assert TABLE_BYTES == RATES_BYTES, "the memory has room for the rates"
        self._rates = memoryview(mmap.mmap(memory, RATES_BYTES))
        # Brings up to date what is shown of all of them; whoever reaches the others sets it.
        self.look_at_all: Callable[[], Awaitable[None]] | None = None
        self.show: Callable[[], None] = lambda: None

    def divide(self, server: Receiver) -> None:
        """Make a server one of several: its share of the limits, the keys and numbers of all."""
        limits = share_of(server.limits, OF_A_PROCESS, self.number, self.of)
        rate = self.rate(server.options.rate_limit) if server.options.rate is None else server.options.rate
        server.join_others(limits, rate, self._key(b"state"), self._key(b"caller"))
        self.count(server.metrics)

    def rate(self, per_second: float | None) -> Rate | None:
        if not per_second:
            return None
        return MachineRate(per_second, self._rates, self._memory, self._key(b"rate"))

    def count(self, metrics: Metrics) -> None:
        self.show = self.board.join(metrics, self.number)

    async def look(self) -> None:
        if self.look_at_all is not None:
            await self.look_at_all()

    def _key(self, purpose: bytes) -> bytes:
        return hmac.digest(self._secret, purpose, "sha256")
