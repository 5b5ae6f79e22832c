"""The arithmetic of minting on the main net, at its boundaries."""

from fractions import Fraction

import pytest

from qortal_mcp.qortal.words.minting import (
    LEVEL_BLOCKS,
    TIER_PERCENT,
    batch_reward,
    block_reward,
    counted_blocks,
    height_of_blocks,
    is_percent,
    level_of,
    next_payout,
    part_of,
    payouts_between,
    recipient_part,
    tier_of,
)

QORT = 10**8
# A height of the main net, whose next batch is the one below.
HEIGHT = 2_300_001
PAYOUT = 2_301_000
# What the steps from level to level take.
STEPS = (7_200, 64_800, 129_600, 172_800, 244_000, 345_600, 518_400, 691_200, 864_000, 1_036_800)


def test_levels_add_up_to_the_steps_between_them() -> None:
    assert [sum(STEPS[: number + 1]) for number in range(10)] == list(LEVEL_BLOCKS)


@pytest.mark.parametrize("level", range(1, 11))
def test_a_level_begins_at_its_blocks_and_not_one_before(level: int) -> None:
    needed = LEVEL_BLOCKS[level - 1]
    assert (level_of(needed - 1), level_of(needed)) == (level - 1, level)


@pytest.mark.parametrize(("height", "counted"), [(2_206_300, 130), (2_206_301, 100)])
def test_an_adjustment_counts_up_to_a_height(height: int, counted: int) -> None:
    assert counted_blocks(150, -50, 30, height) == counted


@pytest.mark.parametrize(
    ("height", "quarters"),
    [
        (1, 20),
        (259_200, 20),
        (259_201, 19),
        (518_400, 19),
        (518_401, 18),
        (2_851_200, 10),
        (2_851_201, 9),
        (3_110_400, 9),
        (3_110_401, 8),
        (50_000_000, 8),
    ],
)
def test_the_reward_of_a_block_falls_by_a_quarter_down_to_two(height: int, quarters: int) -> None:
    assert block_reward(height) == quarters * QORT // 4
    assert batch_reward(height) == quarters * 250 * QORT


@pytest.mark.parametrize(
    ("height", "payout"),
    [
        (1, 1_508_000),
        (1_507_999, 1_508_000),
        (1_508_000, 1_509_000),
        (2_300_999, 2_301_000),
        (2_301_000, 2_302_000),
    ],
)
def test_the_next_payout_is_at_the_next_thousand(height: int, payout: int) -> None:
    assert next_payout(height) == payout


@pytest.mark.parametrize(
    ("first", "last", "heights"),
    [
        (2_300_000, 2_301_999, [2_300_000, 2_301_000]),
        (2_300_001, 2_300_999, []),
        (1, 1_508_000, [1_508_000]),
        (5, 4, []),
    ],
)
def test_payouts_between_two_heights_include_both(first: int, last: int, heights: list[int]) -> None:
    assert list(payouts_between(first, last)) == heights


@pytest.mark.parametrize(
    ("left", "height"),
    [(0, PAYOUT), (1, PAYOUT), (1000, PAYOUT), (1001, PAYOUT + 1000), (7200, PAYOUT + 7000)],
)
def test_blocks_are_counted_by_whole_batches(left: int, height: int) -> None:
    assert height_of_blocks(HEIGHT, left) == height


@pytest.mark.parametrize(
    ("level", "tier"), [(-1, None), (0, None), (1, 0), (2, 0), (3, 1), (6, 2), (7, 3), (8, 3), (9, 4), (10, 4), (99, 4)]
)  # fmt: skip
def test_two_levels_make_a_tier(level: int, tier: int | None) -> None:
    assert tier_of(level) == tier


MANY = {1: 40, 3: 50, 5: 60, 7: 30, 9: 10, 10: 20}
PARTS = [
    # Levels, minters online by level; then percent of the batch and how many share it.
    pytest.param(1, MANY, 6, 40, id="lowest"),
    pytest.param(8, MANY, 26, 30, id="just-enough"),
    pytest.param(10, MANY, 32, 30, id="two-levels-of-a-tier"),
    pytest.param(9, {**MANY, 9: 9}, 58, 59, id="top-tier-merged"),
    pytest.param(7, {**MANY, 9: 9}, 58, 59, id="merged-from-below"),
    pytest.param(10, {5: 60, 7: 10, 10: 5}, 77, 75, id="merged-twice"),
    pytest.param(7, {5: 60, 7: 29, 10: 30}, 45, 89, id="middle-tier-merged"),
    pytest.param(5, {5: 60}, 77, 60, id="empty-tiers-above"),
    pytest.param(3, {3: 2, 5: 60}, 13, 2, id="low-tiers-never-merge"),
    pytest.param(6, {}, 77, 1, id="nobody-online"),
]


@pytest.mark.parametrize(("level", "minters", "percent", "count"), PARTS)
def test_a_tier_is_shared_evenly(level: int, minters: dict[int, int], percent: int, count: int) -> None:
    part = part_of(level, minters, PAYOUT)
    assert part is not None
    assert (part.percent, part.minters) == (percent, count)
    assert part.units == int(Fraction(percent, 100) * batch_reward(PAYOUT) / count)


def test_whatever_is_merged_no_tier_is_lost() -> None:
    parts = [part_of(level, MANY, PAYOUT) for level in (1, 3, 5, 7, 9)]
    assert sum(part.percent for part in parts if part) == sum(TIER_PERCENT) == 96
    assert part_of(0, MANY, PAYOUT) is None


@pytest.mark.parametrize(("percent", "part"), [("0.00", 0), ("25.00", 2), ("33.33", 3), ("100.00", 10)])
def test_a_recipient_gets_a_percentage_rounded_down(percent: str, part: int) -> None:
    assert is_percent(percent)
    assert recipient_part(10, percent) == part


@pytest.mark.parametrize("text", ["", "abc", "-1.00", "100.01", "1e99", "٣"])
def test_other_texts_are_not_percentages(text: str) -> None:
    assert not is_percent(text)
