"""What `serve` logs about its chain once it listens: where answers come from, and whether it works. Never delays the start."""

import asyncio
import logging
from contextlib import AsyncExitStack, suppress

from ....qortal.node.node import Node
from ....qortal.node.origin import origin_of
from ....qortal.server import readiness
from ....settings import NodeOptions

log = logging.getLogger(__name__)


class StartupReport:
    """Asks the node once, in the background, and ends with the application."""

    def __init__(self, node: Node, chain: NodeOptions) -> None:
        self._node = node
        self._chain = chain
        self._asking: asyncio.Task[None] | None = None

    async def live(self, stack: AsyncExitStack) -> None:
        """Live as long as the application does."""
        stack.push_async_callback(self._end)

    def begin(self) -> None:
        """To be called in the loop that serves."""
        if self._chain.sample:
            log.info("answers come from the sample chain: test data, not the real Qortal chain")
            return
        nodes = ", ".join(origin_of(url) for url in self._chain.node)
        log.info("will ask this node", extra={"qortal_mcp.node": nodes})
        self._asking = asyncio.get_running_loop().create_task(self._ask())

    async def _ask(self) -> None:
        facts, is_ready = await readiness(self._node)
        about: dict[str, object] = {"qortal_mcp.node": facts.node, "qortal_mcp.height": facts.height}
        if facts.height is None:
            log.warning(
                "no usable node answers; tools will fail until one does",
                extra={"qortal_mcp.node": facts.node},
            )
        elif facts.isSynchronizing:
            log.warning("the node answers, but is still synchronizing", extra=about)
        elif not is_ready:
            about["qortal_mcp.tip_age_seconds"] = facts.tipAgeSeconds
            log.warning("the node answers, but is behind: its newest block is old", extra=about)
        else:
            log.info("the node answers", extra=about)

    async def _end(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
            with suppress(asyncio.CancelledError):
                await self._asking
