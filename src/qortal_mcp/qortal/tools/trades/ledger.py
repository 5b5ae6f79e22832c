"""An account's completed trades for bookkeeping: line by line, and added up for each coin."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ...endpoints.crosschain import COINS, LEDGER, PRICE
from ...limits import PAGE_ROWS, PAGE_ROWS_BYTES, ROWS_BYTES
from ...node.failures import NodeFailure, not_supported
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.crosschain import LedgerEntry
from ...words.amounts import ratio, units
from ...words.arguments import AccountOrKey, EarlierThan, LaterThan, Limit, Offset, OneChain, Reverse
from ...words.chains import CHAINS, Chain, find_chain
from ...words.times import IsoTime, iso
from ..answers import Amount, ListAnswer, fitting, page_of
from ..read_only import tool
from ..scanning.spans import Covered, between, covered, span_of
from .totals import PRICED_TRADES, QORT, CoinTotals, totals_of
from .trader_keys import KEY_UNKNOWN, NO_KEY, key_of

_MINUTE_MS = 60_000
_COUNTED = (
    "Totals count the amounts of completed trades; fees of both networks and commissions are not in them. "
    f"currentPrice is get_trade_price with inverse: the {PRICED_TRADES} newest trades of anybody. gain compares with today: what was received, less what was paid, plus the QORT bought and not sold at currentPrice. If more was sold than bought, it says how much more or less the rest brought than it would at currentPrice."
)
_UNKNOWN = "Not in the totals: {count} of these trades, in coins that are not known here."


class LedgerOf(Struct, frozen=True, forbid_unknown_fields=True):
    account: AccountOrKey
    chain: Annotated[OneChain, Meta(description="Only this foreign chain.")] | UnsetType = UNSET
    since: LaterThan | UnsetType = UNSET
    until: EarlierThan | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class LedgerRow(Struct, omit_defaults=True):
    side: Annotated[Literal["sell", "buy"], Meta(description="Whether the account sold or bought QORT.")]
    qortAmount: Amount
    foreignAmount: Amount
    foreignCurrency: str
    price: Annotated[str | None, Meta(description="Foreign coins per QORT, rounded to eight places.")]
    priceUnit: str
    timestamp: Annotated[int, Meta(description="Milliseconds since 1970-01-01 UTC, to the minute.")]
    time: IsoTime
    commission: Amount | UnsetType = UNSET
    commissionUnit: str | UnsetType = UNSET


class Ledger(ListAnswer):
    totals: Annotated[
        dict[str, CoinTotals],
        Meta(description="By coin, over all trades of the range, whatever page this is."),
    ]
    range: Covered
    complete: Annotated[bool, Meta(description="Whether the totals cover all that was asked for.")]
    trades: list[LedgerRow]


@tool("Trade ledger")
async def get_trade_ledger(args: LedgerOf, node: Node) -> Ledger:
    """QORT an account sold and bought for foreign coins, newest first; totals per coin with average prices and gain."""
    reading = node.reading()
    since_ms, _ = between(args.since, args.until)
    key = await key_of(reading, args.account)
    span = await span_of(reading, args.since, args.until)
    if since_ms is not None:
        # Trades are found by time, not by block: the sample chain has some from before its first block.
        span = structs.replace(span, since_ms=since_ms)
    notes, found = [], []
    if key == NO_KEY:
        notes.append(KEY_UNKNOWN.format(role="account"))
    else:
        # Core can start at a time, but fails if that is before its first blocks.
        found = await _ledger(reading, key)
    rows = [_ledger_row(row) for row in found if _is_within(row, args)]
    if args.chain is not UNSET:
        chain = find_chain(args.chain)
        assert chain is not None, "the argument was checked"
        rows = [row for row in rows if row.foreignCurrency == chain.name]
    totals = totals_of(rows, await _prices(reading, {row.foreignCurrency for row in rows}))
    notes += [_COUNTED] if totals else span.notes
    if unknown := len(rows) - sum(each.buys + each.sells for each in totals.values()):
        notes.append(_UNKNOWN.format(count=unknown))
    ordered = rows[::-1] if args.reverse else rows
    trades = fitting(ordered[args.offset : args.offset + args.limit], _room(args.limit, totals))
    return Ledger(
        totals,
        covered(span, span.last, span.until_ms),
        True,
        trades,
        # A trade that is completed meanwhile must not shift the pages.
        page=page_of(
            args,
            args.offset,
            len(trades),
            args.offset + len(trades) < len(rows),
            until=iso(span.until_ms) if args.until is UNSET else args.until,
        ),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _is_within(row: LedgerEntry, args: LedgerOf) -> bool:
    """Lines have their time to the minute: one belongs to a span if any of its minute does."""
    since_ms, until_ms = between(args.since, args.until)
    return (since_ms is None or row.timestamp + _MINUTE_MS > since_ms) and (
        until_ms is None or row.timestamp < until_ms
    )


def _room(limit: int, totals: dict[str, CoinTotals]) -> int:
    """Bytes for the rows: the totals are on every page."""
    budget = PAGE_ROWS_BYTES if limit <= PAGE_ROWS else ROWS_BYTES
    return budget - len(msgspec.json.encode(totals))


async def _prices(reading: Reading, names: set[str]) -> dict[str, str | None]:
    """The current price of each coin, in coins per QORT; None for one that nobody traded yet."""
    chains: list[Chain] = [chain for chain in CHAINS if chain.name in names]
    each: list[Any] = await side_by_side(
        *(
            reading.optional(PRICE, blockchain=chain.name, maxtrades=PRICED_TRADES, inverse=True)
            for chain in chains
        )
    )
    return {chain.name: price for chain, price in zip(chains, each, strict=True)}


async def _ledger(reading: Reading, key: str | None) -> list[LedgerEntry]:
    """Core makes no ledger at all, and does not say why, while any of its coins is off. Raises: ToolError."""
    try:
        return await reading.get(LEDGER, publicKey=key)
    except NodeFailure as exc:
        if exc.code != "NODE_ERROR":
            raise
        statuses = await side_by_side(*(reading.optional(COINS[chain.name].status) for chain in CHAINS))
        off = [
            chain.name
            for chain, status in zip(CHAINS, statuses, strict=True)
            if status and not status.enabled
        ]
        if not off:
            raise
        are = "is" if len(off) == 1 else "are"
        raise not_supported(
            f"{' and '.join(off)} {are} off there, and Core makes ledgers only while all coins are on."
        ) from None


def _ledger_row(row: LedgerEntry) -> LedgerRow:
    """A sale of QORT is recorded as a purchase of coins, counted in coins; a purchase is counted in QORT."""
    is_sale = row.currency == QORT
    ticker = row.market if is_sale else row.currency
    coins, qort = (row.quantity, row.total_price) if is_sale else (row.total_price, row.quantity)
    chain = find_chain(ticker)
    has_commission = bool(units(row.commission))
    return LedgerRow(
        "sell" if is_sale else "buy",
        qort,
        coins,
        ticker if chain is None else chain.name,
        ratio(coins, qort),
        f"{ticker} per {QORT}",
        row.timestamp,
        iso(row.timestamp),
        row.commission if has_commission else UNSET,
        row.commission_currency if has_commission else UNSET,
    )
