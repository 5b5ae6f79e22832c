"""The shared store as the rest of the program sees it: it answers soon, or it is away and is left alone for a while."""

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from ..metrics import Metrics, names
from .address import Address
from .limits import DEFAULT, StoreLimits
from .line import Line, Refused, StoreAway, Wire

log = logging.getLogger(__name__)

# The first word of every key.
PREFIX = "qortal-mcp"
# What processes that do not share a password hash with: others can hash the same, and learn that a guess was right.
_NO_SECRET = b"qortal-mcp"
_HASH_BYTES = 16
# Different errors of the store that are logged until it is away and back.
_MOST_CODES = 8
# A connection that lasts shorter was none that could be relied on.
_LASTING_SECONDS = 10.0

Connect = Callable[[Address, str | None, int], Awaitable[Wire]]


class Store:
    """A Valkey or Redis server. Connections are made in the background; until then, and after a failure, it is away."""

    def __init__(
        self, address: Address, password: str | None, connect: Connect, limits: StoreLimits = DEFAULT
    ) -> None:
        self.address = address
        self.limits = limits
        self._password = password
        self._connect = connect
        self._secret = hashlib.sha256(password.encode()).digest() if password else _NO_SECRET
        self._reads: Line | None = None
        self._writes: Line | None = None
        self._counts: Line | None = None
        self._failed = asyncio.Event()
        self._why = ""
        self._task: asyncio.Task[None] | None = None
        self._codes: set[str] = set()
        self.metrics = Metrics()
        self.metrics.show(names.STORE_UP, lambda: self.is_up)

    @property
    def is_up(self) -> bool:
        return self._counts is not None

    def hashed(self, *parts: bytes) -> bytes:
        """A hash that only those who know the password can make, if there is one."""
        made = hashlib.blake2b(key=self._secret, digest_size=_HASH_BYTES)
        for part in parts:
            made.update(len(part).to_bytes(8, "big"))
            made.update(part)
        return made.digest()

    def open(self) -> None:
        """Begin to look for it. Nobody waits for it."""
        self._task = asyncio.get_running_loop().create_task(self._keep_connected())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def read(self, key: str) -> bytes | None:
        """The value of a key; None if there is none that is small enough. Raises: StoreAway."""
        if self._reads is None:
            raise StoreAway
        # One byte more than a value may have: what fills it is too long, and none of the rest is sent.
        found = await self._reads.ask("GETRANGE", key, 0, self.limits.value_bytes)
        if isinstance(found, Refused):
            self._refused(found)
            return None
        if not isinstance(found, bytes) or len(found) > self.limits.value_bytes:
            return None
        return found or None

    def write(self, key: str, value: bytes, seconds: float) -> None:
        """Keep a value for so long, some time soon; dropped if too many are waiting."""
        if self._writes is None or len(value) > self.limits.value_bytes:
            return
        milliseconds = int(1000 * min(seconds, self.limits.longest_seconds))
        if not self._writes.post(len(value), "SET", key, value, "PX", milliseconds):
            self.metrics.count(names.STORE_REQUESTS, "write", "dropped")
        else:
            self.metrics.count(names.STORE_REQUESTS, "write", "sent")

    async def count(self, script: "Script", key: str, *values: int) -> int:
        """What a script about one key returns. Raises: StoreAway."""
        if self._counts is None:
            raise StoreAway
        said = await self._counts.ask("EVALSHA", script.digest, 1, key, *values)
        if isinstance(said, Refused) and said.code == "NOSCRIPT":
            said = await self._counts.ask("EVAL", script.text, 1, key, *values)
        if not isinstance(said, int):
            if isinstance(said, Refused):
                self._refused(said)
            raise StoreAway
        return said

    def _refused(self, refused: Refused) -> None:
        """It answers, but not with what was asked for: said once, and gone on without."""
        self.metrics.count(names.STORE_REQUESTS, "any", "refused")
        if refused.code not in self._codes and len(self._codes) < _MOST_CODES:
            self._codes.add(refused.code)
            log.warning(
                "the shared store refuses a command",
                extra={"qortal_mcp.store": self.address.shown, "qortal_mcp.why": refused.code},
            )

    async def _keep_connected(self) -> None:
        is_new = True
        pause = self.limits.rest_seconds
        now = asyncio.get_running_loop().time
        while True:
            self._failed.clear()
            try:
                lines = await self._lines()
            except Exception as exc:
                if is_new:
                    self._say_away(_why(exc))
                    is_new = False
            else:
                self._reads, self._writes, self._counts = lines
                self._codes.clear()
                log.info("the shared store answers", extra={"qortal_mcp.store": self.address.shown})
                since = now()
                try:
                    await self._until_failed(lines)
                finally:
                    self._reads = self._writes = self._counts = None
                    for line in lines:
                        await line.close()
                self._say_away(self._why)
                is_new = False
                # One that comes and goes is looked for, and spoken of, less and less often.
                lasted = now() - since >= _LASTING_SECONDS
                pause = self.limits.rest_seconds if lasted else min(2 * pause, _LASTING_SECONDS)
            await asyncio.sleep(pause)

    async def _until_failed(self, lines: Sequence[Line]) -> None:
        while True:
            try:
                async with asyncio.timeout(self.limits.idle_seconds):
                    await self._failed.wait()
                return
            except TimeoutError:
                with suppress(StoreAway):
                    for line in lines:
                        await line.ask("PING")

    def _say_away(self, why: str) -> None:
        log.warning(
            "the shared store does not answer; every process goes on by itself",
            extra={"qortal_mcp.store": self.address.shown, "qortal_mcp.why": why},
        )

    async def _lines(self) -> tuple[Line, Line, Line]:
        """Three connections, so that a long value does not delay a short question."""
        lines: list[Line] = []
        try:
            async with asyncio.timeout(self.limits.connect_seconds):
                for _ in range(3):
                    wire = await self._connect(self.address, self._password, self.limits.value_bytes + 1)
                    lines.append(Line(wire, self.limits, self._line_failed))
                    said = await lines[-1].ask("PING")
                    if isinstance(said, Refused):
                        raise StoreAway(f"it refuses: {said.code}")
                    if said != b"PONG":
                        raise StoreAway("it is not a store")
        except BaseException:
            for line in lines:
                with suppress(Exception):
                    await line.close()
            raise
        reads, writes, counts = lines
        return reads, writes, counts

    def _line_failed(self, exc: Exception) -> None:
        self.metrics.count(names.STORE_REQUESTS, "any", "failed")
        self._why = type(exc).__name__
        self._failed.set()
        # At once: whoever comes now must not wait for it.
        self._reads = self._writes = self._counts = None


class Script:
    """A Lua script, and the name that a store keeps it under."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def _why(exc: BaseException) -> str:
    """Why there is no store, in a few words that are ours: what it says itself may be anything."""
    import ssl  # only failures pay for it

    cause: BaseException | None = exc
    while cause is not None:
        if isinstance(cause, StoreAway) and cause.args:
            return str(cause)
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "its certificate is not trusted"
        if isinstance(cause, ssl.SSLError):
            return "it does not speak TLS as expected"
        cause = cause.__cause__ or cause.__context__
    return type(exc).__name__
