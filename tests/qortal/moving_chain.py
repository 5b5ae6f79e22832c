"""A chain that moves by hand: new blocks, changed answers, a node that goes away and comes back."""

import asyncio
import json
from typing import Any

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node import failures
from qortal_mcp.qortal.node.source import RawReply

from .live_chain import live_answer


class MovingChain:
    """The sample chain with other replies for some targets, and blocks on top. A source."""

    origin = "moving"

    def __init__(self) -> None:
        self.height = 596
        # Target -> members that are different there, or None: nothing is there.
        self.changed: dict[str, dict[str, Any] | None] = {}
        self.is_away = False
        self.asked: list[str] = []
        self._looked = asyncio.Event()

    async def fetch(self, request: Request) -> RawReply:
        target = request.target
        self.asked.append(target)
        await asyncio.sleep(0)
        if target == "/blocks/last":
            self._looked.set()
        if self.is_away:
            raise failures.unreachable(self.origin)
        reply = live_answer(target)
        if target in self.changed and self.changed[target] is None:
            return RawReply(404, "application/json", b'{"error":401,"message":"name unknown"}')
        more = dict(self.changed.get(target) or {})
        if target in ("/blocks/last", "/admin/status"):
            more = {"height": self.height}
        if target == "/blocks/last":
            more["signature"] = f"block{self.height}"
        if not more:
            return reply
        return RawReply(200, "application/json", json.dumps({**json.loads(reply.body), **more}).encode())

    async def looked_at(self, times: int = 2) -> None:
        """Until the newest block was asked for so many times more: whoever looks has seen what is there."""
        for _ in range(times):
            self._looked.clear()
            await self._looked.wait()

    async def warm(self) -> None: ...

    async def close(self) -> None: ...
