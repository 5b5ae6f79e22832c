"""Assets, who holds them and how they are traded."""

from typing import Any

from ..replies.assets import Asset, AssetBalance
from ..types import Address, AssetId, AssetIds, Limit
from .record import HOURS, UNTIL_NEXT_BLOCK, Endpoint, json_of
from .words import Ordering

ASSET = Endpoint(
    "/assets/info",
    json_of(Asset),
    HOURS,
    query={"assetId": AssetId},
    returns="One asset.",
    noun="Asset",
)
ASSET_BALANCES = Endpoint(
    "/assets/balances",
    json_of(list[AssetBalance]),
    UNTIL_NEXT_BLOCK,
    query={
        "address": Address,
        "assetid": AssetIds,
        "ordering": Ordering,
        "excludeZero": bool,
        "limit": Limit,
    },
    returns="What an account holds, asset by asset.",
)

FAMILY: tuple[Endpoint[Any], ...] = (ASSET, ASSET_BALANCES)
