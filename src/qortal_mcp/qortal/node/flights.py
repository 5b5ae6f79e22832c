"""Identical work in flight is done once, however many callers wait for it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from ...server.tool_errors import ToolError

T = TypeVar("T")


class Flights(Generic[T]):
    """Work by key, done in the task of the first caller: a task of its own would cost more than a cache hit."""

    def __init__(self) -> None:
        self._shared: dict[Hashable, asyncio.Future[T]] = {}

    async def join(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """The outcome of this work. A caller that arrives while it is being done waits for it and does not repeat it."""
        while (shared := self._shared.get(key)) is not None:
            try:
                return await asyncio.shield(shared)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not shared.cancelled() or (task is not None and task.cancelling()):
                    raise
                # The caller doing it was cancelled, not this one: do it here, or join whoever was quicker.
            except ToolError as exc:
                if exc.code != "RATE_LIMITED":
                    raise
                # The caller doing it lost its waiting place. This one may still have a right to one.
        shared = self._shared[key] = asyncio.get_running_loop().create_future()
        try:
            result = await work()
        except asyncio.CancelledError:
            shared.cancel()
            raise
        except Exception as exc:
            shared.set_exception(exc)
            shared.exception()  # seen, even if nobody else waits
            raise
        else:
            shared.set_result(result)
            return result
        finally:
            del self._shared[key]
            # A failure refers to this frame, and the future to the failure: both would stay until the garbage collector comes by.
            del shared


class Background:
    """Work by key, in tasks of its own: nobody needs to wait for it."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    def start(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> "asyncio.Task[T]":
        """The task that does this work, started if it is not running yet."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.get_running_loop().create_task(work())
            task.add_done_callback(lambda done: self._landed(key, done))
        return task

    def _landed(self, key: Hashable, task: "asyncio.Task[Any]") -> None:
        self._tasks.pop(key, None)
        if not task.cancelled():
            task.exception()  # seen, even if all waiting callers have left

    async def close(self) -> None:
        """Cancel everything that is running."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
