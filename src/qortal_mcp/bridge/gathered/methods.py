"""What a front of several servers does with each method: asks the one server, or all of them, or answers itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from ...protocol import errors, messages, versions
from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE
from ...protocol.results import CacheHint
from ...server.context import Context
from ...server.methods.call import EMPTY, Running
from ...server.offers.catalogue import capabilities_in
from .calling import call_tool
from .finding import search
from .forwarding import asked, shown, text_in
from .instructions import instructions_for
from .links.link import Link
from .links.lists import gathered, joined
from .links.waiting import within
from .listening import Listening, refuse_too_many
from .member import Member
from .names import parts_of, parts_of_uri
from .rewriting import METHODS, read_result, with_addresses

if TYPE_CHECKING:
    from .gathering import GatheringCall

_encode = msgspec.json.Encoder().encode
_decode_params = decoder(dict[str, Raw])
_decode_text = decoder(str)
_decode_initialize = decoder(messages.InitializeParams)
_decode_level = decoder(messages.SetLevelParams)
# The lists change whenever a server comes or goes.
_NO_CACHE = CacheHint(0, "private")


def initialize(call: GatheringCall) -> Running:
    params = call.params(_decode_initialize)
    gathering, peer = call.server, call.peer
    if peer.revision is not None:
        raise errors.ProtocolError(errors.INVALID_REQUEST, "this connection is initialized already")
    revision = versions.negotiate(params.protocolVersion)
    # At once: clients may send their next request without waiting for the answer.
    peer.shake_hands(revision, params.capabilities.bare())
    gathering.hub.join(peer)
    client = gathering.client_of(peer)
    links = client.greet(bytes(call.request.params or EMPTY), gathering.members.values())
    call.needs_context = False

    async def run(_: None) -> bytes:
        await within(gathering.bounds.handshake_seconds, client, {link.member: link.tried for link in links})
        client.is_introduced = True
        return _encode(
            {
                "protocolVersion": revision,
                "capabilities": _capabilities(call, revision),
                "serverInfo": gathering.info,
                "instructions": instructions_for(gathering),
            }
        )

    return run


def _capabilities(call: GatheringCall, revision: str) -> dict[str, Any]:
    """What the front can keep on this connection. A server may come at any time and bring any kind of thing."""
    can_tell = call.route.modern or call.peer.post is not None
    offers: dict[str, dict[str, bool]] = {
        kind: {"listChanged": can_tell} for kind in ("tools", "resources", "prompts")
    }
    offers["completions"] = {}
    remembers = can_tell and not call.server.is_shared
    if remembers or call.route.modern:
        offers["logging"] = {}
    return capabilities_in(revision, offers, subscribe=remembers or call.route.modern)


def ping(call: GatheringCall) -> bytes:
    return EMPTY


def discover(call: GatheringCall) -> Running:
    gathering = call.server
    client = gathering.home_of(call)
    params = bytes(call.request.params or EMPTY)
    call.needs_context = False

    async def run(_: None) -> bytes:
        links = [client.link(member) for member in gathering.members.values() if member.receiver is not None]
        await within(
            gathering.bounds.handshake_seconds,
            client,
            {link.member: partial(_discovered, link, params) for link in links},
        )
        answer = {
            "supportedVersions": list(versions.MODERN),
            "capabilities": _capabilities(call, call.route.revision),
            "instructions": instructions_for(gathering),
        }
        return call.shape.complete(_encode(answer), cache=_NO_CACHE)

    return run


async def _discovered(link: Link, params: bytes) -> None:
    await asyncio.shield(link.discovering(params))


def list_all(call: GatheringCall) -> Running | bytes:
    gathering = call.server
    kind = METHODS[call.request.method]
    params = call.params(_decode_params)
    if "cursor" in params and bytes(params["cursor"]) != b"null":
        raise errors.ProtocolError(errors.INVALID_PARAMS, "Unknown cursor: this list has one page")
    if kind == "tools" and gathering.by_search:
        return call.shape.complete(_encode({"tools": search.DEFINITIONS}), cache=_NO_CACHE)
    client = gathering.home_of(call)
    call.needs_context = False

    async def run(_: None) -> bytes:
        parts = await gathered(
            client,
            gathering.members.values(),
            kind,
            gathering.list_params(call, params),
            modern=gathering.is_modern(call),
        )
        hidden = gathering.hidden if kind == "tools" else frozenset()
        body = joined(parts, kind, gathering.bounds, hidden)
        return call.shape.complete(body, cache=_NO_CACHE)

    return run


def get_prompt(call: GatheringCall) -> Running:
    params = call.params(_decode_params)
    name = text_in(params, "name", "Missing prompt name")
    member, own = _prompt(call, name)
    sent = {**params, "name": Raw(_encode(own))}

    async def run(context: Context) -> bytes:
        return with_addresses(await asked(call, context, member, sent), member.label)

    return run


def _prompt(call: GatheringCall, name: str) -> tuple[Member, str]:
    """Raises: ProtocolError."""
    parts = parts_of(name)
    member = None if parts is None else call.server.members.get(parts[0])
    if member is None or parts is None:
        raise errors.ProtocolError(errors.INVALID_PARAMS, f"Unknown prompt: {shown(name)}")
    return member, parts[1]


def read_resource(call: GatheringCall) -> Running:
    params = call.params(_decode_params)
    member, own = _resource(call, text_in(params, "uri", "Missing uri"))
    sent = {**params, "uri": Raw(_encode(own))}

    async def run(context: Context) -> bytes:
        return read_result(await asked(call, context, member, sent), member.label)

    return run


def _resource(call: GatheringCall, uri: str) -> tuple[Member, str]:
    """Raises: ProtocolError."""
    parts = parts_of_uri(uri)
    member = None if parts is None else call.server.labelled(parts[0])
    if member is None or parts is None:
        code = errors.INVALID_PARAMS if call.route.modern else errors.RESOURCE_NOT_FOUND
        raise errors.ProtocolError(code, "Resource not found", {"uri": shown(uri)})
    return member, parts[1]


def subscribe(call: GatheringCall) -> Running:
    params = call.params(_decode_params)
    member, own = _resource(call, text_in(params, "uri", "Missing uri"))
    sent = {**params, "uri": Raw(_encode(own))}

    async def run(context: Context) -> bytes:
        return bytes(await asked(call, context, member, sent))

    return run


def complete(call: GatheringCall) -> Running:
    params = call.params(_decode_params)
    try:
        ref = _decode_params(params["ref"])
        kind = _decode_text(ref["type"])
    except (KeyError, *UNREADABLE):
        raise errors.ProtocolError(errors.INVALID_PARAMS, "ref must be an object with a type") from None
    if kind == "ref/resource":
        member, own = _resource(call, text_in(ref, "uri", "Missing uri"))
        ref = {**ref, "uri": Raw(_encode(own))}
    else:
        member, own = _prompt(call, text_in(ref, "name", "Missing prompt name"))
        ref = {**ref, "name": Raw(_encode(own))}
    sent = {**params, "ref": Raw(_encode(ref))}

    async def run(context: Context) -> bytes:
        return bytes(await asked(call, context, member, sent))

    return run


def set_level(call: GatheringCall) -> bytes:
    call.peer.log_level = call.params(_decode_level).level
    client = call.server.client_of(call.peer)
    client.log_level = bytes(call.request.params or EMPTY)
    for link in client.links.values():
        if link.is_open:
            link.start(link.set_level(client.log_level))
    return EMPTY


def listen(call: GatheringCall) -> Running:
    refuse_too_many(call)
    return Listening(call, call.server.home_of(call)).run


TABLE: dict[str, Callable[[GatheringCall], bytes | Running]] = {
    "initialize": initialize,
    "ping": ping,
    "server/discover": discover,
    "subscriptions/listen": listen,
    "tools/call": call_tool,
    "prompts/get": get_prompt,
    "resources/read": read_resource,
    "resources/subscribe": subscribe,
    "resources/unsubscribe": subscribe,
    "completion/complete": complete,
    "logging/setLevel": set_level,
    **dict.fromkeys(METHODS, list_all),
}
