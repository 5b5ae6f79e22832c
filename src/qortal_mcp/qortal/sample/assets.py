"""Assets of the sample chain."""

from typing import Any

from ..amounts import units
from ..source import RawReply
from .chain import Chain
from .checks import valid_address
from .parameters import Paging, Parameters
from .replies import Routes, as_json, core_error

_ORDERINGS = {
    "ASSET_BALANCE_ACCOUNT": lambda row: (row["assetId"], units(row["balance"]), row["address"]),
    "ACCOUNT_ASSET": lambda row: (row["address"], row["assetId"]),
    "ASSET_ACCOUNT": lambda row: (row["assetId"], row["address"]),
}


def asset(chain: Chain, parameters: Parameters) -> RawReply:
    asset_id, name = parameters.integer("assetId"), parameters.text("assetName")
    if asset_id is None and name is None:
        raise core_error(125)
    for row in chain["assetInfo"].values():
        if row["assetId"] == asset_id if asset_id is not None else row["name"] == name:
            return as_json(row)
    raise core_error(601)


def asset_balances(chain: Chain, parameters: Parameters) -> RawReply:
    asset_ids, addresses = parameters.longs("assetid"), parameters.texts("address")
    ordering = parameters.choice("ordering", _ORDERINGS) or "ASSET_BALANCE_ACCOUNT"
    without_zero, paging = parameters.flag("excludeZero"), Paging(parameters)
    if not asset_ids and not addresses:
        raise core_error(125)
    for address in addresses:
        valid_address(address)
    if any(not 0 <= asset_id < len(chain["assets"]) for asset_id in asset_ids):
        raise core_error(601)
    rows: list[dict[str, Any]] = [
        row
        for row in chain["balances"]
        if (not addresses or row["address"] in addresses)
        and (not asset_ids or row["assetId"] in asset_ids)
        and (units(row["balance"]) or (addresses and not without_zero))
    ]
    return as_json(paging.of(sorted(rows, key=_ORDERINGS[ordering])))


ROUTES: Routes = {
    "/assets/info": asset,
    "/assets/balances": asset_balances,
}
