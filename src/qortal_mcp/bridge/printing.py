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
    held = [value]
    _show(held)
    return Raw(values.write(held[0]))


def _show(held: list[Any]) -> None:
    """Change a tree in place, however deep it is."""
    unread: list[Any] = [held]
    while unread:
        value = unread.pop()
        if isinstance(value, list):
            value[:] = [printable(part) if isinstance(part, str) else part for part in value]
            unread += [part for part in value if isinstance(part, list | dict)]
            continue
        members = list(value.items())
        value.clear()
        for key, part in members:
            is_read = isinstance(part, str) and key not in _NOT_READ
            value[printable(key)] = printable(part) if is_read else part
            if isinstance(part, list | dict):
                unread.append(part)
