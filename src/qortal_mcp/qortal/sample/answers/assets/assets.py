"""Assets of the sample chain: what they are, who holds them, and what was done with them."""

from typing import Any

from ....node.source import RawReply
from ....words.amounts import units
from ...chain import Chain
from ...core.checks import valid_address
from ...core.parameters import Paging, Parameters, path_integer
from ...core.replies import Routes, as_json, core_error, page

_ORDERINGS = {
    "ASSET_BALANCE_ACCOUNT": lambda row: (row["assetId"], units(row["balance"]), row["address"]),
    "ACCOUNT_ASSET": lambda row: (row["address"], row["assetId"]),
    "ASSET_ACCOUNT": lambda row: (row["assetId"], row["address"]),
}


def existing_asset(chain: Chain, asset_id: int) -> int:
    if not 0 <= asset_id < len(chain["assets"]):
        raise core_error(601)
    return asset_id


def assets(chain: Chain, parameters: Parameters) -> RawReply:
    with_data, paging = parameters.flag("includeData"), Paging(parameters)
    rows = paging.of(chain["assets"])
    if not with_data:
        rows = [{name: value for name, value in row.items() if name != "data"} for row in rows]
    return as_json(rows)


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
    for asset_id in asset_ids:
        existing_asset(chain, asset_id)
    rows: list[dict[str, Any]] = [
        row
        for row in chain["balances"]
        if (not addresses or row["address"] in addresses)
        and (not asset_ids or row["assetId"] in asset_ids)
        and (units(row["balance"]) or (addresses and not without_zero))
    ]
    return as_json(paging.of(sorted(rows, key=_ORDERINGS[ordering])))


def transactions(chain: Chain, parameters: Parameters, assetid: str) -> RawReply:
    asset_id, paging = path_integer("assetid", assetid), Paging(parameters)
    status = parameters.choice("confirmationStatus", ("CONFIRMED", "UNCONFIRMED", "BOTH"))
    existing_asset(chain, asset_id)
    if status is None:
        raise page(500)
    # No unconfirmed transaction of this chain has a type that belongs here.
    return as_json(paging.of([] if status == "UNCONFIRMED" else chain["assetTransactions"][str(asset_id)]))


def transfers(chain: Chain, parameters: Parameters, assetid: str) -> RawReply:
    asset_id, paging = path_integer("assetid", assetid), Paging(parameters)
    address = parameters.text("address")
    existing_asset(chain, asset_id)
    if address is not None:
        valid_address(address)
    rows = chain["assetTransfers"][str(asset_id)]
    return as_json(paging.of([r for r in rows if address in (None, r["creatorAddress"], r["recipient"])]))


def balance_ranges(chain: Chain, parameters: Parameters) -> RawReply:
    rows = chain["balanceRanges"]
    if parameters.answer("reverse") is None:
        raise page(500)
    return as_json(_slice(parameters, rows[::-1] if parameters.flag("reverse") else rows))


def balance_range(chain: Chain, parameters: Parameters, height: str) -> RawReply:
    wanted = path_integer("height", height)
    for row in chain["balanceRanges"]:
        if row["begin"] < wanted <= row["end"]:
            return as_json(row)
    raise core_error(125)


def balance_changes(chain: Chain, parameters: Parameters, begin: str, end: str) -> RawReply:
    wanted = f"{path_integer('begin', begin)}/{path_integer('end', end)}"
    # Invalid numbers are noticed before the range is looked up.
    Paging(parameters)
    found = chain["balanceAmounts"].get(wanted)
    if found is None:
        raise core_error(125)
    return as_json(_slice(parameters, found))


def _slice(parameters: Parameters, rows: list[Any]) -> list[Any]:
    """A slice in memory, where limit 0 means none, and Core fails if a value is missing or negative."""
    offset, limit = parameters.integer("offset"), parameters.integer("limit")
    if offset is None or limit is None or offset < 0 or limit < 0:
        raise page(500)
    return rows[offset : offset + limit]


ROUTES: Routes = {
    "/assets": assets,
    "/assets/info": asset,
    "/assets/balances": asset_balances,
    "/assets/transactions/{assetid}": transactions,
    "/assets/transfers/{assetid}": transfers,
    "/assets/balancedynamicranges": balance_ranges,
    "/assets/balancedynamicrange/{height}": balance_range,
    "/assets/balancedynamicamounts/{begin}/{end}": balance_changes,
}
