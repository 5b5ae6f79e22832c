"""A structured answer as text for people. Pure: a value, a width and a palette go in, text comes out.

An object is a column of names next to their values, a list of flat objects is a table if it fits, and
`notes`, `page` and `asOf` come last.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import click

from ...text import visible
from . import terminal, values

_INDENT = 2
_GAP = 2
# A longer name does not push the values of the others to the right.
_NAME_COLUMNS = 28
# Narrower columns of text are not readable; deep nesting must not make them narrower.
_LEAST_COLUMNS = 20


class Palette(NamedTuple):
    """How parts of a view are coloured."""

    name: Callable[[str], str] = lambda text: text
    heading: Callable[[str], str] = lambda text: text
    note: Callable[[str], str] = lambda text: text
    quiet: Callable[[str], str] = lambda text: text


PLAIN = Palette()


def _styled(**style: Any) -> Callable[[str], str]:
    """Colour around visible text, and none around an empty one."""
    return lambda text: click.style(text, **style) if text.strip() else text


COLOURED = Palette(
    name=_styled(fg="cyan"), heading=_styled(bold=True), note=_styled(fg="yellow"), quiet=_styled(dim=True)
)


def answer(value: Mapping[str, Any], width: int, palette: Palette = PLAIN) -> str:
    """The whole answer of a tool."""
    body = {name: part for name, part in value.items() if name not in _CLOSING}
    lines = _Page(palette, OURS).record(body, width)
    closing = [
        line
        for name, render in _CLOSING.items()
        if name in value
        for line in render(value[name], width, palette)
    ]
    return "\n".join([*lines, *([""] if lines and closing else []), *closing])


def of_others(value: Mapping[str, Any], width: int, palette: Palette = PLAIN) -> str:
    """The answer of a server that is not ours: the same layout, but no name means anything, and nothing is left out."""
    return "\n".join(_Page(palette, AS_WRITTEN).record(value, width))


class Reading(NamedTuple):
    """How single values are understood."""

    shown: Callable[[str, Any, int | None], str]
    is_number: Callable[[Any], bool]
    decimals_of: Callable[[list[Any]], int | None]
    members_of: Callable[[Mapping[str, Any]], dict[str, Any]]


OURS = Reading(values.shown, values.is_number, values.decimals_of, values.without_echoes)
AS_WRITTEN = Reading(values.as_written, values.is_written_number, lambda _: None, dict)


class _Page:
    def __init__(self, palette: Palette, reading: Reading) -> None:
        self._palette = palette
        self._reading = reading

    def record(self, record: Mapping[str, Any], width: int) -> list[str]:
        """An object: names and values side by side, deeper things below their name."""
        record = self._reading.members_of(record)
        flat = [name for name, value in record.items() if not _is_deep(value) and value != []]
        names = min(max((terminal.columns(visible(name)) for name in flat), default=0), _NAME_COLUMNS)
        lines: list[str] = []
        for name, value in record.items():
            if value == []:
                lines.append(self._palette.heading(f"{visible(name)} (0)"))
            elif _is_deep(value):
                lines += self._deep(name, value, width)
            else:
                lines += self._field(name, value, names, width)
        return lines

    def _field(self, name: str, value: Any, names: int, width: int) -> list[str]:
        label = visible(name)
        room = max(width - names - _GAP, _LEAST_COLUMNS)
        first, *more = terminal.wrapped(self._flat(name, value), room)
        if terminal.columns(first) > room:
            # It must not be broken, so it gets a line of its own.
            whole = terminal.wrapped(self._flat(name, value), max(width - _INDENT, _LEAST_COLUMNS))
            return [self._palette.name(label), *(" " * _INDENT + line for line in whole)]
        head = self._palette.name(terminal.padded(label, names)) + " " * _GAP
        return [head + first, *(" " * (names + _GAP) + line for line in more)]

    def _deep(self, name: str, value: Any, width: int) -> list[str]:
        room = max(width - _INDENT, _LEAST_COLUMNS)
        if isinstance(value, Mapping):
            heading, inner = visible(name), self.record(value, room)
        else:
            heading, inner = f"{visible(name)} ({len(value)})", self._records(value, room)
        return [self._palette.heading(heading), *(" " * _INDENT + line if line else line for line in inner)]

    def _records(self, records: list[Any], width: int) -> list[str]:
        table = self._table(records, width)
        if table is not None:
            return table
        lines: list[str] = []
        for record in records:
            if lines:
                lines.append("")
            lines += self.record(record if isinstance(record, Mapping) else {"": record}, width)
        return lines

    def _table(self, records: list[Any], width: int) -> list[str] | None:
        """One line per record; None if that does not fit."""
        if not all(isinstance(record, Mapping) for record in records):
            return None
        rows = [self._reading.members_of(record) for record in records]
        if any(_is_deep(value) for row in rows for value in row.values()):
            return None
        names = dict.fromkeys(name for row in rows for name in row)
        if len(names) > width:
            return None
        columns = [self._column(name, rows) for name in names]
        if sum(column.size for column in columns) + _GAP * (len(columns) - 1) > width:
            return None
        if any("\n" in cell for column in columns for cell in column.cells):
            return None
        head = (self._palette.name(_padded(column.name, column)) for column in columns)
        lines = [(" " * _GAP).join(head)]
        for at in range(len(rows)):
            lines.append((" " * _GAP).join(_padded(column.cells[at], column) for column in columns).rstrip())
        return lines

    def _column(self, name: str, rows: list[dict[str, Any]]) -> "_Column":
        reading = self._reading
        found = [row.get(name) for row in rows]
        decimals = reading.decimals_of(found)
        cells = [
            self._flat(name, value) if isinstance(value, list) else reading.shown(name, value, decimals)
            for value in found
        ]
        label = visible(name)
        size = max(terminal.columns(text) for text in (label, *cells))
        are_numbers = all(reading.is_number(value) for value in found if value is not None)
        return _Column(label, cells, size, are_numbers)

    def _flat(self, name: str, value: Any) -> str:
        shown = self._reading.shown
        if isinstance(value, list):
            return ", ".join(shown(name, item, None) for item in value) or values.NOTHING
        return values.NOTHING if isinstance(value, Mapping) else shown(name, value, None)


class _Column(NamedTuple):
    name: str
    cells: list[str]
    size: int
    is_number: bool


def _padded(text: str, column: _Column) -> str:
    return terminal.padded(text, column.size, right=column.is_number)


def _is_deep(value: Any) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value)


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
    return [palette.quiet(line) for line in terminal.wrapped(f"{words}.", width)]


# The fields about an answer rather than part of it, in the order they are shown.
_CLOSING: dict[str, Callable[[Any, int, Palette], list[str]]] = {
    "notes": _notes,
    "page": _page,
    "asOf": _as_of,
}
