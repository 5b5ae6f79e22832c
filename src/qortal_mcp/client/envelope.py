"""What is added to a request's own parameters: `_meta` of the modern era, and the headers that mirror it."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from ..protocol import headers, messages
from ..protocol.decoding import decode, decoder
from ..protocol.headers import HeaderParam
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.versions import METHODS
from .transcript import Headers

Params = dict[str, Raw]
_encode = msgspec.json.Encoder().encode
_decode_members = decoder(Params)


def members(params: object) -> Params:
    """Parameters of any form (None, a mapping, a Struct, JSON bytes) as an object's members.

    Raises: TypeError if they are not an object.
    """
    if params is None:
        return {}
    try:
        return _decode_members(params if isinstance(params, bytes | Raw) else _encode(params))
    except UNREADABLE:
        raise TypeError("params must be an object") from None


def add_meta(
    params: Params, meta: Mapping[str, object], unless_given: Mapping[str, object] | None = None
) -> Params:
    """The parameters with members added to their `_meta`. Those of `meta` replace the caller's, the others do not."""
    if not meta and not unless_given:
        return params
    own = _decode_members(params["_meta"]) if "_meta" in params else {}
    return {**params, "_meta": Raw(_encode({**(unless_given or {}), **own, **meta}))}


def about_sender(
    info: messages.Implementation | Raw,
    capabilities: messages.ClientCapabilities | Raw,
    log_level: messages.LogLevel | None,
) -> dict[str, object]:
    """What every request of the modern era says about its sender."""
    meta: dict[str, object] = {messages.CLIENT_CAPABILITIES: capabilities, messages.CLIENT_INFO: info}
    if log_level is not None:
        meta[messages.LOG_LEVEL] = log_level
    return meta


def mirrored(
    revision: str, method: str, params: Params, header_params: tuple[HeaderParam, ...] = ()
) -> Headers:
    """The headers that repeat a modern request's body (2026-07-28, HTTP)."""
    found: list[tuple[str, str]] = [(headers.PROTOCOL_VERSION, revision), (headers.METHOD, method)]
    known = METHODS.get(method)
    if known is not None and known.name_param in params:
        name = decode(params[known.name_param])
        if isinstance(name, str):
            found.append((headers.NAME, headers.encode(name)))
    if header_params and "arguments" in params:
        arguments = decode(params["arguments"])
        for param in header_params:
            text = _header_text(headers.value_at(arguments, param.path))
            if text is not None:
                found.append((headers.PARAM_PREFIX + param.header, headers.encode(text)))
    return tuple(found)


def _header_text(value: Any) -> str | None:
    """A value as it is written in a header; None if a header cannot carry it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None
