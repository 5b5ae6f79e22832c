"""Polls and ratings."""

from typing import Any

from ..limits import PAGE_ROWS, RATED_OPTIONS
from ..replies.polls import AppRatings, ListedPoll, Poll, PollVotes
from ..words.arguments import AppService, Limit, Offset, PollName
from ..words.times import Milliseconds
from .parameters import OptionRows
from .record import MINUTE, UNTIL_NEXT_BLOCK, Endpoint, Same, json_of

_BY_NAME = {"pollName": PollName}

POLLS = Endpoint(
    "/polls",
    json_of(list[ListedPoll]),
    UNTIL_NEXT_BLOCK,
    query={"limit": Limit, "offset": Offset, "reverse": bool},
    defaults={"limit": PAGE_ROWS},
    returns="All polls, by name.",
    since="3.9.1",
)
POLL = Endpoint(
    "/polls/{pollName}",
    json_of(Poll),
    UNTIL_NEXT_BLOCK,
    path=_BY_NAME,
    returns="One poll; its name is exact.",
    noun="Poll",
    since="3.9.1",
)
POLL_VOTES = Endpoint(
    "/polls/votes/{pollName}",
    json_of(PollVotes),
    UNTIL_NEXT_BLOCK,
    path=_BY_NAME,
    query={"onlyCounts": bool},
    defaults={"onlyCounts": True},
    returns="Votes for each option, by count and by blocks that the voters minted; options in no particular order. With onlyCounts=false also every single vote.",
    rows_in="votes",
    noun="Poll",
    since="4.1.0",
)
APP_RATINGS = Endpoint(
    "/polls/apps/ratings",
    json_of(AppRatings),
    MINUTE,
    query={
        "service": AppService,
        "before": Milliseconds,
        "after": Milliseconds,
        "limit": OptionRows,
        "offset": Offset,
    },
    defaults={"limit": RATED_OPTIONS},
    returns="Ratings of apps and websites: polls whose options are marks. Limit and offset count options, so the last poll may be cut.",
    since="6.1.4",
    same=Same.AT_ONE_BLOCK,
)

FAMILY: tuple[Endpoint[Any], ...] = (POLLS, POLL, POLL_VOTES, APP_RATINGS)
