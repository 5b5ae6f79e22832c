"""Offers by price, and which of them to take for an amount of QORT."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated

from msgspec import Meta, Struct

from ...replies.crosschain import Trade
from ...words.amounts import ratio, units, written
from ...words.chains import CHAINS
from ..answers import Amount
from .totals import QORT

# Steps in the search for the cheapest offers: some hundredths of a second. A few dozen offers take a few hundred.
_STEPS = 20_000
_PLACES = {chain.name: place for place, chain in enumerate(CHAINS)}


class Purchase(Struct):
    """What it takes to buy an amount: the cheapest offers found, each taken whole."""

    qortWanted: Amount
    qort: Annotated[
        Amount, Meta(description="What the offers give together: at least qortWanted, if isEnough.")
    ]
    isEnough: Annotated[bool, Meta(description="Whether so much is on offer.")]
    offers: int
    totalForeign: Annotated[Amount, Meta(description="What the offers cost together, without network fees.")]
    unit: Annotated[str, Meta(description="Of totalForeign.")]
    averagePrice: Annotated[str | None, Meta(description="Foreign coins per QORT, rounded to eight places.")]
    priceUnit: str
    complete: Annotated[bool, Meta(description="Whether all offers of the market could be read.")]


def by_price(rows: Sequence[Trade]) -> list[Trade]:
    """Cheapest first; prices in different coins cannot be compared, so each chain has its own part."""
    return sorted(rows, key=_price)


def _price(row: Trade) -> tuple[int, str, bool, Fraction, int, str]:
    coins, qort = units(row.expectedForeignAmount), units(row.qortAmount)
    # An offer of nothing has no price, and comes last. Of equal offers the oldest comes first.
    return (
        _PLACES.get(row.foreignBlockchain, len(_PLACES)),
        row.foreignBlockchain,
        qort <= 0,
        Fraction(coins, qort) if qort > 0 else Fraction(0),
        row.creationTimestamp,
        row.qortalAtAddress,
    )


def cheapest_for(wanted: int, rows: Sequence[Trade]) -> list[Trade]:
    """Of offers by price, those to take for that much QORT, in units of 0.00000001; all if that is not enough.

    Offers are taken whole, so the lowest prices may give more than is needed, at a higher cost than others. All combinations are
    looked at that can still cost less; in a market too large for that, the best one found so far is taken.
    """
    real = [row for row in rows if units(row.qortAmount) > 0]
    gives = [units(row.qortAmount) for row in real]
    costs = [units(row.expectedForeignAmount) for row in real]
    if sum(gives) < wanted:
        return real
    best: tuple[int, ...] = tuple(range(len(real)))
    least = sum(costs) + 1
    # The offer to decide on next, the ones taken, what they give and cost.
    open_: list[tuple[int, tuple[int, ...], int, int]] = [(0, (), 0, 0)]
    for _ in range(_STEPS):
        if not open_:
            break
        at, taken, given, cost = open_.pop()
        if given >= wanted:
            if cost < least:
                best, least = taken, cost
            continue
        # No offer from here on has a lower price than this one.
        if at == len(real) or cost * gives[at] + (wanted - given) * costs[at] >= least * gives[at]:
            continue
        open_.append((at + 1, taken, given, cost))
        open_.append((at + 1, (*taken, at), given + gives[at], cost + costs[at]))
    return [real[at] for at in best]


def purchase_of(wanted: int, taken: Sequence[Trade], ticker: str, *, is_whole: bool) -> Purchase:
    qort, cost = _qort(taken), _cost(taken)
    return Purchase(
        written(wanted),
        written(qort),
        qort >= wanted,
        len(taken),
        written(cost),
        ticker,
        ratio(written(cost), written(qort)),
        f"{ticker} per {QORT}",
        is_whole,
    )


def _qort(rows: Sequence[Trade]) -> int:
    return sum(units(row.qortAmount) for row in rows)


def _cost(rows: Sequence[Trade]) -> int:
    return sum(units(row.expectedForeignAmount) for row in rows)
