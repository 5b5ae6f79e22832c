"""What answers have in common: provenance, notes, pages, and the budget of a list."""

from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ...server.input.arguments import extra_of
from ..limits import LIMIT, ROWS_BYTES
from ..node.as_of import AsOf

T = TypeVar("T")

Amount = Annotated[str, Meta(pattern=r"^-?[0-9]+\.[0-9]{8}$", description="Exact, eight places.")]

# The largest offset, see `arguments.Offset`.
_LAST_OFFSET = 2**31 - 1

_encode = msgspec.json.Encoder().encode


class Answer(Struct, kw_only=True):
    """An answer from a node."""

    asOf: AsOf
    notes: list[str] | UnsetType = UNSET


class Page(Struct):
    returned: int
    next: Annotated[
        dict[str, Any] | UnsetType, Meta(description="Complete arguments of the call for the next page.")
    ] = UNSET


class ListAnswer(Struct, kw_only=True):
    """A list, under its own noun, one page at a time."""

    page: Page
    asOf: AsOf
    notes: list[str] | UnsetType = UNSET


def fitting(rows: list[T], at_most: int = ROWS_BYTES) -> list[T]:
    """As many rows as an answer can hold; the rest are for the next page."""
    size = 0
    for count, row in enumerate(rows):
        size += len(_encode(row)) + 1
        if size > at_most and count:
            return rows[:count]
    return rows


def one_more(limit: int) -> int:
    """How many rows to request from Core: one more than wanted, if possible, shows whether any follow."""
    return min(limit + 1, LIMIT)


def follows(rows: Sequence[object], shown: Sequence[object]) -> bool:
    """Whether there are rows after those shown, of rows that were requested with `one_more`."""
    return len(rows) > len(shown) or len(rows) >= LIMIT


def page_of(args: Struct, offset: int, returned: int, more: bool, **resolved: Any) -> Page:
    """The page member of a list. `resolved` are computed arguments that must stay the same on every page."""
    return page_at(args, returned, offset + returned if more and returned else None, **resolved)


def page_at(args: Struct, returned: int, next_offset: int | None, **resolved: Any) -> Page:
    """The page member of a list that continues at a given offset, or ends here."""
    if next_offset is None or next_offset > _LAST_OFFSET:
        return Page(returned)
    return Page(returned, {**_written(args), **resolved, "offset": next_offset})


def page_on(args: Struct, returned: int, **changed: Any) -> Page:
    """The page member of sums that continue in another call, which differs in these arguments and starts at its first row."""
    arguments = _written(args)
    arguments.pop("offset", None)
    return Page(returned, {**arguments, **changed})


def _written(args: Struct) -> dict[str, Any]:
    return {
        field.encode_name: value
        for field in structs.fields(args)
        if (value := getattr(args, field.name)) is not UNSET
        and (value != field.default or (field.name == "limit" and not extra_of(field.type).get("unlisted")))
    }
