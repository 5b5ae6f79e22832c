"""Nodes at one block: only there can they be compared."""

import asyncio
from collections.abc import Callable, Sequence

from ....server.tool_errors import ToolError
from ...endpoints.blocks import BLOCK_AT_HEIGHT
from ...limits import NodeLimits
from ..as_of import Tip
from ..upstream import Upstream

_PAUSE_SECONDS = 0.25


class Meeting:
    """Brings nodes to one block, or learns that they stay apart."""

    def __init__(self, limits: NodeLimits, now: Callable[[], float]) -> None:
        self.limits = limits
        self.now = now
        # Whether nodes that were waited for in vain are on one chain with the one that answered, and both newest blocks.
        # As long as these stay the same, nobody waits again.
        self._apart: dict[Upstream, tuple[str, str, bool]] = {}

    async def tips(
        self, main: Upstream, others: Sequence[Upstream], deadline: float
    ) -> tuple[Tip, list[Tip | None]]:
        """The newest blocks, as soon as all are the same, or at the deadline; None of a node that does not say it.

        Raises: ToolError if the main node does not.
        """
        while True:
            moment = self.now()
            mine, *theirs = await asyncio.gather(
                main.tip_since(moment), *(_tip_or_none(each, moment) for each in others)
            )
            assert mine is not None, "tip_since gives a tip or raises"
            is_over = moment >= deadline or all(
                tip is None or tip.block == mine.block or self._known(each, mine, tip) is not None
                for each, tip in zip(others, theirs, strict=True)
            )
            if is_over:
                return mine, theirs
            await asyncio.sleep(_PAUSE_SECONDS)

    def _known(self, other: Upstream, mine: Tip, theirs: Tip) -> bool | None:
        my_block, their_block, is_one = self._apart.get(other, ("", "", None))
        return is_one if (my_block, their_block) == (mine.block, theirs.block) else None

    async def is_one_chain(self, main: Upstream, mine: Tip, other: Upstream, theirs: Tip) -> bool | None:
        """Whether both have the same block at the lowest common height; None if that cannot be said."""
        is_one = self._known(other, mine, theirs)
        if is_one is not None:
            return is_one
        if mine.height == theirs.height:
            is_one = mine.block == theirs.block
        else:
            higher, low = (main, theirs) if mine.height > theirs.height else (other, mine)
            request = BLOCK_AT_HEIGHT.request({"height": low.height})
            try:
                async with asyncio.timeout(self.limits.confirm_seconds):
                    block, _ = await higher.ask(BLOCK_AT_HEIGHT, request)
            except (ToolError, TimeoutError):
                return None
            is_one = block.signature == low.block
        self._apart[other] = (mine.block, theirs.block, is_one)
        return is_one


async def _tip_or_none(upstream: Upstream, moment: float) -> Tip | None:
    try:
        return await upstream.tip_since(moment)
    except ToolError:
        return None
