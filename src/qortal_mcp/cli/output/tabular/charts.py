"""A series as a small chart of characters: candles for prices, bars for every other figure. Pure but for `of_terminal`.

A chart shows the course; the exact figures are in the table below it. The past is at the left. Each moment has
its place, so that a day without a row is a gap, and where there are more moments than columns, neighbours share one:
candles by joining them, bars by their mean.
"""

import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from ....text import visible
from .. import terminal
from .series import Figure, Series, are_days, slots_of

_GAP = 2
_CANDLE_LINES = 8
# Bars of many figures take one line each; those of one or two have room to be higher.
_FEW, _LINES_OF_FEW = 2, 4
_MOST_FIGURES = 12
_LEAST_COLUMNS = 12
_NAME_COLUMNS = 28
# Bars begin at zero unless all figures are above this share of the highest: then that would hide how they change.
_NARROW = Decimal("0.75")
# Two moments with their hours need this.
_WIDTH_FOR_HOURS = 50
_NOT_FROM_ZERO = " (not from 0)"
_SHARED = "Neighbours share a column."
_CANDLE = ("open", "high", "low", "close")


class Glyphs(NamedTuple):
    """The characters that charts are made of."""

    # From the lowest to a full one.
    bars: str
    # A figure that is zero: neither a low one nor a gap.
    zero: str
    wick: str
    rise: str
    fall: str


BLOCKS = Glyphs(bars="▁▂▃▄▅▆▇█", zero="·", wick="│", rise="░", fall="█")
# For output whose encoding has no others.
ASCII = Glyphs(bars=".:-=+*%#", zero="0", wick="|", rise="=", fall="#")

Paint = Callable[[str], str]


class Paints(NamedTuple):
    name: Paint
    quiet: Paint
    rise: Paint
    fall: Paint


_UNPAINTED = Paints(*[lambda text: text] * 4)


def of_terminal() -> Glyphs | None:
    """What the terminal can show; None for a pipe or a file: programs get the table alone."""
    if not sys.stdout.isatty():
        return None
    return BLOCKS if terminal.can_show("".join(BLOCKS)) else ASCII


def drawn(series: Series, width: int, glyphs: Glyphs, paints: Paints, remark: str = "") -> list[str]:
    """The lines of a chart, the remark last; none if there is no room, or nothing changes."""
    candles = _CANDLE if series.are_candles else ()
    bars = {name: found for name, found in series.figures.items() if name not in candles and _changes(found)}
    bars = dict(list(bars.items())[:_MOST_FIGURES])
    prices = [price for name in candles for price in series.figures[name] if price is not None]
    ends = _in_one_form([max(prices), min(prices)]) if prices else []
    scales = {name: _Scale.of(found) for name, found in bars.items()}
    names = max((terminal.columns(text) for text in (*map(_label, bars), *ends)), default=0)
    ranges = max((len(scale.words) for scale in scales.values()), default=0)
    grid = _Grid.of(series.moments, width - names - _GAP - (ranges + _GAP if ranges else 0))
    if grid is None or not (prices or bars):
        return []
    lines: list[str] = []
    if prices:
        lines += _candles(series, grid, ends, names, glyphs, paints)
    high = _LINES_OF_FEW if len(bars) <= _FEW and not prices else 1
    for name, found in bars.items():
        rows = _bars(grid.means(found), scales[name], high, glyphs)
        lines += _labelled(rows, _label(name), scales[name], names, paints)
    below = [(words := _time_line(series.moments, grid.width, width), paints.quiet(words))]
    if prices:
        below.append((_legend(glyphs), _legend(glyphs, paints)))
    remarks = [_SHARED] if grid.is_shared else []
    remarks += terminal.wrapped(remark, width - names - _GAP) if remark else []
    below += [(words, paints.quiet(words)) for words in remarks]
    # What is too long for its place begins further left.
    lines += [" " * max(0, min(names + _GAP, width - len(words))) + painted for words, painted in below]
    return [line.rstrip() for line in lines]


class _Grid(NamedTuple):
    """Which column each moment has."""

    places: list[int]
    columns: int
    # 2: a blank stands beside each column.
    step: int

    @classmethod
    def of(cls, moments: Sequence[datetime], room: int) -> "_Grid | None":
        if room < _LEAST_COLUMNS:
            return None
        slots = slots_of(moments)
        count = slots[-1] + 1
        columns = min(count, room)
        return cls([slot * columns // count for slot in slots], columns, 2 if columns * 2 <= room else 1)

    @property
    def width(self) -> int:
        return self.columns * self.step

    @property
    def is_shared(self) -> bool:
        return len(set(self.places)) < len(self.places)

    def gathered(self, found: Sequence[Figure]) -> list[list[Decimal]]:
        """The figures in each column, the oldest first; none in a blank one."""
        cells: list[list[Decimal]] = [[] for _ in range(self.width)]
        for place, figure in zip(self.places, found, strict=True):
            if figure is not None:
                cells[place * self.step].append(figure)
        return cells

    def means(self, found: Sequence[Figure]) -> list[Figure]:
        return [sum(cell, Decimal()) / len(cell) if cell else None for cell in self.gathered(found)]


class _Scale(NamedTuple):
    low: Decimal
    high: Decimal

    @classmethod
    def of(cls, found: Sequence[Figure]) -> "_Scale":
        known = [figure for figure in found if figure is not None]
        low, high = min(known), max(known)
        return cls(Decimal() if 0 <= low <= high * _NARROW else low, high)

    def level(self, figure: Decimal, levels: int) -> int:
        """From 1, so that a figure can be told from a gap."""
        return max(1, round((figure - self.low) / (self.high - self.low) * levels))

    @property
    def words(self) -> str:
        return f"{_plain(self.low)} to {_plain(self.high)}{self.warning}"

    @property
    def warning(self) -> str:
        """For bars that look as if they began at zero."""
        return _NOT_FROM_ZERO if self.low > 0 else ""


def _bars(found: Sequence[Figure], scale: _Scale, high: int, glyphs: Glyphs) -> list[str]:
    most = len(glyphs.bars)
    levels = [0 if figure is None else scale.level(figure, most * high) for figure in found]
    rows = [
        "".join(
            " " if level <= row * most else glyphs.bars[min(level - row * most, most) - 1] for level in levels
        )
        for row in range(high - 1, -1, -1)
    ]
    if scale.low == 0:
        marked = zip(rows[-1], found, strict=True)
        rows[-1] = "".join(glyphs.zero if figure == 0 else bar for bar, figure in marked)
    return rows


def _labelled(rows: list[str], label: str, scale: _Scale, names: int, paints: Paints) -> list[str]:
    """The name at the last line; at the right the scale: in words, or its ends at the first and the last line."""
    lowest = _plain(scale.low) + scale.warning
    ends = {0: _plain(scale.high), len(rows) - 1: lowest} if len(rows) > 1 else {0: scale.words}
    return [
        paints.name(terminal.padded(label if at == len(rows) - 1 else "", names))
        + f"{'':{_GAP}}{row}{'':{_GAP}}"
        + paints.quiet(ends.get(at, ""))
        for at, row in enumerate(rows)
    ]


def _candles(
    series: Series, grid: _Grid, ends: list[str], names: int, glyphs: Glyphs, paints: Paints
) -> list[str]:
    opens, highs, lows, closes = (grid.gathered(series.figures[name]) for name in _CANDLE)
    low, high = min(cell for one in lows for cell in one), max(cell for one in highs for cell in one)

    def line_of(price: Decimal) -> int:
        """From 0 at the top."""
        if high == low:
            return _CANDLE_LINES // 2
        return min(int((high - price) / (high - low) * _CANDLE_LINES), _CANDLE_LINES - 1)

    lines = [[" "] * len(opens) for _ in range(_CANDLE_LINES)]
    for at, (first, highest, lowest, last) in enumerate(zip(opens, highs, lows, closes, strict=True)):
        if not first:
            continue
        for line in range(line_of(max(highest)), line_of(min(lowest)) + 1):
            lines[line][at] = paints.quiet(glyphs.wick)
        is_rise = last[-1] >= first[0]
        body = paints.rise(glyphs.rise) if is_rise else paints.fall(glyphs.fall)
        for line in range(line_of(max(first[0], last[-1])), line_of(min(first[0], last[-1])) + 1):
            lines[line][at] = body
    labels = [ends[0], *[""] * (_CANDLE_LINES - 2), ends[1]]
    return [
        paints.quiet(terminal.padded(label, names, right=True)) + " " * _GAP + "".join(line)
        for label, line in zip(labels, lines, strict=True)
    ]


def _legend(glyphs: Glyphs, paints: Paints = _UNPAINTED) -> str:
    return f"{paints.rise(glyphs.rise)} {paints.quiet('rose')}  {paints.fall(glyphs.fall)} {paints.quiet('fell')}"


def _time_line(moments: Sequence[datetime], columns: int, width: int) -> str:
    """The first moment below the left end and the last below the right end, if both have room there."""
    is_brief = are_days(moments) or width < _WIDTH_FOR_HOURS
    form = "%Y-%m-%d" if is_brief else "%Y-%m-%d %H:%M"
    first, last = f"{moments[0]:{form}}", f"{moments[-1]:{form}}"
    if len(first) + len(last) + _GAP > columns:
        return f"{first} to {last} UTC"
    return f"{first}{last:>{columns - len(first)}} UTC"


def _changes(found: Sequence[Figure]) -> bool:
    return len({figure for figure in found if figure is not None}) > 1


def _label(name: str) -> str:
    return terminal.cut(terminal.one_line(visible(name)), _NAME_COLUMNS)


def _plain(figure: Decimal) -> str:
    """Exact, with thousands separated and without trailing zeros."""
    text = f"{figure:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _in_one_form(figures: list[Decimal]) -> list[str]:
    """The same with as many decimals as the longest needs."""
    texts = [_plain(figure).partition(".") for figure in figures]
    decimals = max(len(fraction) for _, _, fraction in texts)
    return [f"{whole}.{fraction:0<{decimals}}" if decimals else whole for whole, _, fraction in texts]
