"""The other side of a connection, a session, or of one stateless request: what is known about it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Literal

from msgspec import Raw

from ..limits import DEFAULT, Limits
from ..protocol import errors, jsonrpc
from ..protocol.decoding import decode_as
from ..protocol.inbound import Arrival
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import ClientCapabilities, LogLevel

if TYPE_CHECKING:
    from .context import Send
    from .work import Work

Transport = Literal["", "pipe", "tcp"]
_NOTHING = ClientCapabilities()
_LASTING, _PASSING = Arrival(lasting=True), Arrival()


class Peer:
    """State that outlives a request. A stateless HTTP request gets one of its own and drops it.

    `post` puts a message that belongs to no request on the wire without waiting; it returns False when the
    other side reads too slowly, and is None where no such channel exists.
    """

    __slots__ = (
        "_asked",
        "arrival",
        "busy",
        "caller",
        "capabilities",
        "lasting",
        "limits",
        "log_level",
        "post",
        "revision",
        "subscriptions",
        "transport",
        "working",
        "write",
    )

    def __init__(
        self,
        *,
        lasting: bool,
        caller: Hashable = "local",
        post: Callable[[bytes], bool] | None = None,
        limits: Limits = DEFAULT,
        transport: Transport = "",
    ) -> None:
        self.lasting = lasting
        # How it is connected, as metrics name it.
        self.transport = transport
        # Who is counted for rate limits and waiting places, see `caller.py`.
        self.caller = caller
        self.post = post
        # Waits until the other side of a lasting connection can take a message; None where no such channel exists.
        self.write: Send | None = None
        self.limits = limits
        self.revision: str | None = None
        self.capabilities = _NOTHING
        self.log_level: LogLevel | None = None
        self.subscriptions: set[str] = set()
        # Requests being worked on, subscriptions aside.
        self.busy = 0
        self.working: dict[jsonrpc.RequestId, Work] = {}
        self._asked: dict[jsonrpc.RequestId, asyncio.Future[Raw]] = {}
        self.arrival = _LASTING if lasting else _PASSING

    def shake_hands(self, revision: str, capabilities: ClientCapabilities) -> None:
        self.revision = revision
        self.capabilities = capabilities
        self.arrival = Arrival(handshake=revision, lasting=self.lasting)

    def part(self) -> None:
        """Take the handshake back: it came to nothing."""
        self.revision = None
        self.capabilities = _NOTHING
        self.arrival = _LASTING if self.lasting else _PASSING

    async def request(self, send: Send, method: str, params: bytes, timeout: float) -> Raw:
        """Send a request of ours and wait for its result (legacy era only).

        Raises: ProtocolError with the client's own error; TimeoutError.
        """
        # Unguessable: on HTTP anybody may post an answer, and only the asked client knows the id.
        id_ = os.urandom(18).hex()
        future: asyncio.Future[Raw] = asyncio.get_running_loop().create_future()
        self._asked[id_] = future
        try:
            await send(jsonrpc.request(id_, method, params))
            async with asyncio.timeout(timeout):
                return await future
        finally:
            del self._asked[id_]

    def answered(self, response: jsonrpc.Response) -> None:
        """Hand a response to the waiting call. Unknown ids are ignored: races are legitimate."""
        future = self._asked.get(response.id) if response.id is not None else None
        if future is None or future.done():
            return
        if response.result is not None:
            future.set_result(response.result)
            return
        future.set_exception(_client_error(response.error))

    def notify(self, message: bytes) -> bool:
        return self.post is not None and self.post(message)


def _client_error(raw: Raw | None) -> errors.ProtocolError:
    try:
        error = decode_as(raw or b"{}", errors.ErrorObject)
    except UNREADABLE:
        error = errors.ErrorObject(errors.INTERNAL_ERROR, "the client answered with an unreadable error")
    return errors.ProtocolError(error.code, error.message)
