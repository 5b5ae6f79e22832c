"""Polls, their results, and app ratings, which are polls too."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ...text import original
from ..endpoints.polls import APP_RATINGS, POLL, POLL_VOTES, POLLS
from ..endpoints.record import fits_a_path, json_of
from ..limits import LIMIT, LISTED_OPTIONS, PAGE_ROWS, RATED_OPTIONS, RATING_WINDOWS
from ..node.failures import not_found
from ..node.node import Node, Reading
from ..node.side_by_side import side_by_side
from ..replies.polls import AppRating, ListedPoll, Poll, PollVotes
from ..words.arguments import AppService, Limit, Offset, PollName, Reverse
from ..words.times import IsoTime, Milliseconds, iso
from .answers import Answer, ListAnswer, fitting, follows, one_more, page_of
from .read_only import tool

Weight = Annotated[int, Meta(description="Blocks minted by the voters.")]
Share = Annotated[str | None, Meta(description="Percent, rounded; null if no votes.")]
# Pages of the list of polls that are looked through for a name that cannot be requested.
_PAGES = 20
_NO_VOTES = "The votes of a poll whose name contains /, \\, % or ; cannot be read: such a name is never sent in a path."

_read_polls = json_of(list[Poll])

Mark = Annotated[str | None, Meta(description="Average, rounded; null if no votes.")]


class PollList(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Reverse = False


class PollRow(Struct):
    pollName: str
    owner: str
    description: Annotated[str, Meta(description="Its beginning.")]
    published: Milliseconds
    publishedTime: IsoTime
    optionCount: int
    options: Annotated[list[str], Meta(description=f"The first {LISTED_OPTIONS}.")]


class Polls(ListAnswer):
    polls: list[PollRow]


@tool("Polls")
async def list_polls(args: PollList, node: Node) -> Polls:
    """All polls on the chain, by name, without results: use get_poll for those."""
    reading = node.reading()
    rows = await reading.get(POLLS, limit=one_more(args.limit), offset=args.offset, reverse=args.reverse)
    polls = fitting([_poll_row(row) for row in rows[: args.limit]])
    return Polls(
        polls,
        page=page_of(args, args.offset, len(polls), follows(rows, polls)),
        asOf=reading.as_of,
        notes=reading.notes(),
    )


def _poll_row(row: ListedPoll) -> PollRow:
    return PollRow(
        row.pollName,
        row.owner,
        row.description,
        row.published,
        iso(row.published),
        len(row.pollOptions),
        [option.optionName for option in row.pollOptions[:LISTED_OPTIONS]],
    )


class OnePoll(Struct, frozen=True, forbid_unknown_fields=True):
    name: PollName


class Option(Struct):
    name: str
    votes: int | None
    votesPercent: Share
    weight: Annotated[int | None, Meta(description="Blocks minted by the voters.")]
    weightPercent: Share


class PollAnswer(Answer):
    pollName: str
    owner: str
    description: str
    published: Milliseconds
    publishedTime: IsoTime
    totalVotes: Annotated[int | None, Meta(description="Null if the votes cannot be read.")]
    totalWeight: Annotated[int | None, Meta(description="Blocks minted by the voters.")]
    options: Annotated[list[Option], Meta(description="In the poll's order.")]


@tool("Poll results")
async def get_poll(args: OnePoll, node: Node) -> PollAnswer:
    """One poll with its current result for each option, by number of votes and by weight (blocks the voters
    minted)."""
    reading = node.reading()
    name = original(args.name)
    if not fits_a_path(name):
        return _without_votes(await _listed(reading, name), reading)
    poll, votes = await side_by_side(reading.get(POLL, pollName=name), reading.get(POLL_VOTES, pollName=name))
    counts, weights = _by_option(votes)
    total, total_weight = sum(counts.values()), sum(weights.values())
    options = [
        Option(
            option,
            counts.get(option, 0),
            _percent(counts.get(option, 0), total),
            weights.get(option, 0),
            _percent(weights.get(option, 0), total_weight),
        )
        for option in (each.optionName for each in poll.pollOptions)
    ]
    return PollAnswer(
        poll.pollName,
        poll.owner,
        poll.description,
        poll.published,
        iso(poll.published),
        total,
        total_weight,
        options,
        asOf=reading.as_of,
        notes=reading.notes(),
    )


async def _listed(reading: Reading, name: str) -> Poll:
    """A poll whose name is never sent in a path, from the list of all polls. Raises: ToolError."""
    for page in range(_PAGES):
        rows = await reading.get_as(_read_polls, POLLS, limit=LIMIT, offset=page * LIMIT)
        for row in rows:
            if original(row.pollName) == name:
                return row
        if len(rows) < LIMIT:
            break
    raise not_found("Poll not found.")


def _without_votes(poll: Poll, reading: Reading) -> PollAnswer:
    return PollAnswer(
        poll.pollName,
        poll.owner,
        poll.description,
        poll.published,
        iso(poll.published),
        None,
        None,
        [Option(each.optionName, None, None, None, None) for each in poll.pollOptions],
        asOf=reading.as_of,
        notes=reading.notes(_NO_VOTES),
    )


def _by_option(votes: PollVotes) -> tuple[dict[str, int], dict[str, int]]:
    """Votes and weights. Core's own total of weights may overflow, so the options are added up here."""
    return (
        {row.optionName: row.voteCount for row in votes.voteCounts},
        {row.optionName: row.voteWeight for row in votes.voteWeights},
    )


def _percent(part: int, whole: int) -> str | None:
    return None if whole <= 0 else _hundredths(100 * part, whole)


def _hundredths(number: int, by: int) -> str:
    """A quotient of non-negative whole numbers, rounded to two places."""
    rounded = (200 * number + by) // (2 * by)
    return f"{rounded // 100}.{rounded % 100:02d}"


class RatingList(Struct, frozen=True, forbid_unknown_fields=True):
    service: Annotated[AppService | UnsetType, Meta(description="Only this kind.")] = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0


class Rating(Struct):
    appName: str | None
    service: str | None
    pollName: str
    totalVotes: int
    averageByVotes: Mark
    totalWeight: Weight
    averageByWeight: Mark
    votes: Annotated[dict[str, int], Meta(description="Votes for each rating, 1 to 5.")]


class Ratings(ListAnswer):
    ratings: list[Rating]


@tool("App ratings")
async def list_app_ratings(args: RatingList, node: Node) -> Ratings:
    """How users rate Q-Apps and websites, from 1 to 5: average by votes and by weight, most votes first."""
    reading = node.reading()
    found, is_whole = await _every_rating(reading, args.service)
    rows = sorted(found, key=lambda row: (-row.totalVotes, row.pollName))
    ratings = fitting([_rating(row) for row in rows[args.offset : args.offset + args.limit]])
    notes = [] if is_whole else [f"There are more ratings than the {len(rows)} that were read."]
    return Ratings(
        ratings,
        page=page_of(args, args.offset, len(ratings), args.offset + len(ratings) < len(rows)),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def _every_rating(reading: Reading, service: str | UnsetType) -> tuple[list[AppRating], bool]:
    """The ratings, and whether these are all. Core's windows count options: a poll may begin in one window and
    continue in the next."""
    found: dict[str, AppRating] = {}
    for window in range(RATING_WINDOWS):
        rows = (
            await reading.get(
                APP_RATINGS, service=service, limit=RATED_OPTIONS, offset=window * RATED_OPTIONS or None
            )
        ).rows
        known = _options(found.values())
        for row in rows:
            found[row.pollName] = _joined(found[row.pollName], row) if row.pollName in found else row
        # A node that returns the same rows for every window would be asked again and again.
        if _options(rows) < RATED_OPTIONS or _options(found.values()) == known:
            return list(found.values()), True
    return list(found.values()), False


def _options(rows: Iterable[AppRating]) -> int:
    return sum(len(row.voteCounts) for row in rows)


def _joined(first: AppRating, second: AppRating) -> AppRating:
    """One poll of two parts; the parts themselves may be in the cache, so they stay as they are."""
    known = {option.optionName for option in first.voteCounts}
    counts = [option for option in second.voteCounts if option.optionName not in known]
    weights = [option for option in second.voteWeights if option.optionName not in known]
    return structs.replace(
        first,
        totalVotes=first.totalVotes + sum(option.voteCount for option in counts),
        voteCounts=[*first.voteCounts, *counts],
        voteWeights=[*first.voteWeights, *weights],
    )


def _rating(row: AppRating) -> Rating:
    counts, weights = _by_option(row)
    return Rating(
        row.appName,
        row.service,
        row.pollName,
        sum(counts.values()),
        _average(counts),
        sum(weights.values()),
        _average(weights),
        counts,
    )


def _average(marks: dict[str, int]) -> str | None:
    """The average rating; options that are not a rating do not count."""
    counted = {int(mark): number for mark, number in marks.items() if mark in _MARKS and number > 0}
    total = sum(counted.values())
    return _hundredths(sum(mark * number for mark, number in counted.items()), total) if total else None


_MARKS = frozenset("12345")
