"""What answers have in common: provenance, notes, pages, and the budget of a list."""

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, structs

from .as_of import AsOf
from .limits import ROWS_BYTES

T = TypeVar("T")

Amount = Annotated[str, Meta(pattern=r"^-?[0-9]+\.[0-9]{8}$", description="Exact, eight places.")]

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
    """A list, under a noun of its own, one page at a time."""

    page: Page
    asOf: AsOf
    notes: list[str] | UnsetType = UNSET


def fitting(rows: list[T]) -> list[T]:
    """As many rows as an answer can hold; the rest is for the next page."""
    size = 0
    for count, row in enumerate(rows):
        size += len(_encode(row)) + 1
        if size > ROWS_BYTES and count:
            return rows[:count]
    return rows


def page_of(args: Struct, offset: int, returned: int, more: bool, **resolved: Any) -> Page:
    """The page member of a list. `resolved` are arguments that were worked out and must stay as they are."""
    if not more or not returned:
        return Page(returned)
    written = {
        field.encode_name: value
        for field in structs.fields(args)
        if (value := getattr(args, field.name)) is not UNSET
        and (value != field.default or field.name == "limit")
    }
    return Page(returned, {**written, **resolved, "offset": offset + returned})
