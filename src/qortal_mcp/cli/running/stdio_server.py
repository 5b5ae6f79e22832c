"""What `stdio` does once its settings are read. Imports only what the first answers need."""

import asyncio
import gc
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from ...from_settings import check_nodes, metrics_file_of, node_of, server_of
from ...settings import NodeOptions, WatchOptions
from ...transports.stdio import serve_stdio

if TYPE_CHECKING:
    from ...qortal.node.node import Node
    from ...server.dispatch import Server

# Clients send initialize and tools/list right after each other; then they wait for a person.
_QUIET_SECONDS = 0.1
_WAITING = (
    "Waiting for MCP messages on standard input, one per line. AI clients start this command themselves; "
    "to ask something yourself, use qortal-mcp call. Stop with Ctrl-D or Ctrl-C."
)


def serve(chain: NodeOptions, watching: WatchOptions) -> None:
    """Serve standard input and output until the input ends.

    Raises: WrongSetting.
    """
    check_nodes(chain)
    life = NodeLife(chain, watching)
    server = server_of(chain, life.make, watching=watching)
    metrics_file = metrics_file_of(watching, server.metrics, life.look)
    if sys.stdin is not None and sys.stdin.isatty():
        _tell_a_person()
    # What was loaded stays; there may be garbage from here on.
    gc.freeze()
    gc.enable()
    serve_stdio(server, on_idle=lambda: life.heard(server), beside=metrics_file)


def _tell_a_person() -> None:
    """Nobody types MCP, so whoever started this in a terminal waits for something else."""
    if sys.stderr is not None:
        with suppress(OSError):  # a full or closed standard error is no reason not to serve
            print(_WAITING, file=sys.stderr, flush=True)


class NodeLife:
    """Creates the node when it is needed, or once the client is quiet, and closes it when the loop ends."""

    def __init__(self, chain: NodeOptions, watching: WatchOptions) -> None:
        self._chain = chain
        self._watching = watching
        self._node: Node | None = None
        self._task: asyncio.Task[None] | None = None
        self._heard = True

    def make(self) -> "Node":
        self._node = node_of(self._chain, self._watching)
        return self._node

    async def look(self) -> None:
        """Bring what is shown about the node up to date, if there is one yet."""
        if self._node is not None:
            await self._node.look()

    def heard(self, server: "Server") -> None:
        """A message was just received."""
        self._heard = True
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._live(server))

    async def _live(self, server: "Server") -> None:
        try:
            while self._heard:
                self._heard = False
                await asyncio.sleep(_QUIET_SECONDS)
            await asyncio.to_thread(server.load)
            if self._node is not None:
                await self._node.warm()
            await asyncio.get_running_loop().create_future()  # until the loop ends and cancels this
        finally:
            if self._node is not None:
                await self._node.close()
