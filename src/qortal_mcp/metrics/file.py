"""The metrics in a file, for servers that nobody can connect to, such as those on stdio."""

import asyncio
import contextlib
import logging
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType

from .counting import Metrics

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 15.0
# The collector runs as another user.
_MODE = 0o644


def unwritable(path: Path) -> str:
    """Why this file cannot be written; empty if it can."""
    folder = path.absolute().parent
    if path.exists() and not path.is_file():
        return "it is not a file"
    if not folder.is_dir():
        return "its folder does not exist"
    return "" if os.access(folder, os.W_OK | os.X_OK) else "its folder is not writable"


class MetricsFile:
    """Written now and then while the block lasts, and at its end. Readers see the old file or the new one, never a part."""

    def __init__(
        self, path: Path, metrics: Metrics, look: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`look` brings up to date what the metrics show."""
        self._path = path
        self._metrics = metrics
        self._look = look
        self._task: asyncio.Task[None] | None = None
        self._has_failed = False

    async def __aenter__(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._write_on())

    async def __aexit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._task is not None, "it was entered"
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._write()

    async def _write_on(self) -> None:
        while True:
            if self._look is not None:
                await self._look()
            self._write()
            await asyncio.sleep(_PAUSE_SECONDS)

    def _write(self) -> None:
        # Several servers may write to one folder: without this label their numbers would be one and the same.
        page = self._metrics.render([("file", self._path.stem)])
        self._has_failed = not written_to(self._path, page, is_quiet=self._has_failed)


def written_to(path: Path, page: str, *, is_quiet: bool = False) -> bool:
    """Whether a page could be written; if not, the log says why."""
    try:
        _replace(path, page.encode())
    except OSError as exc:
        if not is_quiet:
            log.warning("cannot write the metrics file", extra={"qortal_mcp.reason": exc.strerror})
        return False
    return True


def _replace(path: Path, content: bytes) -> None:
    import tempfile  # only for those who have such a file

    # Not in the way of the collector, which reads whatever ends with .prom.
    fd, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".new", dir=path.absolute().parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(content)
        os.chmod(name, _MODE)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
