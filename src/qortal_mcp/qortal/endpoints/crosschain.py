"""Trades against foreign coins, and the foreign chains themselves."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from ..limits import PAGE_ROWS
from ..replies.crosschain import (
    CoinStatus,
    CompletedTrade,
    SignedFee,
    Trade,
    ledger_entries,
    scaled,
    whole_number,
)
from ..words.arguments import Address, Limit, Offset, PublicKey, Since
from ..words.base58 import is_bytes
from ..words.chains import CHAINS, Chain
from .parameters import CoreChain
from .record import MINUTE, SECONDS, UNTIL_NEXT_BLOCK, Endpoint, Same, json_of, text

_HASH_BYTES = 20
_Hash = Annotated[
    str,
    Meta(min_length=20, max_length=28, extra={"check": lambda text: is_bytes(text, _HASH_BYTES)}),
]
_UnixSeconds = Annotated[int, Meta(ge=0, le=2**31 - 1)]
_PricedTrades = Annotated[int, Meta(ge=1, le=50)]

TRADE_OFFERS = Endpoint(
    "/crosschain/tradeoffers",
    json_of(list[Trade]),
    SECONDS,
    query={"foreignBlockchain": CoreChain, "limit": Limit, "offset": Offset, "reverse": bool},
    returns="Open offers of QORT. Limit and offset apply to each kind of contract, before filtering.",
    defaults={"limit": PAGE_ROWS},
)
HIDDEN_OFFERS = Endpoint(
    "/crosschain/tradeoffers/hidden",
    json_of(list[Trade]),
    SECONDS,
    query={"foreignBlockchain": CoreChain},
    returns="All offers that Core hides after failed attempts to buy.",
    since="4.1.0",
)
TRADE = Endpoint(
    "/crosschain/trade/{ataddress}",
    json_of(Trade),
    SECONDS,
    path={"ataddress": Address},
    returns="One trade, in any state.",
    noun="Trade",
    # No such contract, and a contract that is not a trade.
    absent=frozenset({124, 125}),
    same=Same.AT_ONE_BLOCK,
    own_members=frozenset({"creatorPresenceExpiry", "partnerPresenceExpiry"}),
)
COMPLETED_TRADES = Endpoint(
    "/crosschain/trades",
    json_of(list[CompletedTrade]),
    UNTIL_NEXT_BLOCK,
    query={
        "foreignBlockchain": CoreChain,
        "minimumTimestamp": Since,
        "buyerPublicKey": PublicKey,
        "sellerPublicKey": PublicKey,
        "limit": Limit,
        "offset": Offset,
        "reverse": bool,
    },
    returns="Completed trades in blocks after minimumTimestamp. Limit and offset apply to each kind of "
    "contract.",
    defaults={"limit": PAGE_ROWS},
)
SIGNED_FEES = Endpoint(
    "/crosschain/signedfees",
    json_of(list[SignedFee]),
    SECONDS,
    returns="All fees in foreign coins, signed by sellers, that the node knows.",
    since="5.0.0",
)
LEDGER = Endpoint(
    "/crosschain/ledger/{publicKey}",
    ledger_entries,
    UNTIL_NEXT_BLOCK,
    path={"publicKey": PublicKey},
    query={"minimumTimestamp": Since},
    returns="All completed trades of an account, oldest first, as CSV.",
    since="4.7.1",
)
PRICE = Endpoint(
    "/crosschain/price/{blockchain}",
    scaled,
    UNTIL_NEXT_BLOCK,
    path={"blockchain": CoreChain},
    query={"maxtrades": _PricedTrades, "inverse": bool},
    returns="Average price of the newest trades, QORT for one coin or the inverse, in units of 0.00000001.",
    noun="Trade",
)
SCRIPT_ADDRESS = Endpoint(
    "/crosschain/htlc/address/{blockchain}/{refundPKH}/{locktime}/{redeemPKH}/{hashOfSecret}",
    text,
    MINUTE,
    path={
        "blockchain": CoreChain,
        "refundPKH": _Hash,
        "locktime": _UnixSeconds,
        "redeemPKH": _Hash,
        "hashOfSecret": _Hash,
    },
    returns="The foreign address that holds the coins of a trade, computed from its parts.",
    same=Same.ALWAYS,
)


class CoinEndpoints(Struct, frozen=True):
    """The endpoints of one foreign chain."""

    status: Endpoint[CoinStatus]
    height: Endpoint[int]
    fee_per_kb: Endpoint[str]
    fee_required: Endpoint[str]

    @property
    def all(self) -> tuple[Endpoint[Any], ...]:
        return (self.status, self.height, self.fee_per_kb, self.fee_required)


def _coin(chain: Chain) -> CoinEndpoints:
    coin, root = chain.name.title(), f"/crosschain/{chain.ticker.lower()}"
    return CoinEndpoints(
        Endpoint(
            f"{root}/status",
            json_of(CoinStatus),
            SECONDS,
            returns=f"Whether {coin} is on, and how many of its servers the node knows.",
            since="6.0.0",
        ),
        Endpoint(
            f"{root}/height",
            whole_number,
            # The node has to ask a foreign server.
            MINUTE,
            returns=f"Height of the newest {coin} block.",
            since="3.8.5",
        ),
        Endpoint(
            f"{root}/feekb",
            scaled,
            MINUTE,
            returns=f"Fee per kB that the node pays in {coin}, in units of 0.00000001.",
            since="4.5.2",
        ),
        Endpoint(
            f"{root}/feerequired",
            scaled,
            MINUTE,
            returns=f"Fee for settling a trade in {coin}, in units of 0.00000001.",
            since="5.0.0",
        ),
    )


COINS: dict[str, CoinEndpoints] = {chain.name: _coin(chain) for chain in CHAINS}

FAMILY: tuple[Endpoint[Any], ...] = (
    TRADE_OFFERS,
    HIDDEN_OFFERS,
    TRADE,
    COMPLETED_TRADES,
    SIGNED_FEES,
    LEDGER,
    PRICE,
    SCRIPT_ADDRESS,
    *(endpoint for coin in COINS.values() for endpoint in coin.all),
)
