"""A client's background tasks, each of them awaited in the end."""

import asyncio
from collections.abc import Coroutine
from typing import Any


class Tasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task

    def __len__(self) -> int:
        return len(self._running)

    async def over(self) -> None:
        """Wait until none is running."""
        while self._running:
            await asyncio.wait(self._running)

    async def close(self, seconds: float = 0.0) -> None:
        """Let them finish within this time, then cancel them."""
        running = set(self._running)
        if running and seconds:
            await asyncio.wait(running, timeout=seconds)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
