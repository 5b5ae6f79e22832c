"""How a list whose rows hold objects and lists becomes tables: one of what is flat, one for each of the others. Pure.

Each further table has in front what tells the rows of the first apart, so that it says where its rows belong. Objects
that count different things in each row, such as types of transactions, are cells: `PAYMENT 18, ARBITRARY 2`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]

# More of them are not a cell.
_MOST_COUNTED = 12


class Parts(NamedTuple):
    """The flat members of each row, and the rows of the others by their name, with the number of the row they are of."""

    rows: list[Row]
    inner: dict[str, list[tuple[int, Row]]]


def is_deep(value: Any) -> bool:
    """Whether it takes more than a cell."""
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and any(isinstance(item, Mapping | list) for item in value)


def parts_of(rows: Sequence[Row]) -> Parts | None:
    """None if something is too deep for tables, or nothing is flat."""
    flat: list[Row] = [{} for _ in rows]
    inner: dict[str, list[tuple[int, Row]]] = {}
    for name in dict.fromkeys(name for row in rows for name in row):
        column = [row.get(name) for row in rows]
        if _are_tallies(column):
            column = [_tally(value) for value in column]
        if not any(map(is_deep, column)):
            for row, target, value in zip(rows, flat, column, strict=True):
                if name in row:
                    target[name] = value
            continue
        found = [(at, item) for at, value in enumerate(column) for item in _records(value)]
        if not all(isinstance(item, Mapping) and not any(map(is_deep, item.values())) for _, item in found):
            return None
        inner[name] = [(at, dict(item)) for at, item in found]
    return Parts(flat, inner) if all(flat) else None


def are_rows(value: Mapping[str, Any]) -> bool:
    """Whether an object is a table with a name for each row: flat objects that have most members in common."""
    found = list(value.values())
    if len(found) < 2 or not all(isinstance(one, Mapping) and one for one in found):
        return False
    if any(is_deep(inner) for one in found for inner in one.values()):
        return False
    names = [set(one) for one in found]
    return 2 * len(set.intersection(*names)) >= len(set.union(*names))


def _records(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    return [value] if isinstance(value, Mapping) and value else []


def _are_tallies(column: list[Any]) -> bool:
    found = [value for value in column if value is not None]
    return (
        len({tuple(value) for value in found if isinstance(value, Mapping)}) > 1
        and all(isinstance(value, Mapping) and len(value) <= _MOST_COUNTED for value in found)
        and all(type(count) is int for value in found for count in value.values())
    )


def _tally(value: Mapping[str, int] | None) -> str | None:
    return None if not value else ", ".join(f"{name} {count}" for name, count in value.items())
