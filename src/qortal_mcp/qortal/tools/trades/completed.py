"""Completed trades of QORT for foreign coins: lists, ledgers, prices."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ...endpoints.addresses import PUBLIC_KEY
from ...endpoints.crosschain import COINS, LEDGER, PRICE
from ...limits import PAGE_ROWS
from ...node.failures import NodeFailure, node_error, not_supported
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.crosschain import CompletedTrade, LedgerEntry
from ...words.amounts import ratio, units
from ...words.arguments import AccountOrKey, ChainName, LaterThan, Limit, Offset, OneChain, Reverse
from ...words.base58 import is_address
from ...words.chains import CHAINS, Chain, find_chain
from ...words.times import IsoTime, Milliseconds, iso, milliseconds
from ..answers import Amount, Answer, ListAnswer, fitting, page_of
from ..read_only import tool
from .whole_lists import completed_trades

QORT = "QORT"
_MINUTE_MS = 60_000
_NO_KEY = "false"
_KEY_UNKNOWN = "This {role}'s public key is not known on the chain, and Core finds trades only by key."


class TradeSearch(Struct, frozen=True, forbid_unknown_fields=True):
    chain: ChainName | UnsetType = UNSET
    buyer: AccountOrKey | UnsetType = UNSET
    seller: AccountOrKey | UnsetType = UNSET
    since: LaterThan | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = True


class CompletedTradeRow(Struct):
    tradeAddress: str
    seller: str
    buyer: str | None
    qortAmount: Amount
    foreignAmount: Amount
    foreignCurrency: str
    price: Annotated[str | None, Meta(description="Foreign coins per QORT, rounded to eight places.")]
    priceUnit: str
    timestamp: Milliseconds
    time: IsoTime


class CompletedTrades(ListAnswer):
    trades: list[CompletedTradeRow]


@tool("Completed trades")
async def list_completed_trades(args: TradeSearch, node: Node) -> CompletedTrades:
    """Completed trades of QORT for foreign coins, newest first, with price, buyer (who got the QORT) and
    seller."""
    reading = node.reading()
    chain = None if args.chain is UNSET else find_chain(args.chain)
    buyer, seller = await side_by_side(_key(reading, args.buyer), _key(reading, args.seller))
    unknown = [role for role, key in (("buyer", buyer), ("seller", seller)) if key == _NO_KEY]
    rows: list[tuple[Chain, CompletedTrade]] = []
    if not unknown:
        # One more than wanted shows whether any follow. The rows do not say which chain they are from.
        count = args.offset + args.limit + 1
        chains = CHAINS if chain is None else (chain,)
        each = await side_by_side(
            *(
                completed_trades(
                    reading,
                    one,
                    count,
                    newest_first=args.reverse,
                    since=None if args.since is UNSET else milliseconds(args.since),
                    buyer_key=buyer,
                    seller_key=seller,
                )
                for one in chains
            )
        )
        rows = [(one, row) for one, found in zip(chains, each, strict=True) for row in found]
        rows.sort(key=lambda pair: pair[1].tradeTimestamp, reverse=args.reverse)
    trades = fitting([_trade(one, row) for one, row in rows[args.offset : args.offset + args.limit]])
    return CompletedTrades(
        trades,
        page=page_of(args, args.offset, len(trades), args.offset + len(trades) < len(rows)),
        asOf=reading.as_of,
        notes=reading.notes(*(_KEY_UNKNOWN.format(role=role) for role in unknown)),
    )


def _trade(chain: Chain, row: CompletedTrade) -> CompletedTradeRow:
    return CompletedTradeRow(
        row.atAddress,
        row.sellerAddress,
        row.buyerReceivingAddress,
        row.qortAmount,
        row.foreignAmount,
        chain.name,
        ratio(row.foreignAmount, row.qortAmount),
        f"{chain.ticker} per QORT",
        row.tradeTimestamp,
        iso(row.tradeTimestamp),
    )


async def _key(reading: Reading, account: str | UnsetType) -> str | None:
    """The public key that Core wants for an account; the text `false` if it knows none."""
    if account is UNSET:
        return None
    return await reading.get(PUBLIC_KEY, address=account) if is_address(account) else account


class PriceOf(Struct, frozen=True, forbid_unknown_fields=True):
    chain: OneChain
    trades: Annotated[
        int, Meta(ge=1, le=50, description="Newest trades to average.", extra={"clamp": True})
    ] = 10
    inverse: Annotated[bool, Meta(description="Coins per QORT, as in the other tools.")] = False


class TradePrice(Answer):
    foreignCurrency: str
    price: Annotated[
        Annotated[str, Meta(pattern=r"^[0-9]+\.[0-9]{8}$")] | None,
        Meta(description="Average weighted by amount, cut to eight places; null without trades."),
    ]
    priceUnit: str
    trades: Annotated[int, Meta(description="How many trades count: only one per block.")]


@tool("Trade price")
async def get_trade_price(args: PriceOf, node: Node) -> TradePrice:
    """Average price of a foreign coin in QORT, or the inverse, in the newest completed trades."""
    reading = node.reading()
    chain = find_chain(args.chain)
    assert chain is not None, "the argument was checked"
    price, newest = await side_by_side(
        reading.optional(PRICE, blockchain=chain.name, maxtrades=args.trades, inverse=args.inverse or None),
        completed_trades(reading, chain, args.trades),
    )
    if newest and price is None:
        raise node_error("It returned no price.", retryable=True)
    # Core takes the newest trades and then drops all but one of each block. Without trades it divides by zero.
    taken = newest[: args.trades]
    counted = len({row.tradeTimestamp for row in taken})
    notes = []
    if not newest:
        notes.append(f"No completed trades against {chain.name} yet, so there is no price.")
    elif counted < args.trades:
        notes.append(f"The price is made of {_trades(counted)}: {_fewer(counted, len(taken))}.")
    unit = f"{chain.ticker} per {QORT}" if args.inverse else f"{QORT} per {chain.ticker}"
    return TradePrice(
        chain.name,
        price if newest else None,
        unit,
        counted,
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


def _trades(count: int) -> str:
    return "1 trade" if count == 1 else f"{count} trades"


def _fewer(counted: int, taken: int) -> str:
    """Why a price is made of fewer trades than wanted."""
    return "there are no more" if counted == taken else f"of the {taken} newest, Core counts one per block"


class LedgerOf(Struct, frozen=True, forbid_unknown_fields=True):
    account: AccountOrKey
    since: LaterThan | UnsetType = UNSET
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
    trades: list[LedgerRow]


@tool("Trade ledger")
async def get_trade_ledger(args: LedgerOf, node: Node) -> Ledger:
    """All QORT an account sold and bought for foreign coins, newest first, for bookkeeping."""
    reading = node.reading()
    key = await _key(reading, args.account)
    notes, rows = [], []
    if key == _NO_KEY:
        notes.append(_KEY_UNKNOWN.format(role="account"))
    else:
        # Core can start at a time, but fails if that is before its first blocks.
        rows = await _ledger(reading, key)
    if args.since is not UNSET:
        since = milliseconds(args.since)
        rows = [row for row in rows if row.timestamp + _MINUTE_MS > since]
    ordered = rows[::-1] if args.reverse else rows
    trades = fitting([_ledger_row(row) for row in ordered[args.offset : args.offset + args.limit]])
    return Ledger(
        trades,
        page=page_of(args, args.offset, len(trades), args.offset + len(trades) < len(rows)),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


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
