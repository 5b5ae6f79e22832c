"""The readable view of an answer: aligned, exact, within the width, with nothing hidden in it."""

import re
from typing import Any

import pytest

from qortal_mcp.cli.output import terminal, values, view


def lines(value: dict[str, Any], width: int = 80) -> list[str]:
    return view.answer(value, view.Paper(width)).splitlines()


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


def offers(count: int) -> list[dict[str, Any]]:
    return [
        {
            "tradeAddress": f"A{at}SdZDKhkpafRVm1YzDcrGMo5hBd9qK8u{at}",
            "signature": f"{at}" + "5" * 86 + f"{at}",
            "offeringQort": f"{at}.50000000",
            "mode": "OFFERING",
            "time": f"2026-11-15T20:57:0{at}Z",
        }
        for at in range(1, count + 1)
    ]


@pytest.mark.promise(
    "Command line",
    "A list of objects is a table wherever it fits: long ids are shortened in it, and every other value is whole.",
)
def test_a_table_too_wide_has_short_ids_folded_names_and_says_once_what_is_the_same() -> None:
    assert lines({"offers": offers(3)}, 70) == [
        "offers (3)",
        "  In all rows: mode OFFERING.",
        "                                      offering",
        "  tradeAddress      signature             Qort  time (UTC)",
        "  A1SdZDKh…d9qK8u1  15555555…5555551       1.5  2026-11-15 20:57:01",
        "  A2SdZDKh…d9qK8u2  25555555…5555552       2.5  2026-11-15 20:57:02",
        "  A3SdZDKh…d9qK8u3  35555555…5555553       3.5  2026-11-15 20:57:03",
        "",
        "Long ids are shortened (…) in tables; --json shows them whole.",
    ]


def test_a_table_still_too_wide_is_cut_with_what_tells_its_rows_apart_in_front() -> None:
    shown = lines({"offers": offers(3)}, 50)
    heads = [line.split() for line in shown if line.startswith("  tradeAddress")]
    assert heads == [["tradeAddress", "signature", "Qort"], ["tradeAddress", "time", "(UTC)"]]
    assert max(map(len, shown)) <= 50


@pytest.mark.promise(
    "Command line",
    "A list of objects is a table wherever it fits: long ids are shortened in it, and every other value is whole.",
)
def test_ids_are_whole_in_a_few_rows_and_in_a_pipe() -> None:
    for shown in (lines({"offers": offers(2)}, 70), pipe({"offers": offers(9)})):
        text = "\n".join(shown)
        assert offers(2)[1]["signature"] in text
        assert "…" not in text
    assert len(pipe({"offers": offers(9)})) == 11, "in a pipe each row is a line"


def pipe(value: dict[str, Any]) -> list[str]:
    return view.answer(value, view.Paper(70, is_pipe=True)).splitlines()


@pytest.mark.promise(
    "Text of strangers", "Two ids that differ are never shortened to the same text in one table."
)
def test_ids_that_would_look_alike_are_not_shortened() -> None:
    rows = offers(3)
    rows[1]["tradeAddress"] = rows[0]["tradeAddress"][:10] + "x" + rows[0]["tradeAddress"][11:]
    text = "\n".join(lines({"offers": rows}, 70))
    assert all(row["tradeAddress"] in text for row in rows)
    assert "15555555…5555551" in text


def test_a_long_text_is_folded_within_its_cell() -> None:
    rows = [{"name": f"poll-{at}", "about": "which fruit is the best of all", "votes": at} for at in range(3)]
    rows[1]["about"] = "x" * 45
    assert lines({"polls": rows}, 40) == [
        "polls (3)",
        "  name   about                     votes",
        "  poll-0 which fruit is the best       0",
        "         of all",
        "  poll-1 xxxxxxxxxxxxxxxxxxxxxxxxx     1",
        "         xxxxxxxxxxxxxxxxxxxx",
        "  poll-2 which fruit is the best       2",
        "         of all",
    ]


def test_what_rows_hold_becomes_tables_of_their_own_with_their_rows_in_front() -> None:
    changes = [
        {
            "kind": kind,
            "types": types,
            "newest": [{"time": "2026-11-15T20:57:51Z", "amount": "2.50000000"}],
        }
        for kind, types in (
            ("payments", {"PAYMENT": 18, "AT": 3}),
            ("names", {"REGISTER": 2}),
            ("votes", {"VOTE": 1}),
        )
    ]
    assert lines({"changes": changes}) == [
        "changes (3)",
        "  kind      types",
        "  payments  PAYMENT 18, AT 3",
        "  names     REGISTER 2",
        "  votes     VOTE 1",
        "",
        "  newest (3)",
        "    kind      time                     amount",
        "    payments  2026-11-15 20:57:51 UTC     2.5",
        "    names     2026-11-15 20:57:51 UTC     2.5",
        "    votes     2026-11-15 20:57:51 UTC     2.5",
    ]


def test_rows_that_nothing_tells_apart_are_numbered() -> None:
    chats = [{"group": name, "last": [{"text": "a"}, {"text": "b"}]} for name in ("x", "x", "y")]
    shown = lines({"chats": chats})
    assert shown[1:3] == ["  #  group", "  1  x"]
    assert shown[7:9] == ["    #  text", "    1  a"]


def test_an_object_of_objects_that_are_alike_is_a_table() -> None:
    totals = {"BTC": {"buys": 1, "gain": "-0.50000000"}, "LTC": {"buys": 12, "gain": "3.00000000"}}
    assert lines({"totals": totals}) == [
        "totals",
        "       buys  gain",
        "  BTC     1  -0.5",
        "  LTC    12   3.0",
    ]


def test_records_too_wide_for_a_table_are_shown_one_below_the_other() -> None:
    signature = "5" * 60
    shown = lines(
        {"blocks": [{"height": 1, "signature": signature}, {"height": 2, "signature": signature}]}, 60
    )
    assert shown[0] == "blocks (2)"
    assert shown[1] == "  height     1"
    assert "" in shown
    assert "  height     2" in shown


@pytest.mark.parametrize("width", [40, 80, 250])
@pytest.mark.parametrize("is_pipe", [True, False])
def test_a_hostile_list_is_laid_out_in_time_and_within_the_width(width: int, is_pipe: bool) -> None:
    rows: list[dict[str, Any]] = [
        {"a" * at: "x " * 20_000, "b": {"c": 1}, "d": [{"e": "\n" * 5000}], "f": "y" * 200_000, "": at}
        for at in range(1, 6)
    ]
    shown = view.answer({"rows": rows, "same": [{"a": 1}] * 500}, view.Paper(width, is_pipe=is_pipe))
    assert "same (500)" in shown


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


def test_nodes_that_confirm_an_answer_are_named() -> None:
    as_of = {"node": "http://a", "height": 1, "confirmedBy": ["http://a", "http://b", "http://c"]}
    assert lines({"asOf": as_of}) == ["As of block 1, from http://a, confirmed by http://b and http://c."]
    odd: tuple[object, ...] = ([], "http://b", 7, None)
    for said in odd:
        assert lines({"asOf": {**as_of, "confirmedBy": said}}) == ["As of block 1, from http://a."]


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
    shown = view.answer(answer, view.Paper(80))
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
        # It begins at the edge, where the terminal folds it and copies it as one word.
        ["signature", signature, "records (1)", "  inner", "    key", signature]
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
    assert "\x1b" not in view.answer({"height": 1}, view.Paper(80), view.PLAIN)
    assert view.answer({"height": 1}, view.Paper(80), view.COLOURED).startswith("\x1b[36mheight\x1b[0m")


def test_no_colours_stand_around_nothing() -> None:
    shown = view.answer({"": 1, "deep": [[1], [{"a": 1}]], "notes": [""]}, view.Paper(80), view.COLOURED)
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
