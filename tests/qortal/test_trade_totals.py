"""What an account's trades add up to for each coin, and trades up to a time."""

from collections import defaultdict
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.answers.trades.past import TRADER, TRADER_KEY
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .market import DONE, Market
from .outcomes import answer_of, code_of
from .pages import every_page, every_row
from .told_node import ToldNode
from .world import ALICE, ALICE_KEY, BOB, NOBODY

TOOLSETS = "trades"
PLACES = Decimal("1e-8")
HEAD = "Market,Currency,Quantity,Commission Paid,Commission Currency,Total Price,Date Time,Exchange\n"


@pytest.fixture
def call(node: Node) -> Call:
    return caller(make_server(node, toolsets=TOOLSETS))


def rounded(value: Decimal) -> str:
    return f"{value.quantize(PLACES, ROUND_HALF_UP):f}"


async def totals_by_hand(call: Call, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """From the lines, with Decimal."""
    sides: dict[str, dict[str, list[dict[str, Any]]]] = defaultdict(lambda: {"buy": [], "sell": []})
    for row in rows:
        sides[row["foreignCurrency"]][row["side"]].append(row)
    made = {}
    for chain, of in sides.items():
        sums = {
            side: (
                sum((Decimal(row["qortAmount"]) for row in lines), Decimal(0)),
                sum((Decimal(row["foreignAmount"]) for row in lines), Decimal(0)),
            )
            for side, lines in of.items()
        }
        (bought, paid), (sold, received) = sums["buy"], sums["sell"]
        price = (await answer_of(call, "get_trade_price", chain=chain, inverse=True))["price"]
        unit = rows[[row["foreignCurrency"] for row in rows].index(chain)]["priceUnit"]
        made[chain] = {
            "buys": len(of["buy"]),
            "qortBought": rounded(bought),
            "foreignPaid": rounded(paid),
            "averageBuyPrice": rounded(paid / bought) if bought else None,
            "sells": len(of["sell"]),
            "qortSold": rounded(sold),
            "foreignReceived": rounded(received),
            "averageSellPrice": rounded(received / sold) if sold else None,
            "currentPrice": price,
            "priceUnit": unit,
            "gain": rounded(received - paid + (bought - sold) * Decimal(price)),
            "gainUnit": unit.removesuffix(" per QORT"),
        }
    return made


@pytest.mark.promise(
    "Tools and their results",
    "A ledger adds up an account's trades per coin over the whole span asked for, exactly, with the gain at the current price.",
)
@pytest.mark.parametrize("account", [ALICE, BOB, TRADER, TRADER_KEY])
@pytest.mark.parametrize(
    "span",
    [{}, {"since": "1y"}, {"since": "120d", "until": "30d"}, {"since": "1h"}, {"until": "2026-11-15T20:40"}],
)
@pytest.mark.parametrize("limit", [3, 100])
async def test_totals_are_the_sums_of_all_lines_on_every_page(
    call: Call, account: str, span: dict[str, str], limit: int
) -> None:
    pages = await every_page(call, "get_trade_ledger", account=account, limit=limit, **span)
    rows = [row for page in pages for row in page["trades"]]
    by_hand = await totals_by_hand(call, rows)
    for page in pages:
        assert page["totals"] == by_hand
        assert page["complete"] is True


async def test_a_year_of_trades_begins_a_year_before_the_newest_block(call: Call) -> None:
    answer = await answer_of(call, "get_trade_ledger", account=TRADER, since="1y")
    assert answer["range"]["since"][:10] == "2025-11-15"
    rows = await every_row(call, "get_trade_ledger", "trades", account=TRADER, since="1y", limit=100)
    everything = await every_row(call, "get_trade_ledger", "trades", account=TRADER, limit=100)
    since = sample_chain()["blocks"][-1]["timestamp"] - 365 * 86_400_000
    assert rows == [row for row in everything if row["timestamp"] + 60_000 > since]
    assert 0 < len(rows) < len(everything)


async def test_spans_that_meet_at_a_minute_share_no_line(call: Call) -> None:
    rows = await every_row(call, "get_trade_ledger", "trades", account=TRADER, limit=100)
    for row in (rows[0], rows[50], rows[-1]):
        before = await answer_of(call, "get_trade_ledger", account=TRADER, until=row["time"])
        after = await answer_of(call, "get_trade_ledger", account=TRADER, since=row["time"])
        counts = [
            sum(each["buys"] + each["sells"] for each in answer["totals"].values())
            for answer in (before, after)
        ]
        assert sum(counts) == len(rows)


async def test_pages_of_a_ledger_end_at_the_same_time(call: Call) -> None:
    pages = await every_page(call, "get_trade_ledger", account=BOB, limit=2)
    assert {page["range"]["until"] for page in pages} == {pages[0]["page"]["next"]["until"]}
    assert len(pages) == 3
    until = "2026-11-15T21:00:30Z"
    assert (await answer_of(call, "get_trade_ledger", account=BOB, limit=1, until=until))["page"]["next"][
        "until"
    ] == until


async def test_a_time_without_blocks_is_said_to_be_one(call: Call) -> None:
    answer = await answer_of(call, "get_trade_ledger", account=BOB, since="2027-01-01")
    assert (answer["trades"], answer["totals"]) == ([], {})
    assert answer["notes"][0] == "There is no block in this time."


async def test_a_ledger_of_one_chain_has_its_lines_and_its_total(call: Call) -> None:
    rows = await every_row(call, "get_trade_ledger", "trades", account=ALICE)
    of_chain = await answer_of(call, "get_trade_ledger", account=ALICE, chain="ltc")
    assert of_chain["trades"] == [row for row in rows if row["foreignCurrency"] == "LITECOIN"]
    assert list(of_chain["totals"]) == ["LITECOIN"]


async def test_an_account_without_trades_has_no_totals(call: Call) -> None:
    answer = await answer_of(call, "get_trade_ledger", account=NOBODY)
    assert (answer["totals"], answer["complete"]) == ({}, True)


@pytest.mark.parametrize("account", [ALICE, TRADER])
async def test_a_default_page_of_a_ledger_is_small(call: Call, account: str) -> None:
    result = await call("get_trade_ledger", account=account)
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024


async def test_what_is_not_counted_is_said(call: Call) -> None:
    notes = (await answer_of(call, "get_trade_ledger", account=ALICE))["notes"]
    assert "fees of both networks and commissions are not in them" in notes[0]


async def told(lines: str, price: Any = None) -> dict[str, Any]:
    def tell(target: str) -> Any:
        if target.startswith("/crosschain/ledger/"):
            return RawReply(200, "text/csv", (HEAD + lines).encode())
        return price if target.startswith("/crosschain/price/") else None

    node = Node([ToldNode(tell)])
    answer = await answer_of(
        caller(make_server(node, toolsets=TOOLSETS)), "get_trade_ledger", account=ALICE_KEY
    )
    await node.close()
    return answer


async def test_coins_that_are_not_known_are_left_out_and_counted() -> None:
    lines = "".join(f"X{number},QORT,1,0,X,5,20261115 20:57,Qortal\n" for number in range(500))
    answer = await told(lines + "LTC,QORT,0.5,0,LTC,700,20261115 20:58,Qortal\n")
    assert list(answer["totals"]) == ["LITECOIN"]
    assert "Not in the totals: 500 of these trades, in coins that are not known here." in answer["notes"]


async def test_without_a_current_price_there_is_no_gain() -> None:
    failing = RawReply(500, "text/html", b"<html>")
    answer = await told("LTC,QORT,0.5,0,LTC,700,20261115 20:58,Qortal\n", failing)
    total = answer["totals"]["LITECOIN"]
    assert (total["currentPrice"], total["gain"], total["foreignReceived"]) == (None, None, "0.50000000")


async def test_a_loss_is_negative_and_rounded_once() -> None:
    line = "QORT,LTC,0.00000003,0,LTC,0.00000007,20261115 20:58,Qortal\n"
    total = (await told(line, "50000000"))["totals"]["LITECOIN"]
    # 0.00000003 QORT are worth 0.000000015, rounded 0.00000002, and cost 0.00000007.
    assert (total["currentPrice"], total["gain"]) == ("0.50000000", "-0.00000005")


@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("limit", [2, 100])
async def test_completed_trades_before_a_time(call: Call, newest_first: bool, limit: int) -> None:
    rows = sample_chain()["completedTrades"]
    until = sorted(row["tradeTimestamp"] for row in rows)[25]
    found = await every_row(
        call, "list_completed_trades", "trades", until=until, reverse=newest_first, limit=limit
    )
    wanted = [row["atAddress"] for row in rows if row["tradeTimestamp"] < until]
    assert sorted(row["tradeAddress"] for row in found) == sorted(wanted)
    times = [row["timestamp"] for row in found]
    assert times == sorted(times, reverse=newest_first)


@pytest.mark.parametrize("kinds", [("RavencoinACCTv3",), ("LitecoinACCTv1", "LitecoinACCTv3")])
@pytest.mark.parametrize("per_block", [1, 3])
@pytest.mark.parametrize(("first", "last"), [(None, 150), (40, 222), (100, 101), (None, 0), (350, 900)])
@pytest.mark.parametrize("newest_first", [True, False])
async def test_trades_between_two_times_of_a_long_market_are_all_there(
    kinds: tuple[str, ...], per_block: int, first: int | None, last: int, newest_first: bool
) -> None:
    market = Market([(kinds[number % len(kinds)], DONE) for number in range(400)], per_block=per_block)
    node = Node([market])
    call = caller(make_server(node, toolsets=TOOLSETS))
    done = market.completed
    until = done[last]["tradeTimestamp"] if last < len(done) else done[-1]["tradeTimestamp"] + 1
    since = 0 if first is None else done[first]["tradeTimestamp"]
    span = {"until": until} if first is None else {"since": since, "until": until}
    if since < until:
        rows = await every_row(
            call, "list_completed_trades", "trades", limit=60, reverse=newest_first, **span
        )
        wanted = [row["atAddress"] for row in done if since < row["tradeTimestamp"] < until]
        assert sorted(row["tradeAddress"] for row in rows) == sorted(wanted)
        times = [row["timestamp"] for row in rows]
        assert times == sorted(times, reverse=newest_first)
    await node.close()


@pytest.mark.parametrize("tool", ["list_completed_trades", "get_trade_ledger"])
async def test_a_span_that_ends_before_it_begins_is_refused(call: Call, tool: str) -> None:
    account = {"account": ALICE} if tool == "get_trade_ledger" else {}
    result = await call(tool, since="1d", until="7d", **account)
    assert code_of(result) == "INVALID_ARGUMENT"
