"""What the answer of a legacy server looks like to a client of 2026-07-28, and its request to the server."""

from typing import Any

import msgspec
from msgspec import Raw

from ..protocol import errors
from ..protocol.decoding import decoder
from ..protocol.messages import SERVER_INFO
from ..protocol.results import CacheHint

_MODERN_PREFIX = "io.modelcontextprotocol/"
_members = decoder(dict[str, Raw])
_encode = msgspec.json.Encoder().encode
# Nothing is known about how long an old server's answers stay true.
NO_CACHE = CacheHint(0, "private")


def without_modern_meta(meta: dict[str, Raw]) -> dict[str, Raw]:
    """The `_meta` of a request without what only 2026-07-28 has."""
    return {name: value for name, value in meta.items() if not name.startswith(_MODERN_PREFIX)}


def modern_result(body: bytes | Raw, info: Any, cache: CacheHint | None) -> bytes:
    """A result with the members that 2026-07-28 asks for. What is there already stays as it is."""
    members = _members(body)
    meta = _members(members["_meta"]) if "_meta" in members else {}
    meta[SERVER_INFO] = Raw(_encode(info))
    members.pop("_meta", None)
    whole: dict[str, Any] = {**members, "resultType": "complete"}
    if cache is not None:
        whole.update(ttlMs=cache.ttl_ms, cacheScope=cache.scope)
    return _encode({**whole, "_meta": meta})


def modern_code(code: int) -> int:
    """2026-07-28 has no code of its own for resources that do not exist."""
    return errors.INVALID_PARAMS if code == errors.RESOURCE_NOT_FOUND else code
