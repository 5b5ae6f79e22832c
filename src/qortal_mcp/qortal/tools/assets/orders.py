"""Orders of one account to trade assets for each other: open, filled and cancelled."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from ...endpoints.assets import ORDERS_OF
from ...limits import LIMIT, PAGE_ROWS, PAGE_ROWS_BYTES, ROWS_BYTES
from ...node.failures import NodeFailure
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.assets import Order
from ...words.amounts import units, written
from ...words.arguments import Account, Limit, Offset
from ...words.times import IsoTime, Milliseconds, iso
from ..answers import Amount, ListAnswer, fitting, page_of
from ..read_only import tool

State = Literal["open", "filled", "cancelled"]

# Core's flags look like additions but are exact filters. It closes an order that is filled; should a node not do so, its
# filled orders are found with the second pair.
_FLAGS: dict[State, tuple[tuple[bool, bool], ...]] = {
    "open": ((False, False),),
    "filled": ((True, True), (False, True)),
    "cancelled": ((True, False),),
}
_NO_KEY = "This account has never sent a transaction, so it has no orders."


class OrdersOf(Struct, frozen=True, forbid_unknown_fields=True):
    address: Account
    status: Annotated[
        Literal["open", "filled", "cancelled", "all"], Meta(description="Open: at most filled in part.")
    ] = "open"
    limit: Limit = PAGE_ROWS
    offset: Offset = 0


class AccountOrder(Struct):
    orderId: Annotated[str, Meta(description="Signature of the transaction that made it.")]
    status: State
    side: Annotated[Literal["sell", "buy"], Meta(description="What it does with the asset named in unit.")]
    amount: Amount
    filled: Amount
    unfilled: Amount
    unit: Annotated[str, Meta(description="The asset of the pair with the higher id.")]
    price: Amount
    priceUnit: str
    haveAssetId: int
    wantAssetId: int
    timestamp: Milliseconds
    time: IsoTime


class AccountOrders(ListAnswer):
    orders: list[AccountOrder]


@tool("Asset orders")
async def list_asset_orders(args: OrdersOf, node: Node) -> AccountOrders:
    """An account's orders on the asset market, newest first: amount, filled part, price. Not for foreign coins."""
    reading = node.reading()
    end = args.offset + args.limit
    states: tuple[State, ...] = tuple(_FLAGS) if args.status == "all" else (args.status,)
    flags = [pair for state in states for pair in _FLAGS[state]]
    lists = await side_by_side(*(_newest(reading, args.address, *pair, end + 1) for pair in flags))
    if None in lists:
        await reading.height()  # says what the answer is as of
    known = {row.orderId: row for rows in lists if rows is not None for row in rows}
    # Orders with the same time need an order of their own, so that every page sees the same list.
    every = sorted(known.values(), key=lambda row: (-row.timestamp, row.orderId))
    budget = PAGE_ROWS_BYTES if args.limit <= PAGE_ROWS else ROWS_BYTES
    orders = fitting([_order(row) for row in every[args.offset : end]], budget)
    return AccountOrders(
        orders,
        page=page_of(args, args.offset, len(orders), args.offset + len(orders) < len(every)),
        asOf=reading.as_of,
        notes=reading.notes(*([_NO_KEY] if None in lists else [])),
    )


async def _newest(
    reading: Reading, address: str, is_closed: bool, is_filled: bool, wanted: int
) -> list[Order] | None:
    """The newest orders under these flags; None for an account that never sent a transaction."""
    found: list[Order] = []
    while len(found) < wanted:
        try:
            rows = await reading.get(
                ORDERS_OF,
                address=address,
                includeClosed=is_closed,
                includeFulfilled=is_filled,
                limit=LIMIT,
                offset=len(found),
                reverse=True,
            )
        except NodeFailure as exc:
            if exc.code != "NOT_FOUND":
                raise
            return None
        found += rows
        if len(rows) < LIMIT:
            break
    return found


def _order(row: Order) -> AccountOrder:
    have, want = _name(row.haveAssetName, row.haveAssetId), _name(row.wantAssetName, row.wantAssetId)
    is_sale = row.haveAssetId > row.wantAssetId
    unit, priced_in = (have, want) if is_sale else (want, have)
    return AccountOrder(
        row.orderId,
        "filled" if row.isFulfilled else "cancelled" if row.isClosed else "open",
        "sell" if is_sale else "buy",
        row.amount,
        row.fulfilled,
        written(units(row.amount) - units(row.fulfilled)),
        unit,
        row.price,
        f"{priced_in} per {unit}",
        row.haveAssetId,
        row.wantAssetId,
        row.timestamp,
        iso(row.timestamp),
    )


def _name(name: str | None, asset_id: int) -> str:
    return name or f"asset {asset_id}"
