"""Accounts, balances, names and assets of the sample chain."""

from typing import Any

from ..amounts import units
from ..base58 import is_address
from ..source import RawReply
from .chain import Chain
from .parameters import Paging, Parameters
from .replies import as_json, as_text, core_error

_PLACES = 8
# BigDecimal turns to scientific notation below this power of ten.
_SMALLEST_PLAIN_POWER = -6

_ORDERINGS = {
    "ASSET_BALANCE_ACCOUNT": lambda row: (row["assetId"], units(row["balance"]), row["address"]),
    "ACCOUNT_ASSET": lambda row: (row["address"], row["assetId"]),
    "ASSET_ACCOUNT": lambda row: (row["assetId"], row["address"]),
}


def account(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    found = chain["accounts"].get(_valid(address))
    if found is None:
        raise core_error(124)
    return as_json(found)


def balance(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    asset_id = parameters.long("assetId") or 0
    _valid(address)
    if not 0 <= asset_id < len(chain["assets"]):
        raise core_error(601)
    for row in chain["balances"]:
        if row["address"] == address and row["assetId"] == asset_id:
            return as_text(java_decimal(units(row["balance"])))
    return as_text(java_decimal(0))


def names_of(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    paging = Paging(parameters)
    return as_json(paging.of(chain["namesByAddress"].get(_valid(address), [])))


def primary_name(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    return as_json(chain["primaryNames"].get(_valid(address), {"owner": address}))


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
        _valid(address)
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


def _valid(address: str) -> str:
    if not is_address(address):
        raise core_error(102)
    return address


def java_decimal(amount: int) -> str:
    """An amount as Java writes a BigDecimal of scale eight: 12.34000000, 0E-8, 1.2E-7."""
    digits = str(abs(amount))
    power = len(digits) - 1 - _PLACES
    sign = "-" if amount < 0 else ""
    if power >= _SMALLEST_PLAIN_POWER:
        digits = digits.rjust(_PLACES + 1, "0")
        return f"{sign}{digits[:-_PLACES]}.{digits[-_PLACES:]}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}E{power}"
