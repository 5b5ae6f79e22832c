"""What one era says and the other cannot read: requests on their way to a server, answers on their way to a client."""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct

from ..client.envelope import Params, add_meta
from ..protocol import errors
from ..protocol.decoding import decoder
from ..protocol.jsonrpc import UNREADABLE
from ..protocol.messages import LOG_LEVEL, SERVER_INFO, LogLevel
from ..protocol.results import CacheHint
from ..protocol.versions import AUDIO, RESOURCE_LINKS
from ..repairs import values

_MODERN_PREFIX = "io.modelcontextprotocol/"
INPUT_REQUIRED = "input_required"
# What a modern client sends to answer the questions in a result.
ROUND_MEMBERS = ("inputResponses", "requestState")
# What only results of the modern era have.
_MODERN_MEMBERS = ("resultType", "ttlMs", "cacheScope")
_members = decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode
# Nothing is known about how long an old server's answers stay true.
NO_CACHE = CacheHint(0, "private")
# Kinds of content and the revision that introduced them.
_KINDS_SINCE = {"audio": AUDIO, "resource_link": RESOURCE_LINKS}


class _Kind(Struct):
    resultType: Any = UNSET


class _Hints(Struct):
    ttlMs: int
    cacheScope: str


_decode_kind = decoder(_Kind)
_decode_hints = decoder(_Hints)


def request_for(params: Params, *, from_modern: bool, to_modern: bool, log_level: LogLevel) -> Params:
    """A client's parameters as the server takes them. `log_level` is what an old client wants to hear."""
    if to_modern:
        return params if from_modern else add_meta(params, {LOG_LEVEL: log_level})
    if not from_modern:
        return params
    params = {name: value for name, value in params.items() if name not in ROUND_MEMBERS}
    meta = _members(params.pop("_meta")) if "_meta" in params else {}
    kept = {name: value for name, value in meta.items() if not name.startswith(_MODERN_PREFIX)}
    return {**params, "_meta": Raw(_encode(kept))} if kept else params


def asks_for_input(result: Raw) -> bool:
    """Whether a result holds questions instead of an answer."""
    if INPUT_REQUIRED.encode() not in bytes(result):
        return False
    try:
        return bool(_decode_kind(result).resultType == INPUT_REQUIRED)
    except UNREADABLE:
        return False


def modern_result(body: bytes | Raw, info: Any, cache: CacheHint | None) -> bytes:
    """A result with the members that 2026-07-28 asks for. What is there already stays as it is."""
    members = _members(body)
    meta = _members(members.pop("_meta")) if "_meta" in members else {}
    meta.setdefault(SERVER_INFO, Raw(_encode(info)))
    whole: dict[str, Any] = {**members}
    whole.setdefault("resultType", "complete")
    if cache is not None and not _has_hints(body) and not asks_for_input(Raw(body)):
        whole.update(ttlMs=cache.ttl_ms, cacheScope=cache.scope)
    return _encode({**whole, "_meta": meta})


def _has_hints(body: bytes | Raw) -> bool:
    try:
        hints = _decode_hints(body)
    except UNREADABLE:
        return False
    return hints.ttlMs >= 0 and hints.cacheScope in ("public", "private")


def legacy_result(body: Raw) -> Raw:
    """A result without what only the modern era has."""
    try:
        members = _members(body)
        meta = _members(members["_meta"]) if "_meta" in members else {}
    except UNREADABLE:
        return body  # not an object: repairs may know better
    if not any(name in members for name in _MODERN_MEMBERS) and SERVER_INFO not in meta:
        return body
    for name in _MODERN_MEMBERS:
        members.pop(name, None)
    if meta.pop(SERVER_INFO, None) is not None:
        members.pop("_meta")
        if meta:
            members["_meta"] = Raw(_encode(meta))
    return Raw(_encode(members))


def modern_code(code: int) -> int:
    """2026-07-28 has no code of its own for resources that do not exist."""
    return errors.INVALID_PARAMS if code == errors.RESOURCE_NOT_FOUND else code


def readable_in(revision: str, result: Raw) -> Raw:
    """A result whose content has no kind that came after the client's revision: the nearest one takes its place."""
    unknown = [kind for kind, since in _KINDS_SINCE.items() if revision < since]
    if not any(f'"{kind}"'.encode() in bytes(result) for kind in unknown):
        return result
    try:
        tree = values.read(result)
    except UNREADABLE:
        return result
    if not isinstance(tree, dict):
        return result
    content = tree.get("content")
    if isinstance(content, list):
        tree["content"] = [_nearest(block, unknown) for block in content]
    messages = tree.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and "content" in message:
            message["content"] = _nearest(message["content"], unknown)
    return Raw(values.write(tree))


def _nearest(block: Any, unknown: list[str]) -> Any:
    """The nearest block of a kind that every revision has, as `results.known_block` makes it."""
    if not isinstance(block, dict) or block.get("type") not in unknown:
        return block
    if block["type"] == "audio":
        inner = {"uri": "data:audio", "mimeType": block.get("mimeType"), "blob": block.get("data")}
        return {"type": "resource", "resource": inner}
    name = block.get("title") or block.get("name")
    return {"type": "text", "text": f"{name}: {block.get('uri')}"}
