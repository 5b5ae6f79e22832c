"""The single votes of a poll: who chose what, with what weight."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from ....server.tool_errors import invalid_argument
from ....text import original
from ...endpoints.addresses import ACCOUNT, PUBLIC_KEY
from ...limits import LOOKUPS_AT_ONCE
from ...node.node import Reading
from ...node.side_by_side import a_few_at_once
from ...replies.polls import Poll, Vote
from ...words.base58 import NoRipemd, address_of

NO_RIPEMD = "This Python cannot compute addresses (no RIPEMD-160): voters are shown by their public keys."


class CastVote(Struct, omit_defaults=True):
    voter: Annotated[str | None, Meta(description="Address, computed from the public key.")]
    option: Annotated[str | None, Meta(description="Null if the poll has no such option.")]
    weight: Annotated[int | None, Meta(description="Blocks minted, less penalty; null if unknown.")]
    publicKey: Annotated[str | UnsetType, Meta(description="Only if the address is unknown.")] = UNSET


def chosen(poll: Poll, option: str | UnsetType) -> frozenset[int] | None:
    """The places of an option in a poll; None for all. Raises: ToolError if there is no such option."""
    if option is UNSET:
        return None
    names = [original(each.optionName) for each in poll.pollOptions]
    wanted = original(option)
    places = [place for place, name in enumerate(names) if name == wanted] or [
        place for place, name in enumerate(names) if name.casefold() == wanted.casefold()
    ]
    if not places:
        raise invalid_argument("Invalid option.", "The poll has no such option; without it all are shown.")
    return frozenset(places)


async def matching(
    reading: Reading, votes: list[Vote], places: frozenset[int] | None, voter: str | UnsetType
) -> list[Vote]:
    """The votes for some options, of one account or of all, by option: Core has no order. Raises: ToolError."""
    # A node knows the key of everybody who voted; for an account that never signed anything it says "false".
    key = UNSET if voter is UNSET else await reading.get(PUBLIC_KEY, address=voter)
    if key == "false":
        return []
    found = [
        vote
        for vote in votes
        if (places is None or vote.optionIndex in places) and key in (UNSET, vote.voterPublicKey)
    ]
    return sorted(found, key=lambda vote: (vote.optionIndex, vote.voterPublicKey))


async def cast_votes(reading: Reading, poll: Poll, votes: list[Vote]) -> list[CastVote]:
    """The votes of a page. Core gives weights only as sums, so each is read from its voter's account."""
    return await a_few_at_once((_cast(reading, poll, vote) for vote in votes), LOOKUPS_AT_ONCE)


async def _cast(reading: Reading, poll: Poll, vote: Vote) -> CastVote:
    place, options = vote.optionIndex, poll.pollOptions
    option = options[place].optionName if place < len(options) else None
    try:
        voter = address_of(vote.voterPublicKey)
    except (ValueError, NoRipemd):
        return CastVote(None, option, None, vote.voterPublicKey)
    account = await reading.optional(ACCOUNT, address=voter)
    if account is None:
        return CastVote(voter, option, None)
    # As Core counts: what was minted, less the penalty, and never below zero.
    return CastVote(voter, option, max(0, account.blocksMinted + account.blocksMintedPenalty))


def can_compute_addresses() -> bool:
    try:
        address_of("1" * 32)
    except NoRipemd:
        return False
    return True
