"""One connection to the store that many callers use: what arrives while it is busy is sent together with the next."""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from .limits import StoreLimits

Word = bytes | str | int


_CODES = frozenset(
    [
        "ASK",
        "BUSY",
        "BUSYGROUP",
        "BUSYKEY",
        "CLUSTERDOWN",
        "CROSSSLOT",
        "DENIED",
        "EXECABORT",
        "INPROG",
        "IOERR",
        "LOADING",
        "MASTERDOWN",
        "MISCONF",
        "MOVED",
        "NOAUTH",
        "NOGOODSLAVE",
        "NOMASTERLINK",
        "NOPERM",
        "NOPROTO",
        "NOREPLICAS",
        "NOSCRIPT",
        "NOTBUSY",
        "OOM",
        "READONLY",
        "TRYAGAIN",
        "UNBLOCKED",
        "UNKILLABLE",
        "WRONGPASS",
        "WRONGTYPE",
    ]
)


class Refused(Struct, frozen=True):
    """The store understood a command and answers with an error."""

    says: str

    @property
    def code(self) -> str:
        """Its first word, such as WRONGTYPE, if it is one that Valkey and Redis say: it is logged."""
        word = self.says.partition(" ")[0]
        return word if word in _CODES else "ERR"


Reply = bytes | int | None | Refused


class StoreAway(Exception):
    """The store does not answer; whoever asked goes on without it."""


class Wire(Protocol):
    """A connection, see `connection.py`."""

    async def send(self, commands: Sequence[tuple[Word, ...]]) -> None: ...

    async def reply(self) -> Reply: ...

    async def close(self) -> None: ...


class _Command:
    __slots__ = ("reply", "since", "size", "words")

    def __init__(self, words: tuple[Word, ...], since: float, reply: "asyncio.Future[Reply] | None") -> None:
        self.words = words
        self.since = since
        self.reply = reply
        self.size = 0


class Line:
    """Commands in the order of their arrival. The task that moves them is the only one that touches the connection."""

    def __init__(self, wire: Wire, limits: StoreLimits, on_failure: Callable[[Exception], None]) -> None:
        self._wire = wire
        self._limits = limits
        self._on_failure = on_failure
        self._waiting: deque[_Command] = deque()
        self._waiting_bytes = 0
        self._is_open = True
        self._loop = loop = asyncio.get_running_loop()
        self._wake: asyncio.Future[None] | None = None
        self._task = loop.create_task(self._work())

    async def ask(self, *words: Word) -> Reply:
        """Raises: StoreAway, after the time that a reply may take at the latest."""
        if not self._is_open or len(self._waiting) >= self._limits.waiting_commands:
            raise StoreAway
        reply: asyncio.Future[Reply] = self._loop.create_future()
        self._put(_Command(words, self._loop.time(), reply))
        return await reply

    def post(self, size: int, *words: Word) -> bool:
        """Send without waiting for a reply; False if too much is waiting already."""
        limits = self._limits
        too_many = len(self._waiting) >= limits.waiting_writes
        if not self._is_open or too_many or self._waiting_bytes + size > limits.waiting_write_bytes:
            return False
        command = _Command(words, self._loop.time(), None)
        command.size = size
        self._waiting_bytes += size
        self._put(command)
        return True

    def _put(self, command: _Command) -> None:
        self._waiting.append(command)
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    async def _work(self) -> None:
        try:
            while True:
                if not self._waiting:
                    self._wake = self._loop.create_future()
                    await self._wake
                    self._wake = None
                await self._move(min(len(self._waiting), self._limits.commands_at_once))
        except asyncio.CancelledError:
            raise
        except Exception as exc:
            self._on_failure(exc)
        finally:
            self._give_up()
            await self._wire.close()

    async def _move(self, count: int) -> None:
        """Send so many commands and hand out their replies. They leave the queue with their reply."""
        waiting = self._waiting
        # Of the one that waits longest, so that nobody waits longer than that.
        until = max(waiting[0].since, self._loop.time() - self._limits.reply_seconds / 2)
        async with asyncio.timeout_at(until + self._limits.reply_seconds):
            await self._wire.send([waiting[at].words for at in range(count)])
            for _ in range(count):
                said = await self._wire.reply()
                command = waiting.popleft()
                self._waiting_bytes -= command.size
                if command.reply is not None and not command.reply.done():
                    command.reply.set_result(said)

    def _give_up(self) -> None:
        self._is_open = False
        for command in self._waiting:
            if command.reply is not None and not command.reply.done():
                command.reply.set_exception(StoreAway())
        self._waiting.clear()
        self._waiting_bytes = 0

    async def close(self) -> None:
        self._give_up()
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
