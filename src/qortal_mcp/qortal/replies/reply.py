"""What every reply is made of: bounded numbers, text that is safe to show, exact amounts.

The type of a field says how what a node sent is cleaned. A reply cleans itself while it is decoded, so
nothing that reads one can forget to.
"""

import functools
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ...text import printable, shortened
from ..limits import CONTENT_CHARS, LISTED_TEXT_CHARS, TEXT_CHARS
from ..words.amounts import exact
from ..words.blobs import summary

# Core counts in 64 bits; a number of any length would be passed on, added up and written out at any cost.
Count = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Whole = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
# Heights, and the numbers of assets and groups: what the node tells may be what it is asked for next.
Number = Annotated[int, Meta(ge=0, le=2**31 - 1)]


class Chars(Struct, frozen=True):
    """Marks text: it is made printable, and cut to so many characters. Long data is summarised, unless it was asked for."""

    at_most: int
    shows_data: bool = False

    def clean(self, text: str) -> str:
        blob = None if self.shows_data else summary(text)
        return blob or printable(shortened(text, self.at_most))


class Exact(Struct, frozen=True):
    """Marks an amount: it is put right, or refused with a ValueError."""

    def clean(self, text: str) -> str:
        return exact(text)


class Finite(Struct, frozen=True):
    """Marks a number that need not be whole. It is not declared as a float: see `protocol/decoding.py`."""

    def clean(self, number: Any) -> float:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError("not a number")
        try:
            return float(number)
        except OverflowError:
            raise ValueError("a whole number of hundreds of digits") from None


# Names, keys, signatures, addresses, and Core's own words.
Text = Annotated[str, Chars(TEXT_CHARS)]
# Text that is the point of an answer, and the beginning of it where many are listed.
LongText = Annotated[str, Chars(CONTENT_CHARS)]
ListedText = Annotated[str, Chars(LISTED_TEXT_CHARS)]
Amount = Annotated[str, Exact()]
Ratio = Annotated[Any, Finite()]

_SAFE = frozenset({int, bool, NoneType, UnsetType})

_Cleaner = Callable[[Any], Any]


class Reply(Struct):
    """A reply of Core's. Where one has more to decide in its `__post_init__`, it calls this one as well."""

    def __post_init__(self) -> None:
        for name, clean in _cleaners(type(self)):
            value = getattr(self, name)
            if value is UNSET or value is None:
                continue
            cleaned = clean(value)
            if cleaned is not value:
                setattr(self, name, cleaned)


@functools.cache
def _cleaners(reply: type[Reply]) -> tuple[tuple[str, _Cleaner], ...]:
    """The fields that need cleaning. A class knows its fields only once it is complete, so this waits for
    the first reply."""
    found = ((field.name, _cleaner(field.type)) for field in structs.fields(reply))
    return tuple((name, clean) for name, clean in found if clean is not None)


def _cleaner(kind: Any) -> _Cleaner | None:
    """How values of a type are cleaned; None where nothing in them can do harm."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        marks = [mark for mark in kind.__metadata__ if isinstance(mark, Chars | Exact | Finite)]
        return marks[-1].clean if marks else _cleaner(inner[0])
    if origin is list:
        return _of_list(_cleaner(inner[0]))
    if origin is dict:
        return _of_dict(_cleaner(inner[0]), _cleaner(inner[1]))
    if origin is Literal or kind in _SAFE or (isinstance(kind, type) and issubclass(kind, Reply)):
        return None
    if origin in (Union, UnionType):
        cleaners = [clean for each in inner if (clean := _cleaner(each)) is not None]
        others = [each for each in inner if each not in (NoneType, UnsetType)]
        if not cleaners:
            return None
        if len(others) == 1:
            return cleaners[0]
    # Not a TypeError: a decoder would report that as a mistake of the node.
    raise RuntimeError(f"nothing says how {kind} is cleaned")


def cleaned(text: str, kind: Any) -> str:
    """A body that is plain text, cleaned as its type says. Raises: ValueError."""
    clean = _cleaner(kind)
    assert clean is not None, "text always has to be cleaned"
    return str(clean(text))


def _of_list(clean: _Cleaner | None) -> _Cleaner | None:
    if clean is None:
        return None
    each = _optional(clean)
    return lambda values: [each(value) for value in values]


def _of_dict(clean_key: _Cleaner | None, clean: _Cleaner | None) -> _Cleaner | None:
    if clean_key is None and clean is None:
        return None
    key, each = _optional(clean_key), _optional(clean)
    return lambda values: {key(name): each(value) for name, value in values.items()}


def _optional(clean: _Cleaner | None) -> _Cleaner:
    return lambda value: value if value is None or clean is None else clean(value)
