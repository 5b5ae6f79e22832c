"""One worker as the process that looks after it sees it: how it is started, told things, and given connections."""

import contextlib
import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

from .....metrics.board import Part
from .messages import LINE_BYTES, FromWorker, Handover, ToWorker, from_worker, line
from .restarts import Restarts

_MODULE = "qortal_mcp.cli.running.serve.workers.worker"
# It imports what this process would, wherever that is; nothing from the folder it happens to start in.
_START = (
    "import importlib, json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "sys.exit(importlib.import_module(sys.argv[2]).main(*map(int, sys.argv[3:])))"
)
_READ_BYTES = 64 * 1024
_START_SECONDS = 10.0
TERMINAL_SIGNALS = (signal.SIGINT, signal.SIGHUP)
# A worker that has not moved for so long gets no more connections; one that does not come back is ended. All that it does
# is bounded by far less.
_QUIET_SECONDS = 2.0
_HANGING_SECONDS = 60.0
# Who looks less often than this was stopped itself, perhaps with all others, and begins anew.
LOOK_SECONDS = 10.0
# What comes with each connection; it means nothing.
_HANDED = b"."


class Worker:
    """A place for a worker, which has one process after another."""

    def __init__(self, number: int, part: Part) -> None:
        self.number = number
        self.restarts = Restarts()
        # When it is to be started again; None: it runs.
        self.start_at: float | None = 0.0
        self.is_ready = False
        # It still answers, but gets no more connections.
        self.is_leaving = False
        # When it got a connection last, counted in connections.
        self.turn = 0
        self._part = part
        self._process: subprocess.Popen[bytes] | None = None
        self._handed = 0
        self._ready_since: float | None = None
        self._unread = b""
        # The last beat that was seen, since when, and when it was last looked at.
        self._beat, self._beat_since, self._looked_at = 0, 0.0, 0.0

    def start(self, handover: Handover, memory: int) -> None:
        """Raises: OSError."""
        self.start_at = None
        self.is_ready = self.is_leaving = False
        self._ready_since, self._handed, self._unread = None, 0, b""
        self.control, theirs = socket.socketpair()
        self._arrivals, their_arrivals = socket.socketpair()
        passed = (theirs.fileno(), their_arrivals.fileno(), memory)
        command = [sys.executable, "-P", "-c", _START, json.dumps(sys.path), _MODULE, *map(str, passed)]
        with theirs, their_arrivals, _terminal_signals_blocked():
            try:
                self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=passed)
            except OSError:
                self.control.close()
                self._arrivals.close()
                raise
        # What it is told first may be long, such as a list of addresses, and is read once it has started.
        self.control.settimeout(_START_SECONDS)
        self._arrivals.setblocking(False)
        self.tell(handover)
        self.control.setblocking(False)

    @property
    def pid(self) -> int:
        assert self._process is not None, "it was started"
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None

    @property
    def takes_connections(self) -> bool:
        return self.is_ready and not self.is_leaving

    @property
    def is_quiet(self) -> bool:
        return self._still_for() > _QUIET_SECONDS

    @property
    def hangs(self) -> bool:
        return self.takes_connections and self._still_for() > _HANGING_SECONDS

    def _still_for(self) -> float:
        """For how many seconds it has not moved, as far as was looked at."""
        beat, now = self._part.beat, time.monotonic()
        if beat != self._beat or now - self._looked_at > 2 * LOOK_SECONDS:
            self._beat, self._beat_since = beat, now
        self._looked_at = now
        return now - self._beat_since

    def ready(self) -> None:
        self.is_ready = True
        self._ready_since = time.monotonic()

    def tell(self, message: ToWorker) -> None:
        """One that does not listen any more is ended: it would go on with what others no longer do."""
        text = line(message)
        try:
            self.control.sendall(text)
        except OSError:  # or there is no room for it
            self.kill()

    def heard(self) -> list[FromWorker] | None:
        """What it has said since; None if it will say nothing more."""
        try:
            data = self.control.recv(_READ_BYTES)
        except BlockingIOError:
            return []
        except OSError:
            return None
        if not data:
            return None
        *lines, self._unread = (self._unread + data).split(b"\n")
        assert len(self._unread) <= LINE_BYTES, "workers say little"
        return [from_worker(each) for each in lines]

    @property
    def load(self) -> int:
        """How many connections it has, those included that it has not taken yet."""
        taken, open_ = self._part.connections
        return open_ + self._handed - taken

    def hand(self, connection: socket.socket) -> bool:
        """Give it a connection; False if it has too many that it has not taken."""
        try:
            socket.send_fds(self._arrivals, [_HANDED], [connection.fileno()])
        except OSError:
            return False
        self._handed += 1
        return True

    def stop(self) -> None:
        """Let it finish what it has, and end."""
        self.is_leaving = True
        if self.runs:
            with contextlib.suppress(OSError):
                self._arrivals.shutdown(socket.SHUT_WR)

    def kill(self) -> None:
        if self._process is not None:
            with contextlib.suppress(OSError):
                self._process.send_signal(signal.SIGKILL)

    def ended(self) -> int | None:
        """The exit code, or the negative number of the signal that ended it, if it has ended."""
        return None if self._process is None else self._process.poll()

    def wait(self) -> None:
        assert self._process is not None, "it was started"
        self._process.wait()

    def forget(self) -> float | None:
        """After its end: how long it served, if it did."""
        self._process = None
        self.is_ready = False
        self.control.close()
        self._arrivals.close()
        self._part.show_no_gauges()
        return None if self._ready_since is None else time.monotonic() - self._ready_since


@contextlib.contextmanager
def _terminal_signals_blocked() -> Iterator[None]:
    """A terminal sends them to workers as well, which are to ignore them from their first moment on."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TERMINAL_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def how_it_ended(code: int) -> dict[str, object]:
    """For the log."""
    if code >= 0:
        return {"qortal_mcp.exit_code": code}
    try:
        return {"qortal_mcp.signal": signal.Signals(-code).name}
    except ValueError:
        return {"qortal_mcp.signal": -code}
