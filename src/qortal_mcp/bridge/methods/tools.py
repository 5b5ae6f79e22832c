"""The server's tools: listing and calling them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from ...client.envelope import Params
from ...client.errors import ClientError, ServerError
from ...client.pending import Reply
from ...metrics.counting import UNKNOWN_TOOL
from ...protocol import errors, headers
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...repairs import values
from ...repairs.chosen import Outcome
from ...repairs.subjects import KnownTool
from ...repairs.tools.page import list_paginated
from ...server.context import Context
from ...server.methods.call import EMPTY, Running
from .. import words
from ..client_side.held_call import HeldCall
from ..eras import ROUND_MEMBERS, asks_for_input, legacy_result
from ..server_side.known_tools import Tool
from ..server_side.upstream import Upstream
from .answering import BridgeCall, ask, asked_of, failed, finished, in_era_of, is_question, params_of, resumed

if TYPE_CHECKING:
    from ..connections import Behind

_encode = msgspec.json.Encoder().encode
_decode_text = decoder(str)
# How a failure is counted that the server reports itself: its results have no code that all servers share.
_TOOL_FAILED = "TOOL_FAILED"


class _MayFail(Struct):
    isError: bool = False


_decode_failed = decoder(_MayFail)


def list_tools(call: BridgeCall) -> Running:
    params = params_of(call)

    async def run(context: Context) -> bytes:
        behind = call.server.connections.serving(call)
        upstream = behind.upstream
        cursor = _cursor(params)
        try:
            page = await _page(call, context, behind, params, cursor)
        except ServerError as exc:
            outcome = upstream.way.repairs.other(None, exc.raw, asked_of(call), exc.changes)
            return finished(call, upstream, outcome, cacheable=True)
        except ClientError as exc:
            # What was there a moment ago is still true of the server; that it cannot be called now, a call will say.
            tools = upstream.tools
            last_known = tools.all_in_one() if cursor is None else tools.page(cursor)
            if last_known is None:
                raise failed(exc, call) from None
            page = last_known
        result = in_era_of(call, upstream, Raw(values.write(page)))
        return finished(call, upstream, Outcome(result=result), cacheable=True)

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
    reply = await ask(call, context, behind, params, may_repeat=True)
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
    params = params_of(call)
    try:
        name = _decode_text(params.get("name", Raw(b"null")))
    except UNREADABLE:
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Missing tool name") from None
    call.tool_name = UNKNOWN_TOOL  # until it is known: whatever fails, fails as a tool does
    if call.server.way.withholds_tools:
        # Some servers take `Name` for `name`.
        params = {key: part for key, part in params.items() if key == "name" or key.lower() != "name"}

    async def run(context: Context) -> bytes:
        try:
            if (held := resumed(call, params)) is not None:
                return await _call_at(call, context, held.behind, name, params, held)
            async with call.server.connections.exclusively(call) as behind:
                return await _call_at(call, context, behind, name, params)
        except ClientError as exc:
            raise words.tool_error(exc, call.server.way.mask) from None

    return run


async def _call_at(
    call: BridgeCall,
    context: Context,
    behind: Behind,
    name: str,
    params: Params,
    held: HeldCall | None = None,
) -> bytes:
    """Raises: ClientError, ProtocolError."""
    upstream = behind.upstream
    call.tool_name = name if upstream.tools.get(name) is not None else UNKNOWN_TOOL
    await upstream.connection.ready()
    tool = _tool(upstream, name)
    call.tool_name = UNKNOWN_TOOL if tool is None else name
    _check_headers(call, params, tool)
    sent = params if tool is None or tool.upstream_name == name else _renamed(params, tool)
    return await _called(call, context, behind, sent, tool, held)


def _repaired(call: BridgeCall, upstream: Upstream, reply: Reply, known: KnownTool | None) -> Outcome:
    repairs, asked = upstream.way.repairs, asked_of(call)
    if upstream.is_modern or not asks_for_input(reply.result):
        return repairs.call(in_era_of(call, upstream, reply.result), None, asked, known, reply.changes)
    # An old server cannot mean it: nobody can go on from there, whatever the era of the client.
    found = repairs.call(reply.result, None, replace(asked, is_modern=False), known, reply.changes)
    return found if found.result is None else replace(found, result=legacy_result(found.result))


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


def _check_headers(call: BridgeCall, params: Params, tool: Tool | None) -> None:
    """Modern clients repeat some arguments in headers over HTTP. Raises: ProtocolError if they differ."""
    if tool is None or not tool.header_params or call.http is None or not call.route.modern:
        return
    try:
        wrong = headers.param_mismatch(tool.header_params, params.get("arguments", Raw(EMPTY)), call.http)
    except UNREADABLE:
        wrong = None
    if wrong:
        raise errors.ProtocolError(errors.HEADER_MISMATCH, wrong)


def _renamed(params: Params, tool: Tool) -> Params:
    return {**params, "name": Raw(_encode(tool.upstream_name))}


def _is_failure(result: Raw) -> bool:
    try:
        return _decode_failed(result).isError
    except UNREADABLE:
        return False


async def _called(
    call: BridgeCall,
    context: Context,
    behind: Behind,
    params: Params,
    tool: Tool | None,
    held: HeldCall | None,
) -> bytes:
    """Raises: ClientError, ProtocolError."""
    upstream = behind.upstream
    known = None if tool is None else tool.known
    repairs = upstream.way.repairs
    try:
        may_repeat = tool is not None and tool.may_repeat
        reply = await ask(call, context, behind, params, may_repeat=may_repeat, held=held)
        if is_question(call, upstream, reply):
            return finished(call, upstream, Outcome(result=reply.result), cacheable=False)
        outcome = _repaired(call, upstream, reply, known)
    except ServerError as exc:
        if any(name in params for name in ROUND_MEMBERS):
            # About the client's answers, not about the tool.
            outcome = repairs.other(None, exc.raw, asked_of(call), exc.changes)
        else:
            outcome = repairs.call(None, exc.raw, asked_of(call), known, exc.changes)
    if outcome.drops_schema and known is not None and upstream.tools.misfit(known.name):
        behind.clients.list_changed("tools")
    if outcome.result is not None and _is_failure(outcome.result):
        call.error_type = _TOOL_FAILED
    return finished(call, upstream, outcome, cacheable=False)
