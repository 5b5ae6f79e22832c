"""Rows as CSV for spreadsheets and scripts: RFC 4180, UTF-8 without a byte order mark, lines that end with CR LF.

- The header names every member of any row. Members of objects have names with dots.
- A row that holds one list of objects becomes a row for each of them. Its other members are repeated, so that every row
  says what it belongs to, except what could be added up: a number stands in the first of these rows alone, so that a
  column has the right sum. Heights, ids and times are repeated.
- Numbers and texts are exact. What is missing or null is an empty cell, a truth is `true` or `false`, a list of single
  values is joined with `; `, any other list is JSON.
- A text that a spreadsheet would take for a formula has an apostrophe in front, which makes it text there: one that
  begins with `=`, `+`, `-`, `@` or their wide forms, also after blanks or apostrophes, or with a tab or a line end. A
  plain negative number is left as it is. Taking one apostrophe away gives the text again.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Raw

from ....repairs import values
from ....text import visible
from .. import terminal
from .rows import Rows, lists_of, rows_of
from .series import is_quantity

# What spreadsheets can hold, and as many cells as can be written in a few seconds.
_MOST_COLUMNS = 16_384
_MOST_CELLS = 20_000_000
# A row is repeated for each item of a list in it, so a small answer can be a large table.
_MOST_CHARS = 256 * 1024 * 1024
# Deeper objects are written as JSON.
_DEEPEST = 12

_FORMULA = re.compile(r"['\s]*[=+\-@＝＋－＠]|[\t\r\n]")
_NEGATIVE = re.compile(r"-[0-9]+(?:\.[0-9]+)?")

Path = tuple[str, ...]


class TooMuch(Exception):
    """The rows have more columns than a spreadsheet can hold, or more text than anybody reads."""


def write(answer: Any, name: str | None, *, is_all: bool) -> None:
    """Print the rows of an answer; what else a person should know goes to the terminal.

    Raises: NoRows, TooMuch.
    """
    found = rows_of(answer, name)
    terminal.write_bytes(csv_of(found))
    for line in _remarks(answer, found, is_chosen=name is not None):
        terminal.note(line)
    # Scripts must hear it too: rows that are missing look like rows that do not exist.
    if isinstance(answer, Mapping) and _goes_on(answer) and not is_all:
        terminal.warn(f"{len(found.rows):,} rows. More follow: --all-pages gets them.")


def csv_of(found: Rows) -> bytes:
    """Raises: TooMuch."""
    # A value that is not an object has the name of its list.
    alone = found.name.rpartition(".")[2] or "value"
    flat: list[dict[Path, str]] = []
    chars = 0
    for row in found.rows:
        for cells in _each(row, alone):
            chars += sum(map(len, cells.values()))
            if chars > _MOST_CHARS:
                raise TooMuch(f"The rows have more than {_MOST_CHARS:,} characters: too many for a table.")
            flat.append(cells)
    columns = list(dict.fromkeys(path for row in flat for path in row))
    if len(columns) > _MOST_COLUMNS or len(columns) * len(flat) > _MOST_CELLS:
        raise TooMuch(
            f"The {len(flat):,} rows have {len(columns):,} different members: too many for columns."
        )
    text = io.StringIO()
    if columns:
        writer = csv.writer(text, lineterminator="\r\n")
        writer.writerow(_safe(".".join(path)) for path in columns)
        writer.writerows([row.get(path, "") for path in columns] for row in flat)
    return text.getvalue().encode()


def _each(row: Any, alone: str) -> Iterator[dict[Path, str]]:
    """The cells of a row, or of one for each item of the list of objects in it; what could be added up is only in the
    first of these."""
    name = _inner_table(row)
    if name is None:
        yield dict(_cells(row, alone))
        return
    # Written once: there may be many items beside a long text.
    first, again = (_beside(name, members) for members in (row, _without_quantities(row)))
    for at, item in enumerate(row[name]):
        cells = again if at else first
        yield {
            path: cell
            for member in row
            for path, cell in (_members({name: item}, ()) if member == name else cells[member].items())
        }


def _beside(name: str, members: Mapping[str, Any]) -> dict[str, dict[Path, str]]:
    """The cells of each member but one."""
    return {
        member: dict(_members({member: value}, ())) for member, value in members.items() if member != name
    }


def _inner_table(row: Any) -> str | None:
    """The one list of objects in a row; None if there is none, or several."""
    inner = [name for name, value in row.items() if _is_table(value)] if isinstance(row, Mapping) else []
    return inner[0] if len(inner) == 1 else None


def _without_quantities(row: Mapping[str, Any], depth: int = 1) -> dict[str, Any]:
    return {
        name: _without_quantities(value, depth + 1)
        if isinstance(value, Mapping) and value and depth < _DEEPEST
        else None
        if is_quantity(name, value)
        else value
        for name, value in row.items()
    }


def _has_divided(found: Rows) -> bool:
    """Whether a number stands in the first of several rows alone."""
    return any(
        (name := _inner_table(row)) is not None and len(row[name]) > 1 and _without_quantities(row) != row
        for row in found.rows
    )


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _cells(row: Any, alone: str) -> Iterator[tuple[Path, str]]:
    if isinstance(row, Mapping):
        yield from _members(row, ())
    elif isinstance(row, list):  # rows that are lists have no names
        yield from (((str(at),), _cell(value)) for at, value in enumerate(row, 1))
    else:
        yield (alone,), _cell(row)


def _members(members: Mapping[str, Any], above: Path) -> Iterator[tuple[Path, str]]:
    for name, value in members.items():
        path = (*above, name)
        if isinstance(value, Mapping) and value and len(path) < _DEEPEST:
            yield from _members(value, path)
        else:
            yield path, _cell(value)


def _cell(value: Any) -> str:
    if value is None or value in ({}, []):
        return ""
    if isinstance(value, str):
        return _safe(value)
    if isinstance(value, list) and not any(isinstance(item, Mapping | list) for item in value):
        return _safe("; ".join(map(_plain, value)))
    if isinstance(value, Mapping | list):
        return visible(values.text_of(value))
    return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, Raw):
        return bytes(value).decode()
    return value if isinstance(value, str) else values.text_of(value)


def _safe(text: str) -> str:
    """Text with nothing hidden in it, that no spreadsheet takes for a formula."""
    shown = visible(text)
    return f"'{shown}" if _FORMULA.match(shown) and not _NEGATIVE.fullmatch(shown) else shown


def _remarks(answer: Any, found: Rows, *, is_chosen: bool) -> Iterator[str]:
    if not isinstance(answer, Mapping):
        return
    notes = answer.get("notes")
    for note in notes if isinstance(notes, list) else []:
        if isinstance(note, str):
            yield f"Note: {terminal.one_line(note)}"
    if not found.rows:
        yield "There are no rows."
    if _has_divided(found):
        yield "What holds several rows has its own numbers in the first of them alone, so that columns add up."
    others = [name for name in lists_of(answer) if name != found.name]
    if others and not is_chosen:
        listed: Sequence[str] = [terminal.one_line(name) for name in others[:5]]
        yield (
            f"These are the rows of {found.name}; --list also takes {', '.join(listed)}."
            if found.name
            else (f"This is the answer in one row; --list takes {', '.join(listed)}.")
        )


def _goes_on(answer: Mapping[str, Any]) -> bool:
    page = answer.get("page")
    return isinstance(page, Mapping) and bool(page.get("next"))
