"""How apps and websites on QDN are rated. A rating is about a name's main app or website, which has no identifier."""

from collections.abc import Collection
from typing import Annotated

from msgspec import UNSET, Meta, Struct

from ...node.failures import NodeFailure
from ...node.node import ABSENT, Reading
from ...words.arguments import AppService
from ..polls.ratings import every_rating, rating_of

RATED: tuple[AppService, ...] = ("APP", "WEBSITE")


class Rated(Struct):
    average: Annotated[str | None, Meta(description="1 to 5, each vote alike; null if no votes.")]
    votes: int


async def ratings(reading: Reading, services: Collection[str]) -> dict[tuple[str, str], Rated]:
    """All ratings of these services by service and name; none if the node does not know them."""
    wanted = [service for service in RATED if service in services]
    if not wanted:
        return {}
    try:
        rows, _ = await every_rating(reading, wanted[0] if len(wanted) == 1 else UNSET)
    except NodeFailure as exc:
        if exc.code not in ABSENT:
            raise
        return {}
    return {
        (row.service, row.appName): Rated(rating.averageByVotes, rating.totalVotes)
        for row in rows
        if row.service is not None and row.appName is not None
        for rating in (rating_of(row),)
    }
