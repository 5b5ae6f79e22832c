"""Ask a server in this process the way any client does: bytes to `Server.receive`, bytes back."""

import asyncio
from collections.abc import Callable

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ...from_settings import node_of, server_of
from ...protocol.errors import ErrorObject
from ...protocol.jsonrpc import request as encode_request
from ...protocol.messages import ClientCapabilities
from ...protocol.versions import NEWEST_HANDSHAKE
from ...server.dispatch import Server
from ...server.peer import Peer
from ...server.reply import Reply
from ...settings import NodeOptions

# Most answers take a few hundredths of this; after that a person wonders what is going on.
_SLOW_SECONDS = 1.0


class Response(Struct, frozen=True):
    """A reply of the server: exactly one of the two is set."""

    result: Raw = Raw()
    error: ErrorObject | UnsetType = UNSET


async def ask_server(server: Server, method: str, params: object) -> Response:
    """One request and its reply."""
    peer = Peer(lasting=True, caller="command line", limits=server.limits)
    peer.shake_hands(NEWEST_HANDSHAKE, ClientCapabilities())
    answer = server.receive(encode_request(1, method, msgspec.json.encode(params)), peer)
    if answer is not None and not isinstance(answer, Reply):
        answer = await answer.run(_drop)
    assert answer is not None, "a request that nobody cancelled is answered"
    return msgspec.json.decode(answer.body, type=Response)


async def _drop(message: bytes) -> None:
    """Progress and log messages: not needed here."""


def ask(
    options: NodeOptions, method: str, params: object, on_slow: Callable[[str], None] | None = None
) -> tuple[Server, Response]:
    """One request to a new server, and its reply. `on_slow` gets the node that keeps us waiting."""

    async def run() -> tuple[Server, Response]:
        node = node_of(options)
        server = server_of(options, node)
        waiting = on_slow and asyncio.get_running_loop().call_later(
            _SLOW_SECONDS, lambda: on_slow(node.origin)
        )
        try:
            return server, await ask_server(server, method, params)
        finally:
            if waiting:
                waiting.cancel()
            await node.close()

    return asyncio.run(run())
