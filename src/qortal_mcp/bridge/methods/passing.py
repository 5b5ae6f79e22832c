"""Methods that the server answers itself: lists, reading, prompts, completion, and what only it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Raw

from ...client.envelope import Params
from ...client.errors import ClientError, ServerError
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...repairs.chosen import Outcome
from ...server.context import Context
from ...server.methods.call import Running
from ..client_side.held_call import HeldCall
from ..server_side.upstream import Upstream
from .answering import BridgeCall, ask, asked_of, failed, finished, in_era_of, is_question, params_of, resumed

if TYPE_CHECKING:
    from ..connections import Behind

_LISTED = {
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
# Asking twice does no more than asking once.
_REPEATABLE = frozenset({*_LISTED, "resources/read", "prompts/get", "completion/complete"})


def pass_on(call: BridgeCall) -> Running:
    """A method that the server answers."""
    params = params_of(call)

    async def run(context: Context) -> bytes:
        return await passed_on(call, context, params)

    return run


async def passed_on(call: BridgeCall, context: Context, params: Params) -> bytes:
    """The server's answer. Raises: ProtocolError."""
    try:
        if (held := resumed(call, params)) is not None:
            return await _answer(call, context, held.behind, params, held)
        async with call.server.connections.exclusively(call) as behind:
            await behind.connection.ready()
            return await _answer(call, context, behind, params, None)
    except ClientError as exc:
        raise failed(exc, call) from None


async def _answer(
    call: BridgeCall, context: Context, behind: Behind, params: Params, held: HeldCall | None
) -> bytes:
    """Raises: ClientError, ProtocolError."""
    upstream = behind.upstream
    method = call.request.method
    repairs = upstream.way.repairs
    try:
        reply = await ask(call, context, behind, params, may_repeat=method in _REPEATABLE, held=held)
        if is_question(call, upstream, reply):
            return finished(call, upstream, Outcome(result=reply.result), cacheable=False)
        outcome = repairs.other(in_era_of(call, upstream, reply.result), None, asked_of(call), reply.changes)
    except ServerError as exc:
        outcome = repairs.other(None, exc.raw, asked_of(call), exc.changes)
    if outcome.result is not None and method in _LISTED:
        outcome = _listed(call, upstream, outcome.result, outcome)
    return finished(call, upstream, outcome, cacheable=method in _LISTED or method == "resources/read")


def _listed(call: BridgeCall, upstream: Upstream, result: Raw, outcome: Outcome) -> Outcome:
    """A list other than that of tools, after its repairs. Without any it stays as it came."""
    member = _LISTED[call.request.method]
    try:
        page = upstream.way.repairs.page(result, member, asked_of(call), None, outcome.changes)
    except UNREADABLE:
        return outcome
    if not page.changes:
        return outcome
    return Outcome(result=Raw(values.write(page.value)), changes=page.changes)
