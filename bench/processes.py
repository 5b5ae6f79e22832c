"""Child processes under measurement: pinned to a core, in their own process group, ended by id; their CPU and memory."""

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".bench"
_ALL_CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE = _ALL_CORES[0]
# Everything else: the load generator, stub nodes, this process. On a machine with one core it is the same one.
LOAD_CORE = _ALL_CORES[-1]
CORES = len(_ALL_CORES)

_READY_SECONDS = 20.0
_STOP_SECONDS = 8.0
_URL = re.compile(r"http://127\.0\.0\.1:(\d+)")


class Failed(Exception):
    """Something under measurement did not work; the text says what."""


def environment(**more: str) -> dict[str, str]:
    """Our environment, without what would affect the measurement or a server's settings."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("QORTAL_", "PYTHON", "FASTMCP_", "UVICORN_", "OTEL_"))
    }
    return {**kept, **more}


@contextlib.contextmanager
def pinned(core: int) -> Iterator[None]:
    """Children that are started inside inherit the core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


class Child:
    """A process with its own process group. Its standard error goes to a file under .bench/logs."""

    def __init__(
        self, name: str, command: Sequence[str | Path], *, core: int = SERVER_CORE, pipes: bool = False
    ) -> None:
        self.name = name
        logs = HOME / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        self._log = logs / f"{name.replace(' ', '-').replace('/', '-')}.log"
        stream = subprocess.PIPE if pipes else subprocess.DEVNULL
        with self._log.open("wb") as log, pinned(core):
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdin=stream,
                stdout=stream,
                stderr=log,
                cwd=ROOT,
                env=environment(),
                start_new_session=True,
                bufsize=0,
            )
        self.pid = self._process.pid

    @property
    def stdin(self) -> IO[Any]:
        assert self._process.stdin is not None, "only used if there are pipes"
        return self._process.stdin

    @property
    def stdout(self) -> IO[Any]:
        assert self._process.stdout is not None, "only used if there are pipes"
        return self._process.stdout

    def port(self) -> int:
        """Wait until it reports the port it listens on."""
        deadline = time.monotonic() + _READY_SECONDS
        while time.monotonic() < deadline:
            if found := _URL.search(self._log.read_text(errors="replace")):
                return int(found[1])
            if self._process.poll() is not None:
                break
            time.sleep(0.02)
        raise Failed(f"{self.name} did not start: {self.tail()}")

    def tail(self) -> str:
        return self._log.read_text(errors="replace")[-1500:].strip() or "no output"

    def end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            # The group may outlive its leader, so it is signalled even when the leader is gone.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)
            try:
                self._process.wait(_STOP_SECONDS)
                break
            except subprocess.TimeoutExpired:
                continue
        if self._process.stdout is not None:
            self._process.stdout.close()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def cpu_seconds(self) -> float:
        """User and system time of every process of the group so far.

        From schedstat, which counts nanoseconds where /proc/PID/stat counts ticks of 10 ms: short rounds become
        possible, and short rounds next to each other see the same load from other processes.
        """
        return sum(_cpu_seconds(fields[0]) for fields in self._stats())

    def own_cpu_seconds(self) -> float:
        """The same, of this process alone: a proxy without the server that it has started."""
        return _cpu_seconds(str(self.pid))

    def rss_mb(self) -> float:
        """Resident memory of every process of the group."""
        return sum(_rss_mb(fields) for fields in self._stats())

    def own_rss_mb(self) -> float:
        """The same, of this process alone."""
        return sum(_rss_mb(fields) for fields in self._stats() if fields[0] == str(self.pid))

    def settled_rss_mb(self, read: Callable[["Child"], float] = rss_mb) -> float:
        """Resident memory once it has stopped changing: some servers import in the background."""
        last, same = read(self), 0
        for _ in range(40):
            time.sleep(0.1)
            now = read(self)
            same = same + 1 if abs(now - last) < 0.05 else 0
            last = now
            if same >= 8:
                break
        return last

    def has_loaded(self, library: str) -> bool:
        return library in Path(f"/proc/{self.pid}/maps").read_text()

    def _stats(self) -> list[list[str]]:
        """For every process of the group its id, then the fields of its stat after the name, from the state on."""
        found = []
        for path in Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = [path.parent.name, *path.read_text().rpartition(")")[2].split()]
                if fields[3] == str(self.pid):
                    found.append(fields)
        if not found:
            raise Failed(f"{self.name} is gone: {self.tail()}")
        return found


def _cpu_seconds(pid: str) -> float:
    total = 0
    for path in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError):  # a thread that has ended in the meantime
            total += int(path.read_text().split()[0])
    return total / 1e9


def _rss_mb(fields: list[str]) -> float:
    return int(fields[22]) * os.sysconf("SC_PAGE_SIZE") / 1e6
