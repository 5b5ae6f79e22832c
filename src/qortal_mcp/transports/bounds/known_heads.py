"""Heads of requests that came before. Clients send the same one with call after call: it need not be parsed again."""

import re
from collections.abc import Mapping
from typing import Any

# A few for each client that is busy; the oldest makes room.
_MOST = 256
_LONGEST = 2048
_END = b"\r\n\r\n"
# The one thing in which heads of a client differ. A second one would stay in the head, which is then not known.
_LENGTH = re.compile(rb"\r\ncontent-length: ?([0-9]{1,7})(?=\r\n)", re.IGNORECASE)
_LENGTH_NAME = b"content-length"
# With one of these, more than the bytes of the head decides what follows it.
_UNUSUAL = (b"transfer-encoding", b"expect", b"upgrade", b"http2-settings")


class KnownHeads:
    """From the bytes of a head, without the length of the body, to the scope that was made of it."""

    def __init__(self) -> None:
        self._known: dict[bytes, Mapping[str, Any]] = {}

    def find(self, data: bytes) -> tuple[Mapping[str, Any], bytes] | None:
        """Scope and body, if this is one whole request with a head that is known, and nothing else."""
        key, body = _cut(data)
        scope = self._known.get(key)
        return None if scope is None else (scope, body)

    def keep(self, data: bytes, scope: Mapping[str, Any]) -> None:
        """Remember the head of a request that came in one piece, if the next one like it needs no parser."""
        key, _ = _cut(data)
        headers = scope["headers"]
        is_usual = scope["http_version"] == "1.1" and not any(name in _UNUSUAL for name, _ in headers)
        if not key or not is_usual:
            return
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[key] = {**scope, "headers": [pair for pair in headers if pair[0] != _LENGTH_NAME]}


def _cut(data: bytes) -> tuple[bytes, bytes]:
    """The head without its length, and the body; nothing if they are not all that there is."""
    end = data.find(_END, 0, _LONGEST)
    length = _LENGTH.search(data, 0, end + 2) if end >= 0 else None
    body = end + len(_END)
    if length is None or len(data) != body + int(length[1]):
        return b"", b""
    return data[: length.start()] + data[length.end() : end], data[body:]
