"""The file of `bridge --capture`: written whole, again and again while the bridge works, and at its end."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from types import TracebackType

from ....audit.evidence import Evidence, to_file
from ....bridge.capture.capture import Capture
from ...input import captures, files
from .. import failures

log = logging.getLogger(__name__)

# What is lost at most if the process is killed.
_PAUSE_SECONDS = 3.0
# A long capture takes long to write: most of the time belongs to the clients.
_PAUSE_FACTOR = 20


class CaptureFile:
    """Entered while a bridge works. A disk that is full ends no bridge: it is logged."""

    def __init__(self, path: str, capture: Capture) -> None:
        """Raises: Undetermined if the file cannot be written, or holds something else."""
        files.check_private(path, "capture")
        captures.check_replaceable(path)
        self.capture = capture
        self._path = path
        self._failure = ""
        self._is_full = False
        self._over = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> CaptureFile:
        self._task = asyncio.get_running_loop().create_task(self._keep_writing())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None, "it was entered"
        self._over.set()
        await self._task

    async def _keep_writing(self) -> None:
        written, pause = -1, _PAUSE_SECONDS
        while not self._over.is_set():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._over.wait()
            if self.capture.count != written:
                written = self.capture.count
                began = time.monotonic()
                await asyncio.to_thread(self._write, self.capture.snapshot())
                pause = max(_PAUSE_SECONDS, _PAUSE_FACTOR * (time.monotonic() - began))

    def _write(self, evidence: Callable[[], Evidence]) -> None:
        """Write, and log what goes wrong, once for each reason."""
        try:
            files.write(self._path, to_file(evidence()), "capture", is_private=True)
        except failures.Undetermined as exc:
            if exc.message != self._failure:
                self._failure = exc.message
                log.warning("capture not written", extra={"qortal_mcp.reason": exc.message})
        if self.capture.left_out and not self._is_full:
            self._is_full = True
            log.warning("capture full", extra={"qortal_mcp.file": self._path})
