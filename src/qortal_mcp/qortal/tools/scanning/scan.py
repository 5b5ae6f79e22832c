"""Reading all transactions of a span, oldest block first: of an account, or of the whole chain.

Core pages by offset, and sorts by the time at which a transaction was made. That is up to a day before its block, so a
page holds rows of many blocks, and rows are passed on when it is certain that no row of their block is missing.

Pages of blocks that lie a day and more below the newest are kept for ever, so they are requested in windows that begin
and end at the same heights next time: of the whole chain one window per day, of an account or of certain types, which
have few rows, one window for all but the newest days. What is not settled is requested up to the last block of the
span alone: a page in memory is then never older than that block.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import UNSET, Struct, UnsetType

from ....server.context import Context
from ....server.tool_errors import too_large
from ...endpoints.blocks import BLOCK_AT_HEIGHT
from ...endpoints.record import SETTLED_BLOCKS
from ...endpoints.transactions import SEARCH
from ...limits import LIMIT, SCAN_AT_ONCE, SCAN_PAYMENTS, SCAN_REQUESTS, SCAN_STEP
from ...node.failures import node_error
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.transactions import Transaction
from ...words.times import iso
from ...words.transaction_types import TRANSACTION_TYPES
from .spans import Covered, Span, covered, newest_at, time_within

# Gets each transaction once, those of lower blocks first. Rows are not kept: a year of the chain would not fit in memory.
Take = Callable[[Transaction], None]
Window = tuple[int, int]

# A window begins up to a day before the span. If so many pages hold nothing else, it is requested from where the span begins.
_LEAD_PAGES = 8
# No transaction is made after its block, but payouts of contracts may carry the time of a block that lost the race for the
# same height, seconds later.
_LATER_MS = 3_600_000
# Transactions and payments after which other tasks get a turn.
_TURN = 500
# Of the payments that one call may read; beyond this part of them no more pages are requested.
_NEARLY = 0.5
_TOO_MANY_PAYMENTS = "The transactions of this time hold more payments than one call may read."
_REPLACED = "It replaced its newest blocks while they were read. Ask again."


class Scanned(Struct, frozen=True):
    """How far a scan came: all transactions of the blocks up to `last` were read."""

    span: Span
    last: int
    # Exclusive, in milliseconds.
    until_ms: int

    @property
    def complete(self) -> bool:
        return self.last >= self.span.last

    @property
    def covered(self) -> Covered:
        return covered(self.span, self.last, self.until_ms)

    def following(self) -> dict[str, str]:
        """The times of the call that goes on where this one stopped."""
        return {"since": iso(self.until_ms - 1), "until": iso(self.span.until_ms)}


async def scan(
    reading: Reading,
    span: Span,
    take: Take,
    ctx: Context | None = None,
    *,
    address: str | None = None,
    types: tuple[str, ...] = (),
    windows: Sequence[Window] = (),
    requests: int = SCAN_REQUESTS,
) -> Scanned:
    """Take all confirmed transactions of a span, or those of its lower blocks if there are more than one call may read.

    `windows` are the blocks to request at a time, if the caller knows better. Reports progress to a client that asked
    for it. Raises: ToolError.
    """
    work = _Scan(reading, span, take, ctx, address, types, requests)
    waiting = list(windows) or _windows(span, by_day=address is None and not types)
    while waiting:
        if not work.may_go_on:
            return await work.stopped()
        group = waiting[: min(SCAN_AT_ONCE, work.left)]
        waiting = waiting[len(group) :]
        first_pages = await work.pages([(window, 0) for window in group])
        for window, first_page in zip(group, first_pages, strict=True):
            if not await work.whole(window, first_page):
                return await work.stopped()
    return Scanned(span, span.last, span.until_ms)


def _windows(span: Span, *, by_day: bool) -> list[Window]:
    if span.first > span.last:
        return []
    begin, end = _begin(span.first), _begin(span.last) + SCAN_STEP - 1
    if not _is_settled(span, end):
        end = span.last
    if by_day:
        return [(first, min(first + SCAN_STEP - 1, end)) for first in range(begin, end + 1, SCAN_STEP)]
    settled = _begin(max(1, span.last - SETTLED_BLOCKS + 1)) - 1
    return [(begin, end)] if settled < begin else [(begin, settled), (settled + 1, end)]


def _begin(height: int) -> int:
    """The height at which the step begins that holds this one."""
    return (height - 1) // SCAN_STEP * SCAN_STEP + 1


def _is_settled(span: Span, height: int) -> bool:
    return span.newest - height >= SETTLED_BLOCKS


class _Scan:
    """One scan on its way: what was asked, and the rows of the current window."""

    def __init__(
        self,
        reading: Reading,
        span: Span,
        take: Take,
        ctx: Context | None,
        address: str | None,
        types: tuple[str, ...],
        requests: int,
    ) -> None:
        self.left = requests
        self._taken = 0
        self._payments = 0
        self._reading = reading
        self._span = span
        self._take = take
        self._ctx = ctx
        self._address = address
        # Of the whole chain Core returns a hundred rows at once only if types are given.
        self._types = list(types) or (None if address else list(TRANSACTION_TYPES))
        # All rows of the blocks up to this one were taken.
        self._last = span.first - 1
        # By signature: a block that arrives meanwhile can move rows to the next page.
        self._rows: dict[str, Transaction] = {}

    @property
    def may_go_on(self) -> bool:
        has_room = self._reading.has_room and self._payments < _NEARLY * SCAN_PAYMENTS
        return self.left > 0 and has_room

    async def pages(self, wanted: list[tuple[Window, int]]) -> list[list[Transaction]]:
        self.left -= len(wanted)
        return await side_by_side(*(self._page(window, page) for window, page in wanted))

    async def _page(self, window: Window, page: int) -> list[Transaction]:
        first, last = window
        return await self._reading.get(
            SEARCH,
            startBlock=first,
            blockLimit=last - first + 1,
            txType=self._types,
            address=self._address,
            confirmationStatus="CONFIRMED",
            limit=LIMIT,
            offset=page * LIMIT,
            reverse=False,
        )

    async def whole(self, window: Window, page: list[Transaction]) -> bool:
        """Take all rows of a window, given its first page. False if one call may not read that many."""
        self._add(page)
        read, at_once = 1, 1
        while len(page) >= LIMIT and page[-1].timestamp <= self._span.until_ms + _LATER_MS:
            if not self.may_go_on:
                await self._close_before(page[-1].timestamp - _LATER_MS, window)
                return False
            if read >= _LEAD_PAGES and window[0] < self._span.first and not self._rows:
                window, read, at_once = (self._span.first, window[1]), 0, 1
            at_once = min(at_once, self.left)
            for page in await self.pages([(window, read + number) for number in range(at_once)]):
                self._add(page)
            read, at_once = read + at_once, min(2 * at_once, SCAN_AT_ONCE)
            await self._report(page[-1].blockHeight if page else UNSET)
        if read > 1:
            await self._check_chain(window)
        await self._close(window[1])
        await self._report(self._last)
        return True

    def _add(self, rows: list[Transaction]) -> None:
        for row in rows:
            if row.blockHeight is not UNSET and self._last < row.blockHeight <= self._span.last:
                self._rows[row.signature or str(len(self._rows))] = row
                self._payments += _payments(row)
        if self._payments > SCAN_PAYMENTS:
            raise too_large(_TOO_MANY_PAYMENTS)

    async def _check_chain(self, window: Window) -> None:
        """If a node gives up blocks between two pages, rows move to the page before and are never seen.

        Raises: ToolError if that may have happened.
        """
        span = self._span
        if _is_settled(span, window[1]) or not span.last_signature:
            return
        last = await self._reading.optional(BLOCK_AT_HEIGHT, height=span.last)
        if last is None or last.signature != span.last_signature:
            raise node_error(_REPLACED, retryable=True)

    async def _close(self, height: int) -> None:
        """All rows up to this height have been read."""
        rows = [row for row in self._rows.values() if _height(row) <= height]
        work = 0
        for row in sorted(rows, key=_height):
            self._take(row)
            work += 1 + _payments(row)
            if work >= _TURN:
                work = 0
                await asyncio.sleep(0)
        self._taken += len(rows)
        self._rows = {}
        self._last = max(self._last, min(height, self._span.last))

    async def _close_before(self, time_ms: int, window: Window) -> None:
        """All rows made before this time have been read, so those of blocks before it."""
        await self._check_chain(window)
        block = await newest_at(self._reading, time_ms)
        if block is not None:
            await self._close(min(block.height, window[1]))

    async def _report(self, height: int | UnsetType) -> None:
        if self._ctx is None or height is UNSET:
            return
        first, last = self._span.first, self._span.last
        done, total = min(height, last) - first + 1, last - first + 1
        read = self._taken + len(self._rows)
        await self._ctx.progress(max(0, done), total, f"{read:,} transactions read")

    async def stopped(self) -> Scanned:
        if self._last < self._span.first:
            raise too_large("The first hours of this time have more transactions than one call may read.")
        time_ms = await time_within(self._reading, self._span, self._last)
        return Scanned(self._span, self._last, time_ms + 1)


def _height(row: Transaction) -> int:
    return 0 if row.blockHeight is UNSET else row.blockHeight


def _payments(row: Transaction) -> int:
    return 0 if row.payments is UNSET else len(row.payments)
