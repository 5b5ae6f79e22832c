"""`tools/call`: finds the server and the tool behind an offered name; or answers one of the tools that search."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec
from msgspec import Raw

from ...metrics.counting import UNKNOWN_TOOL
from ...protocol import errors
from ...protocol.decoding import decoder
from ...server.context import Context
from ...server.methods.call import Running
from ...server.tool_errors import ToolError
from .away import Away, Removed
from .finding import by_search, search
from .forwarding import Params, count, server_error, shown, text_in
from .links.lists import Part, gathered
from .member import Member
from .names import all_names, may_be_shortened, near, parts_of
from .rewriting import with_addresses

if TYPE_CHECKING:
    from .gathering import GatheringCall

_encode = msgspec.json.Encoder().encode
_decode_params = decoder(dict[str, Raw])


def call_tool(call: GatheringCall) -> Running:
    gathering = call.server
    params = call.params(_decode_params)
    name = text_in(params, "name", "Missing tool name")
    call.tool_name = UNKNOWN_TOOL
    if gathering.by_search:
        if name not in search.NAMES:
            raise errors.ProtocolError(
                errors.INVALID_PARAMS,
                f"Unknown tool: {shown(name)}. Tools are called through {search.CALL}.",
            )
        return _search_tool(call, name, params)

    async def run(context: Context) -> bytes:
        return await _called(call, context, name, params)

    return run


async def _called(call: GatheringCall, context: Context, name: str, params: Params) -> bytes:
    """The result of a tool under its offered name. Raises: ProtocolError, ToolError."""
    member, own = await _tool(call, name)
    sent = {**params, "name": Raw(_encode(own))}
    link = call.server.link_for(call, member)
    try:
        response = await link.ask(
            "tools/call",
            _encode(sent),
            call.request.id,
            context.send,
            modern=call.route.modern,
            revision=call.route.revision,
            close_stream=context.close_stream,
            seen=lambda work: count(call, work, name, own),
        )
    except Away as exc:
        code = "SERVER_REMOVED" if isinstance(exc, Removed) else "SERVER_UNREACHABLE"
        raise ToolError(code, str(exc), retryable=not isinstance(exc, Removed)) from None
    if response.result is None:
        error = server_error(response.error)
        is_unknown = error.error.code == errors.INVALID_PARAMS and error.error.message.startswith(
            "Unknown tool"
        )
        # Its own words would name the tool, and others, as nobody can call them here.
        raise _unknown_tool(call, name) if is_unknown else error
    return with_addresses(response.result, member.label)


async def _tool(call: GatheringCall, name: str) -> tuple[Member, str]:
    """The server and the own name of a tool. Raises: ProtocolError."""
    gathering = call.server
    parts = parts_of(name)
    member = None if parts is None else gathering.members.get(parts[0])
    if member is None or parts is None or name in gathering.hidden:
        raise _unknown_tool(call, name)
    own = member.own_tool(name)
    if own is None and may_be_shortened(name) and "tools" not in member.known:
        await _listed(call, [member])
        own = member.own_tool(name)
    own = parts[1] if own is None else own
    if gathering.hidden & {*all_names(member.name, own), *member.offered_as(own)}:
        raise _unknown_tool(call, name)
    return member, own


async def _listed(call: GatheringCall, members: Iterable[Member]) -> list[Part]:
    """The tools of these servers, as far as they are there in time."""
    gathering = call.server
    params = gathering.list_params(call, call.params(_decode_params))
    return await gathered(gathering.home_of(call), members, "tools", params, modern=gathering.is_modern(call))


def _unknown_tool(call: GatheringCall, name: str) -> errors.ProtocolError:
    found = near(name, [one for member in call.server.members.values() for one in member.tool_names()])
    found = [one for one in found if one not in call.server.hidden][: call.server.bounds.suggestions]
    hint = f". Did you mean {', '.join(found)}?" if found else ""
    return errors.ProtocolError(errors.INVALID_PARAMS, f"Unknown tool: {shown(name)}{hint}")


def _search_tool(call: GatheringCall, tool: str, params: Params) -> Running:
    gathering = call.server
    call.tool_name = tool
    arguments = params.get("arguments")

    async def run(context: Context) -> bytes:
        if tool == search.CALL:
            name, given = by_search.called(arguments)
            return await _called(call, context, name, {**params, "arguments": given})
        parts = await _listed(call, gathering.members.values())
        tools = by_search.searched(parts, gathering.hidden)
        by_name = {one.name: one for one in tools}
        if tool == search.FIND:
            return call.shape.complete(by_search.find(arguments, parts, tools, gathering.bounds))
        if tool == search.DESCRIBE:
            name = by_search.described(arguments)
            return call.shape.complete(by_search.definition(by_name, name))
        name, given = by_search.called(arguments)
        by_search.check_read_only(tools, name)
        return await _called(call, context, name, {**params, "arguments": given})

    return run
