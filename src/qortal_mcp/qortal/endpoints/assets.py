"""Assets, who holds them and how they are traded for each other.

Where a path has two assets, the first is the one offered and the second the one wanted: the other
direction takes a request of its own.
"""

from typing import Any

from ..limits import PAGE_ROWS
from ..replies.assets import (
    Asset,
    AssetBalance,
    AssetDetail,
    AssetTrade,
    AssetTransaction,
    BalanceChange,
    HeightRange,
    Order,
    PriceLevel,
    RecentTrade,
    TradeWithOrders,
)
from ..words.arguments import (
    Address,
    Addresses,
    AssetId,
    AssetIds,
    AssetName,
    ConfirmationStatus,
    Height,
    Limit,
    Offset,
    OrderId,
)
from .parameters import HeavyLimit, Ordering
from .record import UNTIL_NEXT_BLOCK, Endpoint, Same, json_of

_PAGING = {"limit": Limit, "offset": Offset, "reverse": bool}
_PAIR = {"assetid": AssetId, "otherassetid": AssetId}
_FIRST_PAGE = {"limit": PAGE_ROWS}

ASSETS = Endpoint(
    "/assets",
    json_of(list[Asset]),
    UNTIL_NEXT_BLOCK,
    query=_PAGING,
    returns="All assets, by id, without their data.",
    defaults=_FIRST_PAGE,
)
ASSET = Endpoint(
    "/assets/info",
    json_of(AssetDetail),
    UNTIL_NEXT_BLOCK,
    query={"assetId": AssetId, "assetName": AssetName},
    returns="One asset, by id or else by its exact name.",
    noun="Asset",
    is_aside=True,
)
ASSET_BALANCES = Endpoint(
    "/assets/balances",
    json_of(list[AssetBalance]),
    UNTIL_NEXT_BLOCK,
    query={
        "address": Addresses,
        "assetid": AssetIds,
        "ordering": Ordering,
        "excludeZero": bool,
        **_PAGING,
    },
    returns="Balances of accounts, of assets, or both.",
    defaults=_FIRST_PAGE,
)
BALANCE_RANGES = Endpoint(
    "/assets/balancedynamicranges",
    json_of(list[HeightRange]),
    UNTIL_NEXT_BLOCK,
    query=_PAGING,
    returns="Ranges of blocks for which the node recorded balance changes; empty unless recording is on.",
    since="4.7.0",
    # Core fails if one of the three is missing.
    defaults={"offset": 0, "limit": 20, "reverse": True},
    # A node records them only if it is told to.
    same=Same.NEVER,
)
BALANCE_RANGE = Endpoint(
    "/assets/balancedynamicrange/{height}",
    json_of(HeightRange),
    UNTIL_NEXT_BLOCK,
    path={"height": Height},
    returns="The recorded range that a block belongs to.",
    noun="Range",
    since="4.7.0",
    # A node records them only if it is told to.
    same=Same.NEVER,
)
BALANCE_CHANGES = Endpoint(
    "/assets/balancedynamicamounts/{begin}/{end}",
    json_of(list[BalanceChange]),
    UNTIL_NEXT_BLOCK,
    path={"begin": Height, "end": Height},
    query={"limit": Limit, "offset": Offset},
    returns="Balance changes in a recorded range, beyond what transactions explain.",
    noun="Range",
    since="4.7.0",
    defaults={"offset": 0, "limit": 20},
    # A node records them only if it is told to.
    same=Same.NEVER,
)
OPEN_ORDERS = Endpoint(
    "/assets/openorders/{assetid}/{otherassetid}",
    json_of(list[Order]),
    UNTIL_NEXT_BLOCK,
    path=_PAIR,
    query=_PAGING,
    returns="Orders waiting to be filled, lowest price first.",
    defaults=_FIRST_PAGE,
)
ORDER_BOOK = Endpoint(
    "/assets/orderbook/{assetid}/{otherassetid}",
    json_of(list[PriceLevel]),
    UNTIL_NEXT_BLOCK,
    path=_PAIR,
    query=_PAGING,
    returns="Open amounts at each price, lowest price first.",
    defaults=_FIRST_PAGE,
)
RECENT_TRADES = Endpoint(
    "/assets/trades/recent",
    json_of(list[RecentTrade]),
    UNTIL_NEXT_BLOCK,
    query={"assetid": AssetIds, "otherassetid": AssetIds, **_PAGING},
    returns="The two newest trades of each pair. A missing side means QORT.",
    defaults=_FIRST_PAGE,
)
ASSET_TRADES = Endpoint(
    "/assets/trades/{assetid}/{otherassetid}",
    json_of(list[TradeWithOrders]),
    UNTIL_NEXT_BLOCK,
    path=_PAIR,
    query=_PAGING,
    returns="Trades with their two orders, where the later order offered the first asset; oldest first.",
    defaults=_FIRST_PAGE,
)
ORDER = Endpoint(
    "/assets/order/{orderid}",
    json_of(Order),
    UNTIL_NEXT_BLOCK,
    path={"orderid": OrderId},
    returns="One order.",
    noun="Order",
)
ORDER_TRADES = Endpoint(
    "/assets/order/{orderid}/trades",
    json_of(list[AssetTrade]),
    UNTIL_NEXT_BLOCK,
    path={"orderid": OrderId},
    query=_PAGING,
    returns="Trades of one order, oldest first.",
    noun="Order",
    defaults=_FIRST_PAGE,
)
ORDERS_OF = Endpoint(
    "/assets/orders/{address}",
    json_of(list[Order]),
    UNTIL_NEXT_BLOCK,
    path={"address": Address},
    query={"includeClosed": bool, "includeFulfilled": bool, **_PAGING},
    returns="Open orders of an account, oldest first. With includeClosed, only the cancelled ones instead; "
    "with includeFulfilled as well, only the filled ones.",
    noun="Address",
    defaults=_FIRST_PAGE,
)
ORDERS_OF_PAIR = Endpoint(
    "/assets/orders/{address}/{assetid}/{otherassetid}",
    json_of(list[Order]),
    UNTIL_NEXT_BLOCK,
    path={"address": Address, **_PAIR},
    query={"isClosed": bool, "isFulfilled": bool, **_PAGING},
    returns="Orders of an account for one pair, oldest first; open and closed, unless filtered.",
    noun="Address",
    defaults=_FIRST_PAGE,
)
ASSET_TRANSACTIONS = Endpoint(
    "/assets/transactions/{assetid}",
    json_of(list[AssetTransaction]),
    UNTIL_NEXT_BLOCK,
    path={"assetid": AssetId},
    query={"confirmationStatus": ConfirmationStatus, **_PAGING, "limit": HeavyLimit},
    returns="Transactions that issued, transferred or traded an asset, oldest first.",
    # Core fails without a status.
    defaults={"confirmationStatus": "CONFIRMED", "limit": 20},
)
ASSET_TRANSFERS = Endpoint(
    "/assets/transfers/{assetid}",
    json_of(list[AssetTransaction]),
    UNTIL_NEXT_BLOCK,
    path={"assetid": AssetId},
    query={"address": Address, **_PAGING},
    returns="Transfers of an asset, all of them or those from and to one account; oldest first.",
    defaults=_FIRST_PAGE,
)

FAMILY: tuple[Endpoint[Any], ...] = (
    ASSETS,
    ASSET,
    ASSET_BALANCES,
    BALANCE_RANGES,
    BALANCE_RANGE,
    BALANCE_CHANGES,
    OPEN_ORDERS,
    ORDER_BOOK,
    RECENT_TRADES,
    ASSET_TRADES,
    ORDER,
    ORDER_TRADES,
    ORDERS_OF,
    ORDERS_OF_PAIR,
    ASSET_TRANSACTIONS,
    ASSET_TRANSFERS,
)
