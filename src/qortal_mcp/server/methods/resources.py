"""Resources: reading them, and hearing of their changes."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from msgspec import UNSET

from ...protocol import errors, jsonrpc, messages, results
from ...protocol.decoding import decoder
from ...protocol.messages import SUBSCRIPTION_ID, ListenFilter
from .. import tool_errors
from ..caller import rated
from ..context import Context
from ..offers.resource import ResourceNotFound
from .call import EMPTY, Running, ServerCall, encode, repeated

# No honest address is longer, and those of subscriptions are kept.
_LONGEST_URI = 2048


_decode_read = decoder(messages.ReadResourceParams)
_decode_subscribe = decoder(messages.SubscribeParams)


def read_resource(call: ServerCall) -> Running:
    params = call.params(_decode_read)
    found = call.server.catalogue.find_resource(params.uri) if len(params.uri) <= _LONGEST_URI else None
    if found is None:
        raise _resource_not_found(call, params.uri)
    bound, variables = found
    call.may_ask(params.uri, params)

    async def run(context: Context) -> bytes:
        try:
            value = bound.call(variables, context)
            if inspect.isawaitable(value):
                value = await value
        except ResourceNotFound:
            raise _resource_not_found(call, params.uri) from None
        except tool_errors.ToolError as exc:
            # A resource has no `isError`: only the code tells a mistake of the caller from a failure of the server.
            mine = exc.code in ("INVALID_ARGUMENT", "NOT_FOUND", "REFUSED")
            if mine:
                raise _resource_not_found(call, params.uri, str(exc)) from None
            raise errors.ProtocolError(errors.INTERNAL_ERROR, str(exc)) from None
        body = encode(messages.ReadResourceResult(contents=bound.resource.contents(params.uri, value)))
        # What a resource says may change at any moment: keep the bytes, but ask again.
        return call.shape.complete(body, cache=results.CacheHint(0))

    return run


def _resource_not_found(call: ServerCall, uri: str, why: str = "Resource not found") -> errors.ProtocolError:
    code = errors.INVALID_PARAMS if call.route.modern else errors.RESOURCE_NOT_FOUND
    return errors.ProtocolError(code, why, {"uri": repeated(uri, 500)})


def subscribe(call: ServerCall) -> bytes:
    uri = call.params(_decode_subscribe).uri
    if len(uri) > _LONGEST_URI or call.server.catalogue.find_resource(uri) is None:
        raise _resource_not_found(call, uri)
    subscriptions = call.peer.subscriptions
    if len(subscriptions) >= call.server.limits.peer_subscriptions and uri not in subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    subscriptions.add(uri)
    _watch(call, [uri])
    return EMPTY


def _watch(call: ServerCall, uris: Iterable[str]) -> None:
    """Begin to look for changes of resources that somebody has just subscribed to."""
    for uri in uris:
        changed = call.server.catalogue.change_of(uri)
        if changed is not None:
            call.server.hub.watch(uri, changed)


def unsubscribe(call: ServerCall) -> bytes:
    call.peer.subscriptions.discard(call.params(_decode_subscribe).uri)
    return EMPTY


_decode_listen = decoder(messages.ListenParams)


def listen(call: ServerCall) -> Running:
    wanted = call.params(_decode_listen).notifications
    accepted = _accepted(call, wanted)
    hub = call.server.hub
    if sum(work.streams for work in call.peer.working.values()) >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    meta = {SUBSCRIPTION_ID: call.request.id}

    async def run(context: Context) -> bytes:
        listener = hub.listen(call.request.id, accepted, rated(call.peer.caller))
        try:
            _watch(call, listener.uris)
            acknowledged = encode({"notifications": accepted, "_meta": meta})
            await context.send(jsonrpc.notification("notifications/subscriptions/acknowledged", acknowledged))
            while (message := await listener.next()) is not None:
                await context.send(message)
            if call.peer.lasting:
                # 2026-07-28 asks for this on stdio when the server ends a subscription, in addition to the response.
                cancelled = encode({"requestId": call.request.id, "reason": "the server is stopping"})
                await context.send(jsonrpc.notification("notifications/cancelled", cancelled))
            return call.shape.complete(EMPTY, meta)
        finally:
            hub.drop(listener)

    return run


def _accepted(call: ServerCall, wanted: ListenFilter) -> ListenFilter:
    """The part of a subscription that this server can keep."""
    offers = call.server.catalogue.capabilities(False, call.server.options.announces_changes)

    def announced(kind: str, wants: bool) -> bool:
        return wants and offers.get(kind, {}).get("listChanged", False)

    uris: list[str] = []
    if wanted.resourceSubscriptions is not UNSET and call.server.options.resource_updates:
        known = call.server.catalogue.find_resource
        uris = [
            uri
            for uri in dict.fromkeys(wanted.resourceSubscriptions)
            if len(uri) <= _LONGEST_URI and known(uri) is not None
        ]
    return ListenFilter(
        toolsListChanged=announced("tools", wanted.toolsListChanged),
        promptsListChanged=announced("prompts", wanted.promptsListChanged),
        resourcesListChanged=announced("resources", wanted.resourcesListChanged),
        resourceSubscriptions=uris[: call.server.limits.peer_subscriptions] or UNSET,
    )
