"""Hearing of changes: subscriptions of both eras, and how much of the server's log a client wants."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET

from ...client.errors import ClientError
from ...protocol import errors, jsonrpc, messages
from ...protocol.decoding import decoder
from ...protocol.messages import SUBSCRIPTION_ID, ListenFilter
from ...server.caller import rated
from ...server.context import Context
from ...server.methods.call import EMPTY, Running
from ..eras import modern_result
from .answering import BridgeCall, failed, info_of, params_of
from .opening import announced
from .passing import passed_on

if TYPE_CHECKING:
    from ..connections import Behind

_encode = msgspec.json.Encoder().encode
_decode_uri = decoder(messages.SubscribeParams)
_decode_level = decoder(messages.SetLevelParams)
_decode_listen = decoder(messages.ListenParams)
_NOT_ACCEPTED = "the server accepts no subscription to this resource"


def subscribe(call: BridgeCall) -> Running:
    """Passed on to an old server; a modern one has another way. The bridge remembers who hears of what."""
    uri = call.params(_decode_uri).uri
    params = params_of(call)

    async def run(context: Context) -> bytes:
        if len(call.peer.subscriptions) >= call.server.limits.peer_subscriptions:
            raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
        behind = await _ready(call)
        if not behind.upstream.is_modern:
            answer = await passed_on(call, context, params)
        else:
            _require(behind, "resources", "subscribe")
            await _watch(call, behind, uri)
            answer = EMPTY
        call.peer.subscriptions.add(uri)
        return answer

    return run


def unsubscribe(call: BridgeCall) -> Running:
    uri = call.params(_decode_uri).uri
    params = params_of(call)

    async def run(context: Context) -> bytes:
        behind = await _ready(call)
        if not behind.upstream.is_modern:
            answer = await passed_on(call, context, params)
            call.peer.subscriptions.discard(uri)
            return answer
        call.peer.subscriptions.discard(uri)
        await _forget(behind, [uri])
        return EMPTY

    return run


def set_level(call: BridgeCall) -> Running:
    """Passed on to an old server; a modern one is told with each request."""
    params = params_of(call)

    async def run(context: Context) -> bytes:
        behind = await _ready(call)
        if not behind.upstream.is_modern:
            return await passed_on(call, context, params)
        _require(behind, "logging")
        call.peer.log_level = call.params(_decode_level).level
        return EMPTY

    return run


async def _ready(call: BridgeCall) -> Behind:
    """Raises: ProtocolError."""
    behind = call.server.connections.serving(call)
    try:
        await behind.connection.ready()
    except ClientError as exc:
        raise failed(exc, call) from None
    return behind


def _require(behind: Behind, kind: str, flag: str = "") -> None:
    """Raises: ProtocolError if the server does not declare this."""
    part = announced(behind, can_tell=True, modern=False).get(kind)
    if not isinstance(part, dict) or (flag and part.get(flag) is not True):
        raise errors.ProtocolError(errors.METHOD_NOT_FOUND, "Method not found")


async def _watch(call: BridgeCall, behind: Behind, uri: str) -> None:
    """Raises: ProtocolError."""
    try:
        is_accepted = await behind.upstream.watch(uri)
    except ClientError as exc:
        raise failed(exc, call) from None
    if not is_accepted:
        raise errors.ProtocolError(errors.INVALID_PARAMS, _NOT_ACCEPTED)


async def _forget(behind: Behind, uris: Iterable[str]) -> None:
    """Tell the server what nobody watches any more. That this is not possible is no reason to fail."""
    for uri in uris:
        if not behind.clients.hub.is_watched(uri):
            with contextlib.suppress(ClientError):
                await behind.upstream.unwatch(uri)


def listen(call: BridgeCall) -> Running:
    """A subscription of a modern client: notices of the server go there, whatever its era."""
    wanted = call.params(_decode_listen).notifications
    streams = sum(work.streams for work in call.peer.working.values())
    if streams >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    meta = {SUBSCRIPTION_ID: call.request.id}

    async def run(context: Context) -> bytes:
        behind = await _ready(call)
        watched: list[str] = []
        try:
            accepted = await _accepted(behind, wanted, call.server.limits.peer_subscriptions, watched)
        except BaseException as exc:
            call.server.start(_forget(behind, watched))
            if isinstance(exc, ClientError):
                raise failed(exc, call) from None
            raise
        hub = behind.clients.hub
        listener = hub.listen(call.request.id, accepted, rated(call.peer.caller))
        try:
            told = _encode({"notifications": accepted, "_meta": meta})
            await context.send(jsonrpc.notification("notifications/subscriptions/acknowledged", told))
            while (message := await listener.next()) is not None:
                await context.send(message)
            if call.peer.lasting:
                over = _encode({"requestId": call.request.id, "reason": "the bridge is stopping"})
                await context.send(jsonrpc.notification("notifications/cancelled", over))
            return modern_result(_encode({"_meta": meta}), info_of(behind.upstream), None)
        finally:
            hub.drop(listener)
            call.server.start(_forget(behind, listener.uris))

    return run


async def _accepted(behind: Behind, wanted: ListenFilter, most: int, watched: list[str]) -> ListenFilter:
    """The part of a subscription that the server can keep. `watched` are the resources that it was told of.

    Raises: ClientError.
    """
    capabilities = announced(behind, can_tell=True, modern=True)

    def has(kind: str, flag: str) -> bool:
        found = capabilities.get(kind)
        return isinstance(found, dict) and found.get(flag) is True

    uris: list[str] = []
    if wanted.resourceSubscriptions is not UNSET and has("resources", "subscribe"):
        for uri in list(dict.fromkeys(wanted.resourceSubscriptions))[:most]:
            watched.append(uri)
            if await behind.upstream.watch(uri):
                uris.append(uri)
    return ListenFilter(
        toolsListChanged=wanted.toolsListChanged and has("tools", "listChanged"),
        promptsListChanged=wanted.promptsListChanged and has("prompts", "listChanged"),
        resourcesListChanged=wanted.resourcesListChanged and has("resources", "listChanged"),
        resourceSubscriptions=uris or UNSET,
    )
