"""The lifespan of a server: entered once before the first request is worked on, and left after the last.

It runs in a task of its own, so that it is left in the task that entered it, whichever transport begins and ends it.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

from .outcomes import is_cancelled

log = logging.getLogger(__name__)


class LifespanFailed(Exception):
    """A server could not start: entering its lifespan failed."""


class Life:
    """Begins with the first transport that holds it, and ends when the last one has released it."""

    def __init__(
        self,
        enter: Callable[[], AbstractAsyncContextManager[Any]],
        begun: Callable[[Any], None],
        seconds: float,
    ) -> None:
        self._enter = enter
        self._begun = begun
        self._seconds = seconds
        self._holders = 0
        self._task: asyncio.Task[None] | None = None
        self._ready: asyncio.Future[None] | None = None
        self._stop = asyncio.Event()

    @property
    def is_begun(self) -> bool:
        """Whether requests can be worked on."""
        return self._ready is not None and self._ready.done() and self._is_running

    @property
    def _is_running(self) -> bool:
        return self._task is not None and not self._task.done()

    async def hold(self) -> None:
        """Enter it, or wait until whoever enters it is done.

        Raises: LifespanFailed.
        """
        while self._is_running and self._stop.is_set():
            assert self._task is not None, "it is running"
            await asyncio.wait([self._task])
        if not self._is_running:
            self._begin()
        self._holders += 1
        assert self._ready is not None, "it has begun"
        try:
            await asyncio.shield(self._ready)
        except BaseException:
            await self.release()
            raise

    def _begin(self) -> None:
        loop = asyncio.get_running_loop()
        self._holders = 0
        self._stop = asyncio.Event()
        self._ready = loop.create_future()
        # Whoever waits for it may have left.
        self._ready.add_done_callback(lambda ready: ready.cancelled() or ready.exception())
        self._task = loop.create_task(self._live(self._ready, self._stop))

    async def _live(self, ready: asyncio.Future[None], stop: asyncio.Event) -> None:
        try:
            async with self._enter() as value:
                self._begun(value)
                ready.set_result(None)
                await stop.wait()
        except (Exception, SystemExit, asyncio.CancelledError) as exc:
            if is_cancelled(exc):
                raise
            if ready.done():
                log.exception("the lifespan did not end well")
                return
            log.error("the lifespan failed", exc_info=exc)
            said = f": {exc}" if str(exc) else ""
            failed = LifespanFailed(f"its lifespan failed: {type(exc).__name__}{said}")
            failed.__cause__ = exc
            ready.set_exception(failed)
        finally:
            ready.cancel()

    async def release(self) -> None:
        """Leave it, if nobody else needs it. Takes no longer than work in flight may."""
        self._holders -= 1
        if self._holders or self._task is None or self._ready is None:
            return
        self._stop.set()
        if not self._ready.done():
            self._task.cancel()
        done, _ = await asyncio.wait([self._task], timeout=self._seconds)
        if not done:
            log.warning("the lifespan did not end in time")
            self._task.cancel()
