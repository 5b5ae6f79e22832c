"""Polls and ratings."""

from msgspec import field

from ..words.times import Milliseconds
from .reply import Count, ListedText, LongText, Reply, Text, Whole


class PollOption(Reply):
    optionName: Text


class Poll(Reply):
    pollName: Text
    owner: Text
    published: Milliseconds
    description: LongText = ""
    pollOptions: list[PollOption] = field(default_factory=list)


class ListedPoll(Poll):
    """One of many: only the beginning of its description."""

    description: ListedText = ""


class VoteCount(Reply):
    optionName: Text
    voteCount: Count


class VoteWeight(Reply):
    optionName: Text
    # Core's sums have 32 bits.
    voteWeight: Whole


class Vote(Reply):
    voterPublicKey: Text
    optionIndex: Count


class PollVotes(Reply):
    """Options come in no order. Single votes are there only where they are asked for."""

    totalVotes: Count
    voteCounts: list[VoteCount] = field(default_factory=list)
    voteWeights: list[VoteWeight] = field(default_factory=list)
    votes: list[Vote] = field(default_factory=list)


class AppRating(PollVotes, kw_only=True):
    pollName: Text
    published: Milliseconds
    service: Text | None = None
    appName: Text | None = None


class RatingEntry(Reply):
    value: AppRating


class AppRatings(Reply):
    """Core writes a map as a list of entries; should it ever write a plain object, that is read as well."""

    ratings: dict[Text, list[RatingEntry] | AppRating] = field(default_factory=dict)

    @property
    def rows(self) -> list[AppRating]:
        rows: list[AppRating] = []
        for each in self.ratings.values():
            rows += [entry.value for entry in each] if isinstance(each, list) else [each]
        return rows
