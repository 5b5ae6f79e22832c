"""Heads of requests that came before. Clients send the same one with call after call: it need not be parsed again."""

from collections.abc import Mapping
from typing import Any

# A few for each client that is busy; the oldest makes room.
_MOST = 256
_LONGEST = 2048
_END = b"\r\n\r\n"
# With one of these, more than the bytes of the head decides what follows it.
_UNUSUAL = (b"transfer-encoding", b"expect", b"upgrade", b"http2-settings")


class KnownHeads:
    """From the bytes of a head to the scope that was made of it, and the length of the body that it announces."""

    def __init__(self) -> None:
        self._known: dict[bytes, tuple[Mapping[str, Any], int]] = {}

    def find(self, data: bytes) -> tuple[Mapping[str, Any], bytes] | None:
        """Scope and body, if this is one whole request with a head that is known, and nothing else."""
        end = data.find(_END) + len(_END)
        known = self._known.get(data[:end])
        if known is None or len(data) != end + known[1]:
            return None
        return known[0], data[end:]

    def keep(self, data: bytes, scope: Mapping[str, Any]) -> None:
        """Remember the head of a request that came in one piece, if the next one like it needs no parser."""
        headers = dict(scope["headers"])
        end = data.find(_END) + len(_END)
        length = headers.get(b"content-length", b"")
        if end > _LONGEST or scope["http_version"] != "1.1" or any(name in headers for name in _UNUSUAL):
            return
        if not length.isdigit() or len(data) != end + int(length):
            return
        if len(self._known) >= _MOST:
            del self._known[next(iter(self._known))]
        self._known[data[:end]] = dict(scope), int(length)
