"""Trades against foreign coins."""

from typing import Any

from ..replies.crosschain import TradeOffer
from ..types import Limit, Offset
from .record import SECONDS, Endpoint, json_of
from .words import CoreChain

TRADE_OFFERS = Endpoint(
    "/crosschain/tradeoffers",
    json_of(list[TradeOffer]),
    SECONDS,
    query={"foreignBlockchain": CoreChain, "limit": Limit, "offset": Offset},
    returns="Open offers of QORT. Limit and offset count contracts of each kind, before filtering.",
)
HIDDEN_OFFERS = Endpoint(
    "/crosschain/tradeoffers/hidden",
    json_of(list[TradeOffer]),
    SECONDS,
    query={"foreignBlockchain": CoreChain},
    returns="Offers that Core hides after failed attempts to buy.",
    since="4.1.0",
)

FAMILY: tuple[Endpoint[Any], ...] = (TRADE_OFFERS, HIDDEN_OFFERS)
