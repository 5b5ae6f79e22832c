"""Events on their way to a client that may read slowly."""

import asyncio
from collections import deque
from collections.abc import Callable

from ...transports.streams import EventSender


class EventQueue:
    """What happens is put in at once, and sent in its order. A client that leaves too much unread is given up."""

    def __init__(self, sender: EventSender, most_bytes: int, give_up: Callable[[], None]) -> None:
        self._sender = sender
        self._most_bytes = most_bytes
        self._give_up = give_up
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._news = asyncio.Event()
        self._is_over = False

    def put(self, event: bytes) -> None:
        self._waiting.append(event)
        self._bytes += len(event)
        self._news.set()
        if self._bytes > self._most_bytes:
            self._give_up()

    def end(self) -> None:
        """Nothing more comes: `send_all` returns when everything is sent."""
        self._is_over = True
        self._news.set()

    async def send_all(self) -> None:
        while self._waiting or not self._is_over:
            if not self._waiting:
                self._news.clear()
                await self._news.wait()
                continue
            event = self._waiting.popleft()
            self._bytes -= len(event)
            await self._sender.send(event)
