"""Passing a request on to one server, and what is said of its answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from ...metrics.counting import UNKNOWN_TOOL
from ...protocol import errors
from ...protocol.decoding import decode_exactly, decoder
from ...protocol.jsonrpc import UNREADABLE
from ...server.context import Context
from ...server.methods.call import repeated
from ...server.work import Work
from .away import Away
from .member import Member
from .names import offered_uri

if TYPE_CHECKING:
    from .gathering import GatheringCall

Params = dict[str, Raw]
_encode = msgspec.json.Encoder().encode
_decode_text = decoder(str)
_SHOWN_CHARS = 200


async def asked(call: GatheringCall, context: Context, member: Member, params: Params) -> Raw:
    """Raises: ProtocolError."""
    link = call.server.link_for(call, member)
    try:
        response = await link.ask(
            call.request.method,
            _encode(params),
            call.request.id,
            context.send,
            modern=call.route.modern,
            revision=call.route.revision,
            close_stream=context.close_stream,
            seen=lambda work: count(call, work, "", ""),
        )
    except Away as exc:
        raise errors.ProtocolError(errors.INTERNAL_ERROR, str(exc)) from None
    if response.result is None:
        raise server_error(response.error, member)
    return response.result


def count(call: GatheringCall, work: Work, name: str, own: str) -> None:
    """Count a call as its bridge does, under the offered name."""
    call.error_type = work.call.error_type
    call.retry_after = work.call.retry_after
    if own and call.tool_name == UNKNOWN_TOOL and work.call.tool_name == own:
        call.tool_name = name


def text_in(params: Params, member: str, missing: str) -> str:
    """Raises: ProtocolError."""
    try:
        return _decode_text(params[member])
    except (KeyError, *UNREADABLE):
        raise errors.ProtocolError(errors.INVALID_PARAMS, missing) from None


def shown(name: str) -> str:
    return repeated(name, _SHOWN_CHARS)


def server_error(raw: Raw | None, member: Member | None = None) -> errors.ProtocolError:
    """The error of one server, with addresses as they are offered."""
    try:
        found: Any = decode_exactly(raw or b"{}")
    except UNREADABLE:
        found = {}
    code, message = (found.get("code"), found.get("message")) if isinstance(found, dict) else (None, None)
    if not isinstance(code, int) or not isinstance(message, str):
        return errors.ProtocolError(errors.INTERNAL_ERROR, "the server answered with an unreadable error")
    data = found.get("data", msgspec.UNSET)
    if member is not None and isinstance(data, dict) and isinstance(data.get("uri"), str):
        data = {**data, "uri": offered_uri(member.label, data["uri"])}
    return errors.ProtocolError(code, message, data)
