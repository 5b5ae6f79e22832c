"""Orders and trades between assets of the sample chain."""

from itertools import groupby
from typing import Any

from ....node.source import RawReply
from ....words.amounts import units, written
from ....words.base58 import decode
from ...chain import Chain
from ...core.checks import valid_address
from ...core.parameters import Paging, Parameters, path_integer
from ...core.replies import Routes, as_json, core_error
from .assets import existing_asset

Row = dict[str, Any]
_RECENT = 2


def open_orders(chain: Chain, parameters: Parameters, assetid: str, otherassetid: str) -> RawReply:
    paging = Paging(parameters)
    return as_json(paging.of(_waiting(chain, *_pair(chain, assetid, otherassetid))))


def order_book(chain: Chain, parameters: Parameters, assetid: str, otherassetid: str) -> RawReply:
    paging = Paging(parameters)
    waiting = _waiting(chain, *_pair(chain, assetid, otherassetid))
    levels = [
        _level(price, list(orders)) for price, orders in groupby(waiting, key=lambda row: str(row["price"]))
    ]
    return as_json(paging.of(levels))


def trades(chain: Chain, parameters: Parameters, assetid: str, otherassetid: str) -> RawReply:
    paging = Paging(parameters)
    have, want = _pair(chain, assetid, otherassetid)
    return as_json(paging.of(chain["assetTrades"].get(f"{have}/{want}", [])))


def recent_trades(chain: Chain, parameters: Parameters) -> RawReply:
    """The newest of each pair. Reverse turns round the pairs, never the trades of a pair."""
    paging = Paging(parameters)
    asset_ids = parameters.longs("assetid") or [0]
    others = parameters.longs("otherassetid") or [0]
    for asset_id in (*asset_ids, *others):
        existing_asset(chain, asset_id)
    pairs = sorted({(have, want) for have in asset_ids for want in others}, reverse=paging.reverse)
    return as_json(paging.cut([row for pair in pairs for row in _newest(chain, *pair)]))


def order(chain: Chain, parameters: Parameters, orderid: str) -> RawReply:
    return as_json(_order(chain, orderid))


def trades_of_order(chain: Chain, parameters: Parameters, orderid: str) -> RawReply:
    paging = Paging(parameters)
    _order(chain, orderid)
    rows = [
        row["trade"]
        for rows in chain["assetTrades"].values()
        for row in rows
        if orderid in (row["trade"]["initiatingOrderId"], row["trade"]["targetOrderId"])
    ]
    return as_json(paging.of(sorted(rows, key=_when)))


def orders_of(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """The parameters look like additions but are filters: closed or not, filled or not."""
    paging = Paging(parameters)
    closed, filled = parameters.flag("includeClosed"), parameters.flag("includeFulfilled")
    return as_json(paging.of(_orders_of(chain, address, closed, filled)))


def orders_of_pair(
    chain: Chain, parameters: Parameters, address: str, assetid: str, otherassetid: str
) -> RawReply:
    paging = Paging(parameters)
    closed, filled = parameters.answer("isClosed"), parameters.answer("isFulfilled")
    have, want = _numbers(assetid, otherassetid)
    orders = _orders_of(chain, address, closed, filled)
    pair = existing_asset(chain, have), existing_asset(chain, want)
    return as_json(paging.of([row for row in orders if (row["haveAssetId"], row["wantAssetId"]) == pair]))


def _pair(chain: Chain, assetid: str, otherassetid: str) -> tuple[int, int]:
    have, want = _numbers(assetid, otherassetid)
    return existing_asset(chain, have), existing_asset(chain, want)


def _numbers(assetid: str, otherassetid: str) -> tuple[int, int]:
    """Core parses all numbers of a path before it looks anything up."""
    return path_integer("assetid", assetid), path_integer("otherassetid", otherassetid)


def _all_orders(chain: Chain) -> list[Row]:
    return [row for rows in chain["orders"].values() for row in rows]


def _when(row: Row) -> int:
    timestamp: int = row["timestamp"]
    return timestamp


def _waiting(chain: Chain, have: int, want: int) -> list[Row]:
    rows = [
        row
        for row in _all_orders(chain)
        if (row["haveAssetId"], row["wantAssetId"]) == (have, want)
        and not row["isClosed"]
        and not row["isFulfilled"]
    ]
    return sorted(rows, key=lambda row: (units(row["price"]), _when(row)))


def _level(price: str, orders: list[Row]) -> Row:
    first = orders[0]
    return {
        "price": price,
        "pricePair": first["pricePair"],
        "unfulfilled": written(sum(units(row["amount"]) - units(row["fulfilled"]) for row in orders)),
        "unfulfilledAssetId": first["amountAssetId"],
        "unfulfilledAssetName": first["amountAssetName"],
    }


def _newest(chain: Chain, have: int, want: int) -> list[Row]:
    rows = sorted(
        (row["trade"] for row in chain["assetTrades"].get(f"{have}/{want}", [])), key=_when, reverse=True
    )
    return [
        {
            "assetId": have,
            "otherAssetId": want,
            "otherAmount": row["targetAmount"],
            "amount": row["initiatorAmount"],
            "timestamp": row["timestamp"],
        }
        for row in rows[:_RECENT]
    ]


def _order(chain: Chain, order_id: str) -> Row:
    try:
        decode(order_id)
    except ValueError:
        raise core_error(602) from None
    for row in _all_orders(chain):
        if row["orderId"] == order_id:
            return row
    raise core_error(603)


def _orders_of(chain: Chain, address: str, closed: bool | None, filled: bool | None) -> list[Row]:
    account = chain["accounts"].get(valid_address(address))
    if account is None or "publicKey" not in account:
        raise core_error(124)
    rows = [
        row
        for row in chain["orders"].get(address, [])
        if closed in (None, row["isClosed"]) and filled in (None, row["isFulfilled"])
    ]
    return sorted(rows, key=_when)


ROUTES: Routes = {
    "/assets/openorders/{assetid}/{otherassetid}": open_orders,
    "/assets/orderbook/{assetid}/{otherassetid}": order_book,
    "/assets/trades/recent": recent_trades,
    "/assets/trades/{assetid}/{otherassetid}": trades,
    "/assets/order/{orderid}": order,
    "/assets/order/{orderid}/trades": trades_of_order,
    "/assets/orders/{address}": orders_of,
    "/assets/orders/{address}/{assetid}/{otherassetid}": orders_of_pair,
}
