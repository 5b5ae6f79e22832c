"""How busy the chain was: transactions, fees, blocks and active accounts per hour, day or week."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ....server.context import Context
from ...limits import SCAN_REQUESTS
from ...node.node import Node
from ...replies.transactions import Transaction
from ...words.amounts import written
from ...words.arguments import EarlierThan, LaterThan
from ...words.times import Interval, IsoTime, iso
from ..answers import ListAnswer, Page, page_on
from ..read_only import tool
from ..scanning.scan import scan
from ..scanning.spans import Covered, Span, covered, span_of
from .moves import fee_of
from .periods import Period, periods_of
from .sums import Fees

# Rows of one call; each takes a request for its last block.
_ROWS = 31
_COUNTED = "Fees are those of transactions, without what contracts pay to run. Not counted: unconfirmed transactions."
_SPLIT = "There are more transactions in this period than one call reads: the next call has the rest of it in a row of its own."


class ActivityIn(Struct, frozen=True, forbid_unknown_fields=True):
    by: Annotated[Interval, Meta(description="What a row is.")] = "day"
    since: LaterThan = "14d"
    until: EarlierThan | UnsetType = UNSET


Transactions = Annotated[int, Meta(description="Without payouts of contracts.")]
Payouts = Annotated[int, Meta(description="Payouts of contracts (type AT).")]
Accounts = Annotated[int, Meta(description="Accounts that made a transaction, each once.")]


class ActivityRow(Struct):
    begins: Annotated[IsoTime, Meta(description="Of the hour, day or week; since may be later.")]
    fromHeight: Annotated[int | None, Meta(description="Null if there was no block.")]
    toHeight: int | None
    blocks: int
    transactions: Transactions
    payouts: Payouts
    fees: Fees
    activeAccounts: Accounts


class Activity(Struct):
    blocks: int
    transactions: Transactions
    payouts: Payouts
    fees: Fees
    activeAccounts: Accounts


class ChainActivity(ListAnswer):
    range: Covered
    complete: Annotated[
        bool, Meta(description="Whether the range is all that was asked for; else page.next goes on.")
    ]
    total: Annotated[Activity, Meta(description="Of the rows shown.")]
    activity: list[ActivityRow]
    feesUnit: Annotated[str, Meta(description="Of all fees here.")] = "QORT"


@tool("Chain activity")
async def get_chain_activity(args: ActivityIn, node: Node, ctx: Context) -> ChainActivity:
    """Transactions, fees, blocks and active accounts of the chain per day, week or hour, and in total."""
    reading = node.reading()
    span = await span_of(reading, args.since, args.until)
    periods = await periods_of(reading, span, args.by, _ROWS)
    part = _up_to(span, periods[-1]) if periods else span
    tallies = [_Tally() for _ in periods]
    scanned = await scan(
        reading,
        part,
        _Sorter(periods, tallies).take,
        ctx,
        # A week is too much to request at a time.
        windows=[] if args.by == "week" else [(each.first, each.last) for each in periods if _blocks(each)],
        requests=SCAN_REQUESTS - len(periods),
    )
    notes = [*span.notes, _COUNTED]
    whole = [period for period in periods if period.last <= scanned.last]
    if not scanned.complete and not whole:
        whole = [structs.replace(periods[0], last=scanned.last, until_ms=scanned.until_ms)]
        notes.append(_SPLIT)
    shown = tallies[: len(whole)]
    last, until_ms = (whole[-1].last, whole[-1].until_ms) if whole else (span.last, span.until_ms)
    complete = until_ms >= span.until_ms
    following = {"since": iso(until_ms - 1), "until": iso(span.until_ms)}
    return ChainActivity(
        covered(span, last, until_ms),
        complete,
        _total(whole, shown),
        [_row(period, tally) for period, tally in zip(whole, shown, strict=True)],
        page=Page(len(whole)) if complete else page_on(args, len(whole), **following),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _up_to(span: Span, period: Period) -> Span:
    if period.last == span.last:
        return structs.replace(span, until_ms=period.until_ms)
    return structs.replace(span, last=period.last, until_ms=period.until_ms, last_signature="")


class _Tally:
    """What happened in a period."""

    def __init__(self) -> None:
        self.transactions = 0
        self.payouts = 0
        self.fees = 0
        self.creators: set[str] = set()

    def add(self, row: Transaction) -> None:
        self.fees += fee_of(row)
        # Contracts have no key: Core names the same nobody as creator of all they pay.
        if row.type == "AT":
            self.payouts += 1
        else:
            self.transactions += 1
            self.creators.add(row.creatorAddress)


class _Sorter:
    """Puts each transaction into its period; they come in the order of blocks."""

    def __init__(self, periods: list[Period], tallies: list[_Tally]) -> None:
        self._periods = periods
        self._tallies = tallies
        self._current = 0

    def take(self, row: Transaction) -> None:
        assert row.blockHeight is not UNSET, "a scan only finds confirmed transactions"
        while self._periods[self._current].last < row.blockHeight:
            self._current += 1
        self._tallies[self._current].add(row)


def _row(period: Period, tally: _Tally) -> ActivityRow:
    has_blocks = period.first <= period.last
    return ActivityRow(
        iso(period.begins_ms),
        period.first if has_blocks else None,
        period.last if has_blocks else None,
        _blocks(period),
        tally.transactions,
        tally.payouts,
        written(tally.fees),
        len(tally.creators),
    )


def _blocks(period: Period) -> int:
    return max(0, period.last - period.first + 1)


def _total(periods: list[Period], tallies: list[_Tally]) -> Activity:
    return Activity(
        sum(_blocks(period) for period in periods),
        sum(tally.transactions for tally in tallies),
        sum(tally.payouts for tally in tallies),
        written(sum(tally.fees for tally in tallies)),
        len(set().union(*(tally.creators for tally in tallies))),
    )
