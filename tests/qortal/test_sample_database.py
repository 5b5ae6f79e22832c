"""Comparing and ordering as Core's database does."""

import pytest

from qortal_mcp.qortal.sample.core.database import in_order, like


@pytest.mark.parametrize(
    ("text", "pattern", "fits"),
    [
        ("Hello world", "%WORLD", True),
        ("Hello world", "hello%", True),
        ("Hello world", "hello", False),
        ("Hello world", "%o_w%", True),
        ("Hello world", "h_llo%d", True),
        ("Hello world", "%x%", False),
        ("a.b", "a_b", True),
        ("a.b", "a.b%%", True),
        ("", "%", True),
        ("", "_", False),
        ("aab", "%ab", True),
        (None, "%", False),
    ],
)
def test_wildcards(text: str | None, pattern: str, fits: bool) -> None:
    assert like(text, pattern) is fits


def test_many_wildcards_take_no_time() -> None:
    assert not like("a" * 240, "%a" * 100 + "%b")


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("length", [0, 1, 16, 17, 100])
def test_rows_come_in_order_and_none_is_lost(length: int, reverse: bool) -> None:
    rows = [(number * 7 % 5, number) for number in range(length)]
    ordered = in_order(rows, lambda row: row[0], reverse=reverse)
    assert sorted(ordered) == sorted(rows)
    assert [row[0] for row in ordered] == sorted((row[0] for row in rows), reverse=reverse)


def test_equal_rows_of_a_short_list_stay_as_they_are() -> None:
    rows = [(0, number) for number in range(17)]
    assert in_order(rows, lambda row: row[0]) == rows
