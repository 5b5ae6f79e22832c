"""Ask a server in this process, by the same way in as any client: bytes to `Server.receive`, bytes back."""

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ..protocol.errors import ErrorObject
from ..protocol.jsonrpc import request as encode_request
from ..protocol.messages import ClientCapabilities
from ..protocol.versions import NEWEST_HANDSHAKE
from ..server.dispatch import Reply, Server
from ..server.peer import Peer


class Response(Struct, frozen=True):
    """A reply of the server: one of the two is there."""

    result: Raw = Raw()
    error: ErrorObject | UnsetType = UNSET


async def ask(server: Server, method: str, params: object) -> Response:
    """One request and its reply."""
    peer = Peer(lasting=True, caller="command line", limits=server.limits)
    peer.shake_hands(NEWEST_HANDSHAKE, ClientCapabilities())
    answer = server.receive(encode_request(1, method, msgspec.json.encode(params)), peer)
    if answer is not None and not isinstance(answer, Reply):
        answer = await answer.run(_drop)
    assert answer is not None, "a request that nobody cancelled is answered"
    return msgspec.json.decode(answer.body, type=Response)


async def _drop(message: bytes) -> None:
    """Progress and log messages: nobody asked for them."""
