"""What went over the connections of a bridge, on both sides of it: kept up to a limit, from the beginning."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from msgspec import Struct

from ...audit.evidence import Evidence, Gap, Transport
from ...audit.secrets import taken_out
from ...client.transcript import Headers, Record
from ...limits import Positive
from .visits import Patience, Side, visits_of


class CaptureLimits(Struct, frozen=True, kw_only=True):
    # Read into memory by whoever judges it.
    bytes: Positive = 32 * 1024 * 1024
    records: Positive = 50_000
    connections: Positive = 1_000


class Behind(Struct, frozen=True, kw_only=True):
    """The server whose connections are kept, as a capture may show it."""

    target: str
    argv: Sequence[str] = ()
    # Sent with every request, and kept nowhere.
    headers: Headers = ()
    # Taken out wherever somebody repeats them.
    secrets: frozenset[str] = frozenset()
    # How long a request waits for its answer: the bridge's own, and one of a client, which may wait for a connection first.
    timeout: float = 300.0
    client_timeout: float = 400.0

    @property
    def transport(self) -> Transport:
        if self.argv:
            return "stdio"
        return "websocket" if self.target.lower().startswith("ws") else "http"


class Capture:
    """Both sides of a bridge. What comes after the limit is counted, not kept: the handshakes come first."""

    def __init__(self, behind: Behind, limits: CaptureLimits | None = None) -> None:
        self.behind = behind
        self._limits = limits or CaptureLimits()
        self._sides: list[Side] = []
        self._records = 0
        self._bytes = 0
        self.left_out = 0
        # Grows with everything that is kept or left out.
        self.count = 0

    def server(self) -> Callable[[Record], None]:
        """Watches a new connection to the server."""
        number = sum(not side.is_repaired for side in self._sides) + 1
        return self._watching(Side(name=f"server {number}", transport=self.behind.transport))

    def client(self, transport: Transport, revision: str = "") -> Callable[[Record], None]:
        """Watches a new client."""
        number = sum(side.is_repaired for side in self._sides) + 1
        return self._watching(
            Side(name=f"client {number}", transport=transport, is_repaired=True, revision=revision)
        )

    @property
    def is_full(self) -> bool:
        limits = self._limits
        return self._records >= limits.records or self._bytes >= limits.bytes

    def leave_out(self, record: Record) -> None:
        """Count what is not kept."""
        self.count += 1
        self.left_out += 1

    def _watching(self, side: Side) -> Callable[[Record], None]:
        is_kept = len(self._sides) < self._limits.connections
        if is_kept:
            self._sides.append(side)

        def watch(record: Record) -> None:
            size = len(record.data)
            if not is_kept or self.is_full or self._bytes + size > self._limits.bytes:
                self.leave_out(record)
                return
            self.count += 1
            self._records += 1
            self._bytes += size
            side.records.append(record)

        return watch

    def snapshot(self) -> Callable[[], Evidence]:
        """What is kept by now. The function may run in another thread: it takes a while."""
        sides = sorted((side.copied() for side in self._sides), key=lambda side: side.is_repaired)
        left_out, now = self.left_out, time.time()
        return lambda: self._evidence(sides, left_out, now)

    def _patience(self, side: Side, now: float) -> Patience:
        seconds = self.behind.client_timeout if side.is_repaired else self.behind.timeout
        return Patience(seconds, now)

    def _evidence(self, sides: list[Side], left_out: int, now: float) -> Evidence:
        behind = self.behind
        hidden = frozenset(name.lower() for name, _ in behind.headers)
        gaps = []
        if left_out:
            gaps.append(Gap("capture", f"it was full: {left_out} later messages and heads are not in it"))
        evidence = Evidence(
            target=behind.target,
            argv=tuple(behind.argv),
            transport=behind.transport,
            has_secret_headers=bool(hidden),
            visits=tuple(
                visit
                for side in sides
                for visit in visits_of(side, behind.target, hidden, self._patience(side, now))
            ),
            gaps=tuple(gaps),
        )
        return taken_out(evidence, behind.secrets)
