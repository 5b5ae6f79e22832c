"""Resources: reading them, and hearing of their changes."""

from __future__ import annotations

import contextlib

from msgspec import UNSET

from ...protocol import errors, jsonrpc, messages, results
from ...protocol.decoding import decoder
from ...protocol.messages import SUBSCRIPTION_ID, ListenFilter
from .. import tool_errors
from ..caller import rated
from ..context import Context
from ..offers.catalogue import Watchable
from ..offers.resource import ResourceNotFound
from ..outcomes import outcome_of
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
    threads = call.server.threads if bound.resource.blocks else None

    async def run(context: Context) -> bytes:
        try:
            value = await outcome_of(bound.call, bound.resource.values(variables), context, threads)
        except ResourceNotFound:
            raise _resource_not_found(call, params.uri) from None
        except tool_errors.ToolError as exc:
            raise _failed(call, params.uri, exc) from None
        body = encode(messages.ReadResourceResult(contents=bound.resource.contents(params.uri, value)))
        # What a resource says may change at any moment: keep the bytes, but ask again.
        return call.shape.complete(body, cache=results.CacheHint(0))

    return run


def _resource_not_found(call: ServerCall, uri: str, why: str = "Resource not found") -> errors.ProtocolError:
    code = errors.INVALID_PARAMS if call.route.modern else errors.RESOURCE_NOT_FOUND
    return errors.ProtocolError(code, why, {"uri": repeated(uri, 500)})


def _failed(call: ServerCall, uri: str, failure: tool_errors.ToolError) -> errors.ProtocolError:
    # A resource has no `isError`: only the code tells a mistake of the caller from a failure of the server.
    if failure.code in ("INVALID_ARGUMENT", "NOT_FOUND", "REFUSED"):
        return _resource_not_found(call, uri, str(failure))
    return errors.ProtocolError(errors.INTERNAL_ERROR, str(failure))


def subscribe(call: ServerCall) -> bytes:
    uri = call.params(_decode_subscribe).uri
    subscriptions, hub = call.peer.subscriptions, call.server.hub
    if uri in subscriptions:
        return EMPTY
    watchable = _watchable(call, uri)
    if len(subscriptions) >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    hub.check_room(watchable, rated(call.peer.caller))
    subscriptions.add(uri)
    hub.watch(watchable)
    return EMPTY


def _watchable(call: ServerCall, uri: str) -> Watchable:
    """Raises: ProtocolError if there is no such resource."""
    try:
        if len(uri) > _LONGEST_URI:
            raise ResourceNotFound
        return call.server.catalogue.watchable(uri)
    except ResourceNotFound:
        raise _resource_not_found(call, uri) from None
    except tool_errors.ToolError as exc:
        raise _failed(call, uri, exc) from None


def unsubscribe(call: ServerCall) -> bytes:
    uri = call.params(_decode_subscribe).uri
    call.peer.subscriptions.discard(uri)
    call.server.hub.release([uri])
    return EMPTY


_decode_listen = decoder(messages.ListenParams)


def listen(call: ServerCall) -> Running:
    wanted = call.params(_decode_listen).notifications
    hub = call.server.hub
    if sum(work.streams for work in call.peer.working.values()) >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    meta = {SUBSCRIPTION_ID: call.request.id}

    async def run(context: Context) -> bytes:
        watchables = _watchables(call, wanted)
        accepted = _accepted(call, wanted, [each.uri for each in watchables])
        listener = hub.listen(call.request.id, accepted, rated(call.peer.caller))
        try:
            for watchable in watchables:
                hub.watch(watchable)
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


def _watchables(call: ServerCall, wanted: ListenFilter) -> list[Watchable]:
    """The resources of a subscription that can be watched: those that exist, as many as one caller may watch."""
    found: list[Watchable] = []
    if wanted.resourceSubscriptions is UNSET or not call.server.options.resource_updates:
        return found
    for uri in dict.fromkeys(wanted.resourceSubscriptions):
        if len(found) == call.server.limits.peer_subscriptions:
            break
        with contextlib.suppress(errors.ProtocolError):
            watchable = _watchable(call, uri)
            call.server.hub.check_room(watchable, rated(call.peer.caller), found)
            found.append(watchable)
    return found


def _accepted(call: ServerCall, wanted: ListenFilter, uris: list[str]) -> ListenFilter:
    """The part of a subscription that this server can keep."""
    offers = call.server.catalogue.capabilities(False, call.server.options.announces_changes)

    def announced(kind: str, wants: bool) -> bool:
        return wants and offers.get(kind, {}).get("listChanged", False)

    return ListenFilter(
        toolsListChanged=announced("tools", wanted.toolsListChanged),
        promptsListChanged=announced("prompts", wanted.promptsListChanged),
        resourcesListChanged=announced("resources", wanted.resourcesListChanged),
        resourceSubscriptions=uris or UNSET,
    )
