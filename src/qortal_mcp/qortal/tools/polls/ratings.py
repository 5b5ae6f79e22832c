"""App ratings, which are polls whose options are marks."""

from collections.abc import Iterable
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from ...endpoints.polls import APP_RATINGS
from ...limits import PAGE_ROWS, RATED_OPTIONS, RATING_WINDOWS
from ...node.node import Node, Reading
from ...replies.polls import AppRating
from ...words.arguments import AppService, Limit, Offset
from ..answers import ListAnswer, fitting, page_of
from ..read_only import tool
from .counting import Mark, Weight, by_option, hundredths


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
    found, is_whole = await every_rating(reading, args.service)
    rows = sorted(found, key=lambda row: (-row.totalVotes, row.pollName))
    ratings = fitting([rating_of(row) for row in rows[args.offset : args.offset + args.limit]])
    notes = [] if is_whole else [f"There are more ratings than the {len(rows)} that were read."]
    return Ratings(
        ratings,
        page=page_of(args, args.offset, len(ratings), args.offset + len(ratings) < len(rows)),
        asOf=reading.as_of,
        notes=reading.notes(*notes),
    )


async def every_rating(reading: Reading, service: str | UnsetType) -> tuple[list[AppRating], bool]:
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


def rating_of(row: AppRating) -> Rating:
    counts, weights = by_option(row)
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
    return hundredths(sum(mark * number for mark, number in counted.items()), total) if total else None


_MARKS = frozenset("12345")
