"""Polls and their results."""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from ....text import original
from ...endpoints.polls import POLL, POLL_VOTES, POLLS
from ...endpoints.record import fits_a_path, json_of
from ...limits import LIMIT, LISTED_OPTIONS, PAGE_ROWS, ROWS_BYTES
from ...node.failures import not_found
from ...node.node import Node, Reading
from ...node.side_by_side import side_by_side
from ...replies.polls import ListedPoll, Poll, PollVotes, Vote
from ...words.arguments import LaterThan, Limit, Offset, OtherAccount, PollName, Reverse
from ...words.times import IsoTime, Milliseconds, iso, milliseconds
from ..answers import Answer, ListAnswer, Page, fitting, page_of
from ..read_only import tool
from ..whole_list import note_on_part, whole_list
from .counting import Share, by_option, percent
from .votes import NO_RIPEMD, CastVote, can_compute_addresses, cast_votes, chosen, matching

# Pages of the list of polls that are looked through for a name that cannot be requested.
_PAGES = 20
_NO_VOTES = "The votes of a poll whose name contains /, \\, % or ; cannot be read: such a name is never sent in a path."

_encode = msgspec.json.Encoder().encode
_read_polls = json_of(list[Poll])


class PollList(Struct, frozen=True, forbid_unknown_fields=True):
    since: Annotated[LaterThan, Meta(description="Published after (ISO, ms, 7d).")] | UnsetType = UNSET
    limit: Limit = PAGE_ROWS
    offset: Offset = 0
    reverse: Annotated[Reverse, Meta(description="Oldest first.")] = False


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
    """Polls, newest first, without results: use get_poll for those."""
    reading = node.reading()
    # Core lists polls by name.
    found, is_whole = await whole_list(reading, POLLS, lambda row: row.pollName)
    since_ms = -1 if args.since is UNSET else milliseconds(args.since)
    rows = sorted(
        (row for row in found if row.published > since_ms),
        key=lambda row: (-row.published, row.pollName),
        reverse=args.reverse,
    )
    polls = fitting([_poll_row(row) for row in rows[args.offset : args.offset + args.limit]])
    return Polls(
        polls,
        page=page_of(args, args.offset, len(polls), args.offset + len(polls) < len(rows)),
        asOf=reading.as_of,
        notes=reading.notes(*note_on_part("polls", found, is_whole)),
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
    votes: (
        Annotated[int, Meta(ge=1, le=LIMIT, description="Votes to list.", extra={"clamp": True})] | UnsetType
    ) = UNSET
    voter: Annotated[OtherAccount, Meta(description="Only this account's vote.")] | UnsetType = UNSET
    option: (
        Annotated[str, Meta(min_length=1, max_length=800, description="Only votes for it.")] | UnsetType
    ) = UNSET
    offset: Offset = 0

    @property
    def lists_votes(self) -> bool:
        return any((self.votes, self.voter, self.option, self.offset))


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
    votes: Annotated[list[CastVote] | UnsetType, Meta(description="By option, if asked for.")] = UNSET
    page: Annotated[Page | UnsetType, Meta(description="Of votes.")] = UNSET


@tool("Poll results")
async def get_poll(args: OnePoll, node: Node) -> PollAnswer:
    """One poll with its result for each option, by votes and by weight (blocks the voters minted); with votes,
    voter or option also who voted how."""
    reading = node.reading()
    name = original(args.name)
    if not fits_a_path(name):
        return _without_votes(await _listed(reading, name), reading)
    only_counts = not args.lists_votes
    poll, votes = await side_by_side(
        reading.get(POLL, pollName=name), reading.get(POLL_VOTES, pollName=name, onlyCounts=only_counts)
    )
    answer = _result(poll, votes, reading)
    if args.lists_votes:
        await _add_votes(answer, args, reading, poll, votes.votes)
    return answer


def _result(poll: Poll, votes: PollVotes, reading: Reading) -> PollAnswer:
    counts, weights = by_option(votes)
    total, total_weight = sum(counts.values()), sum(weights.values())
    options = [
        Option(
            option,
            counts.get(option, 0),
            percent(counts.get(option, 0), total),
            weights.get(option, 0),
            percent(weights.get(option, 0), total_weight),
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


async def _add_votes(
    answer: PollAnswer, args: OnePoll, reading: Reading, poll: Poll, votes: list[Vote]
) -> None:
    """Add a page of single votes, in the room that the poll itself leaves."""
    found = await matching(reading, votes, chosen(poll, args.option), args.voter)
    limit = PAGE_ROWS if args.votes is UNSET else args.votes
    cast = await cast_votes(reading, poll, found[args.offset : args.offset + limit])
    answer.votes = fitting(cast, ROWS_BYTES - len(_encode(answer)))
    returned = len(answer.votes)
    answer.page = page_of(args, args.offset, returned, args.offset + returned < len(found))
    notes = []
    if args.voter is not UNSET and not found:
        notes.append(
            f"No vote: {args.voter} has not voted {'for this option' if args.option else 'in this poll'}."
        )
    if cast and not can_compute_addresses():
        notes.append(NO_RIPEMD)
    answer.asOf, answer.notes = reading.as_of, reading.notes(*notes)


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
