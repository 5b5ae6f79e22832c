"""Trades of the sample chain that are open, with Core's odd paging, and single ones."""

from collections import defaultdict
from typing import Any

from ....node.source import RawReply
from ...chain import Chain
from ...core.parameters import Paging, Parameters
from ...core.replies import Routes, as_json, core_error
from . import coins, completed
from .completed import chain_asked
from .past import past_trade

_MOST_AT_ONCE = 100


def offers(chain: Chain, parameters: Parameters) -> RawReply:
    """Limit and offset apply to each kind of contract; what is not on offer is dropped after that."""
    paging = Paging(parameters)
    if paging.limit is not None and paging.limit > _MOST_AT_ONCE:
        raise core_error(125)
    hidden = {offer["qortalAtAddress"] for offer in chain["hiddenOffers"]}
    found = [
        trade
        for kind in _unfinished(chain, chain_asked(parameters)).values()
        for trade in paging.of(kind)
        if trade["mode"] == "OFFERING"
    ]
    found.sort(key=_created, reverse=paging.reverse)
    shown = [trade for trade in found if trade["qortalAtAddress"] not in hidden]
    return as_json(shown if paging.all else shown[: paging.limit])


def hidden_offers(chain: Chain, parameters: Parameters) -> RawReply:
    wanted = chain_asked(parameters)
    return as_json([o for o in chain["hiddenOffers"] if wanted in (None, o["foreignBlockchain"])])


def trade(chain: Chain, parameters: Parameters, ataddress: str) -> RawReply:
    if ataddress not in chain["contracts"]:
        if (past := past_trade(chain, ataddress)) is not None:
            return as_json(past)
        raise core_error(124)
    found = chain["trades"].get(ataddress, {})
    if "acctName" not in found:  # a contract, but not a trade
        raise core_error(125)
    return as_json(found)


def signed_fees(chain: Chain, parameters: Parameters) -> RawReply:
    return as_json(chain["signedFees"])


def _unfinished(chain: Chain, name: str | None) -> dict[str, list[dict[str, Any]]]:
    """Contracts that still run, oldest first, by kind."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for address, trade in chain["trades"].items():
        if "acctName" not in trade or chain["contracts"][address]["isFinished"]:
            continue
        if name in (None, trade["foreignBlockchain"]):
            kinds[trade["acctName"]].append(trade)
    return {kind: sorted(trades, key=_created) for kind, trades in kinds.items()}


def _created(trade: dict[str, Any]) -> int:
    created: int = trade["creationTimestamp"]
    return created


ROUTES: Routes = {
    "/crosschain/tradeoffers": offers,
    "/crosschain/tradeoffers/hidden": hidden_offers,
    "/crosschain/trade/{ataddress}": trade,
    "/crosschain/signedfees": signed_fees,
    **completed.ROUTES,
    **coins.ROUTES,
}
