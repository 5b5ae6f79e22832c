"""What a result looks like in each revision: which members are added, which blocks replaced."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from .messages import (
    SERVER_INFO,
    AudioContent,
    Content,
    EmbeddedResource,
    Implementation,
    ResourceContents,
    ResourceLink,
    TextContent,
    Wire,
)
from .versions import ANNOTATIONS, AUDIO, ICONS, RESOURCE_LINKS, TITLES

_encode = msgspec.json.Encoder().encode


class CacheHint(Struct, frozen=True):
    """How long a client of 2026-07-28 may keep a result, and for whom."""

    ttl_ms: int
    scope: Literal["public", "private"] = "public"


class Shape:
    """Puts results into the form of one revision, for one server. Made once per revision."""

    def __init__(self, revision: str, modern: bool, server: Implementation) -> None:
        self.revision = revision
        self.modern = modern
        self._info = b'"%b":%b' % (SERVER_INFO.encode(), _encode(server)) if modern else b""
        # What most results end with.
        self._end = b',"resultType":"complete","_meta":{%b}}' % self._info

    def complete(
        self, body: bytes, meta: dict[str, Any] | None = None, cache: CacheHint | None = None
    ) -> bytes:
        """A finished result: `body` is a JSON object without `_meta`."""
        if meta is None and cache is None and body != b"{}":
            return body[:-1] + self._end if self.modern else body
        return self._finish(body, b'"resultType":"complete"', meta, cache)

    def input_required(self, body: bytes) -> bytes:
        """A result that asks the client for input; modern era only."""
        return self._finish(body, b'"resultType":"input_required"', None, None)

    def _finish(
        self, body: bytes, kind: bytes, meta: dict[str, Any] | None, cache: CacheHint | None
    ) -> bytes:
        if not self.modern:
            # Exactly `{}` if there is nothing to add: some clients refuse any member in an empty result.
            return body if not meta else _join(body, b'"_meta":%b' % _encode(meta))
        own = _encode(meta)[1:-1] if meta else b""
        parts = [kind]
        if cache is not None:
            parts.append(b'"ttlMs":%d,"cacheScope":"%b"' % (cache.ttl_ms, cache.scope.encode()))
        parts.append(b'"_meta":{%b%b%b}' % (own, b"," if own else b"", self._info))
        return _join(body, b",".join(parts))


def _join(body: bytes, members: bytes) -> bytes:
    return b"{%b}" % members if body == b"{}" else b"%b,%b}" % (body[:-1], members)


class CallToolResult(Wire, frozen=True, kw_only=True):
    """The members every revision shares. `structuredContent` is always an object, or absent."""

    content: Sequence[Content]
    structuredContent: Raw | UnsetType = UNSET
    isError: bool = UNSET  # type: ignore[assignment]  # set on every reply: absent and false differ for some clients


def structured_result(value: bytes) -> bytes:
    """A tool's object, as structured content and as text with the same bytes."""
    # As `CallToolResult` would be written: most calls come by here.
    return b'{"content":[{"type":"text","text":%b}],"structuredContent":%b,"isError":false}' % (
        _encode(value.decode()),
        value,
    )


def content_result(blocks: Sequence[Content], revision: str, structured: bytes | None = None) -> bytes:
    content = [known_block(block, revision) for block in blocks]
    return _encode(
        CallToolResult(
            content=content,
            structuredContent=UNSET if structured is None else Raw(structured),
            isError=False,
        )
    )


def error_result(text: str) -> bytes:
    """A failed tool: text only, since some clients check the structured content of errors against the schema."""
    return _encode(CallToolResult(content=(TextContent(text=text),), isError=True))


def known_block(block: Content, revision: str) -> Content:
    """The nearest block that clients of this revision know: an unknown one makes them reject the whole result."""
    if isinstance(block, AudioContent) and revision < AUDIO:
        contents = ResourceContents(uri="data:audio", mimeType=block.mimeType, blob=block.data)
        return EmbeddedResource(resource=contents)
    if isinstance(block, ResourceLink) and revision < RESOURCE_LINKS:
        return TextContent(text=f"{block.title or block.name}: {block.uri}")
    return block


# Members of listed items and the revision that introduced them. `outputSchema` is not among them: it is
# sent in every revision, since its value is always an object schema and no known client objects.
_SINCE = {"annotations": ANNOTATIONS, "title": TITLES, "_meta": TITLES, "icons": ICONS}


def known_members(item: Mapping[str, Any], revision: str) -> dict[str, Any]:
    """A listed tool, resource or prompt with only the members that one revision knows."""
    return {name: value for name, value in item.items() if _SINCE.get(name, "") <= revision}
