"""What `stdio` does once its settings are read. Imports nothing that the first answers do not need."""

import asyncio
import gc

from ..qortal.node import Node
from ..settings import NodeOptions
from ..transports.stdio import serve_stdio
from .chain import node_of, server_of

# Clients say initialize and tools/list one right after the other; then they wait for a person.
_QUIET_SECONDS = 0.1


def serve(chain: NodeOptions) -> None:
    """Serve standard input and output until the input ends.

    Raises: WrongSetting.
    """
    node = node_of(chain)
    server = server_of(chain, node)
    # What was loaded stays; from here on there may be garbage.
    gc.freeze()
    gc.enable()
    serve_stdio(server, on_idle=NodeLife(node).on_idle)


class NodeLife:
    """Loads what the first call needs once the client is quiet, and closes the node when the loop ends."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._task: asyncio.Task[None] | None = None
        self._heard = True

    def on_idle(self) -> None:
        """Something was just taken in."""
        self._heard = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._live())

    async def _live(self) -> None:
        try:
            while self._heard:
                self._heard = False
                await asyncio.sleep(_QUIET_SECONDS)
            await self._node.warm()
            await asyncio.get_running_loop().create_future()  # until the loop ends and cancels this
        finally:
            await self._node.close()
