"""A node in this process that answers some targets as told, and the others from the sample chain."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.source import RawReply

from .live_chain import live_answer

# From a target to what the node says there: JSON as a value or as text, a whole reply, or None for the sample's answer.
Tell = Callable[[str], Any]


class ToldNode:
    """A source; `asked` is what it was asked."""

    origin = "told"

    def __init__(self, tell: Tell = lambda target: None) -> None:
        self.asked: list[str] = []
        self._tell = tell

    async def fetch(self, request: Request) -> RawReply:
        self.asked.append(request.target)
        await asyncio.sleep(0)
        said = self._tell(request.target)
        if said is None:
            return live_answer(request.target)
        if isinstance(said, RawReply):
            return said
        body = said if isinstance(said, str) else json.dumps(said)
        return RawReply(200, "application/json", body.encode())

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


def fails(number: int = 999) -> RawReply:
    """An error of Core's."""
    return RawReply(400, "application/json", b'{"error":%d,"message":"x"}' % number)
