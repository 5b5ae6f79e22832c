"""Completed trades of QORT for foreign coins within a time, added up for each coin."""

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from ...limits import LIMIT
from ...node.node import Reading
from ...node.side_by_side import side_by_side
from ...replies.crosschain import CompletedTrade
from ...words.amounts import units, written
from ...words.chains import CHAINS, Chain
from ..answers import Amount
from ..trades.trader_keys import NO_KEY, key_of
from ..trades.whole_lists import completed_trades

Side = Literal["buy", "sell"]

# Trades of one coin that are counted: on each side of an account, and of everybody. Each hundred takes a request.
_MOST_OF_ACCOUNT = LIMIT
_MOST_OF_CHAIN = 4 * LIMIT
# What all of it may take: for each coin one more to see whether others follow, and one if there are none.
TRADE_REQUESTS = 2 * len(CHAINS) * 3 + 1
_MORE = "There were more than {most} trades for {coin}: only the oldest {most} are counted here. {tool} counts all."


class CoinTrades(Struct, omit_defaults=True):
    foreignCurrency: str
    trades: int
    qort: Annotated[Amount, Meta(description="QORT that changed hands.")]
    foreign: Annotated[Amount, Meta(description="Foreign coins paid for it.")]
    unit: Annotated[str, Meta(description="Of foreign.")]
    side: Annotated[Side | UnsetType, Meta(description="Whether the account bought or sold QORT.")] = UNSET
    complete: Annotated[bool, Meta(description="False if there are more trades than are counted.")] = True


async def traded(
    reading: Reading, address: str | None, since_ms: int, until_ms: int
) -> tuple[list[CoinTrades], list[str]]:
    """What an account bought and sold, or everybody, after one time and before another; and what is to be noted.

    Raises: ToolError.
    """
    sides: list[tuple[Side | UnsetType, dict[str, str | None]]] = [(UNSET, {})]
    most = _MOST_OF_CHAIN if address is None else _MOST_OF_ACCOUNT
    if address is not None:
        key = await key_of(reading, address)
        if key == NO_KEY:  # it never made a transaction, so it never traded
            return [], []
        sides = [("buy", {"buyer_key": key}), ("sell", {"seller_key": key})]
    asked = [(chain, side, keys) for chain in CHAINS for side, keys in sides]
    each: list[list[CompletedTrade]] = await side_by_side(
        *(
            completed_trades(
                reading, chain, most + 1, newest_first=False, since=since_ms, until=until_ms, **keys
            )
            for chain, _, keys in asked
        )
    )
    found = [(chain, side, rows) for (chain, side, _), rows in zip(asked, each, strict=True) if rows]
    tool = "get_price_history" if address is None else "get_trade_ledger"
    crowded = dict.fromkeys(chain.name for chain, _, rows in found if len(rows) > most)
    return (
        [_sum(chain, side, rows, most) for chain, side, rows in found],
        [_MORE.format(most=most, coin=name, tool=tool) for name in crowded],
    )


def _sum(chain: Chain, side: Side | UnsetType, rows: Sequence[CompletedTrade], most: int) -> CoinTrades:
    counted = rows[:most]
    return CoinTrades(
        chain.name,
        len(counted),
        written(sum(units(row.qortAmount) for row in counted)),
        written(sum(units(row.foreignAmount) for row in counted)),
        chain.ticker,
        side,
        complete=len(counted) == len(rows),
    )
