"""Trades from before the first recorded block: no part of the recorded chain, but added to it, made by a rule.

The recorded chain is four hours old, too young to show prices of days and weeks or the trades of a year. The added ones are
seen only where Core, asked about the recorded chain, has nothing to say: by requests that name their coin and a time before the
first block, and by requests about their trader, whom the chain does not know. Every other answer is as recorded.
"""

import functools
import hashlib
from typing import Any

from ....words import base58
from ....words.amounts import written
from ...chain import Chain, sample_chain

COIN, KIND = "PIRATECHAIN", "PirateChainACCTv3"
# An account that exists only in these trades: the key is the hash of "qortal-mcp sample trader".
TRADER = "QUMWAbTdhjXWQH26apyUDJ1FWrQm7EGv3A"
TRADER_KEY = "FyyR35xuaVqVt4YkaejTjAjGMUDPJmUCjHg9jui6GPk2"

# With one trade in seven hours these are the 62 weeks before the first block.
_TRADES = 1500
_MINUTE_MS = 60_000
_STEP_MS = 7 * 60 * _MINUTE_MS
_ONE = 10**8
Row = dict[str, Any]


def past_trades(chain: Chain) -> tuple[Row, ...]:
    """Oldest first; none on other chains than the recorded one."""
    return _made(int(chain["blocks"][0]["timestamp"])) if chain is sample_chain() else ()


def is_past(chain: Chain, coin: str | None, after: int) -> bool:
    """Whether added trades answer this. Before the oldest of them is nothing, as before Core's first blocks."""
    rows = past_trades(chain)
    return bool(rows) and coin == COIN and rows[0]["tradeTimestamp"] <= after <= rows[-1]["tradeTimestamp"]


def trades_of_trader(chain: Chain) -> list[Row]:
    return [
        row for row in past_trades(chain) if TRADER in (row["sellerAddress"], row["buyerReceivingAddress"])
    ]


def past_trade(chain: Chain, address: str) -> Row | None:
    """One of them as Core shows a single trade, with what is known of it."""
    for row in past_trades(chain):
        if row["atAddress"] == address:
            return {
                "qortalAtAddress": address,
                "qortalCreator": row["sellerAddress"],
                "creationTimestamp": row["tradeTimestamp"] - _STEP_MS,
                "tradeTimeout": 120,
                "qortBalance": written(0),
                "qortAmount": row["qortAmount"],
                "expectedForeignAmount": row["foreignAmount"],
                "mode": "REDEEMED",
                "qortalPartnerReceivingAddress": row["buyerReceivingAddress"],
                "foreignBlockchain": COIN,
                "acctName": KIND,
            }
    return None


@functools.cache
def _made(first_block: int) -> tuple[Row, ...]:
    return tuple(_trade(number, first_block) for number in range(_TRADES))


def _trade(number: int, first_block: int) -> Row:
    """The rule: steps of seven hours and a little, a price that rises and falls within three months, mixed amounts."""
    time = first_block - (_TRADES - number) * _STEP_MS + number * 7919 % 397 * _MINUTE_MS
    price = 16_000_000 + 40_000 * abs((number + 70) % 300 - 150) + 9_000 * (number * 37 % 101)
    qort = (500 + number * 1313 % 4500) * 10**6
    # The others are as unknown to the chain as the trader: what it tells of its own accounts stays true.
    seller, buyer = _partner(number % 5), _partner((number + 1 + number % 4) % 5)
    # The trader buys about twice a week and sells about twice in three weeks.
    if number % 12 == 0:
        buyer = TRADER
    elif number % 36 == 7:
        seller = TRADER
    coins = written(qort * price // _ONE)
    return {
        "tradeTimestamp": time,
        "qortAmount": written(qort),
        "btcAmount": coins,
        "foreignAmount": coins,
        "atAddress": _address(base58.CONTRACT_VERSION, f"past trade {number}"),
        "sellerAddress": seller,
        "buyerReceivingAddress": buyer,
    }


@functools.cache
def _partner(number: int) -> str:
    return _address(base58.ACCOUNT_VERSION, f"past partner {number}")


def _address(version: int, text: str) -> str:
    """An address made of a text."""
    body = bytes([version]) + hashlib.sha256(text.encode()).digest()[:20]
    return base58.encode(body + hashlib.sha256(hashlib.sha256(body).digest()).digest()[:4])
