"""Takes turns in starting servers, so that a long list of them does not start all at once."""

import asyncio
import contextlib
from collections.abc import AsyncIterator


class Starts:
    """A few at a time. One that takes long gives its turn away, so that it holds up nobody."""

    def __init__(self, most: int, seconds: float) -> None:
        self._turns = asyncio.Semaphore(most)
        self._seconds = seconds

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        await self._turns.acquire()
        is_over = False

        def over() -> None:
            nonlocal is_over
            if not is_over:
                is_over = True
                self._turns.release()

        timer = asyncio.get_running_loop().call_later(self._seconds, over)
        try:
            yield
        finally:
            timer.cancel()
            over()
