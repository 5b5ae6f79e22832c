"""`call --csv` and `--all-pages`: exact rows for a spreadsheet, and nothing in them that it would run."""

import csv
import io
import json
import os
import shlex
import subprocess
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest
from tests.bridge.scripts import Saying, Script, error, result, serving, text
from tests.bridge.standins import Loop, program
from tests.cli.others import other
from tests.cli.running import ALICE, COMMAND, Ended, environment, run
from tests.cli.terminals import CTRL_C, terminal

from qortal_mcp.cli.main import main
from qortal_mcp.cli.output.tabular import spreadsheet
from qortal_mcp.cli.output.tabular.rows import rows_of
from qortal_mcp.cli.running import pages

Rows = list[dict[str, str]]


def table(out: bytes | str) -> Rows:
    decoded = out.decode() if isinstance(out, bytes) else out
    return list(csv.DictReader(io.StringIO(decoded, newline=""), strict=True))


def cells(value: Any) -> dict[str, str]:
    """One row, written and read again."""
    (row,) = table(spreadsheet.csv_of(rows_of({"rows": [value], "page": {"returned": 1}})))
    return row


def asked(capsysbinary: pytest.CaptureFixture[bytes], *words: str) -> bytes:
    assert main(["call", *words, "--sample"]) == 0
    return capsysbinary.readouterr().out


def paged(answers: Mapping[int, Any], more: Mapping[int, Saying] | None = None) -> Script:
    """A server whose tool has a structured answer for each offset."""
    said: dict[int, Saying] = {
        at: [result({"content": [], "structuredContent": answer})] for at, answer in answers.items()
    }
    said |= dict(more or {})

    def answer(message: Any) -> Saying:
        offset = ((message.get("params") or {}).get("arguments") or {}).get("offset", 0)
        return serving({"rows": said.get(offset, [])})(message)

    return answer


def page(*numbers: int, following: int | None = None, **members: Any) -> dict[str, Any]:
    at = {"returned": len(numbers), **({} if following is None else {"next": {"offset": following}})}
    return {"items": [{"n": n} for n in numbers], "page": at, **members}


def called(loop: Loop, script: Script, *words: str) -> Ended:
    with other(loop, program, script) as (target, _):
        return run("call", "rows", *words, "--repair", "none", "--server", target)


@pytest.mark.promise(
    "Command line", "`call --csv` prints every list as CSV (RFC 4180) with exact numbers, for any server."
)
def test_csv_has_every_member_of_every_row_exactly(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words = ("list_trade_offers", "limit=7")
    out = asked(capsysbinary, *words, "--csv")
    offers = json.loads(asked(capsysbinary, *words, "--json"))["offers"]
    assert table(out) == [{name: str(value) for name, value in offer.items()} for offer in offers]
    assert out.count(b"\r\n") == out.count(b"\n") == 8
    assert not out.startswith(b"\xef\xbb\xbf")


@pytest.mark.promise(
    "Command line", "`call --all-pages` follows every page and shows all rows as one list, in every form."
)
def test_all_pages_are_one_list(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    whole = json.loads(asked(capsysbinary, "list_trade_offers", "limit=100", "--json"))
    small = json.loads(asked(capsysbinary, "list_trade_offers", "limit=4", "--json", "--all-pages"))
    assert small["offers"] == whole["offers"]
    assert small["page"] == {"returned": len(whole["offers"])}
    assert small["notes"] == whole["notes"]
    rows = table(asked(capsysbinary, "list_trade_offers", "limit=4", "--csv", "--all-pages"))
    assert [row["tradeAddress"] for row in rows] == [offer["tradeAddress"] for offer in whole["offers"]]
    shown = asked(capsysbinary, "list_trade_offers", "limit=4", "--all-pages").decode()
    assert shown.startswith(f"offers ({len(rows)})\n")


def test_an_answer_without_a_list_is_one_row(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    (row,) = table(asked(capsysbinary, "get_balance", f"address={ALICE}", "--csv"))
    assert row["balance"] == "1001427.50833805"
    assert row["asOf.node"] == "sample"
    assert "notes" not in row
    assert asked(capsysbinary, "validate_address", f"address={ALICE}", "--csv") == b"isValid\r\ntrue\r\n"


def test_another_list_of_the_answer_is_chosen_by_its_name(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words = ("get_account_overview", f"address={ALICE}", "--csv")
    assert [row["assetName"] for row in table(asked(capsysbinary, *words))] == ["QORT", "GOLD", "TICKET"]
    names = asked(capsysbinary, *words, "--list", "names").split(b"\r\n")
    assert names[:2] == [b"names", b"alice-test"]
    (as_of,) = table(asked(capsysbinary, *words, "--list", "asOf"))
    assert as_of["height"] == "596"
    assert main(["call", *words, "--list", "trades", "--sample"]) == 2
    assert capsysbinary.readouterr() == (
        b"",
        b"qortal-mcp: The answer has no list trades. It has assetBalances, names.\n",
    )


MAIN = [
    pytest.param(
        {"totals": [{"a": 1}], "items": [{"b": 1}, {"b": 2}], "page": {"returned": 2}}, "items", id="paged"
    ),
    pytest.param({"totals": [{"a": 1}], "items": [], "page": {"returned": 0}}, "items", id="paged-and-empty"),
    pytest.param({"names": ["x"], "items": [{"b": 1}]}, "items", id="objects-before-values"),
    pytest.param({"result": [1, 2]}, "result", id="only-a-list"),
    pytest.param({"data": {"items": [{"b": 1}]}}, "data.items", id="within-an-object"),
    pytest.param({"n": 1, "names": ["x"]}, "", id="a-thing-with-values"),
    pytest.param([{"a": 1}], "", id="a-bare-list"),
]


@pytest.mark.parametrize(("answer", "name"), MAIN)
def test_the_main_list_is_the_one_that_has_pages(answer: Any, name: str) -> None:
    assert rows_of(answer).name == name


CELLS = [
    pytest.param({"a": {"b": {"c": 1}}, "d": None}, {"a.b.c": "1", "d": ""}, id="objects-have-dots"),
    pytest.param({"a": ["x", 2, True, None]}, {"a": "x; 2; true; null"}, id="lists-are-joined"),
    pytest.param({"a": [{"b": 1}]}, {"a.b": "1"}, id="objects-of-a-list-have-rows"),
    pytest.param({"a": [[1], {"b": 1}]}, {"a": '[[1],{"b":1}]'}, id="deeper-lists-are-json"),
    pytest.param({"a": {}, "b": [], "c": ""}, {"a": "", "b": "", "c": ""}, id="nothing"),
    pytest.param({"a": 'say "hi", you\nthere'}, {"a": 'say "hi", you\nthere'}, id="quotes-commas-lines"),
    pytest.param({"a": 10**30, "b": False}, {"a": str(10**30), "b": "false"}, id="large-number"),
    pytest.param({"a": "00012.50000000"}, {"a": "00012.50000000"}, id="text-stays-as-it-is"),
    pytest.param({"a": "\x1b[2J\u202e"}, {"a": "\\u{001B}[2J\\u{202E}"}, id="hidden-characters"),
    pytest.param({"a": "x\rb"}, {"a": "x\\u{000D}b"}, id="carriage-return"),
]


@pytest.mark.parametrize(("row", "expected"), CELLS)
def test_a_value_has_one_form_in_a_cell(row: Any, expected: dict[str, str]) -> None:
    assert cells(row) == expected


FORMULAS = [
    "=1+1",
    "+1",
    "-1+1",
    "-",
    "@SUM(A1)",
    "\t=1",
    " =1",
    "\n=1",
    "＝1",
    "'=1",
    "-1e5",
    "--1",
    "-1.5.2",
]


@pytest.mark.promise(
    "Text of strangers",
    "No text of a stranger becomes a formula in a spreadsheet, and negative amounts stay numbers.",
)
@pytest.mark.parametrize("formula", FORMULAS)
def test_a_text_that_would_be_a_formula_has_an_apostrophe_in_front(formula: str) -> None:
    assert cells({"a": formula}) == {"a": f"'{formula}"}
    assert cells({"a": [formula, "b"]}) == {"a": f"'{formula}; b"}
    assert list(cells({formula: 1})) == [f"'{formula}"]


@pytest.mark.promise(
    "Text of strangers",
    "No text of a stranger becomes a formula in a spreadsheet, and negative amounts stay numbers.",
)
@pytest.mark.parametrize("number", ["-0.00000001", "-5", "5", "0.10000000", "alice=bob", "a-b", "Q@home"])
def test_negative_amounts_and_harmless_texts_stay_as_they_are(number: str) -> None:
    assert cells({"a": number}) == {"a": number}


def test_two_members_that_would_share_a_name_keep_their_columns() -> None:
    out = spreadsheet.csv_of(rows_of([{"a.b": 1, "a": {"b": 2}}]))
    assert out == b"a.b,a.b\r\n1,2\r\n"


def test_rows_of_different_shapes_share_one_header() -> None:
    out = spreadsheet.csv_of(rows_of([{"a": 1}, {"b": 2}, 3, [4, 5]]))
    assert out == b"a,b,value,1,2\r\n1,,,,\r\n,2,,,\r\n,,3,,\r\n,,,4,5\r\n"


def test_rows_with_too_many_columns_are_refused() -> None:
    with pytest.raises(spreadsheet.TooMuch):
        spreadsheet.csv_of(rows_of([{str(at): at for at in range(20_000)}]))


def test_a_text_beside_many_items_is_not_written_out_without_end() -> None:
    rows = [{"text": "x" * 1_000_000, "items": [{"number": number} for number in range(1000)]}]
    with pytest.raises(spreadsheet.TooMuch):
        spreadsheet.csv_of(rows_of(rows))
    few = spreadsheet.csv_of(rows_of([{**rows[0], "items": rows[0]["items"][:3]}]))
    assert len(few) > 3_000_000


def test_the_forms_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    for flags, said in (
        (["--csv", "--json"], "--json and --csv cannot be combined; give one of them."),
        (["--csv", "--raw"], "--csv and --raw cannot be combined; give one of them."),
        (["--csv", "--json", "--raw"], "--json, --csv and --raw cannot be combined; give one of them."),
        (["--list", "offers"], "--list belongs to --csv."),
        (["--all-pages", "--raw"], "--all-pages cannot be combined with --raw"),
    ):
        assert main(["call", "list_trade_offers", "--sample", *flags]) == 2
        shown = capsys.readouterr()
        assert (shown.out, said in shown.err) == ("", True)


def test_a_failed_call_prints_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["call", "get_balance", "address=12345", "--csv", "--all-pages", "--sample"]) == 1
    assert capsys.readouterr() == ("", "qortal-mcp: Invalid Qortal address.\n")


@pytest.mark.promise(
    "Command line", "`call --csv` prints every list as CSV (RFC 4180) with exact numbers, for any server."
)
def test_another_servers_rows_are_exact_and_its_pages_are_followed(loop: Loop) -> None:
    answers = {0: page(1, 2, following=2), 2: page(following=4), 4: page(5)}
    answers[0]["items"][0]["n"] = 0.1
    ended = called(loop, paged(answers), "--csv", "--all-pages")
    assert (ended.code, ended.out, ended.err) == (0, "n\r\n0.1\r\n2\r\n5\r\n", "")


def test_text_that_is_json_has_rows_too_and_other_text_has_none(loop: Loop) -> None:
    assert called(loop, serving({"rows": [text('[{"a": 1.50}]')]}), "--csv").out == "a\r\n1.50\r\n"
    ended = called(loop, serving({"rows": [text("Hello.")]}), "--csv")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "qortal-mcp: The answer is text, not rows; --json shows it.\n"


def test_what_each_page_has_of_its_own_is_left_out_and_said(loop: Loop) -> None:
    answers = {
        0: page(1, following=1, total="5.0", unit="QORT", asOf={"height": 7}),
        1: page(2, total="6.0", unit="QORT", asOf={"height": 8}),
    }
    whole = called(loop, paged(answers), "--json", "--all-pages").json
    assert whole == {
        "items": [{"n": 1}, {"n": 2}],
        "page": {"returned": 2},
        "unit": "QORT",
        "asOf": {"height": 7},
        "notes": [
            "Each of the 2 pages has its own, so left out here: total.",
            "Read while the chain grew from block 7 to 8: rows may be doubled or missing.",
        ],
    }


FAILURES: list[Any] = [
    pytest.param([text("Broken", is_error=True)], 1, "Broken", id="tool-error"),
    pytest.param([error(-32000, "Not today")], 1, "Not today", id="error"),
]


@pytest.mark.parametrize(("said", "code", "words"), FAILURES)
def test_a_page_that_fails_fails_the_call(said: Saying, code: int, words: str, loop: Loop) -> None:
    ended = called(loop, paged({0: page(1, following=1)}, {1: said}), "--csv", "--all-pages")
    assert (ended.code, ended.out) == (code, "")
    assert words in ended.err


def test_a_server_that_repeats_a_page_is_stopped(loop: Loop) -> None:
    ended = called(loop, paged({0: page(1, following=1), 1: page(2, following=1)}), "--csv", "--all-pages")
    assert (ended.code, ended.out) == (3, "n\r\n1\r\n2\r\n")
    assert ended.err.startswith("qortal-mcp: Stopped: the server repeats a page")


def test_pages_without_end_are_stopped(
    monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(pages, "_MOST_PAGES", 3)
    assert main(["call", "list_trade_offers", "limit=2", "--csv", "--all-pages", "--sample"]) == 3
    shown = capsysbinary.readouterr()
    assert len(table(shown.out)) == 6
    said, _, following = shown.err.decode().strip().removesuffix(".").partition(" --args ")
    assert said == "qortal-mcp: Stopped after 3 pages. The next page:"
    assert json.loads(shlex.split(following)[0])["offset"] == 6


def test_an_interrupt_between_pages_prints_nothing_and_is_130(loop: Loop) -> None:
    script = paged({0: page(1, following=1)}, {1: []})  # the second page never comes
    with other(loop, program, script) as (target, stand_in):
        words = ["call", "rows", "--csv", "--all-pages", "--repair", "none", "--server", target]
        with terminal(*words, env={"NO_COLOR": "1"}) as at_terminal:
            at_terminal.until("1 rows of 1 pages, reading the next")
            at_terminal.typed(CTRL_C)
            assert at_terminal.ended() == 130
        assert len(stand_in.calls("rows")) == 2
    assert b"n\r\n" not in at_terminal.raw.partition(b"next")[2]


def test_a_person_is_told_what_the_rows_leave_out() -> None:
    with terminal("call", "list_trade_offers", "limit=2", "--csv", "--sample") as at_terminal:
        assert at_terminal.ended() == 0
        shown = at_terminal.raw.decode()
    assert "Note: Sample data" in shown
    assert "2 rows. More follow: --all-pages gets them." in shown


def test_csv_is_utf_8_whatever_the_locale_and_a_closed_pipe_is_no_error() -> None:
    env = environment({"PYTHONIOENCODING": "ascii"})
    words = [*COMMAND, "call", "search_names", "limit=100", "--csv", "--sample"]
    out = subprocess.run(words, capture_output=True, env=env, check=True).stdout
    assert not out.isascii()
    assert len(table(out)) > 20
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, env=env)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


DIVIDED = [
    pytest.param("who", "x", "x", id="text"),
    pytest.param("isWhole", True, "true", id="truth"),
    pytest.param("groupId", 3, "3", id="id"),
    pytest.param("height", 7, "7", id="height"),
    pytest.param("timestamp", 1_700_000_000_000, "1700000000000", id="time"),
    pytest.param("period", "2026-11", "2026-11", id="month"),
    pytest.param("fees", "9.34000000", "", id="amount"),
    pytest.param("transactions", 91, "", id="number"),
    pytest.param("wei", "1000", "", id="number-in-a-text"),
    pytest.param("range", {"blocks": 5}, "", id="number-within-an-object"),
]


@pytest.mark.promise(
    "Command line",
    "In `call --csv`, a number of something that holds several rows stands in the first of them alone: columns add up.",
)
@pytest.mark.parametrize(("name", "value", "again"), DIVIDED)
def test_a_row_that_holds_rows_is_divided_and_its_numbers_are_not_repeated(
    name: str, value: Any, again: str
) -> None:
    assets = [{"unit": "QORT", "in": "1"}, {"unit": "GOLD", "in": "2"}, {"unit": "TICKET", "in": "3"}]
    rows = table(spreadsheet.csv_of(rows_of({"rows": [{name: value, "assets": assets}, {name: value}]})))
    assert [row["assets.unit"] for row in rows] == ["QORT", "GOLD", "TICKET", ""]
    (column,) = [key for key in rows[0] if not key.startswith("assets.")]
    first, *others = [row[column] for row in rows]
    assert first
    assert others == [again, again, first]


def test_the_columns_of_a_cash_flow_add_up(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    words = ("get_cash_flow", "address=@Bob", "by=counterparty")
    rows = table(asked(capsysbinary, *words, "--csv"))
    total = json.loads(asked(capsysbinary, *words, "--json"))["total"]
    assert sum(Decimal(row["fees"] or 0) for row in rows) == Decimal(total["fees"])
    assert sum(int(row["transactions"] or 0) for row in rows) == total["transactions"]
    assert len(rows) > sum(bool(row["transactions"]) for row in rows)


def test_a_person_is_told_where_the_numbers_are_and_which_other_lists_there_are() -> None:
    for words, said in (
        (("get_cash_flow", "address=@Bob"), "has its own numbers in the first of them alone"),
        (("get_trade_ledger", "account=@alice-test"), "--list also takes totals."),
    ):
        with terminal("call", *words, "--csv", "--sample", env={"COLUMNS": "200"}) as at_terminal:
            assert at_terminal.ended() == 0
            assert said in at_terminal.raw.decode()


def test_every_list_that_can_be_chosen_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["call", "get_trade_ledger", "account=@alice-test", "--csv", "--list", "total", "--sample"]
    assert main(words) == 2
    assert capsys.readouterr().err == "qortal-mcp: The answer has no list total. It has totals, trades.\n"


def test_an_object_of_objects_becomes_a_row_for_each_with_its_name() -> None:
    answer = {"totals": {"BTC": {"buys": 1}, "LTC": {"buys": 2}}}
    assert spreadsheet.csv_of(rows_of(answer, "totals")).decode().splitlines() == [
        "name,buys",
        "BTC,1",
        "LTC,2",
    ]
