"""Accounts and their balances on the sample chain."""

from ..amounts import units
from ..source import RawReply
from .chain import Chain
from .checks import valid_address
from .java import java_decimal
from .parameters import Parameters
from .replies import Routes, as_json, as_text, core_error


def account(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    found = chain["accounts"].get(valid_address(address))
    if found is None:
        raise core_error(124)
    return as_json(found)


def balance(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    asset_id = parameters.long("assetId") or 0
    valid_address(address)
    if not 0 <= asset_id < len(chain["assets"]):
        raise core_error(601)
    for row in chain["balances"]:
        if row["address"] == address and row["assetId"] == asset_id:
            return as_text(java_decimal(units(row["balance"])))
    return as_text(java_decimal(0))


ROUTES: Routes = {
    "/addresses/{address}": account,
    "/addresses/balance/{address}": balance,
}
