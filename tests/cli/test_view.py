"""The readable view of an answer: aligned, exact, within the width, with nothing hidden in it."""

import re
from typing import Any

import pytest

from qortal_mcp.cli.output import terminal, values, view


def lines(value: dict[str, Any], width: int = 80) -> list[str]:
    return view.answer(value, width).splitlines()


def test_names_and_values_stand_in_two_columns() -> None:
    assert lines({"height": 5, "isSynchronizing": False, "primaryName": None}) == [
        "height           5",
        "isSynchronizing  no",
        "primaryName      –",
    ]


READABLE = [
    pytest.param("balance", "1234567.50000000", "1,234,567.5", id="amount"),
    pytest.param("balance", "0.00000001", "0.00000001", id="smallest-amount"),
    pytest.param("balance", "-3.00000000", "-3", id="negative-whole-amount"),
    pytest.param("version", "6.1.8", "6.1.8", id="not-an-amount"),
    pytest.param("time", "2026-11-15T09:08:07Z", "2026-11-15 09:08:07 UTC", id="time"),
    pytest.param("time", "2026-11-15T09:08:07.123Z", "2026-11-15 09:08:07 UTC", id="time-with-fraction"),
    pytest.param("timestamp", 1_700_000_000_000, "2023-11-14 22:13:20 UTC", id="timestamp"),
    pytest.param("saleTimestamp", 1_700_000_000_000, "2023-11-14 22:13:20 UTC", id="named-timestamp"),
    pytest.param("timestamp", 1, "1", id="too-small-for-a-timestamp"),
    pytest.param("height", 1_700_000_000_000, "1700000000000", id="large-number"),
    pytest.param("uptime", 4_939_330, "1 h 22 min", id="duration"),
    pytest.param("uptime", 90_061_000, "1 d 1 h", id="long-duration"),
    pytest.param("uptime", 999, "0 s", id="short-duration"),
    pytest.param("ok", True, "yes", id="true"),
    pytest.param("names", ["alice", "bob"], "alice, bob", id="list"),
    pytest.param("memo", "", '""', id="empty-text"),
    pytest.param("ratio", 0.25, "0.25", id="fraction"),
]


@pytest.mark.parametrize(("name", "value", "expected"), READABLE)
def test_a_value_is_shown_as_people_read_it(name: str, value: Any, expected: str) -> None:
    assert lines({name: value}) == [f"{name}  {expected}"]


def test_a_timestamp_with_its_time_beside_it_is_shown_once() -> None:
    record = {
        "timestamp": 1_700_000_000_000,
        "time": "2023-11-14T22:13:20Z",
        "saleTimestamp": 5,
        "saleTime": "x",
    }
    assert lines(record) == ["time      2023-11-14 22:13:20 UTC", "saleTime  x"]


def test_a_list_of_records_is_a_table_with_numbers_at_the_right() -> None:
    balances = [
        {"asset": "QORT", "balance": "1500.25000000", "id": 0},
        {"asset": "OLD", "balance": "3.00000000", "id": 10},
    ]
    assert lines({"balances": balances}) == [
        "balances (2)",
        "  asset   balance  id",
        "  QORT   1,500.25   0",
        "  OLD        3.00  10",
    ]


def test_a_record_without_a_field_of_the_others_has_a_gap_there() -> None:
    assert lines({"names": [{"name": "a", "price": "1.00000000"}, {"name": "b"}]})[-1] == "  b         –"


def test_records_too_wide_for_a_table_are_shown_one_below_the_other() -> None:
    signature = "5" * 60
    shown = lines(
        {"blocks": [{"height": 1, "signature": signature}, {"height": 2, "signature": signature}]}, 60
    )
    assert shown[0] == "blocks (2)"
    assert shown[1] == "  height     1"
    assert "" in shown
    assert "  height     2" in shown


def test_an_object_within_an_object_is_indented_below_its_name() -> None:
    assert lines({"fees": {"min": "0.01000000"}, "height": 4}) == ["fees", "  min  0.01", "height  4"]


def test_an_empty_object_is_nothing_and_an_empty_list_has_none() -> None:
    assert lines({"a": {}, "offers": [], "long_name": 1}) == ["a          –", "offers (0)", "long_name  1"]


def test_notes_the_next_page_and_the_moment_close_the_answer() -> None:
    answer = {
        "asOf": {"node": "sample", "height": 7, "time": "2026-01-02T03:04:05Z", "isSynchronizing": False},
        "names": [],
        "notes": ["limit was 500; 100 is the most."],
        "page": {"returned": 20, "next": {"query": "two words", "offset": 20, "prefix": True, "name": "7"}},
    }
    assert lines(answer, 200) == [
        "names (0)",
        "",
        "Note: limit was 500; 100 is the most.",
        "20 shown. Next page: 'query=two words' offset=20 prefix=true 'name=\"7\"'",
        "As of block 7, 2026-01-02 03:04:05 UTC, from sample.",
    ]


def test_a_last_page_says_nothing_of_a_next_one() -> None:
    assert lines({"page": {"returned": 3}}) == []


def test_a_node_that_synchronizes_is_said_to() -> None:
    as_of = {"node": "http://a", "height": 1, "time": None, "isSynchronizing": True}
    assert lines({"asOf": as_of}) == ["As of block 1, from http://a, which is still synchronizing."]


HOSTILE = "\x1b[31mred\u202e\x07 line\r\x9b"


@pytest.mark.promise("Text of strangers", "Nothing that a stranger wrote can steer a terminal.")
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"text": HOSTILE}, id="value"),
        pytest.param({HOSTILE: 1}, id="name"),
        pytest.param({"list": [{"text": HOSTILE}]}, id="cell"),
        pytest.param({"list": [{HOSTILE: {"deep": HOSTILE}}]}, id="deep"),
        pytest.param({"notes": [HOSTILE + "\nNote: forged"]}, id="note"),
        pytest.param({"asOf": {"node": HOSTILE, "height": 1}}, id="node"),
        pytest.param({"page": {"returned": 1, "next": {"query": HOSTILE}}}, id="next"),
    ],
)
def test_nothing_a_stranger_wrote_reaches_the_terminal_as_a_control(answer: dict[str, Any]) -> None:
    shown = view.answer(answer, 80)
    assert not [c for c in shown if c != "\n" and (not c.isprintable())]


def test_text_that_was_escaped_before_is_shown_as_it_is() -> None:
    assert lines({"name": r"bob\u{202E}"}) == [r"name  bob\u{202E}"]


@pytest.mark.promise(
    "Command line", "Text is folded to the width of the terminal, and a signature is never broken."
)
@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    answer = {
        "description": "word " * 60,
        "wide": "漢字" * 60,
        "records": [{"title": "word " * 30, "inner": {"key": "4" * 30}}],
        "notes": ["word " * 60],
    }
    assert max(terminal.columns(line) for line in lines(answer, width)) <= width


@pytest.mark.promise(
    "Command line", "Text is folded to the width of the terminal, and a signature is never broken."
)
@pytest.mark.parametrize("width", [40, 60, 100])
def test_a_signature_is_never_broken_and_gets_its_own_line_where_it_needs_it(width: int) -> None:
    signature = "5" * 88
    shown = lines({"signature": signature, "records": [{"inner": {"key": signature}}], "height": 1}, width)
    assert shown[:-1] == (
        ["signature", f"  {signature}", "records (1)", "  inner", "    key", f"      {signature}"]
        if width < 100
        else [f"signature  {signature}", "records (1)", "  inner", f"    key  {signature}"]
    )
    assert shown[-1].split() == ["height", "1"]


def test_wide_characters_and_combining_marks_keep_columns_aligned() -> None:
    records = [{"name": "漢字", "n": 1}, {"name": "e\u0301", "n": 2}, {"name": "abcd", "n": 3}]
    table = lines({"names": records})[1:]
    assert len({terminal.columns(line) for line in table}) == 1


def test_lines_of_a_text_stay_apart_and_below_each_other() -> None:
    assert lines({"text": "one\ntwo"}) == ["text  one", "      two"]


def test_colours_stand_around_names_only_where_they_are_wanted() -> None:
    assert "\x1b" not in view.answer({"height": 1}, 80, view.PLAIN)
    assert view.answer({"height": 1}, 80, view.COLOURED).startswith("\x1b[36mheight\x1b[0m")


def test_no_colours_stand_around_nothing() -> None:
    shown = view.answer({"": 1, "deep": [[1], [{"a": 1}]], "notes": [""]}, 80, view.COLOURED)
    assert not re.search(r"\x1b\[\d+m\s*\x1b\[0m", shown)
    assert view.COLOURED.name("") == ""


def test_arguments_are_written_so_that_call_reads_them_back() -> None:
    assert values.as_arguments({"a": "x", "b": "5", "c": 5, "d": None, "e": ["x", 1]}) == (
        "a=x 'b=\"5\"' c=5 d=null 'e=[\"x\",1]'"
    )


def test_times_in_milliseconds_are_hidden_beside_their_readable_twins() -> None:
    record = {
        "registered": 1_700_000_000_000,
        "registeredTime": "2023-11-14T22:13:20.000Z",
        "updated": None,
        "updatedTime": None,
        "timeoutTime": "x",
        "expiry": 1_700_000_000_000,
    }
    assert list(values.without_echoes(record)) == ["registeredTime", "updatedTime", "timeoutTime", "expiry"]
