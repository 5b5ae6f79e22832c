"""Completed trades of QORT for foreign coins, and the price they make."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ...endpoints.crosschain import PRICE
from ...limits import PAGE_ROWS
from ...node.failures import node_error
from ...node.node import Node
from ...node.side_by_side import side_by_side
from ...replies.crosschain import CompletedTrade
from ...words.amounts import ratio
from ...words.arguments import (
    AccountOrKey,
    ChainName,
    EarlierThan,
    LaterThan,
    Limit,
    Offset,
    OneChain,
    Reverse,
)
from ...words.chains import CHAINS, Chain, find_chain
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Amount, Answer, ListAnswer, fitting, page_of
from ..read_only import tool
from ..scanning.spans import between
from .trader_keys import KEY_UNKNOWN, NO_KEY, key_of
from .whole_lists import completed_trades

QORT = "QORT"


class TradeSearch(Struct, frozen=True, forbid_unknown_fields=True):
    chain: ChainName | UnsetType = UNSET
    buyer: AccountOrKey | UnsetType = UNSET
    seller: AccountOrKey | UnsetType = UNSET
    since: LaterThan | UnsetType = UNSET
    until: EarlierThan | UnsetType = UNSET
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
    since, until = between(args.since, args.until)
    buyer, seller = await side_by_side(key_of(reading, args.buyer), key_of(reading, args.seller))
    unknown = [role for role, key in (("buyer", buyer), ("seller", seller)) if key == NO_KEY]
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
                    since=since,
                    until=until,
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
        notes=reading.notes(*(KEY_UNKNOWN.format(role=role) for role in unknown)),
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
    return "the node has no more" if counted == taken else f"of the {taken} newest, Core counts one per block"
