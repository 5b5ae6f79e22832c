"""What lies ahead of a minter: whether it mints now, its next level, and what the next batch should pay it."""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta, Struct

from ...node.as_of import Tip
from ...replies.addresses import Account, OnlineAccount, RewardShare
from ...words.amounts import written
from ...words.minting import (
    BLOCK_SECONDS,
    LEVEL_BLOCKS,
    MINTING_GROUP,
    TOP_LEVEL,
    counted_blocks,
    height_of_blocks,
    is_percent,
    next_payout,
    part_of,
    recipient_part,
)
from ...words.times import IsoTime, iso
from ..answers import Amount

# Longer than any level takes: a node that reports such a penalty gets no date for it.
_MOST_BLOCKS = 10**8

UNKNOWN_RULES = (
    "This is a test chain: how many blocks a level takes there, and what a batch pays, no node tells."
)
ASSUMED_RULES = "The node does not say which chain it has; nextLevel and expectedPayout assume the main net."

_Estimated = Annotated[IsoTime, Meta(description="Estimated at one block a minute.")]


class NextLevel(Struct):
    """By the rules of the main net."""

    level: int
    blocksNeeded: Annotated[int, Meta(description="In all.")]
    blocksLeft: int
    atHeight: Annotated[int | None, Meta(description="If the account is in every batch from now on.")]
    time: _Estimated | None


class ExpectedPayout(Struct):
    """What the next batch should pay the account; an estimate."""

    amount: Amount
    height: int
    time: _Estimated | None
    assumes: str
    unit: str = "QORT"


def is_minting(address: str, online: Sequence[OnlineAccount], is_member: bool | None) -> bool:
    """Whether a reward share of the account is online, and counts."""
    return is_member is not False and any(row.minterAddress == address for row in online)


def why_not_minting(
    address: str, online: Sequence[OnlineAccount], is_member: bool | None, has_share: bool
) -> str:
    """Why an account does not mint, as far as the chain tells."""
    reasons = []
    if is_member is False:
        reasons.append(
            f"It is not a member of the minting group {MINTING_GROUP}, so nothing is counted or paid."
        )
    if not has_share:
        reasons.append("It has no reward share as a minter, and a node mints with one.")
    elif not any(row.minterAddress == address for row in online):
        reasons.append("None of its reward shares is online: no node mints with them now.")
    return " ".join(reasons)


def next_level(account: Account, tip: Tip) -> NextLevel | None:
    """The level after an account's own; None at the highest."""
    if not 0 <= account.level < TOP_LEVEL:
        return None
    needed = LEVEL_BLOCKS[account.level]
    counted = counted_blocks(
        account.blocksMinted, account.blocksMintedPenalty, account.blocksMintedAdjustment, tip.height
    )
    left = max(0, needed - counted)
    if left > _MOST_BLOCKS:
        return NextLevel(account.level + 1, needed, left, None, None)
    height = height_of_blocks(tip.height, left)
    return NextLevel(account.level + 1, needed, left, height, _time_of(height, tip))


def expected_payout(
    address: str,
    online: Sequence[OnlineAccount],
    shares: Sequence[RewardShare],
    tip: Tip,
    *,
    members_only: bool,
) -> ExpectedPayout | None:
    """What the accounts that are online now let one expect of the next batch; None if nothing of the account is online."""
    # Each minter is paid once, with however many reward shares it is online.
    minters = {row.minterAddress: row for row in reversed(online) if row.isMinterMember or not members_only}
    levels = Counter(row.minterLevel for row in minters.values())
    percents = {share.rewardSharePublicKey: share.sharePercent for share in shares}
    height, total, shared = next_payout(tip.height), 0, set[str]()
    for row in minters.values():
        if address not in (row.minterAddress, row.recipientAddress):
            continue
        part = part_of(row.minterLevel, levels, height)
        percent = (
            "0" if row.minterAddress == row.recipientAddress else percents.get(row.rewardSharePublicKey, "")
        )
        if part is None or not is_percent(percent):
            continue
        given = recipient_part(part.units, percent)
        total += part.units - given if row.minterAddress == address else given
        shared.add(f"{part.minters} of them share {part.percent} % of the batch")
    if not shared:
        return None
    assumes = (
        f"The {len(minters)} minters online now stay online, and {', '.join(sorted(shared))}; rules of the main net. Not counted: "
        "fees, and what holders of legacy QORA and admins of the minting group get."
    )
    return ExpectedPayout(written(total), height, _time_of(height, tip), assumes)


def _time_of(height: int, tip: Tip) -> str | None:
    """None beyond the last date there is."""
    try:
        return iso(tip.timestamp + (height - tip.height) * BLOCK_SECONDS * 1000)
    except (ValueError, OverflowError):
        return None
