"""Series: which lists are drawn as charts, and what the charts say. Tables of sums: aligned on the decimal point."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.bridge.scripts import result, serving
from tests.bridge.standins import Loop, program
from tests.cli.others import other
from tests.cli.running import run
from tests.cli.terminals import terminal

from qortal_mcp.cli.output import view
from qortal_mcp.cli.output.tabular import charts
from qortal_mcp.cli.output.tabular.series import series_of


def day(at: int) -> str:
    return f"{datetime(2026, 10, 1, tzinfo=UTC) + timedelta(days=at):%Y-%m-%dT%H:%M:%S}.000Z"


def amount(number: float) -> str:
    return f"{number:.8f}"


ACTIVITY: list[dict[str, Any]] = [
    {"time": day(at), "transactions": 100 * at, "fees": amount(at / 4), "blocks": 1440 - at, "fromHeight": at}
    for at in range(8)
]
CANDLES: list[dict[str, Any]] = [
    {
        "time": day(at),
        "open": amount(10 + at),
        "high": amount(12 + at),
        "low": amount(9 + at),
        "close": amount(11 + at if at % 2 else 9 + at),
        "volumeQort": amount(1000 * at),
        "volumeForeign": amount(at),
        "trades": at,
    }
    for at in range(10)
]


def drawn(value: dict[str, Any], width: int = 80, glyphs: charts.Glyphs | None = charts.BLOCKS) -> list[str]:
    return view.answer(value, view.Paper(width, glyphs=glyphs)).splitlines()


SERIES = [
    pytest.param(ACTIVITY, True, id="days"),
    pytest.param(CANDLES, True, id="candles"),
    pytest.param(ACTIVITY[::-1], True, id="newest-first"),
    pytest.param([{**row, "unit": "LTC per QORT"} for row in ACTIVITY], True, id="with-a-unit"),
    pytest.param([{**row, "isWhole": row["blocks"] > 1438} for row in ACTIVITY], True, id="with-a-truth"),
    pytest.param([{**row, "until": day(9)} for row in ACTIVITY], True, id="with-another-time"),
    pytest.param([{"month": f"2026-{at:02}", "in": at} for at in range(1, 6)], True, id="months"),
    pytest.param([{"timestamp": 10**12 + at, "price": at} for at in range(4)], True, id="milliseconds"),
    pytest.param([{"time": day(at), "n": None if at else 5} for at in range(4)], True, id="with-gaps"),
    pytest.param(ACTIVITY[:2], False, id="too-short"),
    pytest.param([{**row, "signature": row["time"] + "x"} for row in ACTIVITY], False, id="events"),
    pytest.param([*ACTIVITY, ACTIVITY[-1]], False, id="two-rows-of-one-moment"),
    pytest.param([ACTIVITY[1], ACTIVITY[0], *ACTIVITY[2:]], False, id="unordered"),
    pytest.param([{"in": 1, "out": 2}] * 4, False, id="no-time"),
    pytest.param([{"time": day(at), "height": at} for at in range(4)], False, id="no-figures"),
    pytest.param([{"time": day(at), "inner": {"n": at}} for at in range(4)], False, id="deep"),
    pytest.param([1, 2, 3, 4], False, id="not-objects"),
    pytest.param([{"time": day(at), f"n{at}": at} for at in range(250)], False, id="a-member-for-each-row"),
    pytest.param([{"time": f"2026-99-{at}1", "n": at} for at in range(1, 4)], False, id="no-such-day"),
]


@pytest.mark.promise(
    "Command line",
    "On a terminal a list with one row per moment and figures has a small chart above its table, whatever tool gave it.",
)
@pytest.mark.parametrize(("rows", "is_series"), SERIES)
def test_a_list_is_a_series_by_its_data(rows: list[Any], is_series: bool) -> None:
    assert (series_of(rows) is not None) == is_series


def test_each_figure_has_its_bars_and_its_scale() -> None:
    shown = drawn({"days": ACTIVITY})
    assert shown[:6] == [
        "days (8)",
        "  transactions  · ▁ ▂ ▃ ▅ ▆ ▇ █   0 to 700",
        "  fees          · ▁ ▂ ▃ ▅ ▆ ▇ █   0 to 1.75",
        "  blocks        █ ▇ ▆ ▅ ▃ ▂ ▁ ▁   1,433 to 1,440 (not from 0)",
        "                2026-10-01 to 2026-10-08 UTC",
        "",
    ]
    assert shown[6].split() == ["time", "transactions", "fees", "blocks", "fromHeight"]
    assert shown[7].split() == ["2026-10-01", "0", "0.00", "1440", "0"]


def test_the_past_is_at_the_left_whatever_the_order_of_the_rows() -> None:
    assert drawn({"days": ACTIVITY[::-1]})[:6] == drawn({"days": ACTIVITY})[:6]
    assert drawn({"days": ACTIVITY[::-1]})[-1].split()[0] == "2026-10-01"


def test_a_day_without_a_row_is_a_gap() -> None:
    (line,) = [line for line in drawn({"days": [*ACTIVITY[:2], *ACTIVITY[4:]]}) if "fees  " in line][:1]
    assert "· ▁     ▅ ▆ ▇ █" in line


def test_months_of_different_lengths_have_no_gaps() -> None:
    rows = [{"time": f"2026-{at:02}-01T00:00:00Z", "in": amount(at)} for at in range(1, 13)]
    bottom = drawn({"months": rows})[4]
    assert bottom == "  in  ▃ ▅ █ █ █ █ █ █ █ █ █ █   0"


@pytest.mark.parametrize(("glyphs", "row"), [(charts.BLOCKS, "· ▁ █   0"), (charts.ASCII, "0 . #   0")])
def test_a_small_figure_looks_different_from_zero(glyphs: charts.Glyphs, row: str) -> None:
    rows = [{"time": day(at), "n": n} for at, n in enumerate((0, 1, 2000))]
    assert drawn({"days": rows}, glyphs=glyphs)[4] == f"  n  {row}"


def test_bars_begin_at_zero_unless_that_hides_how_they_change() -> None:
    two_to_four = [{"time": day(at), "n": n, "m": 100 + n, "k": n} for at, n in enumerate((2, 3, 4))]
    assert drawn({"days": two_to_four})[1:3] == [
        "  n  ▄ ▆ █   0 to 4",
        "  m  ▁ ▄ █   102 to 104 (not from 0)",
    ]


CUT = [
    pytest.param("2026-10-01T12:00:00Z", "2026-10-09T00:00:00Z", "The first period is", id="first"),
    pytest.param("2026-10-01T00:00:00Z", "2026-10-08T12:00:00Z", "The last period is", id="last"),
    pytest.param("2026-10-01T12:00:00Z", "2026-10-08T12:00:00Z", "The first and last periods are", id="both"),
    pytest.param("2026-10-01T00:00:00Z", "2026-10-09T00:00:00Z", "", id="neither"),
    pytest.param("soon", None, "", id="unknown"),
]


@pytest.mark.parametrize(("since", "until", "words"), CUT)
def test_periods_that_are_not_whole_are_named_if_the_answer_says_so(
    since: Any, until: Any, words: str
) -> None:
    shown = " ".join(drawn({"days": ACTIVITY, "range": {"since": since, "until": until}}))
    assert ("not whole" in shown) == bool(words)
    assert words in shown


def test_few_figures_have_higher_bars() -> None:
    rows = [{"time": day(at), "balance": amount(at - 2)} for at in range(5)]
    assert drawn({"balances": rows})[1:6] == [
        "                   █   2",
        "                 █ █",
        "               █ █ █",
        "  balance  ▁ █ █ █ █   -2",
        "           2026-10-01 to 2026-10-05 UTC",
    ]


def test_prices_are_candles_with_their_ends_at_the_side() -> None:
    shown = drawn({"candles": CANDLES})
    assert shown[1] == "             21                  │ ░"
    assert shown[8] == "              9  █ │"
    assert shown[9].split()[0] == "volumeQort"
    assert any("░ rose  █ fell" in line for line in shown)
    assert not any(line.split()[:1] == ["close"] for line in shown[:13])


def test_a_high_below_the_close_is_not_a_candle() -> None:
    wrong = [{**row, "high": amount(1)} for row in CANDLES]
    assert any(line.split()[:1] == ["close"] for line in drawn({"candles": wrong})[:13])


def test_a_series_too_wide_for_one_table_is_cut_into_tables_with_their_times() -> None:
    heads = [line.split() for line in drawn({"candles": CANDLES}, 40) if line.split()[:1] == ["time"]]
    prices, volumes = heads
    assert prices == ["time", "open", "high", "low", "close"]
    assert volumes == ["time", "Qort", "Foreign", "trades"]


def test_a_series_a_little_too_wide_stays_one_table() -> None:
    shown = drawn({"candles": CANDLES}, 60)
    (at,) = [at for at, line in enumerate(shown) if line.split()[:1] == ["time"]]
    assert shown[at].split() == ["time", "open", "high", "low", "close", "Qort", "Foreign", "trades"]
    assert shown[at - 1].split() == ["volume", "volume"]


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("glyphs", [charts.BLOCKS, charts.ASCII])
def test_no_line_of_a_chart_is_wider_than_the_terminal(width: int, glyphs: charts.Glyphs) -> None:
    long = [{"time": day(at), "price": amount(at % 7), "n" * 25: at} for at in range(400)]
    hours = [{"timestamp": 10**12 + at * 3_600_000, "w" * 15: at} for at in range(5)]
    for rows in (long, CANDLES, ACTIVITY, hours):
        assert max(len(line) for line in drawn({"rows": rows}, width, glyphs)) <= width


def test_more_moments_than_columns_share_them_and_it_is_said() -> None:
    rows = [{"time": day(at), "n": at} for at in range(400)]
    assert any("Neighbours share a column." in line for line in drawn({"rows": rows}))


HOSTILE = [
    pytest.param({"n": 10**5000}, id="huge-number"),
    pytest.param({"n": "1e99"}, id="large-exponent"),
    pytest.param({"\x1b[2J\n": 5}, id="steering-name"),
    pytest.param({"漢字" * 50: 5}, id="wide-name"),
]


@pytest.mark.promise("Text of strangers", "Nothing that a stranger wrote can steer a terminal.")
@pytest.mark.parametrize("member", HOSTILE)
def test_a_hostile_series_does_no_harm(member: dict[str, Any]) -> None:
    ((name, value),) = member.items()
    rows = [{"time": day(at), name: value if at else 1, "b": at} for at in range(4)]
    if value == 10**5000:  # too long to be shown as a number, but it has no chart either
        assert series_of(rows) is None
        return
    shown = drawn({"rows": rows})
    assert not [c for c in "\n".join(shown) if c != "\n" and not c.isprintable()]


def test_sums_in_an_object_are_aligned_on_the_decimal_point() -> None:
    totals = {"in": amount(1500.25), "out": "3.00000000", "fees": "0.01230000", "trades": 12}
    assert drawn({"totals": totals}) == [
        "totals",
        "  in      1,500.2500",
        "  out         3.0000",
        "  fees        0.0123",
        "  trades     12",
    ]


def test_numbers_of_another_server_are_aligned_on_the_decimal_point(loop: Loop) -> None:
    rows = [{"coin": "LTC", "sum": 1.5}, {"coin": "DOGE", "sum": 1200}, {"coin": "BTC", "sum": "-0.125"}]
    script = serving({"sums": [result({"content": [], "structuredContent": {"sums": rows}})]})
    with other(loop, program, script) as (target, _):
        shown = run("call", "sums", "--server", target).out.splitlines()
    assert shown == ["sums (3)", "  coin       sum", "  LTC      1.5", "  DOGE  1200", "  BTC     -0.125"]


@pytest.mark.promise(
    "Command line",
    "On a terminal a list with one row per moment and figures has a small chart above its table, whatever tool gave it.",
)
def test_a_terminal_gets_the_chart_and_a_pipe_the_table_alone(loop: Loop) -> None:
    script = serving({"history": [result({"content": [], "structuredContent": {"candles": CANDLES}})]})
    with other(loop, program, script) as (target, _):
        words = ("call", "history", "--server", target)
        with terminal(*words, env={"NO_COLOR": "1"}) as at_terminal:
            assert at_terminal.ended() == 0
            screen = "\n".join(at_terminal.screen)
        with terminal(*words, env={"NO_COLOR": "1", "PYTHONIOENCODING": "ascii"}) as plain:
            assert plain.ended() == 0
            raw = plain.raw
        piped = run(*words).out
    assert "░ rose  █ fell" in screen
    assert re.search(r"volumeQort +·", screen)
    assert raw.isascii()
    assert b"= rose  # fell" in raw
    assert "rose" not in piped
    assert "▁" not in piped
    assert json.dumps(CANDLES[-1]["open"])[1:-1] in piped
