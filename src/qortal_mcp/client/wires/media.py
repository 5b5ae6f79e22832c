"""What bytes are, whatever the headers around them say."""

import re

from msgspec import Raw

from ...protocol.decoding import decoder
from ...protocol.jsonrpc import UNREADABLE

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

_BLANK = b" \t\r\n"
_MARK = b"\xef\xbb\xbf"
_FIELD = re.compile(rb"(?:data|event|id|retry)?:")
_FIELDS = (b"data:", b"event:", b"retry:", b"id:")
# Leading white space beyond this is not a reply any more.
_ENOUGH = 1024
_MEMBERS = frozenset({"jsonrpc", "method", "result", "error"})
_decode_members = decoder(dict[str, Raw])


def kind_of(start: bytes) -> str | None:
    """JSON, EVENT_STREAM, or "" for anything else; None: too little has come to say."""
    text = start.removeprefix(_MARK).lstrip(_BLANK)
    if not text:
        return None if len(start) < _ENOUGH else ""
    if is_json_like(text):
        return JSON
    if _FIELD.match(text):
        return EVENT_STREAM
    return None if any(field.startswith(text) for field in _FIELDS) else ""


def is_json_like(data: bytes) -> bool:
    """Whether it begins as a JSON object or array does: all that a message can be."""
    return data.lstrip(_BLANK)[:1] in (b"{", b"[")


def is_message(data: bytes) -> bool:
    """Whether it is an object with a member of JSON-RPC."""
    try:
        return not _MEMBERS.isdisjoint(_decode_members(data))
    except UNREADABLE:
        return False
