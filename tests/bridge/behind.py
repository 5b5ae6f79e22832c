"""Servers behind a bridge as processes: started, stopped, killed, and asked what they received."""

import asyncio
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from tests.cli.running import Listening

Json = dict[str, Any]
NOTING = str(Path(__file__).with_name("noting.py"))


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


class Noting:
    """The server of `noting.py`: a command, or a process that listens on a port which stays the same."""

    def __init__(self, log: Path, kind: str = "stdio") -> None:
        self.log = log
        self.kind = kind
        self._port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def command(self) -> list[str]:
        return [sys.executable, NOTING, str(self.log)]

    @property
    def target(self) -> str | list[str]:
        if self.kind == "stdio":
            return self.command
        return f"{self.kind}://127.0.0.1:{self._port}/{'mcp' if self.kind == 'http' else 'ws'}"

    @property
    def words(self) -> list[str]:
        """The target as words of a command line."""
        return [self.target] if isinstance(self.target, str) else ["--", *self.target]

    def received(self) -> list[tuple[int, Json | str]]:
        """Everything in its log: who received it, and the message."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        found: list[tuple[int, Json | str]] = []
        for line in lines:
            pid, _, what = line.partition("\t")
            found.append((int(pid), json.loads(what) if what[:1] == "{" else what))
        return found

    def messages(self, method: str = "") -> list[Json]:
        return [
            what
            for _, what in self.received()
            if isinstance(what, dict) and (not method or what.get("method") == method)
        ]

    def pids(self) -> list[int]:
        """The processes that have received anything, oldest first."""
        return list(dict.fromkeys(pid for pid, _ in self.received()))

    async def start(self) -> None:
        self._launch()
        own = self._process.pid if self._process is not None else 0
        await until(lambda: (own, "listening") in self.received())

    def _launch(self) -> None:
        self._process = subprocess.Popen(
            [*self.command, self.kind, str(self._port)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["Noting"]:
        if self.kind != "stdio":
            await self.start()
        try:
            yield self
        finally:
            self.kill()


@contextlib.contextmanager
def bridging(*options: str, server: Noting) -> Iterator[Listening]:
    """The real command between a server and HTTP and WebSocket on a free port."""
    bridge = Listening(("bridge", "--listen", "127.0.0.1:0", *options, *server.words), None)
    try:
        yield bridge
    finally:
        bridge.stop()


async def until(claim: Any, seconds: float = 30.0) -> None:
    """Wait for something that has no event."""
    async with asyncio.timeout(seconds):
        while not claim():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def resident_bytes(pid: int) -> int:
    """What a process holds in memory now."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
