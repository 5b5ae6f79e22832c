"""Polls and ratings."""

from typing import Any, ClassVar

import msgspec
from msgspec import Struct, field

from ..limits import CONTENT_CHARS, LISTED_TEXT_CHARS
from ..words.times import Milliseconds
from .plain import Count, Whole, plain


class PollOption(Struct):
    optionName: str

    def __post_init__(self) -> None:
        self.optionName = plain(self.optionName)


class Poll(Struct):
    description_chars: ClassVar[int] = CONTENT_CHARS

    pollName: str
    owner: str
    published: Milliseconds
    description: str = ""
    pollOptions: list[PollOption] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.pollName = plain(self.pollName)
        self.owner = plain(self.owner)
        self.description = plain(self.description, self.description_chars)


class ListedPoll(Poll):
    """One of many: only the beginning of its description."""

    description_chars: ClassVar[int] = LISTED_TEXT_CHARS


class VoteCount(Struct):
    optionName: str
    voteCount: Count

    def __post_init__(self) -> None:
        self.optionName = plain(self.optionName)


class VoteWeight(Struct):
    optionName: str
    # Core's sums have 32 bits.
    voteWeight: Whole

    def __post_init__(self) -> None:
        self.optionName = plain(self.optionName)


class PollVotes(Struct):
    """Options come in no order."""

    totalVotes: Count
    voteCounts: list[VoteCount] = field(default_factory=list)
    voteWeights: list[VoteWeight] = field(default_factory=list)


class AppRating(PollVotes, kw_only=True):
    pollName: str
    published: Milliseconds
    service: str | None = None
    appName: str | None = None

    def __post_init__(self) -> None:
        self.pollName = plain(self.pollName)
        self.service = plain(self.service)
        self.appName = plain(self.appName)


class AppRatings(Struct):
    """Core writes a map as a list of entries; should it ever write a plain object, that is read as well."""

    ratings: dict[str, Any] = field(default_factory=dict)
    rows: Any = None

    def __post_init__(self) -> None:
        self.rows = _rows(self.ratings)
        self.ratings = {}


class _Entry(Struct):
    value: AppRating


class _Entries(Struct):
    entry: list[_Entry]


def _rows(ratings: dict[str, Any]) -> list[AppRating]:
    if ratings.keys() == {"entry"}:
        return [entry.value for entry in msgspec.convert(ratings, _Entries).entry]
    return list(msgspec.convert(ratings, dict[str, AppRating]).values())
