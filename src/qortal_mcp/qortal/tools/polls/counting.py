"""Votes and weights of options, and their shares."""

from typing import Annotated

from msgspec import Meta

from ...replies.polls import PollVotes

Weight = Annotated[int, Meta(description="Blocks minted by the voters.")]
Share = Annotated[str | None, Meta(description="Percent, rounded; null if no votes.")]
Mark = Annotated[str | None, Meta(description="Average, rounded; null if no votes.")]


def by_option(votes: PollVotes) -> tuple[dict[str, int], dict[str, int]]:
    """Votes and weights. Core's own total of weights may overflow, so the options are added up here."""
    return (
        {row.optionName: row.voteCount for row in votes.voteCounts},
        {row.optionName: row.voteWeight for row in votes.voteWeights},
    )


def percent(part: int, whole: int) -> str | None:
    return None if whole <= 0 else hundredths(100 * part, whole)


def hundredths(number: int, by: int) -> str:
    """A quotient of non-negative whole numbers, rounded to two places."""
    rounded = (200 * number + by) // (2 * by)
    return f"{rounded // 100}.{rounded % 100:02d}"
