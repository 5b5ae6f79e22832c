"""Trades added up for each coin: what was paid and received, at what price, and the gain since then."""

from collections.abc import Sequence
from typing import Annotated, Protocol

from msgspec import Meta, Struct

from ...words.amounts import ratio, units, written
from ...words.chains import CHAINS, Chain
from ..answers import Amount

QORT = "QORT"
# As many as Core takes for a price by itself.
PRICED_TRADES = 10
_ONE = 10**8

_Price = Annotated[
    str | None, Meta(description="Coins per QORT, rounded to eight places; null without trades.")
]


class Traded(Protocol):
    """One side of a trade."""

    @property
    def side(self) -> str: ...
    @property
    def qortAmount(self) -> str: ...
    @property
    def foreignAmount(self) -> str: ...
    @property
    def foreignCurrency(self) -> str: ...


class CoinTotals(Struct):
    """All trades for one coin."""

    buys: Annotated[int, Meta(description="Trades in which the account bought QORT.")]
    qortBought: Amount
    foreignPaid: Amount
    averageBuyPrice: _Price
    sells: int
    qortSold: Amount
    foreignReceived: Amount
    averageSellPrice: _Price
    currentPrice: Annotated[str | None, Meta(description="Of the newest trades; null if there is none.")]
    priceUnit: str
    gain: Annotated[
        Amount | None,
        Meta(
            description="foreignReceived - foreignPaid + (qortBought - qortSold) x currentPrice, rounded to "
            "eight places; negative for a loss. Without fees."
        ),
    ]
    gainUnit: Annotated[str, Meta(description="Of gain, foreignPaid and foreignReceived.")]


def totals_of(rows: Sequence[Traded], prices: dict[str, str | None]) -> dict[str, CoinTotals]:
    """One for each coin that was traded. Prices are in coins per QORT, by the name of the coin's chain."""
    return {
        chain.name: _totals(chain, of_chain, prices.get(chain.name))
        for chain in CHAINS
        if (of_chain := [row for row in rows if row.foreignCurrency == chain.name])
    }


def _totals(chain: Chain, rows: Sequence[Traded], price: str | None) -> CoinTotals:
    bought = [row for row in rows if row.side == "buy"]
    sold = [row for row in rows if row.side == "sell"]
    qort_bought, paid = _sums(bought)
    qort_sold, received = _sums(sold)
    gain = None
    if price is not None:
        # Rounded once, half up, and from the price that is shown, so that everybody can check it.
        worth = ((qort_bought - qort_sold) * units(price) * 2 + _ONE) // (2 * _ONE)
        gain = written(received - paid + worth)
    return CoinTotals(
        len(bought),
        written(qort_bought),
        written(paid),
        ratio(written(paid), written(qort_bought)),
        len(sold),
        written(qort_sold),
        written(received),
        ratio(written(received), written(qort_sold)),
        price,
        f"{chain.ticker} per {QORT}",
        gain,
        chain.ticker,
    )


def _sums(rows: Sequence[Traded]) -> tuple[int, int]:
    """QORT and coins, in units of 0.00000001."""
    return sum(units(row.qortAmount) for row in rows), sum(units(row.foreignAmount) for row in rows)
