"""What an account earned by minting: from the balances that a node records, if it does."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.context import Context
from ...endpoints.assets import BALANCE_CHANGES, BALANCE_RANGES
from ...limits import LIMIT, PAYOUTS, PAYOUTS_AT_ONCE, RANGE_PAGES, SCAN_REQUESTS
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.assets import HeightRange
from ...words.amounts import units, written
from ...words.minting import payouts_between
from ...words.times import iso
from ..answers import Amount
from ..scanning.spans import Covered, Span, covered, span_of, time_within

_LAST_HEIGHT = 2**31 - 1
_CROWDED = "The first payout in that time went to more accounts than one call may read; try a later since."
_CUT = "Not counted: what was paid in blocks {first} to {last}, of which only a part is in that time."
HOW_TO_RECORD = (
    "What was earned is unknown: this node keeps no record of balances. Set balanceRecorderEnabled to true in its "
    "settings.json and restart it; it records from then on."
)


class Payout(Struct):
    """The blocks between two records, one of which paid."""

    fromHeight: int
    toHeight: int
    amount: Amount


class Earnings(Struct):
    total: Annotated[
        str,
        Meta(
            description="Exact: what the balance grew by in blocks that paid rewards, beyond what transactions explain. Proceeds "
            "of asset orders in the same blocks are included. A node may leave small balances unrecorded."
        ),
    ]
    payouts: Annotated[list[Payout], Meta(description="Oldest first.")]
    range: Covered
    complete: Annotated[bool, Meta(description="Whether the node recorded and this answer holds all of it.")]
    unit: str = "QORT"


class Earned(Struct, frozen=True):
    """Earnings if the node records balances, what there is to say about them, and from when on to continue."""

    earnings: Earnings | None
    notes: list[str]
    next_since: str | None = None


class _Paid(Struct, frozen=True):
    """What an account got in one recorded range; None if the node has dropped that record meanwhile."""

    range: HeightRange
    units: int | None


async def earned(
    reading: Reading,
    address: str,
    since: str,
    until: str | UnsetType = UNSET,
    *,
    is_main_net: bool,
    ctx: Context | None = None,
) -> Earned:
    """Raises: ToolError."""
    span = await span_of(reading, since, until)
    ranges = await _recorded(reading, span)
    if not ranges:
        return Earned(None, [HOW_TO_RECORD, *_paid_meanwhile(span, is_main_net)])
    paying = [each for each in ranges if each.isRewardDistribution and _is_within(each, span, is_main_net)]
    paid = await _paid(reading, address, paying, ctx)
    last, until_ms, next_since = span.last, span.until_ms, None
    if len(paid) < len(paying):
        last = paid[-1].range.end if paid else span.first - 1
        until_ms = span.since_ms + 1
        if paid:  # otherwise there is nothing to go on from
            until_ms = await time_within(reading, span, last) + 1
            next_since = iso(until_ms - 1)
    recorded = [each for each in paid if each.units is not None]
    gap = _gap(span, last, ranges, recorded, is_main_net)
    rows = [
        Payout(each.range.begin + 1, each.range.end, written(each.units)) for each in recorded if each.units
    ]
    earnings = Earnings(
        written(sum(each.units for each in recorded if each.units)),
        rows,
        covered(span, last, until_ms),
        gap is None and last == span.last,
    )
    notes = [_CROWDED] if paying and not paid else [] if gap is None else [gap]
    return Earned(earnings, notes, next_since)


async def _recorded(reading: Reading, span: Span) -> list[HeightRange]:
    """The recorded ranges that end in a span, and those before them that came along; oldest first."""
    found: dict[int, HeightRange] = {}
    for page in range(RANGE_PAGES):
        rows = await reading.optional(BALANCE_RANGES, limit=LIMIT, offset=page * LIMIT, reverse=True) or []
        found |= {row.end: row for row in rows if 1 <= row.begin < row.end <= _LAST_HEIGHT}
        if len(rows) < LIMIT or min(found, default=0) < span.first:
            break
    apart: list[HeightRange] = []
    for end in sorted(found, reverse=True):
        # Blocks that were recorded twice must not be counted twice.
        if not apart or end <= apart[-1].begin:
            apart.append(found[end])
    return apart[::-1]


def _is_within(each: HeightRange, span: Span, is_main_net: bool) -> bool:
    """Whether all that a range paid was paid in a span. On a test chain nobody knows where in the range that was."""
    paid = payouts_between(each.begin + 1, each.end) if is_main_net else None
    first, last = (paid[0], paid[-1]) if paid else (each.begin + 1, each.end)
    return span.first <= first and last <= span.last


async def _paid(
    reading: Reading, address: str, paying: list[HeightRange], ctx: Context | None
) -> list[_Paid]:
    """What an account was paid, oldest first; fewer than there are if one call may not read them all."""
    work, paid = _Payouts(reading, address), list[_Paid]()
    for start in range(0, min(len(paying), PAYOUTS), PAYOUTS_AT_ONCE):
        group = paying[start : start + PAYOUTS_AT_ONCE]
        outcomes = await side_by_side(*(work.paid(each) for each in group))
        for outcome in outcomes:
            if outcome is None:
                return paid
            paid.append(outcome)
        if ctx is not None:
            await ctx.progress(len(paid), len(paying), f"{len(paid)} payouts read")
    return paid


class _Payouts:
    """Looks for one account among those that were paid. Core lists them by amount, so it may be on any page."""

    def __init__(self, reading: Reading, address: str) -> None:
        self._reading = reading
        self._address = address
        self._asked = 0

    async def paid(self, each: HeightRange) -> _Paid | None:
        """None if one call may not read as much."""
        offset = 0
        while self._asked < SCAN_REQUESTS - RANGE_PAGES and self._reading.has_room:
            self._asked += 1
            rows = await self._reading.optional(
                BALANCE_CHANGES, begin=each.begin, end=each.end, limit=LIMIT, offset=offset
            )
            if rows is None:
                return _Paid(each, None)
            amounts = [units(row.amount) for row in rows if row.address == self._address]
            if amounts or len(rows) < LIMIT:
                return _Paid(each, sum(amounts))
            offset += LIMIT
        return None


def _gap(
    span: Span, last: int, ranges: list[HeightRange], recorded: list[_Paid], is_main_net: bool
) -> str | None:
    """What the node did not record of a span, as far as that is known."""
    if is_main_net:
        due = len(payouts_between(span.first, last))
        missing = due - sum(len(payouts_between(each.range.begin + 1, each.range.end)) for each in recorded)
        if missing <= 0:
            return None
        return f"The node has no record yet, or no longer, of {missing} of {due} payouts in that time."
    first = ranges[0].begin + 1
    if first > span.first:
        return f"The node recorded nothing before block {first}."
    cut = [
        each
        for each in ranges
        if each.isRewardDistribution
        and each.begin < last
        and each.end >= span.first
        and not _is_within(each, span, is_main_net)
    ]
    return _CUT.format(first=cut[0].begin + 1, last=cut[0].end) if cut else None


def _paid_meanwhile(span: Span, is_main_net: bool) -> list[str]:
    count = len(payouts_between(span.first, span.last))
    return [f"{count} batches of rewards were paid in that time; see expectedPayout."] if is_main_net else []
