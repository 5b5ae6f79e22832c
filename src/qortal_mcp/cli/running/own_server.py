"""Ask a server in this process the way any client does: bytes to `Server.receive`, bytes back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from ... import __version__
from ...from_settings import node_of, server_of
from ...protocol.errors import ErrorObject
from ...protocol.jsonrpc import request as encode_request
from ...protocol.messages import (
    CLIENT_CAPABILITIES,
    CLIENT_INFO,
    PROTOCOL_VERSION,
    ClientCapabilities,
    Implementation,
)
from ...protocol.versions import NEWEST_HANDSHAKE, is_modern
from ...server.dispatch import Server
from ...server.peer import Peer
from ...server.reply import Reply
from ...settings import NodeOptions
from ..output.progress import Progress, progress_words

# Most answers take a few hundredths of this; after that a person wonders what is going on.
SLOW_SECONDS = 1.0
_US = Implementation(name="qortal-mcp", version=__version__)


class Response(Struct, frozen=True):
    """A reply of the server: exactly one of the two is set."""

    result: Raw = Raw()
    error: ErrorObject | UnsetType = UNSET


async def ask_server(
    server: Server,
    method: str,
    params: object,
    revision: str = NEWEST_HANDSHAKE,
    heard: Callable[[bytes], None] = lambda message: None,
) -> Response:
    """One request and its reply. What the server says meanwhile, progress and log messages, is heard."""
    peer = Peer(lasting=True, caller="command line", limits=server.limits)
    if is_modern(revision):
        params = _modern(params, revision)
    else:
        peer.shake_hands(revision, ClientCapabilities())
    answer = server.receive(encode_request(1, method, msgspec.json.encode(params)), peer)
    if answer is not None and not isinstance(answer, Reply):

        async def send(message: bytes) -> None:
            heard(message)

        answer = await answer.run(send)
    assert answer is not None, "a request that nobody cancelled is answered"
    return msgspec.json.decode(answer.body, type=Response)


def _modern(params: object, revision: str) -> object:
    """The same with what every request of the modern era says about its client."""
    assert isinstance(params, dict), "the parameters of every method are an object"
    meta = {**params.get("_meta", {}), PROTOCOL_VERSION: revision, CLIENT_CAPABILITIES: {}, CLIENT_INFO: _US}
    return {**params, "_meta": meta}


class Own:
    """A server that can be asked more than once."""

    def __init__(self, server: Server, origin: str, revision: str) -> None:
        self.server = server
        self._origin = origin
        self._revision = revision
        self._progress = Progress()
        self._is_slow = False

    async def ask(self, method: str, params: object) -> Response:
        if method == "tools/call" and isinstance(params, dict):
            params = {**params, "_meta": {"progressToken": 1}}
        waiting = asyncio.get_running_loop().call_later(SLOW_SECONDS, self._say_that_it_waits)
        try:
            return await ask_server(self.server, method, params, self._revision, self._show_progress)
        finally:
            waiting.cancel()
            self._progress.clear()

    def _say_that_it_waits(self) -> None:
        if not self._is_slow:
            self._is_slow = True
            self._progress.wait(f"Waiting for {self._origin} …")

    def _show_progress(self, message: bytes) -> None:
        if words := progress_words(message):
            self._is_slow = True  # and says so itself
            self._progress.say(words)


@asynccontextmanager
async def opened(options: NodeOptions, revision: str = NEWEST_HANDSHAKE) -> AsyncIterator[Own]:
    """A new server, until the block ends."""
    node = node_of(options)
    try:
        yield Own(server_of(options, node), node.origin, revision)
    finally:
        await node.close()


def ask(
    options: NodeOptions, method: str, params: object, revision: str = NEWEST_HANDSHAKE
) -> tuple[Server, Response]:
    """One request to a new server, and its reply."""

    async def run() -> tuple[Server, Response]:
        async with opened(options, revision) as own:
            return own.server, await own.ask(method, params)

    return asyncio.run(run())
