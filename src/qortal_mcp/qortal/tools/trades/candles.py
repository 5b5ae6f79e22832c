"""Candles: the trades of an hour, a day or a week put together."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Annotated

from msgspec import Meta, Struct

from ...replies.crosschain import CompletedTrade
from ...words.amounts import ratio, units, written
from ...words.times import Interval, IsoTime, Milliseconds, iso, start_of
from ..answers import Amount

_Price = Annotated[str | None, Meta(description="Foreign coins per QORT, rounded to eight places.")]


class Candle(Struct):
    timestamp: Annotated[Milliseconds, Meta(description="When the interval begins, in ms.")]
    time: IsoTime
    open: _Price
    high: _Price
    low: _Price
    close: _Price
    volumeQort: Amount
    volumeForeign: Amount
    trades: int


class _Bucket:
    """The trades of one interval so far."""

    def __init__(self) -> None:
        self.first: CompletedTrade | None = None
        self.highest: CompletedTrade | None = None
        self.lowest: CompletedTrade | None = None
        self.last: CompletedTrade | None = None
        self.qort = self.coins = self.trades = 0

    def add(self, row: CompletedTrade) -> None:
        self.trades += 1
        self.qort += units(row.qortAmount)
        self.coins += units(row.foreignAmount)
        if units(row.qortAmount) <= 0:  # without QORT there is no price
            return
        self.last = row
        if self.first is None or self.highest is None or self.lowest is None:
            self.first = self.highest = self.lowest = row
        # Compared before they are rounded.
        elif _price(row) > _price(self.highest):
            self.highest = row
        elif _price(row) < _price(self.lowest):
            self.lowest = row


class Candles:
    """Trades as they come, oldest first, by interval."""

    def __init__(self, interval: Interval) -> None:
        self.trades = 0
        self._interval = interval
        self._buckets: dict[int, _Bucket] = {}

    @property
    def count(self) -> int:
        return len(self._buckets)

    def add(self, rows: Iterable[CompletedTrade]) -> None:
        for row in rows:
            self.trades += 1
            self._buckets.setdefault(start_of(self._interval, row.tradeTimestamp), _Bucket()).add(row)

    def made(self) -> list[Candle]:
        return [
            Candle(
                max(0, start),
                iso(max(0, start)),
                _shown(bucket.first),
                _shown(bucket.highest),
                _shown(bucket.lowest),
                _shown(bucket.last),
                written(bucket.qort),
                written(bucket.coins),
                bucket.trades,
            )
            for start, bucket in sorted(self._buckets.items())
        ]


def _price(row: CompletedTrade) -> Fraction:
    return Fraction(units(row.foreignAmount), units(row.qortAmount))


def _shown(row: CompletedTrade | None) -> str | None:
    return None if row is None else ratio(row.foreignAmount, row.qortAmount)
