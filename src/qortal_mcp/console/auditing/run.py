"""One audit, as the server sees it: a process that writes events, and what is said if it cannot go on."""

import asyncio
import contextlib
import logging
import os
import signal
from types import TracebackType

import msgspec

from ...audit.confinement.own_process import command
from .events import Failed, Task

log = logging.getLogger(__name__)

_PROCESS = "qortal_mcp.console.auditing.process"
_BROKE_OFF = "The audit broke off: its process ended before the report was there. Try again, or run `qortal-mcp audit URL` in a terminal."
_NOT_STARTED = "The process that audits cannot be started. The log of this server says why."
_TOO_LARGE = "The report is larger than the page takes. Run `qortal-mcp audit URL` in a terminal."


class AuditRun:
    """Runs as long as its block; leaving the block ends everything that belongs to it."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._process: asyncio.subprocess.Process | None = None
        self._stopped = ""
        self._end = 0.0

    async def __aenter__(self) -> "AuditRun":
        limits = self._task.limits
        self._end = asyncio.get_running_loop().time() + limits.total_seconds
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command(_PROCESS),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                # What it says would quote the server under audit.
                stderr=asyncio.subprocess.DEVNULL,
                start_new_session=True,
                limit=limits.event_bytes,
            )
        except OSError as exc:
            log.warning("audit process not started", extra={"qortal_mcp.reason": exc.strerror})
            self._stopped = self._stopped or _NOT_STARTED
            return self
        if self._stopped:  # while it was being started
            self._kill()
        assert self._process.stdin is not None, "opened with a pipe"
        # Not closed: the end of its input tells the process that nobody waits any longer.
        self._process.stdin.write(msgspec.json.encode(self._task) + b"\n")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        if self._process is not None:
            # Reads what is left: a pipe with something in it would stay open.
            await self._process.communicate()

    def stop(self, why: str) -> None:
        """End it early; the next event says why."""
        self._stopped = why
        self._kill()

    async def next_event(self) -> bytes:
        """The last one is of type `ended` or `failed`."""
        if self._stopped:
            return _failed(self._stopped)
        assert self._process is not None, "or it would have been stopped"
        assert self._process.stdout is not None, "opened with a pipe"
        try:
            async with asyncio.timeout_at(self._end):
                line = await self._process.stdout.readline()
        except TimeoutError:
            seconds = self._task.limits.total_seconds
            return _failed(f"The audit was stopped: it took longer than {seconds:g} s.")
        except ValueError:  # longer than the limit
            return _failed(_TOO_LARGE)
        return line.rstrip(b"\n") if line.endswith(b"\n") else _failed(self._stopped or _BROKE_OFF)

    def _kill(self) -> None:
        if self._process is None or self._process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()


def _failed(why: str) -> bytes:
    return msgspec.json.encode(Failed(why))
