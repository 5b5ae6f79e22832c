"""Asking the server for a client, and its answer in the form of the client's era."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw

from ...client.envelope import Params
from ...client.errors import ClientError, ServerError
from ...client.pending import Reply
from ...protocol import errors, jsonrpc
from ...protocol.decoding import decode_exactly, decoder
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.messages import ClientCapabilities
from ...repairs.chosen import Outcome
from ...repairs.subjects import Asked
from ...server.caller import rated
from ...server.context import Context
from ...server.methods.call import Call
from .. import words
from ..client_side.held_call import HeldCall, Questions
from ..client_side.open_call import OpenCall
from ..eras import (
    NO_CACHE,
    asks_for_input,
    legacy_result,
    modern_code,
    modern_result,
    readable_in,
)
from ..failures import Unreachable
from ..printing import made_printable
from ..server_side.upstream import Upstream

if TYPE_CHECKING:
    from ..bridge import Bridge
    from ..connections import Behind

BridgeCall: TypeAlias = "Call[Bridge]"
_encode = msgspec.json.Encoder().encode
_decode_params = decoder(dict[str, Raw])
# Requests that may be interrupted by questions.
_MAY_ASK = frozenset({"tools/call", "prompts/get", "resources/read"})
_NOTHING = ClientCapabilities()
_TOO_MANY_SUSPENDED = "too many calls are waiting for answers already"


def params_of(call: BridgeCall) -> Params:
    """Raises: ProtocolError."""
    return call.params(_decode_params)


def info_of(upstream: Upstream) -> Any:
    return upstream.handshake.get("serverInfo") or {"name": upstream.way.name, "version": "0"}


def asked_of(call: BridgeCall) -> Asked:
    return Asked(revision=call.route.revision, is_modern=call.route.modern, method=call.request.method)


def resumed(call: BridgeCall, params: Params) -> HeldCall | None:
    """The call that a modern client comes back for with its answers; None if this is another request.

    Raises: ProtocolError.
    """
    suspended = call.server.suspended
    if not call.route.modern or not suspended.knows(params):
        return None
    return suspended.take(call.request.method, params, rated(call.peer.caller))


async def ask(
    call: BridgeCall,
    context: Context,
    behind: Behind,
    params: Params,
    *,
    may_repeat: bool,
    held: HeldCall | None = None,
) -> Reply:
    """Ask the server, and pass on what it says before its answer. `held`: it was asked before, and has asked back.

    Raises: ClientError, ProtocolError.
    """
    if held is not None:
        held.call.attach(context)
        return await _awaited(call, held)
    upstream = behind.upstream
    is_crossing = call.route.modern and not upstream.is_modern
    if is_crossing and "requestState" in params:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "requestState is not valid for this request")
    if is_crossing and context.log_level is not None:
        await upstream.want_log(context.log_level)
    open_call = OpenCall(context, upstream.way.limits, behind.clients.made_room)
    work = _asked(call, open_call, behind, params, may_repeat)
    if is_crossing and call.request.method in _MAY_ASK and context.capabilities != _NOTHING:
        return await _awaited(call, HeldCall(open_call, behind, work))
    return await work


async def _asked(
    call: BridgeCall, open_call: OpenCall, behind: Behind, params: Params, may_repeat: bool
) -> Reply:
    """Raises: ClientError."""
    upstream, clients = behind.upstream, behind.clients
    token = clients.open(open_call)
    try:
        with behind.in_use():
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


async def _awaited(call: BridgeCall, held: HeldCall) -> Reply:
    """The answer of the server, or its questions. Raises: ClientError."""
    suspended, caller = call.server.suspended, rated(call.peer.caller)
    while True:
        reply = await held.outcome()
        if reply is not None:
            return reply
        if suspended.has_room(caller):
            try:
                await held.call.finish()
            except asyncio.CancelledError:
                held.cancel()
                raise
            # By what the client has said, who may know a tool by another name than the server.
            return held.questions(suspended.add(held, call.request.method, params_of(call), caller))
        held.refuse(_TOO_MANY_SUSPENDED)


def _with_token(params: Params, token: int | None) -> Params:
    """The parameters with our token in place of the client's."""
    meta = dict(_decode_params(params["_meta"])) if "_meta" in params else {}
    meta.pop("progressToken", None)
    if token is not None:
        meta["progressToken"] = Raw(_encode(token))
    return (
        {**params, "_meta": Raw(_encode(meta))}
        if meta
        else {name: part for name, part in params.items() if name != "_meta"}
    )


def _size(call: BridgeCall, params: Params) -> int:
    """How long the message to the server will be."""
    return len(jsonrpc.request(10**6, call.request.method, _encode(params)))


def in_era_of(call: BridgeCall, upstream: Upstream, result: Raw) -> Raw:
    """A result without what only the other era has. An old server may have made it up."""
    return result if upstream.is_modern is call.route.modern else legacy_result(result)


def is_question(call: BridgeCall, upstream: Upstream, reply: Reply) -> bool:
    """Whether a modern client gets questions instead of an answer: there is nothing to repair in them."""
    if isinstance(reply, Questions):
        return True
    return call.route.modern and upstream.is_modern and asks_for_input(reply.result)


def finished(call: BridgeCall, upstream: Upstream, outcome: Outcome, *, cacheable: bool) -> bytes:
    """A repaired answer in the form of the client's era.

    Raises: ProtocolError if it is an error.
    """
    call.server.journal.repaired(outcome.changes, call.tool_name)
    if outcome.result is None:
        raise _server_error(outcome.error, modern=call.route.modern)
    result = readable_in(call.route.revision, outcome.result)
    if upstream.way.printable:
        result = made_printable(result)
    if not call.route.modern:
        return bytes(result)
    try:
        return modern_result(result, info_of(upstream), NO_CACHE if cacheable else None)
    except UNREADABLE:
        return bytes(result)


def _server_error(raw: Raw | None, *, modern: bool) -> errors.ProtocolError:
    """The server's own error, as it was sent."""
    found: Any = decode_exactly(raw or b"{}")
    code, message = (found.get("code"), found.get("message")) if isinstance(found, dict) else (None, None)
    if not isinstance(code, int) or not isinstance(message, str):
        return errors.ProtocolError(errors.INTERNAL_ERROR, "the server answered with an unreadable error")
    return errors.ProtocolError(modern_code(code) if modern else code, message, found.get("data", UNSET))


def failed(exc: ClientError, call: BridgeCall) -> errors.ProtocolError:
    """No answer, for methods whose results have no way to say so."""
    data: dict[str, Any] = {}
    if isinstance(exc, Unreachable) and exc.reason:
        data["reason"] = exc.reason
    if call.server.options.error_key is not None:
        data[call.server.options.error_key] = {"code": words.code_of(exc)}
    text = call.server.way.mask(words.sentence(exc))
    return errors.ProtocolError(errors.INTERNAL_ERROR, text, data or UNSET)
