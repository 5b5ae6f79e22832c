"""Accounts of the sample chain."""

from ...node.source import RawReply
from ...words.amounts import units
from ...words.base58 import address_of, is_address
from ..chain import Chain
from ..core.checks import valid_address
from ..core.java import java_decimal
from ..core.parameters import Paging, Parameters, path_integer
from ..core.replies import Routes, as_json, as_text, core_error
from .trades.past import TRADER, TRADER_KEY


def account(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    found = chain["accounts"].get(valid_address(address))
    if found is None:
        raise core_error(124)
    return as_json(found)


def last_reference(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    found = chain["accounts"].get(valid_address(address))
    if found is None:
        raise core_error(124)
    return as_text(found.get("reference", "false"))


def validity(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    return as_text("true" if is_address(address) else "false")


def balance(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    asset_id = parameters.long("assetId") or 0
    valid_address(address)
    if not 0 <= asset_id < len(chain["assets"]):
        raise core_error(601)
    for row in chain["balances"]:
        if row["address"] == address and row["assetId"] == asset_id:
            return as_text(java_decimal(units(row["balance"])))
    return as_text(java_decimal(0))


def public_key(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    if address == TRADER:
        return as_text(TRADER_KEY)
    return as_text(chain["accounts"].get(valid_address(address), {}).get("publicKey", "false"))


def address_of_key(chain: Chain, parameters: Parameters, publickey: str) -> RawReply:
    try:
        return as_text(address_of(publickey))
    except ValueError:
        raise core_error(112) from None


def online(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["online"])


def online_levels(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["onlineLevels"])


def reward_shares(chain: Chain, parameters: Parameters) -> RawReply:
    """Always sorted by recipient: reverse only turns round the shares of one recipient."""
    paging = Paging(parameters)
    minters, recipients = parameters.texts("minters"), parameters.texts("recipients")
    involving = parameters.texts("involving")
    rows = [
        row
        for row in chain["rewardShares"]
        if (not minters or row["mintingAccount"] in minters)
        and (not recipients or row["recipient"] in recipients)
        and (not involving or {row["mintingAccount"], row["recipient"]} & set(involving))
    ]
    rows.sort(key=lambda row: float(row["sharePercent"]), reverse=paging.reverse)
    rows.sort(key=lambda row: str(row["recipient"]))
    return as_json(paging.cut(rows))


def penalties(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["penalties"])


def penalty_totals(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["penaltyStats"])


def levels(chain: Chain, parameters: Parameters, minLevel: str) -> RawReply:
    least = path_integer("minLevel", minLevel)
    return as_json([row for row in chain["levels"]["0"] if row["level"] >= least])


ROUTES: Routes = {
    "/addresses/{address}": account,
    "/addresses/lastreference/{address}": last_reference,
    "/addresses/validate/{address}": validity,
    "/addresses/online": online,
    "/addresses/online/levels": online_levels,
    "/addresses/balance/{address}": balance,
    "/addresses/publickey/{address}": public_key,
    "/addresses/convert/{publickey}": address_of_key,
    "/addresses/rewardshares": reward_shares,
    "/addresses/penalties": penalties,
    "/addresses/penalties/stats": penalty_totals,
    "/addresses/levels/{minLevel}": levels,
}
