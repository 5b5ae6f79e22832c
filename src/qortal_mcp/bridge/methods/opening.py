"""How a client and the server behind get to know each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ...client.errors import ClientError
from ...protocol import errors, messages, versions
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...server.methods.call import EMPTY, Call, Running
from ..eras import NO_CACHE, modern_result
from ..server_side.opening import Opening
from .answering import BridgeCall, failed, info_of

if TYPE_CHECKING:
    from ..connections import Behind

_encode = msgspec.json.Encoder().encode
_decode_params = decoder(dict[str, Raw])
_decode_askable = decoder(dict[str, dict[str, Raw]])
_LONGEST_INFO = 1000
# What a client can be asked for, and what it may say about that.
_ASKABLE: dict[str, tuple[str, ...]] = {
    "elicitation": ("form", "url"),
    "roots": (),
    "sampling": ("context", "tools"),
}
# What only the other era has among the capabilities of a server.
_LEGACY_ONLY, _MODERN_ONLY = ("tasks",), ("extensions",)


class _InitializeParams(Struct, frozen=True):
    """As it came: what the client says about itself goes on to the server."""

    protocolVersion: str
    capabilities: Raw | msgspec.UnsetType = UNSET
    clientInfo: Raw | msgspec.UnsetType = UNSET


_decode_initialize = decoder(_InitializeParams)
_decode_declared = decoder(messages.DeclaredCapabilities)


def initialize(call: BridgeCall) -> Running:
    params = call.params(_decode_initialize)
    bridge, peer = call.server, call.peer
    if peer.revision is not None:
        raise errors.ProtocolError(errors.INVALID_REQUEST, "this connection is initialized already")
    revision = versions.negotiate(params.protocolVersion)
    opening = Opening(revision, _object(params.clientInfo), _object(params.capabilities))
    behind = bridge.connections.own(peer, opening)
    # At once: clients may send their next request without waiting for the answer.
    peer.shake_hands(revision, _declared(params.capabilities))
    behind.clients.hub.join(peer)
    call.needs_context = False

    async def run(_: None) -> bytes:
        try:
            await behind.connection.ready()
        except ClientError as exc:
            peer.part()
            bridge.failed_to_open(peer)
            raise failed(exc, call) from None
        return _encode(_handshake(behind, revision, can_tell=peer.post is not None))

    return run


def _object(raw: Raw | msgspec.UnsetType) -> Raw | None:
    return raw if isinstance(raw, Raw) and bytes(memoryview(raw)[:1]) == b"{" else None


def _declared(raw: Raw | msgspec.UnsetType) -> messages.ClientCapabilities:
    if isinstance(raw, Raw):
        try:
            return _decode_declared(raw).bare()
        except UNREADABLE:
            pass
    return messages.ClientCapabilities()


def _handshake(behind: Behind, revision: str, *, can_tell: bool) -> dict[str, Any]:
    """What a client is told about the server, in its own revision."""
    told = dict(behind.upstream.handshake)
    told["protocolVersion"] = revision
    told["capabilities"] = announced(behind, can_tell=can_tell, modern=False)
    return told


def announced(behind: Behind, *, can_tell: bool, modern: bool) -> dict[str, Any]:
    """What a client is told that the server can do; of changed lists it hears only if they are among that."""
    upstream = behind.upstream
    found = upstream.handshake.get("capabilities")
    capabilities: dict[str, Any] = dict(found) if isinstance(found, dict) else {}
    if upstream.is_modern != modern:
        for name in _LEGACY_ONLY if modern else _MODERN_ONLY:
            capabilities.pop(name, None)
        if not can_tell:
            capabilities = _without_notices(capabilities)
        elif not modern:
            # Some modern servers write a log for whoever asks for it, and do not say so.
            capabilities.setdefault("logging", {})
    tools = capabilities.get("tools")
    drops_schemas = "structured-content-schema-mismatch" in upstream.way.repairs.codes
    if isinstance(tools, dict) and can_tell and drops_schemas and upstream.tools.declare_results:
        # A schema that a result contradicts is taken off the list, and clients are told.
        capabilities["tools"] = {**tools, "listChanged": True}
    behind.clients.announced.update(
        kind
        for kind, part in capabilities.items()
        if isinstance(part, dict) and part.get("listChanged") is True
    )
    return capabilities


def _without_notices(capabilities: dict[str, Any]) -> dict[str, Any]:
    """What is left for a client that can only be answered."""
    kept = {name: part for name, part in capabilities.items() if name != "logging"}
    for name, part in kept.items():
        if isinstance(part, dict):
            kept[name] = {
                what: value for what, value in part.items() if what not in ("listChanged", "subscribe")
            }
    return kept


def opening_of(call: Call[Any]) -> Opening:
    """How the client of a request introduces itself: a modern one in the request, an old one before it."""
    if not call.route.modern:
        return Opening(call.route.revision)
    try:
        meta = _decode_params(_decode_params(call.request.params or Raw(EMPTY))["_meta"])
    except (KeyError, *UNREADABLE):
        return Opening()
    info = _object(meta.get(messages.CLIENT_INFO, UNSET))
    if info is not None and len(bytes(info)) > _LONGEST_INFO:
        info = None
    return Opening("", info, _askable(meta.get(messages.CLIENT_CAPABILITIES, Raw(EMPTY))))


def _askable(declared: Raw) -> Raw | None:
    """What a client can be asked for, in one way of writing it; None if that is nothing."""
    try:
        found = _decode_askable(declared)
    except UNREADABLE:
        return None
    kept: dict[str, dict[str, Any]] = {
        name: {part: {} for part in _ASKABLE[name] if part in parts}
        for name, parts in found.items()
        if name in _ASKABLE
    }
    return Raw(_encode(dict(sorted(kept.items())))) if kept else None


def ping(call: BridgeCall) -> bytes:
    return EMPTY


def discover(call: BridgeCall) -> Running:
    behind = call.server.connections.serving(call)
    call.needs_context = False

    async def run(_: None) -> bytes:
        try:
            await behind.connection.ready()
        except ClientError as exc:
            raise failed(exc, call) from None
        upstream = behind.upstream
        answer: dict[str, Any] = {
            "supportedVersions": list(versions.MODERN),
            "capabilities": announced(behind, can_tell=True, modern=True),
        }
        if "instructions" in upstream.handshake:
            answer["instructions"] = upstream.handshake["instructions"]
        return modern_result(_encode(answer), info_of(upstream), NO_CACHE)

    return run
