"""Columns of cells as tables that fit a width. Pure; `view` says what is in the cells.

A table that is too wide is made narrower step by step, and the first that fits is taken:
1. names of columns folded into lines, the zone of times above their column, one blank between columns instead of two;
2. long ids shortened in the middle, in a table of three rows or more, if two of them would not look alike;
3. texts folded within their cells;
4. cut into several tables, each with the column that tells the rows apart in front.
Numbers, and everything else that is not a long id, are shown whole.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from .. import terminal
from ..values import NOTHING

# Of a few rows nothing is shortened: their values are meant to be copied.
LEAST_ROWS = 3
_GAPS = (2, 1)
_MOST_TABLES = 3
# An id: one word of letters and digits that nobody reads. Shown are its first and its last characters.
_ID = re.compile(r"(?=.*[0-9])[A-Za-z0-9_+/=.\-]{28,}")
_HEAD, _TAIL = 8, 7
# Texts are folded to no less than this, and not into more lines than this on average.
_LEAST_TEXT = 20
_CUT_TEXT = 32
_MOST_LINES = 4
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2} UTC")
_NAME_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[_\s.\-])")


class Column(NamedTuple):
    """A name in one or more lines, and a cell for each row; a cell may have several lines, too."""

    name: str
    cells: list[str]
    is_number: bool = False

    @property
    def size(self) -> int:
        texts = (self.name, *self.cells)
        return max(terminal.columns(line) for text in texts for line in text.split("\n"))


class Table(NamedTuple):
    columns: list[Column]
    gap: int


class Fitted(NamedTuple):
    tables: list[Table]
    has_shortened: bool = False


def size(columns: Sequence[Column]) -> int:
    """How wide they are without any of these steps."""
    return sum(column.size for column in columns) + _GAPS[0] * (len(columns) - 1)


def fitted(columns: list[Column], key: Column, width: int, *, shortens: bool, cuts: bool) -> Fitted | None:
    """The columns in as few tables as possible; None if they do not fit. `key` tells the rows apart."""
    if len(columns) > width:
        return None
    narrow = columns
    for step in _steps(shortens):
        narrow = [step(column) for column in narrow]
        if (table := _one(narrow, width)) is not None:
            return Fitted([table], _are_shorter(narrow, columns))
    folded = _folded_texts(narrow, width)
    if folded is not None and (table := _one(folded, width)) is not None:
        return Fitted([table], _are_shorter(narrow, columns))
    tables = _cut(narrow, columns.index(key) if key in columns else None, key, width) if cuts else None
    return None if tables is None else Fitted(tables, _are_shorter(narrow, columns))


def lines(table: Table, paint: Callable[[str], str]) -> Iterator[str]:
    """The lines of a table; its names are painted."""
    sizes = [column.size for column in table.columns]

    def joined(row: list[str], paint: Callable[[str], str]) -> str:
        cells = (
            paint(terminal.padded(text, size, right=column.is_number))
            for text, size, column in zip(row, sizes, table.columns, strict=True)
        )
        return (" " * table.gap).join(cells).rstrip()

    heads = [column.name.split("\n") for column in table.columns]
    high = max(map(len, heads))
    # Names of fewer lines stand at the bottom, next to their cells.
    for at in range(high):
        yield joined([[*[""] * (high - len(head)), *head][at] for head in heads], paint)
    for cells in zip(*(column.cells for column in table.columns), strict=True):
        split = [cell.split("\n") for cell in cells]
        for at in range(max(map(len, split))):
            yield joined([part[at] if at < len(part) else "" for part in split], str)


def key_of(columns: Sequence[Column]) -> Column:
    """The first text that tells the rows apart, or their numbers."""
    for column in columns:
        if not column.is_number and NOTHING not in column.cells and len({*column.cells}) == len(column.cells):
            return column
    return Column("#", [str(at + 1) for at in range(len(columns[0].cells))], is_number=True)


def _one(columns: list[Column], width: int) -> Table | None:
    used = sum(column.size for column in columns)
    gap = next((gap for gap in _GAPS if used + gap * (len(columns) - 1) <= width), None)
    return Table(columns, gap) if gap is not None and _has_few_lines(columns) else None


def _steps(shortens: bool) -> Iterator[Callable[[Column], Column]]:
    yield lambda column: column
    yield _with_a_folded_name
    if shortens:
        yield _with_short_ids


def _are_shorter(narrow: list[Column], columns: list[Column]) -> bool:
    """Whether ids were shortened, and not just the zone of times."""
    pairs = zip(narrow, columns, strict=True)
    return any(
        now != was and "…" in now
        for one, other in pairs
        for now, was in zip(one.cells, other.cells, strict=True)
    )


def _with_a_folded_name(column: Column) -> Column:
    name, cells = column.name, column.cells
    times = [cell for cell in cells if cell != NOTHING]
    if times and all(map(_TIME.fullmatch, times)):
        minutes = all(cell.endswith(":00 UTC") for cell in times)
        cells = [cell.removesuffix(" UTC").removesuffix(":00" if minutes else "") for cell in cells]
        name = f"{name} (UTC)"
    room = max(terminal.columns(line) for cell in (*cells, "") for line in cell.split("\n"))
    folded = [""]
    for piece in _NAME_BREAK.split(name):
        if folded[-1] and terminal.columns(folded[-1] + piece.rstrip()) > room:
            folded.append("")
        folded[-1] += piece
    return Column("\n".join(line.rstrip() for line in folded), cells, column.is_number)


def _with_short_ids(column: Column) -> Column:
    if column.is_number:
        return column
    short = [_short(cell) for cell in column.cells]
    # Two that look alike could be taken for one: somebody may have made them so.
    is_safe = len(set(short)) == len(set(column.cells))
    return column._replace(cells=short) if is_safe else column


def _short(cell: str) -> str:
    return f"{cell[:_HEAD]}…{cell[-_TAIL:]}" if _ID.fullmatch(cell) else cell


def _folded_texts(columns: list[Column], width: int) -> list[Column] | None:
    """With the widest texts folded until all fit; None if that is not enough."""
    sizes = [column.size for column in columns]
    texts = [at for at, column in enumerate(columns) if _is_text(column) and sizes[at] > _LEAST_TEXT]
    for at in texts:
        sizes[at] = min(sizes[at], width)
    excess = sum(sizes) + _GAPS[-1] * (len(columns) - 1) - width
    while excess > 0:
        widest = max(texts, key=sizes.__getitem__, default=None)
        if widest is None or sizes[widest] <= _LEAST_TEXT:
            return None
        sizes[widest] -= 1
        excess -= 1
    if not all(_folds(columns[at], sizes[at]) for at in texts):
        return None
    return [_folded(columns[at], sizes[at]) if at in texts else column for at, column in enumerate(columns)]


def _folds(column: Column, size: int) -> bool:
    """Whether it can have few enough lines; looked at before, since folding much text takes long."""
    return sum(len(cell) for cell in column.cells) <= size * _MOST_LINES * len(column.cells)


def _is_text(column: Column) -> bool:
    return (
        not column.is_number
        and not any(map(_TIME.match, column.cells))
        and any(" " in cell or "\n" in cell for cell in column.cells)
    )


def _folded(column: Column, size: int) -> Column:
    cells = [
        "\n".join(piece for line in terminal.wrapped(cell, size) for piece in terminal.pieces(line, size))
        for cell in column.cells
    ]
    return column._replace(cells=cells)


def _has_few_lines(columns: list[Column]) -> bool:
    rows: list[tuple[str, ...]] = list(zip(*(column.cells for column in columns), strict=True))
    return sum(max(cell.count("\n") + 1 for cell in row) for row in rows) <= _MOST_LINES * len(rows)


def _cut(columns: list[Column], at: int | None, key: Column, width: int) -> list[Table] | None:
    """In as few tables as possible, of about the same width, each with the key in front."""
    first = key if at is None else columns[at]
    others = columns if at is None else columns[:at] + columns[at + 1 :]
    wide = [column for column in others if _is_text(column) and column.size > _CUT_TEXT]
    if not all(_folds(column, _CUT_TEXT) for column in wide):
        return None
    others = [_folded(column, _CUT_TEXT) if column in wide else column for column in others]
    gap, groups = min(
        ((gap, _grouped(others, width - first.size, gap)) for gap in _GAPS), key=lambda found: len(found[1])
    )
    tables = [_one([first, *group], width) for group in groups]
    found = [Table(table.columns, gap) for table in tables if table is not None]
    return found if len(found) == len(tables) <= _MOST_TABLES else None


def _grouped(columns: list[Column], room: int, gap: int) -> list[list[Column]]:
    """So many in a group as fit, but no more than needed to have as few groups."""
    sizes = [column.size + gap for column in columns]
    count = len(_filled(sizes, room))
    while room > max(sizes, default=0) and len(_filled(sizes, room - 1)) == count:
        room -= 1
    return [[columns[at] for at in group] for group in _filled(sizes, room)]


def _filled(sizes: list[int], room: int) -> list[list[int]]:
    groups: list[list[int]] = [[]]
    used = 0
    for at, size in enumerate(sizes):
        if groups[-1] and used + size > room:
            groups.append([])
            used = 0
        groups[-1].append(at)
        used += size
    return groups
