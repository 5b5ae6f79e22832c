"""Trading assets for each other on the chain: open orders, and completed trades.

Core answers for one direction of a pair at a time; people ask about the market. Both directions are read and
shown from one side: amounts in the asset with the higher id, as Core counts them, at a price in the other.
"""

from itertools import chain, zip_longest
from typing import Annotated, Literal, TypeVar

from msgspec import Meta, Struct

from ....server.tool_errors import invalid_argument
from ...endpoints.assets import ASSET_TRADES, ORDER_BOOK
from ...endpoints.record import Endpoint
from ...limits import PAGE_ROWS
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.assets import AssetDetail, PriceLevel, TradeWithOrders
from ...words.amounts import ratio
from ...words.arguments import Limit, Offset
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Amount, ListAnswer, fitting, page_of
from ..read_only import tool
from .named import AssetRef, named_asset

T = TypeVar("T")

# Rows requested from Core at once.
_WINDOW = 100

Side = Annotated[
    Literal["sell", "buy"], Meta(description="What the order does with the asset named in unit.")
]

Unit = Annotated[
    str, Meta(description="The asset with the higher id, in whichever order the two were given.")
]


class Pair(Struct, frozen=True, forbid_unknown_fields=True):
    asset: AssetRef
    other: Annotated[AssetRef, Meta(description="The asset it trades for; QORT by default.")] = "0"
    limit: Limit = PAGE_ROWS
    offset: Offset = 0


class Market(Struct, frozen=True):
    """A pair in Core's order."""

    amounts_of: AssetDetail
    priced_in: AssetDetail

    @property
    def price_unit(self) -> str:
        return f"{self.priced_in.name} per {self.amounts_of.name}"

    async def both(
        self, reading: Reading, endpoint: Endpoint[list[T]], wanted: int
    ) -> tuple[list[T], list[T]]:
        """The first rows for selling and for buying, best or newest first, whichever end of Core's lists that is."""
        sold, other = self.amounts_of.assetId, self.priced_in.assetId
        return await side_by_side(
            _first(reading, endpoint, sold, other, wanted, is_reversed=endpoint is not ORDER_BOOK),
            _first(reading, endpoint, other, sold, wanted, is_reversed=True),
        )


async def _first(
    reading: Reading, endpoint: Endpoint[list[T]], have: int, want: int, wanted: int, *, is_reversed: bool
) -> list[T]:
    found: list[T] = []
    while len(found) < wanted:
        rows = await reading.get(
            endpoint, assetid=have, otherassetid=want, limit=_WINDOW, offset=len(found), reverse=is_reversed
        )
        found += rows
        if len(rows) < _WINDOW:
            break
    return found


async def _market(reading: Reading, args: Pair) -> Market:
    same = invalid_argument("Invalid other.", "It is the same asset.")
    if args.asset.strip() == args.other.strip():
        raise same
    one, other = await side_by_side(named_asset(reading, args.asset), named_asset(reading, args.other))
    if one.assetId == other.assetId:
        raise same
    low, high = sorted((one, other), key=lambda asset: asset.assetId)
    return Market(high, low)


class OrderRow(Struct):
    side: Side
    price: Amount
    priceUnit: str
    amount: Amount
    unit: Unit


class OrderBook(ListAnswer):
    orders: list[OrderRow]


@tool("Asset order book")
async def get_order_book(args: Pair, node: Node) -> OrderBook:
    """Open orders between an asset and QORT (or another asset): best sell and buy prices first, of the
    asset with the higher id."""
    reading = node.reading()
    market = await _market(reading, args)
    end = args.offset + args.limit
    # The lowest price is the best to buy at, the highest the best to sell at.
    sells, buys = await market.both(reading, ORDER_BOOK, end + 1)
    rows = _alternating(
        [_level(market, "sell", row) for row in sells], [_level(market, "buy", row) for row in buys]
    )
    orders = fitting(rows[args.offset : end])
    more = args.offset + len(orders) < len(rows)
    return OrderBook(
        orders,
        page=page_of(args, args.offset, len(orders), more),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


def _alternating(first: list[T], second: list[T]) -> list[T]:
    pairs = zip_longest(first, second)
    return [row for row in chain.from_iterable(pairs) if row is not None]


def _level(market: Market, side: Literal["sell", "buy"], row: PriceLevel) -> OrderRow:
    return OrderRow(side, row.price, market.price_unit, row.unfulfilled, market.amounts_of.name)


class TradeRow(Struct):
    timestamp: Milliseconds
    time: IsoTime
    side: Annotated[
        Literal["sell", "buy"], Meta(description="What the later order did with the asset named in unit.")
    ]
    amount: Amount
    unit: Unit
    total: Annotated[str, Meta(description="What was paid for it, exact.")]
    totalUnit: str
    price: Annotated[str | None, Meta(description="Rounded to eight places.")]
    priceUnit: str
    seller: str | None
    buyer: str | None


class AssetTrades(ListAnswer):
    trades: list[TradeRow]


@tool("Asset trades")
async def list_asset_trades(args: Pair, node: Node) -> AssetTrades:
    """Trades between an asset and QORT (or another asset) on the chain, newest first, with price, buyer and
    seller. Not for foreign coins."""
    reading = node.reading()
    market = await _market(reading, args)
    end = args.offset + args.limit
    sells, buys = await market.both(reading, ASSET_TRADES, end + 1)
    rows = [_trade(market, "sell", row) for row in sells] + [_trade(market, "buy", row) for row in buys]
    # Trades with the same time keep Core's order, so that every page sees the same list.
    rows.sort(key=lambda row: -row.timestamp)
    trades = fitting(rows[args.offset : end])
    more = args.offset + len(trades) < len(rows)
    return AssetTrades(
        trades,
        page=page_of(args, args.offset, len(trades), more),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


def _trade(market: Market, side: Literal["sell", "buy"], row: TradeWithOrders) -> TradeRow:
    trade, later, earlier = row.trade, row.initiatingOrder.creator, row.targetOrder.creator
    if side == "sell":
        amount, total, seller, buyer = trade.initiatorAmount, trade.targetAmount, later, earlier
    else:
        amount, total, seller, buyer = trade.targetAmount, trade.initiatorAmount, earlier, later
    return TradeRow(
        trade.timestamp,
        iso(trade.timestamp),
        side,
        amount,
        market.amounts_of.name,
        total,
        market.priced_in.name,
        ratio(total, amount),
        market.price_unit,
        seller,
        buyer,
    )
