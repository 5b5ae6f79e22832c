"""What the bridge does with each method. Most are passed on; their answers are repaired on the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct

from ..client.envelope import Params
from ..client.errors import ClientError, ServerError
from ..client.pending import Reply
from ..protocol import errors, jsonrpc, messages, versions
from ..protocol.decoding import decode_exactly, decoder
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import SUBSCRIPTION_ID, ListenFilter
from ..repairs import values
from ..repairs.chosen import Outcome
from ..repairs.subjects import Asked
from ..repairs.tools.page import list_paginated
from ..server.caller import rated
from ..server.context import Context
from ..server.methods.call import EMPTY, Call, Running
from . import words
from .eras import NO_CACHE, modern_code, modern_result, without_modern_meta
from .failures import Unreachable
from .known_tools import Tool
from .open_call import OpenCall
from .printing import made_printable
from .upstream import Opening, Upstream

if TYPE_CHECKING:
    from .bridge import Behind, Bridge

BridgeCall: TypeAlias = "Call[Bridge]"
_encode = msgspec.json.Encoder().encode
_decode_params = decoder(dict[str, Raw])
_decode_text = decoder(str)
_LISTED = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
# Asking twice does no more than asking once.
_REPEATABLE = frozenset({*_LISTED, "resources/read", "prompts/get", "completion/complete"})


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
    opening = Opening(
        params.protocolVersion,
        _object(params.clientInfo),
        _object(params.capabilities),
    )
    behind = bridge.own(peer, opening)
    revision = versions.negotiate(params.protocolVersion)
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
            raise _protocol_error(exc, call) from None
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
    told["capabilities"] = _announced(behind, can_tell=can_tell)
    return told


def _announced(behind: Behind, *, can_tell: bool) -> dict[str, Any]:
    """What a client is told that the server can do; of changed lists it hears only if they are among that."""
    upstream = behind.upstream
    found = upstream.handshake.get("capabilities")
    capabilities: dict[str, Any] = dict(found) if isinstance(found, dict) else {}
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


def ping(call: BridgeCall) -> bytes:
    return EMPTY


def discover(call: BridgeCall) -> Running:
    behind = call.server.behind_of(call)
    call.needs_context = False

    async def run(_: None) -> bytes:
        try:
            await behind.connection.ready()
        except ClientError as exc:
            raise _protocol_error(exc, call) from None
        upstream = behind.upstream
        answer: dict[str, Any] = {
            "supportedVersions": list(versions.MODERN),
            "capabilities": _announced(behind, can_tell=True),
        }
        if "instructions" in upstream.handshake:
            answer["instructions"] = upstream.handshake["instructions"]
        return modern_result(_encode(answer), _info(upstream), NO_CACHE)

    return run


def _info(upstream: Upstream) -> Any:
    return upstream.handshake.get("serverInfo") or {"name": upstream.way.name, "version": "0"}


def pass_on(call: BridgeCall) -> Running:
    """A method that the server answers."""
    params = _params(call)

    async def run(context: Context) -> bytes:
        return await _answer(call, context, params)

    return run


def _params(call: BridgeCall) -> Params:
    params = call.params(_decode_params)
    if "_meta" in params and call.route.modern:
        meta = without_modern_meta(_decode_params(params["_meta"]))
        params = {**params, "_meta": Raw(_encode(meta))} if meta else _without(params, "_meta")
    return params


def _without(params: Params, name: str) -> Params:
    return {key: value for key, value in params.items() if key != name}


async def _answer(call: BridgeCall, context: Context, params: Params) -> bytes:
    behind = call.server.behind_of(call)
    upstream = behind.upstream
    method = call.request.method
    try:
        reply = await _ask(call, context, behind, params, may_repeat=method in _REPEATABLE)
        outcome = upstream.way.repairs.other(reply.result, None, _asked(call), reply.changes)
    except ServerError as exc:
        outcome = upstream.way.repairs.other(None, exc.raw, _asked(call), exc.changes)
    except ClientError as exc:
        raise _protocol_error(exc, call) from None
    if outcome.result is not None and method in _LISTED:
        outcome = _listed(call, upstream, outcome.result, outcome)
    return _finished(call, upstream, outcome, cacheable=method in _LISTED or method == "resources/read")


def _listed(call: BridgeCall, upstream: Upstream, result: Raw, outcome: Outcome) -> Outcome:
    """A list other than that of tools, after its repairs. Without any it stays as it came."""
    member = _LISTED[call.request.method]
    try:
        page = upstream.way.repairs.page(result, member, _asked(call), None, outcome.changes)
    except UNREADABLE:
        return outcome
    if not page.changes:
        return outcome
    return Outcome(result=Raw(values.write(page.value)), changes=page.changes)


def list_tools(call: BridgeCall) -> Running:
    params = _params(call)

    async def run(context: Context) -> bytes:
        behind = call.server.behind_of(call)
        upstream = behind.upstream
        cursor = _cursor(params)
        try:
            page = await _page(call, context, behind, params, cursor)
        except ServerError as exc:
            outcome = upstream.way.repairs.other(None, exc.raw, _asked(call), exc.changes)
            return _finished(call, upstream, outcome, cacheable=True)
        except ClientError as exc:
            # What was there a moment ago is still true of the server; that it cannot be called now, a call will say.
            tools = upstream.tools
            last_known = tools.all_in_one() if cursor is None else tools.page(cursor)
            if last_known is None:
                raise _protocol_error(exc, call) from None
            page = last_known
        return _finished(call, upstream, Outcome(result=Raw(values.write(page))), cacheable=True)

    return run


async def _page(
    call: BridgeCall, context: Context, behind: Behind, params: Params, cursor: str | None
) -> dict[str, Any]:
    """A page of tools as the client gets it. Raises: ClientError."""
    upstream = behind.upstream
    tools, way = upstream.tools, upstream.way
    await upstream.connection.ready()
    age = upstream.list_age()
    one_page = list_paginated.code in way.repairs.codes
    if one_page and cursor is None:
        if age is None or age > way.limits.list_seconds:
            await upstream.read_tools()
        if tools.are_complete and (whole := tools.all_in_one()) is not None:
            return whole
    if age is not None and age <= way.limits.list_seconds and (known := tools.page(cursor)) is not None:
        return known
    reply = await _ask(call, context, behind, params, may_repeat=True)
    page = upstream.page_of(reply, revision=call.route.revision)
    tools.take(cursor, page)
    shown: dict[str, Any] = tools.shown(page.value)
    return shown


def _cursor(params: Params) -> str | None:
    try:
        return _decode_text(params["cursor"]) if "cursor" in params else None
    except UNREADABLE:
        return ""


def call_tool(call: BridgeCall) -> Running:
    params = _params(call)
    try:
        name = _decode_text(params.get("name", Raw(b"null")))
    except UNREADABLE:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Missing tool name") from None
    if call.server.way.withholds_tools:
        # Some servers take `Name` for `name`.
        params = {key: part for key, part in params.items() if key == "name" or key.lower() != "name"}

    async def run(context: Context) -> bytes:
        behind = call.server.behind_of(call)
        upstream = behind.upstream
        call.tool_name = name if upstream.tools.get(name) is not None else "_other"
        try:
            await upstream.connection.ready()
            tool = _tool(upstream, name)
            call.tool_name = "_other" if tool is None else name
            sent = params if tool is None or tool.upstream_name == name else _renamed(params, tool)
            return await _called(call, context, behind, sent, tool)
        except ClientError as exc:
            raise words.tool_error(exc, upstream.way.mask) from None

    return run


def _tool(upstream: Upstream, name: str) -> Tool | None:
    """The tool of this name; None if the list is not known well enough to say that there is none.

    Raises: ProtocolError.
    """
    tool = upstream.tools.get(name)
    is_certain = upstream.tools.are_known and upstream.tools.read_at is not None
    is_withheld = upstream.way.read_only or upstream.tools.withhold(name)
    if tool is None and (is_certain or is_withheld):
        shown = name if len(name) <= 200 else f"{name[:200]}…"
        raise errors.ProtocolError(errors.INVALID_PARAMS, f"Unknown tool: {shown}")
    return tool


def _renamed(params: Params, tool: Tool) -> Params:
    return {**params, "name": Raw(_encode(tool.upstream_name))}


async def _called(
    call: BridgeCall, context: Context, behind: Behind, params: Params, tool: Tool | None
) -> bytes:
    """Raises: ClientError, ProtocolError."""
    upstream = behind.upstream
    known = None if tool is None else tool.known
    repairs = upstream.way.repairs
    try:
        reply = await _ask(call, context, behind, params, may_repeat=tool is not None and tool.may_repeat)
        outcome = repairs.call(reply.result, None, _asked(call), known, reply.changes)
    except ServerError as exc:
        outcome = repairs.call(None, exc.raw, _asked(call), known, exc.changes)
    if outcome.drops_schema and known is not None and upstream.tools.misfit(known.name):
        behind.clients.list_changed("tools")
    return _finished(call, upstream, outcome, cacheable=False)


async def _ask(
    call: BridgeCall, context: Context, behind: Behind, params: Params, *, may_repeat: bool
) -> Reply:
    """Ask the server, and pass on what it says before its answer.

    Raises: ClientError.
    """
    upstream, clients = behind.upstream, behind.clients
    open_call = OpenCall(context, upstream.way.limits, clients.made_room)
    token = clients.open(open_call)
    try:
        if token is not None or "_meta" in params:
            params = _with_token(params, token)
        if upstream.way.request_bytes is not None:
            upstream.check_size(_size(call, params))
        reply = await upstream.ask(call.request.method, params, call=open_call, may_repeat=may_repeat)
        await open_call.finish()
        return reply
    except ServerError:
        await open_call.finish()
        raise
    finally:
        open_call.drop()
        clients.close(open_call, token)


def _with_token(params: Params, token: int | None) -> Params:
    """The parameters with our token in place of the client's."""
    meta = dict(_decode_params(params["_meta"])) if "_meta" in params else {}
    meta.pop("progressToken", None)
    if token is not None:
        meta["progressToken"] = Raw(_encode(token))
    return {**params, "_meta": Raw(_encode(meta))} if meta else _without(params, "_meta")


def _size(call: BridgeCall, params: Params) -> int:
    """How long the message to the server will be."""
    return len(jsonrpc.request(10**6, call.request.method, _encode(params)))


def _asked(call: BridgeCall) -> Asked:
    return Asked(revision=call.route.revision, is_modern=call.route.modern, method=call.request.method)


def _finished(call: BridgeCall, upstream: Upstream, outcome: Outcome, *, cacheable: bool) -> bytes:
    """A repaired answer in the form of the client's era.

    Raises: ProtocolError if it is an error.
    """
    call.server.journal.repaired(outcome.changes, call.tool_name)
    if outcome.result is None:
        raise _server_error(outcome.error, modern=call.route.modern)
    result = outcome.result
    if upstream.way.printable:
        result = made_printable(result)
    if not call.route.modern:
        return bytes(result)
    try:
        return modern_result(result, _info(upstream), NO_CACHE if cacheable else None)
    except UNREADABLE:
        return bytes(result)


def _server_error(raw: Raw | None, *, modern: bool) -> errors.ProtocolError:
    """The server's own error, as it was sent."""
    found: Any = decode_exactly(raw or b"{}")
    code, message = (found.get("code"), found.get("message")) if isinstance(found, dict) else (None, None)
    if not isinstance(code, int) or not isinstance(message, str):
        return errors.ProtocolError(errors.INTERNAL_ERROR, "the server answered with an unreadable error")
    return errors.ProtocolError(modern_code(code) if modern else code, message, found.get("data", UNSET))


def _protocol_error(exc: ClientError, call: BridgeCall) -> errors.ProtocolError:
    """No answer, for methods whose results have no way to say so."""
    data: Any = UNSET
    if isinstance(exc, Unreachable) and exc.reason:
        data = {"reason": exc.reason}
    return errors.ProtocolError(errors.INTERNAL_ERROR, call.server.way.mask(words.sentence(exc)), data)


_decode_uri = decoder(messages.SubscribeParams)


def subscribe(call: BridgeCall) -> Running:
    return _subscription(call, lambda peer_uris, uri: peer_uris.add(uri))


def unsubscribe(call: BridgeCall) -> Running:
    return _subscription(call, lambda peer_uris, uri: peer_uris.discard(uri))


def _subscription(call: BridgeCall, change: Callable[[set[str], str], None]) -> Running:
    """Passed on like any other; the bridge remembers who hears of what."""
    uri = call.params(_decode_uri).uri
    params = _params(call)

    async def run(context: Context) -> bytes:
        if len(call.peer.subscriptions) >= call.server.limits.peer_subscriptions:
            raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
        answer = await _answer(call, context, params)
        change(call.peer.subscriptions, uri)
        return answer

    return run


_decode_listen = decoder(messages.ListenParams)


def listen(call: BridgeCall) -> Running:
    """A subscription of a modern client: notices of the old server go there."""
    wanted = call.params(_decode_listen).notifications
    streams = sum(work.streams for work in call.peer.working.values())
    if streams >= call.server.limits.peer_subscriptions:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "too many subscriptions on this connection")
    meta = {SUBSCRIPTION_ID: call.request.id}

    async def run(context: Context) -> bytes:
        behind = call.server.behind_of(call)
        try:
            await behind.connection.ready()
            accepted = await _accepted(behind, wanted, call.server.limits.peer_subscriptions)
        except ClientError as exc:
            raise _protocol_error(exc, call) from None
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
            return modern_result(_encode({"_meta": meta}), _info(behind.upstream), None)
        finally:
            hub.drop(listener)

    return run


async def _accepted(behind: Behind, wanted: ListenFilter, most: int) -> ListenFilter:
    """The part of a subscription that the server can keep. Raises: ClientError."""
    capabilities = _announced(behind, can_tell=True)

    def has(kind: str, flag: str) -> bool:
        found = capabilities.get(kind)
        return isinstance(found, dict) and found.get(flag) is True

    uris: list[str] = []
    if wanted.resourceSubscriptions is not UNSET and has("resources", "subscribe"):
        for uri in list(dict.fromkeys(wanted.resourceSubscriptions))[:most]:
            try:
                await behind.upstream.ask("resources/subscribe", {"uri": Raw(_encode(uri))})
            except ServerError:
                continue
            uris.append(uri)
    return ListenFilter(
        toolsListChanged=wanted.toolsListChanged and has("tools", "listChanged"),
        promptsListChanged=wanted.promptsListChanged and has("prompts", "listChanged"),
        resourcesListChanged=wanted.resourcesListChanged and has("resources", "listChanged"),
        resourceSubscriptions=uris or UNSET,
    )


# Methods that are not here are passed on.
TABLE: dict[str, Callable[[BridgeCall], bytes | Running]] = {
    "initialize": initialize,
    "ping": ping,
    "server/discover": discover,
    "subscriptions/listen": listen,
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": unsubscribe,
}
