"""What a claim can be looked up as. One claim may have several lookups: it is grounded if one of them finds something."""

from decimal import Decimal
from typing import NamedTuple, TypeAlias


class Value(NamedTuple):
    """A number as it is written: what it says without its sign, and one unit of its last digit."""

    magnitude: Decimal
    unit: Decimal
    is_negative: bool = False


class Moment(NamedTuple):
    """A point in time as far as it is written, in UTC. What is not written is None."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    hour: int | None = None
    minute: int | None = None
    second: int | None = None


class Numbers(NamedTuple):
    """Numbers of which each is in a result, exactly or rounded."""

    values: tuple[Value, ...]


class Day(NamedTuple):
    """The day of a month in some time of a result: "the 15th"."""

    day: int


class Words(NamedTuple):
    """Words that follow each other in a result, folded for comparison."""

    words: tuple[str, ...]


class Exact(NamedTuple):
    """A run of characters of a result, with its case: an address, a signature, a link, a version."""

    text: str


class Ends(NamedTuple):
    """How a long run of characters of a result begins and ends."""

    head: str
    tail: str


Lookup: TypeAlias = Numbers | Moment | Day | Words | Exact | Ends
