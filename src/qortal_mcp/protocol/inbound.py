"""Is this request acceptable, and under which revision? A series of checks in a fixed order.

Pure: a message and what the transport knows go in, `Route` or `Rejection` come out. The order matters:
a modern request without its `_meta` is told so first, then that its headers contradict it, and only
then that its version or method is unknown.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from . import errors, headers
from .decoding import decoder
from .jsonrpc import LONGEST_ID, UNREADABLE, Request
from .messages import LOG_LEVELS, CommonParams, LooseParams, RequestMeta
from .versions import ASSUMED, LEGACY, METHODS, MODERN, Method

_NO_META = RequestMeta()
_NOTHING = CommonParams()


class Arrival(Struct, frozen=True, gc=False):
    """What a transport knows about where a request came from."""

    # The version a handshake agreed on: on this connection, or in this HTTP session.
    handshake: str | None = None
    # True for lasting connections (stdio, WebSocket, memory): legacy requests need a handshake there.
    lasting: bool = False
    # The MCP headers; None if the transport has none.
    http: headers.Mirrored | None = None


class Route(Struct, frozen=True, gc=False):
    """An acceptable request: which revision governs it, and what its `_meta` said."""

    revision: str
    modern: bool
    method: Method
    meta: RequestMeta
    # The parameters that most methods share; what has a wrong type is None.
    params: CommonParams = _NOTHING


class Rejection(Struct, frozen=True, gc=False):
    """A request that gets this error. `modern` decides the HTTP status it is sent with."""

    error: errors.ErrorObject
    modern: bool
    status: int


_decode_params = decoder(CommonParams)
_decode_loosely = decoder(LooseParams)
_decode_members = decoder(dict[str, Raw])
_decode_text = decoder(str)
_decode_token = decoder(int | str)


def judge(request: Request, arrival: Arrival) -> Route | Rejection:
    """Run a request through the checks."""
    meta, named = _NO_META, _NOTHING
    if request.params is not None:
        try:
            named = _read_params(request.params)
        except msgspec.ValidationError:
            return _refuse(errors.INVALID_PARAMS, "params and params._meta must be objects", arrival=arrival)
        except UNREADABLE:
            return Rejection(errors.ErrorObject(errors.PARSE_ERROR, "not readable JSON"), False, 400)
        if named.meta is not UNSET:
            meta = named.meta
    if meta.version is not UNSET:
        return _judge_modern(request, meta, named, arrival.http)
    if request.method != "initialize" and arrival.http is not None:
        version = arrival.http.version
        if version is not None and version not in LEGACY:
            # A modern (or unknown) header with a body that does not have the modern envelope. Both
            # eras require 400 here.
            return _refuse(errors.INVALID_PARAMS, _missing(meta), modern=True)
    return _judge_legacy(request, meta, named, arrival)


def _read_params(params: Raw) -> CommonParams:
    """`_meta` and the names. What has a wrong type is None and never decoded: it may be a megabyte of anything."""
    try:
        return _decode_params(params)
    except msgspec.ValidationError:
        found = _decode_loosely(params)
    meta: RequestMeta | UnsetType = UNSET
    if found.meta is not UNSET:
        meta = RequestMeta(
            version=_or_none(_decode_text, found.meta.version),
            capabilities=_or_none(_decode_members, found.meta.capabilities),
            log_level=_or_none(_decode_text, found.meta.log_level),
            progress_token=_or_none(_decode_token, found.meta.progress_token),
        )
    return CommonParams(
        meta=meta,
        name=_or_none(_decode_text, found.name),
        uri=_or_none(_decode_text, found.uri),
        arguments=found.arguments,
        inputResponses=found.inputResponses,
        requestState=found.requestState,
    )


def _or_none(decode: Callable[[Raw], Any], raw: Raw | UnsetType) -> Any:
    if isinstance(raw, UnsetType):
        return UNSET
    try:
        return decode(raw)
    except msgspec.ValidationError:
        return None


def _missing(meta: RequestMeta) -> str:
    missing = [
        name
        for name, value in (("protocolVersion", meta.version), ("clientCapabilities", meta.capabilities))
        if value is UNSET
    ]
    return "params._meta lacks " + " and ".join(f"io.modelcontextprotocol/{name}" for name in missing)


def _judge_modern(
    request: Request, meta: RequestMeta, named: CommonParams, http: headers.Mirrored | None
) -> Route | Rejection:
    if not isinstance(meta.version, str):
        return _refuse(errors.INVALID_PARAMS, "the protocol version must be a string", modern=True)
    if meta.capabilities is UNSET:
        return _refuse(errors.INVALID_PARAMS, _missing(meta), modern=True)
    if meta.capabilities is None:
        return _refuse(errors.INVALID_PARAMS, "the client capabilities must be an object", modern=True)
    if http is not None and (mismatch := _header_mismatch(request, meta.version, named, http)):
        return _refuse(errors.HEADER_MISMATCH, mismatch, modern=True)
    if meta.version not in MODERN:
        return _refuse(
            errors.UNSUPPORTED_VERSION,
            "Unsupported protocol version",
            modern=True,
            data={"supported": list(MODERN), "requested": meta.version},
        )
    method = METHODS.get(request.method)
    if method is None or not method.exists_in(meta.version):
        return _refuse(errors.METHOD_NOT_FOUND, "Method not found", modern=True)
    if meta.log_level is not UNSET and meta.log_level not in LOG_LEVELS:
        return _refuse(errors.INVALID_PARAMS, "unknown log level", modern=True)
    if (wrong := _wrong_token(meta)) is not None:
        return _refuse(errors.INVALID_PARAMS, wrong, modern=True)
    return Route(meta.version, True, method, meta, named)


def _header_mismatch(
    request: Request, version: str, named: CommonParams, http: headers.Mirrored
) -> str | None:
    """The first mirrored header that is missing, repeated, malformed or different from the body (2026-07-28)."""
    if http.repeated:
        return f"{min(http.repeated)} is given twice"
    values = http.values
    for name, expected in ((headers.PROTOCOL_VERSION, version), (headers.METHOD, request.method)):
        if name not in values:
            return f"{name} is missing"
        if values[name] != expected:
            return f"{name} does not match the body"
    method = METHODS.get(request.method)
    if method is None or method.name_param is None:
        return None
    name = getattr(named, method.name_param)
    if not isinstance(name, str):
        return None  # the method itself will say that the parameter is missing
    sent = values.get(headers.NAME)
    if sent is None:
        return f"{headers.NAME} is missing"
    return None if headers.decode(sent) == name else f"{headers.NAME} does not match the body"


def _judge_legacy(
    request: Request, meta: RequestMeta, named: CommonParams, arrival: Arrival
) -> Route | Rejection:
    revision = arrival.handshake
    if revision is None and arrival.http is not None:
        revision = arrival.http.version
    if revision is None or revision not in LEGACY:
        revision = ASSUMED
    method = METHODS.get(request.method)
    if method is None or not method.exists_in(revision):
        return _refuse(errors.METHOD_NOT_FOUND, "Method not found")
    if (wrong := _wrong_token(meta)) is not None:
        return _refuse(errors.INVALID_PARAMS, wrong)
    if arrival.lasting and arrival.handshake is None and method.name not in ("initialize", "ping"):
        return _refuse(errors.INVALID_PARAMS, "send initialize first, or the _meta of 2026-07-28")
    return Route(revision, False, method, meta, named)


def _wrong_token(meta: RequestMeta) -> str | None:
    token = meta.progress_token
    if token is UNSET or (isinstance(token, int) and not isinstance(token, bool)):
        return None
    if isinstance(token, str) and len(token) <= LONGEST_ID:
        return None
    return f"a progressToken must be an integer or a string of at most {LONGEST_ID} characters"


def _refuse(
    code: int,
    message: str,
    *,
    modern: bool = False,
    data: Any = UNSET,
    arrival: Arrival | None = None,
) -> Rejection:
    if arrival is not None and arrival.http is not None:
        modern = arrival.http.version in MODERN
    return Rejection(errors.ErrorObject(code, message, data), modern, errors.http_status(code, modern=modern))
