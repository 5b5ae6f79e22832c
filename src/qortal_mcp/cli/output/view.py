"""A structured answer as text for people. Pure: a value, a width and a palette go in, text comes out.

An object is a column of names next to their values, a list of objects is a table if it fits (`tables`), with further
tables for what its rows hold (`parts`), a series has a chart above its table, and `notes`, `page` and `asOf` come last.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from ...text import visible
from . import terminal, values
from .tabular import charts, parts, tables
from .tabular.parts import is_deep
from .tabular.series import Series, cut_periods, series_of

_INDENT = 2
_GAP = 2
# A longer name does not push the values of the others to the right.
_NAME_COLUMNS = 28
# Narrower columns of text are not readable; deep nesting must not make them narrower.
_LEAST_COLUMNS = 20
# In a pipe a row is one line, so that other programs can pick it out; a wider one is a block.
_ROW_COLUMNS = 250
_SHORTENED = "Long ids are shortened (…) in tables; --json shows them whole."


class Palette(NamedTuple):
    """How parts of a view are coloured."""

    name: Callable[[str], str] = lambda text: text
    heading: Callable[[str], str] = lambda text: text
    note: Callable[[str], str] = lambda text: text
    quiet: Callable[[str], str] = lambda text: text
    rise: Callable[[str], str] = lambda text: text
    fall: Callable[[str], str] = lambda text: text


PLAIN = Palette()


def _styled(**style: Any) -> Callable[[str], str]:
    """Colour around visible text, and none around an empty one."""
    return lambda text: click.style(text, **style) if text.strip() else text


COLOURED = Palette(
    name=_styled(fg="cyan"),
    heading=_styled(bold=True),
    note=_styled(fg="yellow"),
    quiet=_styled(dim=True),
    rise=_styled(fg="green"),
    fall=_styled(fg="red"),
)


class Paper(NamedTuple):
    """What an answer is shown on."""

    width: int
    # In a pipe tables are wider than texts, and nothing is shortened.
    is_pipe: bool = False
    # Without them, series have no charts.
    glyphs: charts.Glyphs | None = None


def paper() -> Paper:
    """What standard output is."""
    return Paper(terminal.width(), not terminal.is_terminal(), charts.of_terminal())


def palette() -> Palette:
    return COLOURED if terminal.has_colours() else PLAIN


def answer(value: Mapping[str, Any], paper: Paper, palette: Palette = PLAIN) -> str:
    """The whole answer of a tool."""
    body = {name: part for name, part in value.items() if name not in _CLOSING}
    page = _Page(palette, OURS, paper, value.get("range"))
    lines = page.record(body, paper.width)
    closing = [
        line
        for name, render in _CLOSING.items()
        if name in value
        for line in render(value[name], paper.width, palette)
    ]
    closing = [*page.remarks(paper.width), *closing]
    return "\n".join([*lines, *([""] if lines and closing else []), *closing])


def of_others(value: Mapping[str, Any], paper: Paper, palette: Palette = PLAIN) -> str:
    """The answer of a server that is not ours: the same layout, but no name means anything, and nothing is left out."""
    page = _Page(palette, AS_WRITTEN, paper)
    return "\n".join([*page.record(value, paper.width), *page.remarks(paper.width)])


class Reading(NamedTuple):
    """How single values are understood."""

    shown: Callable[[str, Any, int | None], str]
    is_number: Callable[[Any], bool]
    decimals_of: Callable[[list[Any]], int | None]
    members_of: Callable[[Mapping[str, Any]], dict[str, Any]]


OURS = Reading(values.shown, values.is_number, values.decimals_of, values.without_echoes)
AS_WRITTEN = Reading(values.as_written, values.is_written_number, lambda _: None, dict)


class _Page:
    def __init__(self, palette: Palette, reading: Reading, paper: Paper, span: Any = None) -> None:
        self._palette = palette
        self._reading = reading
        self._paper = paper
        # What the answer covers, if it says so.
        self._range = span
        self._has_shortened = False

    def remarks(self, width: int) -> list[str]:
        """What has to be known about the page itself."""
        words = terminal.wrapped(_SHORTENED, width) if self._has_shortened else []
        return [self._palette.quiet(line) for line in words]

    def record(self, record: Mapping[str, Any], width: int) -> list[str]:
        """An object: names and values side by side, deeper things below their name."""
        record = self._reading.members_of(record)
        flat = [name for name, value in record.items() if not is_deep(value) and value != []]
        names = min(max((terminal.columns(visible(name)) for name in flat), default=0), _NAME_COLUMNS)
        sums = self._sums({name: record[name] for name in flat})
        lines: list[str] = []
        for name, value in record.items():
            if value == []:
                lines.append(self._palette.heading(f"{visible(name)} (0)"))
            elif is_deep(value):
                lines += self._deep(name, value, width)
            else:
                lines += self._field(name, sums.get(name) or self._flat(name, value), names, width)
        return lines

    def _sums(self, members: Mapping[str, Any]) -> dict[str, str]:
        """Members that are all numbers, with amounts among them, below each other on the decimal point."""
        reading = self._reading
        found = list(members.values())
        decimals = reading.decimals_of(found)
        if len(found) < 2 or decimals is None or not all(map(reading.is_number, found)):
            return {}
        cells = values.on_the_point([reading.shown(name, members[name], decimals) for name in members])
        size = max(map(len, cells))
        return {name: cell.rjust(size).rstrip() for name, cell in zip(members, cells, strict=True)}

    def _field(self, name: str, text: str, names: int, width: int) -> list[str]:
        label = visible(name)
        room = max(width - names - _GAP, _LEAST_COLUMNS)
        # Blanks in front stand for digits, and there is nothing to fold.
        first, *more = [text] if text.startswith(" ") else terminal.wrapped(text, room)
        if terminal.columns(first) > room:
            # It must not be broken, so it gets a line of its own.
            whole = terminal.wrapped(text, max(width - _INDENT, _LEAST_COLUMNS))
            return [self._palette.name(label), *(self._indented(line) for line in whole)]
        head = self._palette.name(terminal.padded(label, names)) + " " * _GAP
        return [head + first, *(" " * (names + _GAP) + line for line in more)]

    def _indented(self, line: str) -> str:
        """What is too wide for the terminal begins at its edge: the terminal folds it, and copies it as one word."""
        paper = self._paper
        is_folded = not paper.is_pipe and " " not in line and _INDENT + terminal.columns(line) > paper.width
        return line if is_folded else " " * _INDENT + line if line else line

    def _deep(self, name: str, value: Any, width: int) -> list[str]:
        room = max(width - _INDENT, _LEAST_COLUMNS)
        if isinstance(value, Mapping):
            table = self._named_rows(value, room)
            heading, inner = visible(name), self.record(value, room) if table is None else table
        else:
            heading, inner = f"{visible(name)} ({len(value)})", self._records(value, room)
        return [self._palette.heading(heading), *map(self._indented, inner)]

    def _named_rows(self, value: Mapping[str, Any], width: int) -> list[str] | None:
        """An object of objects that are alike, as a table with their names in front; None if it is not one."""
        value = self._reading.members_of(value)
        if not parts.are_rows(value):
            return None
        rows = [self._reading.members_of(row) for row in value.values()]
        names = tables.Column("", [visible(name) for name in value])
        return self._table(rows, width, None, names)

    def _records(self, records: list[Any], width: int) -> list[str]:
        rows = [self._reading.members_of(record) for record in records if isinstance(record, Mapping)]
        had_shortened = self._has_shortened
        if len(rows) == len(records) and (found := self._in_tables(rows, width)) is not None:
            return found
        self._has_shortened = had_shortened
        lines: list[str] = []
        for record in records:
            if lines:
                lines.append("")
            lines += self.record(record if isinstance(record, Mapping) else {"": record}, width)
        return lines

    def _in_tables(self, rows: list[dict[str, Any]], width: int) -> list[str] | None:
        """None if that does not fit."""
        if not any(is_deep(value) for row in rows for value in row.values()):
            series = series_of(rows)
            table = self._table(rows, width, series)
            chart = self._chart(series, width) if table is not None else []
            return [*chart, "", *(table or [])] if chart else table
        found = parts.parts_of(rows) if len(rows) >= tables.LEAST_ROWS else None
        return None if found is None else self._of_parts(found, width)

    def _of_parts(self, found: parts.Parts, width: int) -> list[str] | None:
        columns = [self._column(name, found.rows, None) for name in _names(found.rows)]
        key = tables.key_of(columns)
        lines = self._table(found.rows, width, None, None if key in columns else key)
        if lines is None:
            return None
        room = max(width - _INDENT, _LEAST_COLUMNS)
        for name, inner in found.inner.items():
            front = key._replace(cells=[key.cells[at] for at, _ in inner])
            members = [self._reading.members_of(row) for _, row in inner]
            table = self._table(members, room, None, front, is_part=True)
            if table is None:
                return None
            heading = self._palette.heading(f"{visible(name)} ({len(inner)})")
            lines += ["", heading, *map(self._indented, table)]
        return lines

    def _chart(self, series: Series | None, width: int) -> list[str]:
        if series is None or self._paper.glyphs is None:
            return []
        palette = self._palette
        paints = charts.Paints(palette.name, palette.quiet, palette.rise, palette.fall)
        return charts.drawn(series, width, self._paper.glyphs, paints, cut_periods(series, self._range))

    def _table(
        self,
        rows: list[dict[str, Any]],
        width: int,
        series: Series | None,
        front: tables.Column | None = None,
        *,
        is_part: bool = False,
    ) -> list[str] | None:
        """A line per row, with a column in front if there is one; None if that does not fit."""
        is_pipe, names = self._paper.is_pipe, _names(rows)
        room = max(width, _ROW_COLUMNS) if is_pipe else width
        if not names or len(names) > room:
            return None
        columns = [self._column(name, rows, series) for name in names]
        is_long = is_part or len(rows) >= tables.LEAST_ROWS
        key = front or (columns[names.index(series.axis)] if series else tables.key_of(columns))
        in_front = [] if front is None else [front]
        same = _same(columns, width) if tables.size([*in_front, *columns]) > room else {}
        columns = [*in_front, *(column for column in columns if column.name not in same)]
        fitted = tables.fitted(columns, key, room, shortens=is_long and not is_pipe, cuts=is_long)
        if fitted is None:
            return None
        self._has_shortened |= fitted.has_shortened
        lines = self._said_once(same, width)
        for at, table in enumerate(fitted.tables):
            lines += [""] if at else []
            lines += tables.lines(table, self._palette.name)
        return lines

    def _said_once(self, same: dict[str, str], width: int) -> list[str]:
        words = ", ".join(f"{name} {text}" for name, text in same.items())
        lines = terminal.wrapped(f"In all rows: {words}.", width) if same else []
        return [self._palette.quiet(line) for line in lines]

    def _column(self, name: str, rows: list[dict[str, Any]], series: Series | None) -> tables.Column:
        reading = self._reading
        found = [row.get(name) for row in rows]
        decimals = reading.decimals_of(found)
        cells = [
            self._flat(name, value) if isinstance(value, list) else reading.shown(name, value, decimals)
            for value in found
        ]
        label = visible(name)
        are_numbers = all(reading.is_number(value) for value in found if value is not None)
        if are_numbers:
            cells = values.on_the_point(cells)
        elif series is not None and name == series.axis:
            cells = values.short_times(cells)
        return tables.Column(label.replace("\n", " "), cells, are_numbers)

    def _flat(self, name: str, value: Any) -> str:
        shown = self._reading.shown
        if isinstance(value, list):
            return ", ".join(shown(name, item, None) for item in value) or values.NOTHING
        return values.NOTHING if isinstance(value, Mapping) else shown(name, value, None)


def _names(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name in row))


def _same(columns: list[tables.Column], width: int) -> dict[str, str]:
    """What is the same in all rows, and short enough to be said once above the table."""
    if len(columns[0].cells) < tables.LEAST_ROWS or all(len(set(column.cells)) == 1 for column in columns):
        return {}
    return {
        column.name: cell.strip()
        for column in columns
        if len(set(column.cells)) == 1
        and "\n" not in (cell := column.cells[0])
        and terminal.columns(cell) <= width // 2
    }


def _notes(notes: list[str], width: int, palette: Palette) -> list[str]:
    return [
        palette.note(line)
        for note in notes
        for line in terminal.wrapped(f"Note: {visible(note)}".replace("\n", " "), width)
    ]


def _page(page: Mapping[str, Any], width: int, palette: Palette) -> list[str]:
    if not page.get("next"):
        return []
    words = f"{page.get('returned')} shown. Next page: {visible(values.as_arguments(page['next']))}"
    return [palette.quiet(line) for line in terminal.wrapped(words, width)]


def _as_of(as_of: Mapping[str, Any], width: int, palette: Palette) -> list[str]:
    height = as_of.get("height")
    words = "As of an unknown block" if height is None else f"As of block {height}"
    if time := as_of.get("time"):
        words += f", {values.shown('time', time)}"
    words += f", from {visible(str(as_of.get('node')))}"
    if as_of.get("isSynchronizing"):
        words += ", which is still synchronizing"
    confirmed = as_of.get("confirmedBy")
    others = (
        [str(node) for node in confirmed if node != as_of.get("node")] if isinstance(confirmed, list) else []
    )
    if others:
        words += f", confirmed by {visible(' and '.join(others))}"
    return [palette.quiet(line) for line in terminal.wrapped(f"{words}.", width)]


# The fields about an answer rather than part of it, in the order they are shown.
_CLOSING: dict[str, Callable[[Any, int, Palette], list[str]]] = {
    "notes": _notes,
    "page": _page,
    "asOf": _as_of,
}
