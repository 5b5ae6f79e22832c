"""The arithmetic of minting on the main net, as of Core 6.1.8: levels, rewards, batches and tiers.

A test chain has numbers of its own, which no endpoint tells. Amounts are whole units of 0.00000001 QORT.
"""

from bisect import bisect_right
from collections.abc import Mapping

from msgspec import Struct

from .amounts import units

_QORT = 10**8

# Blocks to have minted in all, for levels 1 to 10.
LEVEL_BLOCKS = (
    7_200, 72_000, 201_600, 374_400, 618_400, 964_000, 1_482_400, 2_173_600, 3_037_600, 4_074_400
)  # fmt: skip
TOP_LEVEL = len(LEVEL_BLOCKS)
# Adjustments of early accounts count up to this height.
LAST_ADJUSTED_HEIGHT = 2_206_300

# Only members of this group mint.
MINTING_GROUP = 694
BLOCK_SECONDS = 60
# Every height that this divides pays that many blocks at once, and counts them as minted.
BATCH_BLOCKS = 1_000
FIRST_BATCH_HEIGHT = 1_508_000

# The reward of a block falls by a quarter of a QORT each time, down to two.
_REWARD_STEP_BLOCKS = 259_200
_FIRST_REWARD = 5 * _QORT
_REWARD_STEP = _QORT // 4
_LAST_REWARD = 2 * _QORT

# Percent of the reward for levels 1 and 2, 3 and 4, 5 and 6, 7 and 8, 9 and 10. Of the rest, holders of legacy
# QORA get one, and admins the others.
TIER_PERCENT = (6, 13, 19, 26, 32)
TIERS = len(TIER_PERCENT)
# A tier from level 7 up with fewer minters is paid together with the tier below it.
LEAST_MINTERS = 30
_FIRST_MERGED_TIER = 3


def counted_blocks(minted: int, penalty: int, adjustment: int, height: int) -> int:
    """How many blocks count for an account's level at a height; a penalty is negative."""
    return minted + penalty + (adjustment if height <= LAST_ADJUSTED_HEIGHT else 0)


def level_of(blocks: int) -> int:
    """The level that so many blocks give."""
    return bisect_right(LEVEL_BLOCKS, blocks)


def block_reward(height: int) -> int:
    """What one block pays."""
    steps = (max(1, height) - 1) // _REWARD_STEP_BLOCKS
    return max(_LAST_REWARD, _FIRST_REWARD - steps * _REWARD_STEP)


def next_payout(height: int) -> int:
    """The first height after this one at which a batch is paid."""
    return max(FIRST_BATCH_HEIGHT, (height // BATCH_BLOCKS + 1) * BATCH_BLOCKS)


def payouts_between(first: int, last: int) -> range:
    """The heights that paid a batch, among these and those between them."""
    begin = max(FIRST_BATCH_HEIGHT, -(-first // BATCH_BLOCKS) * BATCH_BLOCKS)
    return range(begin, last + 1, BATCH_BLOCKS)


def batch_reward(payout_height: int) -> int:
    """What a batch pays to all, without the fees of its blocks."""
    return BATCH_BLOCKS * block_reward(payout_height)


def height_of_blocks(height: int, blocks_left: int) -> int:
    """At which height an account that is in every batch has minted so many more; counts grow by whole batches."""
    batches = max(1, -(-blocks_left // BATCH_BLOCKS))
    return next_payout(height) + (batches - 1) * BATCH_BLOCKS


def tier_of(level: int) -> int | None:
    """The tier of a level; None below level 1, which is paid nothing."""
    return (min(level, TOP_LEVEL) - 1) // 2 if level >= 1 else None


class Part(Struct, frozen=True):
    """One minter's part of a batch."""

    units: int
    # What it is a part of, and how many minters share that.
    percent: int
    minters: int


def part_of(level: int, minters: Mapping[int, int], payout_height: int) -> Part | None:
    """A minter's part of a batch, given how many minters of each level are online, itself among them.

    None below level 1, which is paid nothing.
    """
    tier = tier_of(level)
    if tier is None:
        return None
    counts, percents = [0] * TIERS, list(TIER_PERCENT)
    for each, count in minters.items():
        if (of := tier_of(each)) is not None:
            counts[of] += count
    for upper in range(TIERS - 1, _FIRST_MERGED_TIER - 1, -1):
        if counts[upper] < LEAST_MINTERS:
            counts[upper - 1] += counts[upper]
            percents[upper - 1] += percents[upper]
            tier = upper - 1 if tier == upper else tier
    count = max(1, counts[tier])
    return Part(batch_reward(payout_height) * percents[tier] // (100 * count), percents[tier], count)


def is_percent(text: str) -> bool:
    """Whether a text is the percentage of a reward share, such as `25.00`."""
    try:
        return 0 <= units(text) <= 100 * _QORT
    except ValueError:
        return False


def recipient_part(paid: int, share_percent: str) -> int:
    """What the recipient of a reward share gets of a minter's part."""
    return paid * units(share_percent) // (100 * _QORT)
