"""Calls of tools."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Raw

from ...protocol import errors, headers, jsonrpc, messages
from ...protocol.decoding import decode, decoder, has_more_values
from ...protocol.jsonrpc import UNREADABLE
from ..at_once import Begun
from ..context import Context
from ..offers.tool import BoundTool
from ..outcomes import outcome_of
from ..tool_errors import invalid_argument
from .call import EMPTY, Running, ServerCall, encode, repeated

_decode_call = decoder(messages.CallToolParams)
_decode_members = decoder(dict[str, Raw])


def call_tool(call: ServerCall) -> bytes | Running:
    read = call.route.params
    params = read if isinstance(read.name, str) else _call_params(call)
    asked = params.name
    assert isinstance(asked, str), "one has it, the other would not have been read without it"
    tool = call.server.catalogue.tool(asked)
    if tool is None:
        name = repeated(asked, 60)
        hint = call.server.catalogue.hint_for(asked)
        raise errors.ProtocolError(
            errors.INVALID_PARAMS, f"Unknown tool: {name}" + (f". {hint}" if hint else "")
        )
    call.tool_name = tool.name
    raw = _arguments(params.arguments)
    most = call.server.limits.message_values
    if raw is not None and len(raw) > most and has_more_values(raw, most):
        raise invalid_argument("Invalid arguments.", f"They hold more than {most} values.")
    try:
        if tool.header_params and call.route.modern and call.http is not None:
            mismatch = headers.param_mismatch(tool.header_params, raw or Raw(EMPTY), call.http)
            if mismatch:
                raise errors.ProtocolError(errors.HEADER_MISMATCH, mismatch)
        arguments, notes = tool.read_arguments(raw)
    except UNREADABLE:
        raise errors.ProtocolError(errors.PARSE_ERROR, "Parse error: not readable JSON") from None
    if tool.begins_at_once:
        begun = Begun(tool.call(arguments, None))
        if begun.is_done:
            return _tool_result(call, tool, begun.outcome, notes)
        call.needs_context = False
        return _run_rest(call, tool, begun, notes)
    if tool.is_async or tool.blocks or tool.wants_context:
        call.needs_context = tool.wants_context
        if tool.wants_context:
            given = None if raw is None else decode(raw)
            call.may_ask([tool.name, given], params)
        return _run_tool(call, tool, arguments, notes)
    return _tool_result(call, tool, tool.call(arguments, None), notes)


def _call_params(call: ServerCall) -> messages.CallToolParams:
    """The parameters of a call without a name: in the spelling of an earlier server, or wrong, which is said here."""
    try:
        return call.params(_decode_call)
    except errors.ProtocolError:
        renamed = _old_call_params(call)
        if renamed is None:
            raise
        return renamed


def _old_call_params(call: ServerCall) -> messages.CallToolParams | None:
    """The parameters in the spelling of an earlier server, if that is allowed and `name` is absent."""
    old = call.server.old_forms
    if old is None or call.route.modern or call.request.params is None:
        return None
    members = call.params(_decode_members)
    if "name" in members or old.tool_member not in members:
        return None
    renamed = {"name": members[old.tool_member]}
    arguments = members.get(old.arguments_member, members.get("arguments"))
    if arguments is not None:
        renamed["arguments"] = arguments
    call.request = jsonrpc.Request(call.request.id, call.request.method, Raw(encode(renamed)))
    return call.params(_decode_call)


def _arguments(raw: Any) -> Raw | None:
    """Raises: ProtocolError if `arguments` is present but not an object."""
    if raw is UNSET:
        return None
    if bytes(memoryview(raw)[:1]) != b"{":
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Invalid params: arguments must be an object")
    found: Raw = raw
    return found


def _run_tool(call: ServerCall, tool: BoundTool, arguments: Any, notes: list[str]) -> Running:
    threads = call.server.threads if tool.blocks else None

    async def run(context: Context | None) -> bytes:
        if tool.is_async:
            value = await tool.call(arguments, context)
        else:
            value = await outcome_of(tool.call, arguments, context, threads)
        return _tool_result(call, tool, value, notes)

    return run


def _run_rest(call: ServerCall, tool: BoundTool, begun: Begun[Any], notes: list[str]) -> Running:
    async def run(context: Context | None) -> bytes:
        return _tool_result(call, tool, await begun, notes)

    return run


def _tool_result(call: ServerCall, tool: BoundTool, value: Any, notes: list[str]) -> bytes:
    body = tool.result(value, notes, call.route.revision, call.server.limits)
    return call.shape.complete(body)
