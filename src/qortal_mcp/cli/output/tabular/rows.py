"""The rows of an answer: those of its main list, or the answer itself as one row. Pure.

The main list is the one that `page` counts. Without `page` it is the first list of objects, and a list of anything
else only if the answer consists of it. An answer that is nothing but one object is that object.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

# Members about an answer rather than part of it.
_ABOUT = frozenset({"asOf", "page", "notes"})


class Rows(NamedTuple):
    """What a table is made of."""

    # The path of the list, with dots; empty for the answer itself.
    name: str
    rows: list[Any]


class NoRows(Exception):
    """The answer has no list of that name, or nothing that could be a row. The text says what there is."""


def rows_of(answer: Any, name: str | None = None) -> Rows:
    """The rows of the main list, or of the list that is named. Raises: NoRows."""
    if name is not None:
        return _named(answer, name)
    if isinstance(answer, list):
        return Rows("", answer)
    if not isinstance(answer, Mapping):
        raise NoRows("The answer is a single value, not rows; --json shows it.")
    main = main_list(answer)
    if main is not None:
        return Rows(main, _at(answer, main))
    return Rows("", [{name: part for name, part in answer.items() if name != "notes"}])


def main_list(answer: Mapping[str, Any]) -> str | None:
    """The path of the list that the answer is about; None if it is about one thing."""
    parts = {name: part for name, part in answer.items() if name not in _ABOUT}
    lists = {name: part for name, part in parts.items() if isinstance(part, list)}
    tables = [name for name, part in lists.items() if any(isinstance(row, Mapping | list) for row in part)]
    page = answer.get("page")
    if isinstance(page, Mapping) and "returned" in page:
        counted = [name for name in (*tables, *lists) if len(lists[name]) == page["returned"]]
        if counted:
            return counted[0]
    if tables:
        return tables[0]
    if len(parts) == 1:
        ((name, part),) = parts.items()
        if isinstance(part, list):
            return name
        inner = main_list(part) if isinstance(part, Mapping) and _ABOUT.isdisjoint(part) else None
        return None if inner is None else f"{name}.{inner}"
    return None


def lists_of(answer: Any, *, deepest: int = 3) -> list[str]:
    """The paths of all lists of objects, and of objects of objects, for a person who has to choose."""
    if not isinstance(answer, Mapping) or not deepest:
        return []
    found: list[str] = []
    for name, part in answer.items():
        if (isinstance(part, list) and any(isinstance(row, Mapping) for row in part)) or _holds_rows(part):
            found.append(name)
        found += [f"{name}.{inner}" for inner in lists_of(part, deepest=deepest - 1)]
    return found


def _named(answer: Any, name: str) -> Rows:
    part = _at(answer, name)
    if isinstance(part, list):
        return Rows(name, part)
    if isinstance(part, Mapping):
        return Rows(name, _by_name(part))
    known = [*lists_of(answer), *_plain_lists(answer)]
    hint = f" It has {', '.join(known)}." if known else " It has no list."
    raise NoRows(f"The answer has no list {name}.{hint}")


def _plain_lists(answer: Any) -> list[str]:
    """The lists of single values, each of which is a row."""
    parts = answer.items() if isinstance(answer, Mapping) else ()
    return [
        name
        for name, part in parts
        if name not in _ABOUT
        and isinstance(part, list)
        and part
        and not any(isinstance(row, Mapping) for row in part)
    ]


def _holds_rows(part: Any) -> bool:
    """Whether it is an object of objects: a row for each of them."""
    return (
        isinstance(part, Mapping)
        and len(part) > 0
        and all(isinstance(value, Mapping) for value in part.values())
    )


def _by_name(part: Mapping[str, Any]) -> list[Any]:
    """An object of objects is a row for each of them, with its name; any other object is one row."""
    if _holds_rows(part):
        return [{"name": name, **value} for name, value in part.items()]
    return [part]


def _at(answer: Any, path: str) -> Any:
    """What stands at a path; a name that itself has dots in it is found too. None: nothing."""
    if not isinstance(answer, Mapping):
        return None
    if path in answer:
        return answer[path]
    first, dot, rest = path.partition(".")
    return _at(answer.get(first), rest) if dot else None
