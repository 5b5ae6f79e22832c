"""How a client and this server get to know each other: handshake, discovery, ping, and the log level."""

from __future__ import annotations

import logging
import re
from typing import Any

from ...protocol import errors, messages, versions
from ...protocol.decoding import decoder
from ..offers.catalogue import capabilities_in
from .call import EMPTY, ServerCall, encode

log = logging.getLogger(__name__)
_VERSION = re.compile(r"[0-9A-Za-z.-]{1,20}")
_decode_level = decoder(messages.SetLevelParams)


_decode_initialize = decoder(messages.InitializeParams)


def initialize(call: ServerCall) -> bytes:
    params = call.params(_decode_initialize)
    peer, server = call.peer, call.server
    if peer.revision is not None:
        raise errors.ProtocolError(errors.INVALID_REQUEST, "this connection is initialized already")
    revision = versions.negotiate(params.protocolVersion)
    peer.shake_hands(revision, params.capabilities.bare())
    log.info(
        "initialized",
        extra={
            "qortal_mcp.requested": _as_version(params.protocolVersion),
            "qortal_mcp.answered": revision,
            "qortal_mcp.server": server.info.name,
        },
    )
    answer: dict[str, Any] = {
        "protocolVersion": revision,
        "capabilities": _capabilities(call, revision),
        "serverInfo": server.info,
    }
    if server.instructions:
        answer["instructions"] = server.instructions
    return encode(answer)


def _as_version(text: str) -> str:
    """What a client calls its version, unless it is something else: it may be anything, a secret too."""
    return text if _VERSION.fullmatch(text) else "not a version"


def _capabilities(call: ServerCall, revision: str) -> dict[str, Any]:
    options = call.server.options
    can_tell = call.route.modern or call.peer.post is not None
    call.server.catalogue.is_known = True
    # Promise nothing that this connection cannot keep: without a way to post, log levels are forgotten and changes not announced.
    offers = call.server.catalogue.capabilities(
        options.client_logging and can_tell, options.announces_changes and can_tell
    )
    return capabilities_in(revision, offers, subscribe=options.resource_updates and can_tell)


def ping(call: ServerCall) -> bytes:
    return EMPTY


def discover(call: ServerCall) -> bytes:
    answer: dict[str, Any] = {
        "supportedVersions": list(versions.MODERN),
        "capabilities": _capabilities(call, call.route.revision),
    }
    if call.server.instructions:
        answer["instructions"] = call.server.instructions
    return call.shape.complete(encode(answer), cache=call.server.options.cache_hint)


def set_level(call: ServerCall) -> bytes:
    call.peer.log_level = call.params(_decode_level).level
    return EMPTY
