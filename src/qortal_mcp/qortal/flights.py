"""Identical work in flight is done once, however many wait for it."""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any


class Flights:
    """Work by what it does: in the task of whoever came first, or in one of its own in the background."""

    def __init__(self) -> None:
        self._shared: dict[Hashable, asyncio.Future[Any]] = {}
        self._tasks: dict[Hashable, asyncio.Task[Any]] = {}

    async def join(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        """The outcome of this work. Who comes while it is being done waits for it and does not repeat it."""
        while True:
            shared = self._shared.get(key)
            if shared is None:
                return await self._lead(key, work)
            try:
                return await asyncio.shield(shared)
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if not shared.cancelled() or (task is not None and task.cancelling()):
                    raise
                # Whoever did it gave up, not we: do it ourselves, or join who was quicker.

    async def _lead(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
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

    def start(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, Any]]) -> "asyncio.Task[Any]":
        """A task that does this work in the background, started if nobody did yet."""
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.get_running_loop().create_task(work())
            task.add_done_callback(lambda done: self._landed(key, done))
        return task

    def _landed(self, key: Hashable, task: "asyncio.Task[Any]") -> None:
        self._tasks.pop(key, None)
        if not task.cancelled():
            task.exception()  # seen, even if everybody who waited has left

    async def close(self) -> None:
        """End what goes on in the background."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
