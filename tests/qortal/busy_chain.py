"""A made-up chain of any size that answers as Core does: it sorts transactions by the time at which they were made."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.reader import answer

MINUTE_MS = 60_000
DAY_MS = 24 * 60 * MINUTE_MS
# A Monday, 00:00 UTC.
GENESIS_MS = 1_790_553_600_000
NOBODY = "QdSnUy6sUiEnaN87dWmE92g1uQjrvPgrWG"


def time_of(height: int) -> int:
    """One block a minute."""
    return GENESIS_MS + (height - 1) * MINUTE_MS


def payment(number: int, height: int, made_ms: int | None = None, **other: Any) -> dict[str, Any]:
    return {
        "type": "PAYMENT",
        "signature": f"{number}",
        "timestamp": time_of(height) - 1000 if made_ms is None else made_ms,
        "blockHeight": height,
        "creatorAddress": "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v",
        "recipient": "QixPbJUwsaHsVEofJdozU9zgVqkK6aYhrK",
        "fee": "0.01000000",
        "amount": f"{number}.00000001",
        "approvalStatus": "NOT_REQUIRED",
        **other,
    }


class BusyChain:
    """A source; `asked` is what it was asked."""

    origin = "busy"

    def __init__(self, height: int, rows: list[dict[str, Any]]) -> None:
        self.height = height
        self.rows = rows
        # Another number makes the newest block another one.
        self.fork = 0
        self.asked: list[str] = []
        self._found: dict[Any, list[dict[str, Any]]] = {}

    async def fetch(self, request: Request) -> RawReply:
        self.asked.append(request.target)
        said = self._said(request.target)
        if isinstance(said, RawReply):
            return said
        return RawReply(200, "application/json", json.dumps(said).encode())

    def _said(self, target: str) -> Any:
        parts = urlsplit(target)
        last = parts.path.rsplit("/", 1)[-1]
        if parts.path == "/blocks/last":
            return self._block(self.height)
        if parts.path == "/blocks/first":
            return self._block(1)
        if parts.path.startswith("/blocks/byheight/"):
            return self._block(int(last))
        if parts.path.startswith("/blocks/timestamp/"):
            height = min((int(last) - GENESIS_MS) // MINUTE_MS + 1, self.height)
            # Core leaves out the first block.
            return self._block(height) if height > 1 else RawReply(404, "application/json", b'{"error":301}')
        if parts.path == "/transactions/search":
            return self._search({name: values[0] for name, values in parse_qs(parts.query).items()}, target)
        return answer(target)

    def _search(self, wanted: dict[str, str], target: str) -> list[dict[str, Any]]:
        first, count = int(wanted["startBlock"]), int(wanted["blockLimit"])
        types = tuple(parse_qs(urlsplit(target).query).get("txType", ()))
        key = (first, count, types, len(self.rows), self.fork)
        if key not in self._found:
            found = (
                row
                for row in self.rows
                if first <= row["blockHeight"] < first + count and (not types or row["type"] in types)
            )
            self._found[key] = sorted(found, key=lambda row: row["timestamp"])
        offset, limit = int(wanted["offset"]), int(wanted["limit"])
        return self._found[key][offset : offset + limit]

    @property
    def searches(self) -> list[str]:
        return [target for target in self.asked if target.startswith("/transactions/search")]

    def _block(self, height: int) -> dict[str, Any]:
        which = f" on fork {self.fork}" if self.fork and height == self.height else ""
        return {"signature": f"of {height}{which}", "height": height, "timestamp": time_of(height)}

    async def warm(self) -> None: ...

    async def close(self) -> None: ...
