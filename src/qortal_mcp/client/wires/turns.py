"""A server that never stops talking leaves time to everything else: whoever reads it gives way after a few messages.

A pipe hands over 64 KiB at once, which may be a thousand messages. Taken in one go they would hold up every other server and client of
the process for a tenth of a second, again and again.
"""

import asyncio

# Taking this many costs less than a millisecond, and giving way a hundredth of that.
_MESSAGES = 4
# Lines that are only kept.
LINES = 256


class Turn:
    """What one reader has taken since it last gave way."""

    def __init__(self, most: int = _MESSAGES) -> None:
        self._most = most
        self._taken = 0

    async def took_one(self) -> None:
        """Called after each message. Gives way if that was the last of a turn."""
        self._taken += 1
        if self._taken >= self._most:
            self._taken = 0
            await asyncio.sleep(0)
