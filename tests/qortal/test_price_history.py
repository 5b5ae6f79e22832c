"""The price of QORT in a coin by hour, day and week: candles made of completed trades."""

import json
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise
from typing import Any

import pytest

from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.answers.trades.past import past_trades
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .market import DONE, Market
from .outcomes import answer_of, code_of, text_of
from .pages import every_page
from .told_node import ToldNode

TOOLSETS = "trades"
PLACES = Decimal("1e-8")
NEWEST = sample_chain()["blocks"][-1]["timestamp"]
ARRR = [*past_trades(sample_chain()), *sample_chain()["tradesByChain"]["PIRATECHAIN"]]


@pytest.fixture
def call(node: Node) -> Call:
    return caller(make_server(node, toolsets=TOOLSETS))


def begin(interval: str, timestamp: int) -> datetime:
    """By the calendar, not by counting milliseconds."""
    time = datetime.fromtimestamp(timestamp / 1000, UTC).replace(minute=0, second=0, microsecond=0)
    if interval == "hour":
        return time
    day = time.replace(hour=0)
    return day if interval == "day" else day - timedelta(days=day.weekday())


def candles_of(rows: list[dict[str, Any]], interval: str) -> list[dict[str, Any]]:
    groups: dict[datetime, list[tuple[Decimal, Decimal]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: int(row["tradeTimestamp"])):
        pair = Decimal(row["qortAmount"]), Decimal(row["foreignAmount"])
        groups[begin(interval, row["tradeTimestamp"])].append(pair)
    made = []
    for start, pairs in sorted(groups.items()):
        prices = [(coins / qort).quantize(PLACES, ROUND_HALF_UP) for qort, coins in pairs]
        made.append(
            {
                "timestamp": int(start.timestamp()) * 1000,
                "time": f"{start:%Y-%m-%dT%H:%M:%S}.000Z",
                "open": f"{prices[0]:f}",
                "high": f"{max(prices):f}",
                "low": f"{min(prices):f}",
                "close": f"{prices[-1]:f}",
                "volumeQort": f"{sum(qort for qort, _ in pairs):.8f}",
                "volumeForeign": f"{sum(coins for _, coins in pairs):.8f}",
                "trades": len(pairs),
            }
        )
    return made


def joined(pages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assert [page["complete"] for page in pages] == [False] * (len(pages) - 1) + [True]
    return [row for page in pages for row in page["candles"]]


@pytest.mark.promise(
    "Tools and their results",
    "Prices come as candles by hour, day or week: exact, in UTC, oldest first, and all of them across pages.",
)
@pytest.mark.parametrize("interval", ["hour", "day", "week"])
@pytest.mark.parametrize(("days", "limit"), [(9, 24), (40, 7), (365, 200)])
async def test_candles_are_those_of_the_trades_in_the_span(
    call: Call, interval: str, days: int, limit: int
) -> None:
    pages = await every_page(
        call, "get_price_history", chain="ARRR", interval=interval, since=f"{days}d", limit=limit
    )
    since = NEWEST - days * 86_400_000
    assert joined(pages) == candles_of([row for row in ARRR if row["tradeTimestamp"] > since], interval)
    assert all(len(page["candles"]) <= limit for page in pages)
    assert (pages[0]["priceUnit"], pages[0]["volumeForeignUnit"]) == ("ARRR per QORT", "ARRR")


@pytest.mark.parametrize("chain", ["BITCOIN", "LITECOIN", "DOGECOIN", "DIGIBYTE", "RAVENCOIN"])
async def test_the_recorded_trades_of_each_coin_make_its_candles(call: Call, chain: str) -> None:
    answer = await answer_of(call, "get_price_history", chain=chain.lower(), interval="hour")
    assert answer["candles"] == candles_of(sample_chain()["tradesByChain"][chain], "hour")
    assert answer["complete"]
    assert answer["range"]["toHeight"] == 596


async def test_candles_are_those_of_the_raw_trades_of_core(node: Node) -> None:
    both = caller(make_server(node, toolsets="trades,raw"))
    values = {"foreignBlockchain": "LITECOIN", "limit": 100}
    raw = await answer_of(both, "read_core", endpoint="/crosschain/trades", values=values)
    answer = await answer_of(both, "get_price_history", chain="LTC", interval="hour")
    assert answer["candles"] == candles_of(raw["rows"], "hour")


async def test_without_a_time_the_page_ends_with_the_current_interval(call: Call) -> None:
    answer = await answer_of(call, "get_price_history", chain="ARRR", limit=5)
    assert [row["time"][:10] for row in answer["candles"]] == [f"2026-11-{day}" for day in range(11, 16)]
    assert answer["complete"]
    earlier = await answer_of(call, "get_price_history", chain="ARRR", limit=5, until="2026-11-01")
    assert [row["time"][:10] for row in earlier["candles"]] == [f"2026-10-{day}" for day in range(27, 32)]


@pytest.mark.parametrize(
    ("since", "interval"), [("24h", "hour"), ("31h", "day"), ("30d", "day"), ("31d", "week"), ("8w", "week")]
)
async def test_a_span_without_an_interval_fits_one_page(call: Call, since: str, interval: str) -> None:
    answer = await answer_of(call, "get_price_history", chain="ARRR", since=since)
    assert (answer["interval"], answer["complete"]) == (interval, True)
    assert "next" not in answer["page"]


async def test_a_page_that_ends_before_the_span_says_so(call: Call) -> None:
    cut = await answer_of(call, "get_price_history", chain="ARRR", since="8w", interval="day")
    assert not cut["complete"]
    assert any("Only the oldest of the span" in note for note in cut["notes"])
    whole = await answer_of(call, "get_price_history", chain="ARRR", since="8w", interval="day", limit=60)
    assert whole["complete"]
    assert not any("oldest" in note for note in whole["notes"])


async def test_a_default_page_of_candles_is_small(call: Call) -> None:
    result = await call("get_price_history", chain="ARRR")
    assert len(result["structuredContent"]["candles"]) == 31
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024
    largest = await call("get_price_history", chain="ARRR", interval="day", since="1y", limit=200)
    assert largest["structuredContent"]["page"]["returned"] == 200
    assert len(largest["content"][0]["text"].encode()) <= 64 * 1024


async def test_both_ends_of_a_span_are_left_out(call: Call) -> None:
    rows = ARRR[700:710]
    answer = await answer_of(
        call,
        "get_price_history",
        chain="ARRR",
        interval="hour",
        since=rows[0]["tradeTimestamp"],
        until=rows[-1]["tradeTimestamp"],
    )
    assert answer["candles"] == candles_of(rows[1:-1], "hour")


async def test_a_span_without_trades_names_the_newest(call: Call) -> None:
    answer = await answer_of(call, "get_price_history", chain="DGB", until="2026-11-01", since="2026-10-01")
    assert (answer["candles"], answer["complete"], answer["page"]) == ([], True, {"returned": 0})
    newest = max(row["tradeTimestamp"] for row in sample_chain()["tradesByChain"]["DIGIBYTE"])
    time = datetime.fromtimestamp(newest // 1000, UTC)
    assert f"the newest trade of DIGIBYTE was at {time:%Y-%m-%dT%H:%M:%S}" in answer["notes"][0]


async def test_a_coin_that_nobody_traded_has_no_candles_and_a_note() -> None:
    node = Node([Market([])])
    answer = await answer_of(caller(make_server(node, toolsets=TOOLSETS)), "get_price_history", chain="LTC")
    await node.close()
    assert answer["candles"] == []
    assert answer["notes"][0] == "No completed trades against LITECOIN yet."


@pytest.mark.parametrize("per_block", [1, 3, 7])
@pytest.mark.parametrize("kinds", [("LitecoinACCTv3",), ("LitecoinACCTv1", "LitecoinACCTv3")])
async def test_more_trades_than_one_call_may_read_go_on_in_the_next(
    per_block: int, kinds: tuple[str, ...]
) -> None:
    market = Market([(kinds[number % len(kinds)], DONE) for number in range(1200)], per_block=per_block)
    # Room for a few pages of a hundred trades.
    node = Node([market], NodeLimits(call_rows=600))
    call = caller(make_server(node, toolsets=TOOLSETS))
    pages = await every_page(
        call, "get_price_history", chain="LTC", interval="hour", since=NEWEST - 1, limit=200
    )
    await node.close()
    assert len(pages) > 1
    assert joined(pages) == candles_of(market.completed, "hour")
    for page, following in pairwise(pages):
        assert page["range"]["until"] > page["range"]["since"]
        assert following["range"]["since"] < page["range"]["until"]


async def test_an_interval_too_large_for_one_call_is_told_in_parts() -> None:
    market = Market([("LitecoinACCTv3", DONE)] * 500, per_block=5)
    node = Node([market], NodeLimits(call_rows=300))
    call = caller(make_server(node, toolsets=TOOLSETS))
    pages = await every_page(call, "get_price_history", chain="LTC", interval="week", since=NEWEST - 1)
    await node.close()
    assert sum(row["trades"] for row in joined(pages)) == 500
    assert "the next call goes on within it" in pages[0]["notes"][0]


async def test_a_call_makes_at_most_two_hundred_requests() -> None:
    market = Market([("LitecoinACCTv3", DONE)] * 700)
    node = Node([market])
    call = caller(make_server(node, toolsets=TOOLSETS))
    await answer_of(call, "get_price_history", chain="LTC", since="1970-01-02", limit=1)
    await node.close()
    assert len([target for target in market.asked if "limit=100" in target]) <= 8
    assert len(market.asked) <= 200


def told_rows(*rows: tuple[int, str, str]) -> str:
    return json.dumps(
        [
            {
                "tradeTimestamp": timestamp,
                "qortAmount": qort,
                "foreignAmount": coins,
                "atAddress": f"A{number}",
                "sellerAddress": "Q",
            }
            for number, (timestamp, qort, coins) in enumerate(rows)
        ]
    )


async def told(body: str, **arguments: Any) -> dict[str, Any]:
    node = Node([ToldNode(lambda target: body if target.startswith("/crosschain/trades") else None)])
    result = await caller(make_server(node, toolsets=TOOLSETS))(
        "get_price_history", chain="LTC", interval="hour", **{"since": NEWEST - 1000, **arguments}
    )
    await node.close()
    return result


async def test_a_trade_without_qort_has_a_volume_and_no_price() -> None:
    result = await told(told_rows((NEWEST - 5, "0.00000000", "1.00000000")))
    (candle,) = result["structuredContent"]["candles"]
    assert (candle["open"], candle["high"], candle["low"], candle["close"]) == (None, None, None, None)
    assert (candle["volumeForeign"], candle["trades"]) == ("1.00000000", 1)


async def test_high_and_low_are_compared_before_they_are_rounded() -> None:
    rows = [
        (NEWEST - 9, "3.00000000", "0.00000010"),
        (NEWEST - 8, "3.00000000", "0.00000011"),
        (NEWEST - 7, "100.00000000", "0.00000301"),
    ]
    (candle,) = (await told(told_rows(*rows)))["structuredContent"]["candles"]
    assert (candle["open"], candle["high"], candle["low"], candle["close"]) == (
        "0.00000003",
        "0.00000004",
        "0.00000003",
        "0.00000003",
    )
    assert candle["volumeQort"] == "106.00000000"


async def test_a_node_that_repeats_one_page_is_not_asked_for_ever() -> None:
    rows = [(NEWEST - 200 + number, "1.00000000", "0.10000000") for number in range(100)]
    result = await told(told_rows(*rows))
    assert code_of(result) == "TOO_LARGE"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Missing argument chain."),
        ({"chain": "ETH"}, "Invalid chain."),
        ({"chain": "LTC", "interval": "month"}, "Invalid interval."),
        ({"chain": "LTC", "limit": 0}, "Invalid limit."),
        ({"chain": "LTC", "since": "2026-11-02", "until": "2026-11-01"}, "Invalid until."),
        ({"chain": "LTC", "until": 1794770291}, "Invalid until."),
    ],
)
async def test_wrong_arguments_are_refused_by_name(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    result = await call("get_price_history", **arguments)
    assert (code_of(result), text_of(result).startswith(sentence)) == ("INVALID_ARGUMENT", True)
