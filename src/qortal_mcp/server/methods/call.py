"""One accepted request on its way through a handler, and what every handler needs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from ...protocol import errors, headers, jsonrpc, results
from ...protocol.decoding import decoder
from ...protocol.inbound import Route
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.messages import ClientCapabilities, DeclaredCapabilities
from ...text import printable, shortened
from .. import tool_errors
from ..asking import questions_of
from ..context import Context, Send
from ..input.private_keys import looks_secret
from ..peer import Peer

if TYPE_CHECKING:
    from ..dispatch import Server
    from ..receiver import Receiver
    from ..watching.spans import Span

# Called with a context unless the call says that it needs none.
Running = Callable[[Any], Awaitable[bytes]]
_Params = TypeVar("_Params")
_Receiver = TypeVar("_Receiver", bound="Receiver")
encode = msgspec.json.Encoder().encode
_encode_sorted = msgspec.json.Encoder(order="deterministic").encode
_NO_CAPABILITIES = ClientCapabilities()
_decode_capabilities = decoder(DeclaredCapabilities)
EMPTY = b"{}"
_LOOKED_AT = 10_000


class Call(Generic[_Receiver]):
    """One accepted request on its way through a handler of this kind of receiver."""

    __slots__ = (
        "error_type",
        "http",
        "needs_context",
        "peer",
        "purpose",
        "request",
        "responses",
        "retry_after",
        "route",
        "server",
        "shape",
        # Only set for requests that are traced.
        "span",
        "state",
        "tool_name",
    )
    span: Span

    def __init__(
        self,
        server: _Receiver,
        peer: Peer,
        request: jsonrpc.Request,
        route: Route,
        http: headers.Mirrored | None,
    ) -> None:
        self.server = server
        self.peer = peer
        self.request = request
        self.route = route
        self.http = http
        self.shape = server.shapes[route.revision]
        self.tool_name = ""
        # Whether the function that runs wants to do more than return.
        self.needs_context = True
        # What logs and metrics call the outcome; empty for a success.
        self.error_type = ""
        self.retry_after: float | None = None
        # What binds a sealed state to this call, and what the client answered (modern only).
        self.purpose = b""
        self.responses: Any = UNSET
        self.state: Any = UNSET

    def params(self, decode: Callable[[Raw], _Params]) -> _Params:
        """Raises: ProtocolError if the parameters are not what the method takes."""
        raw = self.request.params
        try:
            return decode(Raw(EMPTY) if raw is None else raw)
        except msgspec.ValidationError as exc:
            raise errors.ProtocolError(errors.INVALID_PARAMS, f"Invalid params: {exc}") from None
        except UNREADABLE:
            raise errors.ProtocolError(errors.PARSE_ERROR, "Parse error: not readable JSON") from None

    def context(self, send: Send, close_stream: Callable[[], None] | None) -> Context:
        meta, modern = self.route.meta, self.route.modern
        return Context(
            server=self.server,
            peer=self.peer,
            revision=self.route.revision,
            request_id=self.request.id,
            capabilities=_read_capabilities(meta.capabilities) if modern else self.peer.capabilities,
            send=send,
            progress_token=meta.progress_token,
            log_level=(meta.log_level if meta.log_level is not UNSET else None)
            if modern
            else self.peer.log_level,
            questions=questions_of(self.server.seal, self.purpose, self.responses, self.state)
            if modern and self.purpose
            else None,
            close_stream=close_stream,
        )

    def may_ask(self, what: Any, params: Any) -> None:
        """Remember what a retry of this call must be about, and the answers it came with."""
        if self.route.modern:
            self.purpose = _encode_sorted([self.request.method, what])
            self.responses, self.state = params.inputResponses, params.requestState

    def tool_failed(self, error: tool_errors.ToolError) -> bytes:
        self.error_type = error.code
        self.retry_after = error.retry_after
        key = self.server.options.error_key
        meta = None if key is None else {key: {"code": error.code, "retryable": error.retryable}}
        return self.shape.complete(results.error_result(str(error)), meta)


ServerCall: TypeAlias = "Call[Server]"


def repeated(text: str, at_most: int) -> str:
    """What a client called something, for an error, unless it looks like a secret."""
    from urllib.parse import unquote  # not needed to start

    # No more is looked at than a secret needs: a client may have sent a megabyte.
    is_secret = looks_secret(unquote(text[:_LOOKED_AT]))
    return "(not repeated)" if is_secret else printable(shortened(text, at_most))


def _read_capabilities(declared: dict[str, Raw] | UnsetType) -> ClientCapabilities:
    if not declared or isinstance(declared, UnsetType):
        return _NO_CAPABILITIES
    try:
        return _decode_capabilities(encode(declared)).bare()
    except UNREADABLE:
        return _NO_CAPABILITIES
