"""Sums over time are exact, say what they cover, and go on where they stopped."""

import itertools
import json
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import pytest

from qortal_mcp.qortal.limits import SCAN_STEP
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools.activity.traded import TRADE_REQUESTS
from qortal_mcp.qortal.words.transaction_types import TRANSACTION_TYPES

from .busy_chain import DAY_MS, GENESIS_MS, BusyChain, payment, time_of
from .conftest import Call, caller
from .market import DONE, Market
from .outcomes import code_of
from .pages import every_page, every_row
from .test_scanning import rows_of
from .world import ALICE, BOB, CHLOE, EMPTY, NOBODY

ROWS: list[dict[str, Any]] = sample_chain()["transactions"]
PERSONS = sorted({row["creatorAddress"] for row in ROWS if row["type"] != "AT"})
CONTRACT = next(row["aTAddress"] for row in ROWS if row["type"] == "DEPLOY_AT")


async def ask(call: Call, tool: str, **arguments: Any) -> dict[str, Any]:
    result = await call(tool, **arguments)
    assert result["isError"] is False, result
    return result["structuredContent"]  # type: ignore[no-any-return]


def flows_of(address: str) -> tuple[dict[int, list[Decimal]], Decimal]:
    """In and out by asset, and fees, worked out from the data of the sample chain."""
    assets: dict[int, list[Decimal]] = defaultdict(lambda: [Decimal(0), Decimal(0)])
    fees = Decimal(0)
    for row in ROWS:
        if row["creatorAddress"] == address:
            fees += Decimal(row["fee"])
        payer, payee = {
            "PAYMENT": (row["creatorAddress"], row.get("recipient")),
            "TRANSFER_ASSET": (row["creatorAddress"], row.get("recipient")),
            "AT": (row.get("atAddress"), row.get("recipient")),
            "DEPLOY_AT": (row["creatorAddress"], row.get("aTAddress")),
            "BUY_NAME": (row["creatorAddress"], row.get("seller")),
        }.get(row["type"], (None, None))
        if address in (payer, payee):
            both = assets[row.get("assetId", 0)]
            both[0] += Decimal(row["amount"]) * (address == payee)
            both[1] += Decimal(row["amount"]) * (address == payer)
    return assets, fees


def read(assets: list[dict[str, Any]]) -> dict[int, list[Decimal]]:
    return {each["assetId"]: [Decimal(each["in"]), Decimal(each["out"])] for each in assets}


@pytest.mark.promise("Data of the chain", "Income, outgoings and fees of an account are exact, per asset.")
@pytest.mark.parametrize("address", [*PERSONS, CONTRACT, EMPTY, NOBODY])
async def test_the_cash_flow_of_an_account_is_exact(call: Call, address: str) -> None:
    answer = await ask(call, "get_cash_flow", address=address)
    assets, fees = flows_of(address)
    assert answer["complete"] is True
    assert answer["range"]["toHeight"] == 596
    assert (Decimal(answer["total"]["fees"]), answer["feesUnit"]) == (fees, "QORT")
    assert read(answer["total"]["assets"]) == {0: [Decimal(0), Decimal(0)], **assets}
    assert answer["total"]["assets"][0]["unit"] == "QORT"
    assert {flow["period"] for flow in answer["flows"]} <= {"2026-11"}


@pytest.mark.parametrize("by", ["month", "day", "counterparty"])
@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_the_rows_of_a_cash_flow_add_up_to_its_total(call: Call, by: str, limit: int) -> None:
    pages = await every_page(call, "get_cash_flow", address=BOB, by=by, limit=limit)
    rows = [row for page in pages for row in page["flows"]]
    assert all(len(page["flows"]) == page["page"]["returned"] <= limit for page in pages)
    assert len({json.dumps(page["total"]) for page in pages}) == 1
    total = pages[0]["total"]
    assert sum(Decimal(row["fees"]) for row in rows) == Decimal(total["fees"])
    for asset in total["assets"]:
        same = [each for row in rows for each in row["assets"] if each["assetId"] == asset["assetId"]]
        for side in ("in", "out"):
            assert sum(Decimal(each[side]) for each in same) == Decimal(asset[side])
            assert {each["unit"] for each in same} == {asset["unit"]}


async def test_counterparties_come_by_the_qort_that_changed_hands(call: Call) -> None:
    rows = await every_row(call, "get_cash_flow", "flows", address=BOB, by="counterparty")
    assert rows[-1]["counterparty"] is None
    sums = [Decimal(row["assets"][0]["in"]) + Decimal(row["assets"][0]["out"]) for row in rows[:-1]]
    assert sums == sorted(sums, reverse=True)
    paid = sum(
        Decimal(row["amount"])
        for row in ROWS
        if row["type"] == "PAYMENT" and (row["creatorAddress"], row["recipient"]) == (BOB, CHLOE)
    )
    assert next(Decimal(row["assets"][0]["out"]) for row in rows if row["counterparty"] == CHLOE) == paid


async def test_a_name_that_was_sold_is_income(call: Call) -> None:
    bought = next(row for row in ROWS if row["type"] == "BUY_NAME")
    rows = await every_row(
        call, "get_cash_flow", "flows", address=bought["seller"], by="counterparty", limit=100
    )
    flow = next(row for row in rows if row["counterparty"] == bought["creatorAddress"])
    assert Decimal(flow["assets"][0]["in"]) >= Decimal(bought["amount"])


async def test_what_is_counted_is_said(call: Call) -> None:
    for tool in ("get_cash_flow", "get_changes"):
        notes = " ".join((await ask(call, tool, address=BOB))["notes"])
        assert "Counted: payments" in notes
        assert "Not counted: minting rewards" in notes


def busy(rows: list[dict[str, Any]], height: int = 100) -> Call:
    return caller(make_server(Node([BusyChain(height, rows)])))


async def test_several_payments_in_one_transaction_are_counted_each() -> None:
    several = payment(
        1,
        5,
        type="MULTI_PAYMENT",
        payments=[
            {"recipient": BOB, "amount": "1.00000001", "assetId": 0},
            {"recipient": CHLOE, "amount": "2.00000000", "assetId": 0},
            {"recipient": ALICE, "amount": "4.00000000", "assetId": 3},
        ],
    )
    del several["recipient"], several["amount"]
    answer = await ask(busy([several]), "get_cash_flow", address=ALICE, by="counterparty")
    assert [each["out"] for each in answer["total"]["assets"]] == ["3.00000001", "4.00000000"]
    assert [each["in"] for each in answer["total"]["assets"]] == ["0.00000000", "4.00000000"]
    assert answer["total"]["fees"] == "0.01000000"
    assert [row["counterparty"] for row in answer["flows"]] == [CHLOE, BOB, ALICE, None]
    assert any("MULTI_PAYMENT" in note for note in answer["notes"])


@pytest.mark.parametrize("status", ["PENDING", "REJECTED", "EXPIRED", "INVALID"])
async def test_what_a_group_did_not_approve_costs_its_fee_alone(status: str) -> None:
    row = payment(7, 5, type="DEPLOY_AT", aTAddress=CONTRACT, approvalStatus=status)
    answer = await ask(busy([row]), "get_cash_flow", address=ALICE)
    assert (answer["total"]["fees"], answer["total"]["assets"][0]["out"]) == ("0.01000000", "0.00000000")
    changes = (await ask(busy([row]), "get_changes"))["changes"]
    assert [(kind["kind"], kind["withoutEffect"]) for kind in changes] == [("contracts", 1)]


async def test_an_account_with_many_transactions_is_summed_in_several_calls() -> None:
    rows = rows_of(20, 900)
    pages = await every_page(busy(rows, 20 * SCAN_STEP), "get_cash_flow", address=ALICE, by="day", limit=100)
    assert len(pages) > 1
    assert [page["complete"] for page in pages] == [False] * (len(pages) - 1) + [True]
    for before, after in itertools.pairwise(pages):
        assert after["range"]["fromHeight"] == before["range"]["toHeight"] + 1
    made = [row for row in rows if row["type"] == "PAYMENT"]
    assert sum(Decimal(page["total"]["assets"][0]["out"]) for page in pages) == sum(
        Decimal(row["amount"]) for row in made
    )
    assert sum(Decimal(page["total"]["fees"]) for page in pages) == Decimal("0.01") * len(rows)


async def test_what_changed_for_an_account_is_its_cash_flow_and_its_counts(call: Call) -> None:
    answer = await ask(call, "get_changes", address="@Bob")
    assets, fees = flows_of(BOB)
    assert (read(answer["assets"]), Decimal(answer["fees"])) == ({0: [Decimal(0)] * 2, **assets}, fees)
    assert answer["feesUnit"] == "QORT"
    listed = await every_row(call, "search_transactions", "transactions", address=BOB, limit=100)
    assert answer["transactions"] + answer["payouts"] == len(listed)
    assert answer["payouts"] == sum(row["type"] == "AT" for row in listed)
    types = {name: count for kind in answer["changes"] for name, count in kind["types"].items()}
    assert types == Counter(row["type"] for row in listed)


@pytest.mark.promise(
    "Tools and their results", "What changed since yesterday, on the chain or for an account, takes one call."
)
async def test_what_changed_on_the_chain(call: Call) -> None:
    answer = await ask(call, "get_changes")
    assert (answer["address"], answer["blocks"]) == (None, 596)
    assert answer["transactions"] + answer["payouts"] == len(ROWS)
    assert answer["payouts"] == sum(row["type"] == "AT" for row in ROWS)
    assert Decimal(answer["fees"]) == sum(Decimal(row["fee"]) for row in ROWS)
    assert "assets" not in answer
    types = {name: count for kind in answer["changes"] for name, count in kind["types"].items()}
    assert types == Counter(row["type"] for row in ROWS)
    assert all(kind["count"] == sum(kind["types"].values()) for kind in answer["changes"])
    assert all(0 < len(kind["newest"]) <= min(3, kind["count"]) for kind in answer["changes"])


def sums_of(rows: list[dict[str, Any]]) -> tuple[int, Decimal, Decimal]:
    return (
        len(rows),
        sum((Decimal(row["qortAmount"]) for row in rows), Decimal(0)),
        sum((Decimal(row["foreignAmount"]) for row in rows), Decimal(0)),
    )


async def test_trades_on_the_chain_are_added_up_for_each_coin(call: Call) -> None:
    answer = await ask(call, "get_changes")
    found = {
        row["foreignCurrency"]: (row["trades"], Decimal(row["qort"]), Decimal(row["foreign"]))
        for row in answer["trades"]
    }
    recorded = sample_chain()["tradesByChain"]
    assert found == {coin: sums_of(rows) for coin, rows in recorded.items() if rows}
    assert all("side" not in row for row in answer["trades"])


@pytest.mark.parametrize("account", [ALICE, BOB, CHLOE])
async def test_trades_of_an_account_are_those_of_its_ledger(call: Call, account: str) -> None:
    answer = await ask(call, "get_changes", address=account)
    ledger = await every_row(call, "get_trade_ledger", "trades", account=account, limit=100)
    found = {
        (row["foreignCurrency"], row["side"]): (row["trades"], Decimal(row["qort"]), Decimal(row["foreign"]))
        for row in answer["trades"]
    }
    keys = {(row["foreignCurrency"], row["side"]) for row in ledger}
    assert found == {
        key: sums_of([row for row in ledger if (row["foreignCurrency"], row["side"]) == key]) for key in keys
    }


async def test_more_trades_than_one_call_counts_are_noted() -> None:
    market = Market([("LitecoinACCTv3", DONE)] * 450 + [("RavencoinACCTv3", DONE)] * 30)
    answer = await ask(caller(make_server(Node([market]))), "get_changes", since="2w")
    assert [(row["foreignCurrency"], row["trades"], row.get("complete")) for row in answer["trades"]] == [
        ("LITECOIN", 400, False),
        ("RAVENCOIN", 30, None),
    ]
    assert [note for note in answer["notes"] if "more than" in note] == [
        "There were more than 400 trades for LITECOIN: only the oldest 400 are counted here. get_price_history counts all."
    ]
    assert (
        len([target for target in market.asked if target.startswith("/crosschain/trades")]) <= TRADE_REQUESTS
    )


async def test_trades_outside_the_time_are_left_out(call: Call) -> None:
    rows = [row for trades in sample_chain()["tradesByChain"].values() for row in trades]
    middle = sorted(row["tradeTimestamp"] for row in rows)[len(rows) // 2]
    early = await ask(call, "get_changes", since="24h", until=str(middle))
    late = await ask(call, "get_changes", since=str(middle - 1))
    assert sum(row["trades"] for row in early["trades"]) == sum(
        row["tradeTimestamp"] < middle for row in rows
    )
    assert sum(row["trades"] for row in (*early["trades"], *late["trades"])) == len(rows)


async def test_the_call_that_lists_a_kind_begins_with_its_newest(call: Call) -> None:
    answer = await ask(call, "get_changes", since="2h")
    for kind in answer["changes"]:
        listing = {**answer["listing"]["arguments"], "types": list(kind["types"])}
        rows = await every_row(call, answer["listing"]["tool"], "transactions", **listing, limit=100)
        assert len(rows) == kind["count"]
        assert {each["signature"] for each in kind["newest"]} <= {row["signature"] for row in rows}


@pytest.mark.parametrize("arguments", [{}, {"address": BOB}, {"address": ALICE}, {"since": "10h"}], ids=str)
async def test_what_changed_fits_a_page(call: Call, arguments: dict[str, Any]) -> None:
    result = await call("get_changes", **arguments)
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024 + 1024


async def test_texts_of_strangers_are_shown_clean_and_short() -> None:
    rows = [
        payment(1, 5, type="REGISTER_NAME", name="\u202egpj.exe" + "x" * 3000),
        payment(2, 5, type="CREATE_POLL", pollName="\x1b[31mred"),
        payment(3, 5, type="ARBITRARY", service=200, name="a\u200bb", identifier="y" * 500),
    ]
    answer = await ask(busy(rows), "get_changes")
    subjects = [kind["newest"][0]["subject"] for kind in answer["changes"]]
    assert all(len(subject) < 250 and subject.isprintable() for subject in subjects)
    assert "\\u{202E}" in subjects[0]


async def test_a_node_cannot_make_an_answer_long() -> None:
    rows = [
        payment(number, 5, type=f"KIND{number}" * 30, creatorAddress="Q" * 3000, assetId=number)
        for number in range(2000)
    ]

    class Hostile(BusyChain):
        def _search(self, wanted: dict[str, str], target: str) -> list[dict[str, Any]]:
            offset = int(wanted["offset"])
            return self.rows[offset : offset + 100]

    call = caller(make_server(Node([Hostile(100, rows)])))
    for tool, arguments in (
        ("get_changes", {}),
        ("get_changes", {"address": ALICE}),
        ("get_chain_activity", {}),
    ):
        result = await call(tool, **arguments)
        assert len(result["content"][0]["text"]) < 64 * 1024


async def test_assets_that_strangers_sent_do_not_crowd_out_an_answer() -> None:
    sent = [
        payment(number, 5, type="TRANSFER_ASSET", assetId=number, assetName="z" * 3000)
        for number in range(1, 2000)
    ]
    own = payment(5000, 6, type="TRANSFER_ASSET", assetId=1900, creatorAddress=BOB, recipient=ALICE)
    for tool in ("get_cash_flow", "get_changes"):
        answer = await ask(busy([*sent, own]), tool, address=BOB)
        assets = answer.get("total", answer)["assets"]
        assert [asset["assetId"] for asset in assets[:3]] == [0, 1900, 1]
        assert len(assets) == 20
        assert all(len(asset["unit"]) < 100 for asset in assets)
        assert "1980 more assets moved; 20 are shown." in answer["notes"]
        assert len(json.dumps(answer)) < 12_000


def on_day(row: dict[str, Any], day: int) -> bool:
    blocks = (time_of(row["blockHeight"]) - GENESIS_MS) // DAY_MS
    return blocks == day


@pytest.mark.promise(
    "Data of the chain", "Activity of the chain per day is exact; a day without transactions has a row too."
)
async def test_the_activity_of_each_day_is_exact() -> None:
    rows = [
        payment(
            number,
            1 + number * 7,
            creatorAddress=f"Q{number % 23}",
            type="AT" if number % 5 == 0 else "PAYMENT",
        )
        for number in range(600)
    ]
    call = busy(rows, 5 * 1440 + 300)
    answer = await ask(call, "get_chain_activity", since="30d")
    assert (answer["complete"], answer["feesUnit"]) == (True, "QORT")
    days = answer["activity"]
    assert [day["begins"][:10] for day in days] == [f"2026-09-{28 + day}" for day in range(3)] + [
        f"2026-10-0{day}" for day in (1, 2, 3)
    ]
    for number, day in enumerate(days):
        same = [row for row in rows if on_day(row, number)]
        made = [row for row in same if row["type"] != "AT"]
        assert (day["transactions"], day["payouts"]) == (len(made), len(same) - len(made))
        assert Decimal(day["fees"]) == Decimal("0.01") * len(same)
        assert day["activeAccounts"] == len({row["creatorAddress"] for row in made})
        assert day["blocks"] == (1440 if number < 5 else 300)
        assert day["toHeight"] - day["fromHeight"] + 1 == day["blocks"]
    assert (days[4]["transactions"], days[4]["fees"]) == (0, "0.00000000")
    assert answer["total"]["blocks"] == 5 * 1440 + 300
    assert answer["total"]["activeAccounts"] == len(
        {row["creatorAddress"] for row in rows if row["type"] != "AT"}
    )


@pytest.mark.parametrize(("by", "rows"), [("hour", 48), ("day", 2), ("week", 1)])
async def test_activity_is_shown_by_hour_day_or_week(by: str, rows: int) -> None:
    call = busy(rows_of(2, 200), 2 * 1440)
    pages = await every_page(call, "get_chain_activity", by=by)
    found = [row for page in pages for row in page["activity"]]
    assert len(found) == rows
    assert found[0]["begins"] == "2026-09-28T00:00:00.000Z"
    assert sum(row["transactions"] + row["payouts"] for row in found) == 400
    assert sum(row["blocks"] for row in found) == 2 * 1440


async def test_a_long_time_is_reported_in_several_calls_of_whole_days() -> None:
    rows = rows_of(36, 600)
    call = busy(rows, 36 * 1440)
    pages = await every_page(call, "get_chain_activity", since="60d")
    assert len(pages) > 1
    found = [row for page in pages for row in page["activity"]]
    assert len({row["begins"] for row in found}) == len(found) == 36
    assert sum(row["transactions"] + row["payouts"] for row in found) == 36 * 600
    assert [row["blocks"] for row in found] == [1440] * 36
    assert [page["complete"] for page in pages] == [False] * (len(pages) - 1) + [True]


async def test_a_day_with_more_than_one_call_reads_has_several_rows() -> None:
    rows = rows_of(1, 17_000)
    pages = await every_page(busy(rows, 1440), "get_chain_activity")
    found = [row for page in pages for row in page["activity"]]
    assert len(found) == len(pages) == 2
    assert any("the next call has the rest" in note for note in pages[0]["notes"])
    assert sum(row["transactions"] + row["payouts"] for row in found) == 17_000
    assert [row["blocks"] for row in found] == [row["toHeight"] - row["fromHeight"] + 1 for row in found]
    assert sum(row["blocks"] for row in found) == 1440


@pytest.mark.parametrize("tool", ["get_changes", "get_chain_activity", "get_cash_flow"])
async def test_a_call_makes_at_most_two_hundred_requests(tool: str) -> None:
    chain = BusyChain(40 * 1440, rows_of(40, 480))
    arguments = {"address": "@Bob"} if tool == "get_cash_flow" else {}
    result = await caller(make_server(Node([chain])))(tool, since="60d", **arguments)
    assert result["structuredContent"]["complete"] is False
    assert len(chain.asked) <= 200


@pytest.mark.parametrize("tool", ["get_changes", "get_chain_activity", "get_cash_flow"])
async def test_a_time_without_blocks_has_no_sums(call: Call, tool: str) -> None:
    arguments = {"address": BOB} if tool == "get_cash_flow" else {}
    answer = await ask(call, tool, since="2027-01-01", **arguments)
    assert answer["complete"] is True
    assert (answer["range"]["fromHeight"], answer["range"]["toHeight"]) == (None, None)
    assert answer.get("total", answer)["transactions"] == 0
    assert "next" not in answer["page"]


def test_every_kind_of_transaction_has_one_place() -> None:
    from qortal_mcp.qortal.tools.activity.kinds import KINDS

    listed = [name for kinds in KINDS.values() for name in kinds]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(TRANSACTION_TYPES)


BLOCKS = {block["height"]: block["timestamp"] for block in sample_chain()["blocks"]}


@pytest.mark.promise("Tools and their results", "Where heights are taken, times are.")
@pytest.mark.parametrize("limit", [7, 100])
async def test_transactions_are_found_by_time_as_by_height(call: Call, limit: int) -> None:
    by_time = await every_row(
        call,
        "search_transactions",
        "transactions",
        since=str(BLOCKS[200]),
        until=str(BLOCKS[320]),
        limit=limit,
    )
    assert sorted(row["signature"] for row in by_time) == sorted(
        row["signature"] for row in ROWS if 200 < row["blockHeight"] < 320
    )


async def test_transactions_of_a_creator_are_found_by_time(call: Call) -> None:
    rows = await every_row(
        call, "search_transactions", "transactions", creator=BOB, since="1h", types=["PAYMENT"]
    )
    first = min(height for height, time in BLOCKS.items() if time > BLOCKS[596] - 3_600_000)
    assert sorted(row["signature"] for row in rows) == sorted(
        row["signature"]
        for row in ROWS
        if (row["type"], row["creatorAddress"]) == ("PAYMENT", BOB) and row["blockHeight"] >= first
    )


async def test_payments_are_found_by_time(call: Call) -> None:
    rows = await every_row(
        call, "find_payments", "payments", sender=BOB, since=str(BLOCKS[300]), until=str(BLOCKS[590]), limit=2
    )
    assert sorted(row["signature"] for row in rows) == sorted(
        row["signature"]
        for row in ROWS
        if (row["type"], row["creatorAddress"]) == ("PAYMENT", BOB) and 300 < row["blockHeight"] < 590
    )


@pytest.mark.parametrize("newest_first", [True, False])
async def test_blocks_are_listed_by_time(call: Call, newest_first: bool) -> None:
    rows = await every_row(
        call,
        "list_blocks",
        "blocks",
        since=str(BLOCKS[100]),
        until=str(BLOCKS[140]),
        newest_first=newest_first,
        limit=15,
    )
    heights = list(range(101, 140))
    assert [row["height"] for row in rows] == (heights[::-1] if newest_first else heights)


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("search_transactions", {"since": "1d", "from_height": 5}, "or from_height, not both."),
        (
            "search_transactions",
            {"until": "1d", "from_height": 5, "heights": 6},
            "or from_height and heights, not both.",
        ),
        ("search_transactions", {"since": "1d", "block": "5"}, "or block, not both."),
        (
            "search_transactions",
            {"since": "1d", "status": "UNCONFIRMED"},
            "Only confirmed transactions can be searched by time.",
        ),
        ("find_payments", {"sender": BOB, "since": "1d", "from_height": 5}, "or from_height, not both."),
        (
            "find_payments",
            {"sender": BOB, "since": "1d", "status": "BOTH"},
            "Only confirmed payments can be searched by time.",
        ),
        ("list_blocks", {"since": "1d", "from_height": 5}, "or from_height, not both."),
        ("list_blocks", {"since": "1d", "signer": ALICE}, "since, until and newest_first."),
    ],
)
async def test_times_and_heights_do_not_mix(
    call: Call, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    result = await call(tool, **arguments)
    assert code_of(result) == "INVALID_ARGUMENT"
    assert result["content"][0]["text"].endswith(sentence)


@pytest.mark.parametrize(
    ("tool", "noun", "arguments"),
    [
        ("search_transactions", "transactions", {}),
        ("find_payments", "payments", {"sender": BOB}),
        ("list_blocks", "blocks", {}),
    ],
)
async def test_a_time_without_blocks_has_no_rows(
    call: Call, tool: str, noun: str, arguments: dict[str, Any]
) -> None:
    for times in ({"since": "2027-01-01"}, {"until": "2020-01-01"}):
        answer = await ask(call, tool, **arguments, **times)
        assert answer[noun] == []
        assert "There is no block in this time." in answer["notes"]
