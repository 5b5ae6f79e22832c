"""Control and invisible characters in what a server says, made visible."""

from typing import Any

from msgspec import Raw

from ..protocol.jsonrpc import UNREADABLE
from ..repairs import values
from ..text import printable

# Base64 and identifiers: nobody reads them, and programs compare them.
_NOT_READ = frozenset({"data", "blob", "uri", "mimeType", "nextCursor"})


def made_printable(result: Raw) -> Raw:
    """The same result with every hidden character in its texts written as `\\u{XXXX}`."""
    try:
        value = values.read(result)
    except UNREADABLE:
        return result
    return Raw(values.write(_shown(value)))


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, list):
        return [_shown(part) for part in value]
    if isinstance(value, dict):
        return {
            printable(key): part if key in _NOT_READ and isinstance(part, str) else _shown(part)
            for key, part in value.items()
        }
    return value
