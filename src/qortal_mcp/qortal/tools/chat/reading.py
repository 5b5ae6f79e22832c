"""Reading all messages of several chats of an account within a time, newest first, with a bound on them together."""

from collections import Counter, deque
from typing import Any

from msgspec import Struct, field

from ....server.context import Context
from ....server.tool_errors import ToolError
from ...endpoints.chat import CHAT_COUNT, CHAT_MESSAGES
from ...endpoints.record import json_of
from ...limits import CHAT_DIGEST_AT_ONCE, CHAT_DIGEST_REQUESTS, LIMIT
from ...node.failures import not_as_expected
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.chat import ChatMessage, Kind

# Chats that were written in since the first page, which are asked for their newest message before.
MOVED = 40

# Whole texts: how much of the last one is left out can be said only of the whole.
_read = json_of(list[ChatMessage])


class Span(Struct, frozen=True):
    """Chats of whom, after and before which times in milliseconds."""

    address: str
    after: int
    before: int


class Place(Struct, frozen=True):
    """A group, or a direct chat with another address."""

    # Of its newest message; None if there is none.
    timestamp: int | None
    name: str | None
    group_id: int | None = None
    other: str | None = None

    @property
    def key(self) -> tuple[int, str]:
        return self.group_id or 0, self.other or ""

    def filters(self, span: Span) -> dict[str, Any]:
        chat = {"involving": [span.address, self.other]} if self.other else {"txGroupId": self.group_id}
        return {**chat, "after": span.after, "before": span.before}

    def is_monologue(self, address: str) -> bool:
        """Core answers with everything that an address sends and receives if it is given twice."""
        return self.other == address


class Said(Struct):
    """What was said in a chat, added up while it is read, newest first."""

    newest: ChatMessage | None = None
    by_sender: Counter[str] = field(default_factory=Counter)
    by_kind: Counter[Kind] = field(default_factory=Counter)
    names: dict[str, str | None] = {}
    # Of all messages, even if not all were read.
    count: int = 0
    is_whole: bool = False

    @property
    def read(self) -> int:
        return self.by_sender.total()

    def add(self, rows: list[ChatMessage]) -> None:
        for row in rows:
            self.newest = self.newest or row
            self.by_sender[row.sender] += 1
            self.by_kind[row.kind] += 1
            self.names.setdefault(row.sender, row.senderName)


async def newest_in(reading: Reading, place: Place, span: Span) -> int:
    """The time of the newest message; 0 if there is none. Raises: ToolError."""
    rows = await _page(reading, place, span, 0, LIMIT if place.is_monologue(span.address) else 1)
    return max((row.timestamp for row in _own(rows, place, span)), default=0)


async def read_all(reading: Reading, places: list[Place], span: Span, ctx: Context) -> list[Said]:
    """All messages of each, or the newest of them if there are more than one call may read. Raises: ToolError."""
    said = [Said() for _ in places]
    # The next window of each chat that is not read to its end. Long chats wait until all others had their turn.
    waiting = deque((number, 0) for number in range(len(places)))
    asked, total = 0, len(places)
    while waiting and asked < CHAT_DIGEST_REQUESTS and reading.has_room:
        batch = [waiting.popleft() for _ in range(min(CHAT_DIGEST_AT_ONCE, len(waiting)))]
        pages = await side_by_side(
            *(_page(reading, places[number], span, window * LIMIT, LIMIT) for number, window in batch)
        )
        asked += len(batch)
        for (number, window), page in zip(batch, pages, strict=True):
            said[number].add(_own(page, places[number], span))
            said[number].is_whole = len(page) < LIMIT
            if not said[number].is_whole:
                waiting.append((number, window + 1))
        await ctx.progress(total - len(waiting), total, f"{sum(each.read for each in said):,} messages read")
    counts = await side_by_side(
        *(_count(reading, place, span, each) for place, each in zip(places, said, strict=True))
    )
    for each, count in zip(said, counts, strict=True):
        each.count = count
    return said


async def _page(reading: Reading, place: Place, span: Span, offset: int, limit: int) -> list[ChatMessage]:
    try:
        return await reading.get_as(
            _read, CHAT_MESSAGES, **place.filters(span), limit=limit, offset=offset, reverse=True
        )
    except ToolError as exc:
        if exc.code != "INVALID_ARGUMENT":
            raise
        # The other address came from the node.
        raise not_as_expected() from None


def _own(rows: list[ChatMessage], place: Place, span: Span) -> list[ChatMessage]:
    if not place.is_monologue(span.address):
        return rows
    return [row for row in rows if row.sender == row.recipient]


async def _count(reading: Reading, place: Place, span: Span, said: Said) -> int:
    if said.is_whole or place.is_monologue(span.address):
        return said.read
    return max(said.read, await reading.follow(CHAT_COUNT, **place.filters(span)))
