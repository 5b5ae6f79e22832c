"""The result of a tool call as a caller wants it, with the reply it was read from."""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from ..protocol.decoding import decode_as
from ..protocol.messages import Content, TextContent
from .pending import Reply


class OddBlock(Struct, frozen=True):
    """A content block that cannot be read, and why."""

    raw: Raw
    reason: str


class CallResult(Struct, frozen=True):
    """What a tool returned. `is_error`: the tool failed, and `content` says how."""

    content: list[Content | OddBlock]
    structured: Any | UnsetType
    is_error: bool
    reply: Reply

    @property
    def text(self) -> str:
        """All text blocks, joined by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, TextContent))


class _Members(Struct):
    content: list[Raw]
    structuredContent: Any | UnsetType = UNSET
    isError: bool = False


def call_result(reply: Reply) -> CallResult:
    """Raises: MalformedReply if it is not the result of a tool."""
    members = reply.read(_Members)
    blocks = [_block(raw) for raw in members.content]
    return CallResult(blocks, members.structuredContent, members.isError, reply)


def _block(raw: Raw) -> Content | OddBlock:
    try:
        found: Content = decode_as(raw, Content)
    except (ValueError, RecursionError) as exc:
        return OddBlock(raw, str(exc))
    return found
