"""Where functions run that block: a bounded number of threads, none of which delays the end of the process.

A function cannot be ended from outside. One whose call is over keeps its place until it returns.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from contextvars import copy_context
from queue import SimpleQueue
from typing import Any

from .outcomes import Crowded, as_failure

_Function = Callable[[], Any]
_Future = asyncio.Future[Any]


class Threads:
    """Runs functions, `most` at once. Threads are started when they are needed and used again."""

    def __init__(self, most: int, wait_seconds: float) -> None:
        self._most = most
        self._wait_seconds = wait_seconds
        self._lock = threading.Lock()
        self._jobs: SimpleQueue[_Function] = SimpleQueue()
        # Places that are taken, and threads that wait for a job.
        self._taken = 0
        self._idle = 0
        self._waiting: deque[_Future] = deque()

    async def run(self, function: _Function) -> Any:
        """What the function gives or raises, called in a thread with the context variables of this task.

        If this is cancelled, the function goes on and its outcome is dropped.

        Raises: Crowded.
        """
        await self._take_place()
        loop = asyncio.get_running_loop()
        outcome = loop.create_future()
        variables = copy_context()

        def job() -> None:
            try:
                value, failure = variables.run(function), None
            except BaseException as exc:
                value, failure = None, exc
            # First, so that whoever hears of the outcome finds the place free.
            self._free_place(idle=True)
            _tell(outcome, _settle, outcome, value, failure)

        with self._lock:
            is_new = not self._idle
            self._idle -= not is_new
        if is_new:
            try:
                threading.Thread(target=self._work, name="function", daemon=True).start()
            except RuntimeError:  # the system has no more of them
                self._free_place()
                raise Crowded from None
        self._jobs.put(job)
        return await outcome

    def _work(self) -> None:
        while True:
            self._jobs.get()()

    async def _take_place(self) -> None:
        with self._lock:
            if self._taken < self._most:
                self._taken += 1
                return
            place = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
        try:
            async with asyncio.timeout(self._wait_seconds):
                await place
        except BaseException as exc:
            with self._lock:
                given = place not in self._waiting
                if not given:
                    self._waiting.remove(place)
            if given:
                self._free_place()
            if isinstance(exc, TimeoutError):
                raise Crowded from None
            raise

    def _free_place(self, *, idle: bool = False) -> None:
        """Give a place to whoever waits the longest, or back."""
        with self._lock:
            self._idle += idle
            next_one = self._waiting.popleft() if self._waiting else None
            self._taken -= next_one is None
        if next_one is not None and not _tell(next_one, _settle, next_one, None, None):
            self._free_place()


def _tell(future: _Future, callback: Callable[..., None], *arguments: Any) -> bool:
    """Call back on the future's loop; False if that loop has ended."""
    try:
        future.get_loop().call_soon_threadsafe(callback, *arguments)
    except RuntimeError:
        return False
    return True


def _settle(future: _Future, value: Any, failure: BaseException | None) -> None:
    if future.done():
        return
    if failure is None:
        future.set_result(value)
    elif isinstance(failure, Exception) and not isinstance(failure, StopIteration):
        future.set_exception(failure)
    else:  # a future cannot carry it, or it would end the loop
        future.set_exception(as_failure(failure))
