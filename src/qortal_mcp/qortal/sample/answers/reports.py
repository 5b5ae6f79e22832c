"""Reports on accounts of the sample chain and those they sponsored: counted from the transactions, as Core does."""

from collections.abc import Collection
from typing import Any

from ...node.source import RawReply
from ...words.amounts import PLACES, units
from ..chain import Chain
from ..core.checks import valid_address
from ..core.parameters import Parameters
from ..core.replies import Routes, as_json, core_error

_LEFT_OUT = "realRewardShareRecipient"
_NOBODY: dict[str, Any] = {
    "names": [], "sponseeCount": 0, "nonRegisteredCount": 0, "avgBalance": 0,
    "arbitraryCount": 0, "transferAssetCount": 0, "transferPrivsCount": 0,
    "sellCount": 0, "sellAmount": 0, "buyCount": 0, "buyAmount": 0,
}  # fmt: skip


def mintership(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    """The same report as for a sponsor, about the account itself; sponsees are only counted."""
    report = _report(chain, valid_address(address), [address])
    names, balance = report.pop("names"), report.pop("avgBalance")
    del report["nonRegisteredCount"]
    sponsees = len(_sponsees(chain, address, parameters.texts(_LEFT_OUT)))
    named = {"name": names[0]} if names else {}
    return as_json({**report, **named, "sponseeCount": sponsees, "balance": balance})


def sponsorship(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    sponsees = _sponsees(chain, valid_address(address), parameters.texts(_LEFT_OUT))
    return as_json(_report(chain, address, sponsees))


def sponsorship_of_sponsor(chain: Chain, parameters: Parameters, address: str) -> RawReply:
    valid_address(address)
    for share in _shares(chain):
        if share["recipient"] == address:
            return sponsorship(chain, parameters, share["creatorAddress"])
    raise core_error(124)


def _report(chain: Chain, address: str, of: Collection[str]) -> dict[str, Any]:
    account = chain["accounts"].get(address)
    if account is None:
        raise core_error(5)
    about = {
        "address": address,
        "level": account["level"],
        "blocksMinted": account["blocksMinted"],
        "adjustments": account["blocksMintedAdjustment"],
        "penalties": account["blocksMintedPenalty"],
        "transfer": any(address in _participants(chain, row) for row in _of_type(chain, "TRANSFER_PRIVS")),
    }
    if not of:
        return {**about, **_NOBODY}
    names = _names(chain, of)
    balances = [
        units(row["balance"]) for row in chain["balances"] if row["address"] in of and row["assetId"] == 0
    ]
    sells, buys = _payouts(chain, of)
    return {
        **about,
        "names": names,
        "sponseeCount": len(of),
        "nonRegisteredCount": len(of) - len(names),
        "avgBalance": _whole(sum(balances) // len(balances)) if balances else 0,
        "arbitraryCount": _part_in(chain, "ARBITRARY", of),
        "transferAssetCount": _part_in(chain, "TRANSFER_ASSET", of),
        "transferPrivsCount": _part_in(chain, "TRANSFER_PRIVS", of),
        "sellCount": len(sells),
        "sellAmount": _whole(sum(sells)),
        "buyCount": len(buys),
        "buyAmount": _whole(sum(buys)),
    }


def _whole(amount: int) -> int:
    return int(amount // 10**PLACES)


def _of_type(chain: Chain, kind: str) -> list[dict[str, Any]]:
    return [row for row in chain["transactions"] if row["type"] == kind]


def _shares(chain: Chain) -> list[dict[str, Any]]:
    """Every share ever made with another account, ended ones included."""
    return [row for row in _of_type(chain, "REWARD_SHARE") if row["recipient"] != row["creatorAddress"]]


def _sponsees(chain: Chain, address: str, left_out: Collection[str]) -> set[str]:
    shared = {row["recipient"] for row in _shares(chain) if row["creatorAddress"] == address}
    return shared - set(left_out)


def _participants(chain: Chain, row: dict[str, Any]) -> set[str]:
    found = {row["creatorAddress"], *(payment["recipient"] for payment in row.get("payments", []))}
    if "recipient" in row:
        found.add(row["recipient"])
    if row["type"] == "TRANSFER_PRIVS":
        # Core does not show who got the privileges; the new account's history begins with this transaction.
        found |= {
            a for a, account in chain["accounts"].items() if account.get("reference") == row["signature"]
        }
    return found


def _part_in(chain: Chain, kind: str, of: Collection[str]) -> int:
    return sum(len(_participants(chain, row) & set(of)) for row in _of_type(chain, kind))


def _payouts(chain: Chain, of: Collection[str]) -> tuple[list[int], list[int]]:
    """QORT paid by contracts: from contracts of these accounts to others, and from others' contracts to them."""
    keys = {
        chain["accounts"][address].get("publicKey"): address for address in of if address in chain["accounts"]
    }
    sells, buys = [], []
    for row in _of_type(chain, "AT"):
        if row.get("assetId") != 0:
            continue
        seller = keys.get(chain["contracts"][row["atAddress"]]["creatorPublicKey"])
        if seller is not None and seller != row["recipient"]:
            sells.append(units(row["amount"]))
        if row["recipient"] in of and seller != row["recipient"]:
            buys.append(units(row["amount"]))
    return sells, buys


def _names(chain: Chain, of: Collection[str]) -> list[str]:
    """In the order of Core's index, as far as answers show it: a report has an account's first name."""
    reported = [name for report in chain["sponsorship"].values() for name in report.get("names", [])]
    firsts = {report.get("name") for report in chain["mintership"].values()}
    owned = [row["name"] for address in of for row in chain["namesByAddress"].get(address, [])]
    order = {name: position for position, name in reversed(list(enumerate(reported)))}
    return sorted(owned, key=lambda name: (order.get(name, len(order)), name not in firsts))


ROUTES: Routes = {
    "/addresses/sponsorship/{address}": sponsorship,
    "/addresses/sponsorship/{address}/sponsor": sponsorship_of_sponsor,
    "/addresses/mintership/{address}": mintership,
}
