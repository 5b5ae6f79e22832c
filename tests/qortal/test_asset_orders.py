"""Orders of an account on the asset market: open, filled and cancelled ones, to the last row."""

from decimal import Decimal
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import select
from qortal_mcp.qortal.words.base58 import encode
from qortal_mcp.server.dispatch import Server

from .changed_chain import ChangedChain, asking
from .conftest import Call
from .outcomes import answer_of, code_of
from .pages import every_row
from .world import BOB, CHLOE, NOBODY, WRONG_CHECKSUM

ORDERS: dict[str, list[dict[str, Any]]] = sample_chain()["orders"]
STATES = ["open", "filled", "cancelled"]


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="assets")


def state_of(row: dict[str, Any]) -> str:
    return "filled" if row["isFulfilled"] else "cancelled" if row["isClosed"] else "open"


def order(number: int, **others: Any) -> dict[str, Any]:
    return {
        **ORDERS[BOB][0],
        "orderId": encode(b"\x07" + number.to_bytes(63, "big")),
        "timestamp": 1794770000000 + number // 3,
        **others,
    }


def test_the_tool_is_off_unless_asked_for() -> None:
    assert "assets" not in select()


@pytest.mark.promise(
    "Data of the chain",
    "An account's orders for assets are listed by state: open, filled, cancelled, or all.",
)
@pytest.mark.parametrize("limit", [1, 2, 7, 100])
@pytest.mark.parametrize("address", ORDERS)
async def test_every_order_is_listed_once_in_its_state(call: Call, address: str, limit: int) -> None:
    every = await every_row(call, "list_asset_orders", "orders", address=address, status="all", limit=limit)
    assert {row["orderId"] for row in every} == {row["orderId"] for row in ORDERS[address]}
    assert len(every) == len(ORDERS[address])
    times = [row["timestamp"] for row in every]
    assert times == sorted(times, reverse=True)
    for state in STATES:
        rows = await every_row(
            call, "list_asset_orders", "orders", address=address, status=state, limit=limit
        )
        assert [row["orderId"] for row in rows] == [row["orderId"] for row in every if row["status"] == state]
        assert {row["orderId"] for row in rows} == {
            row["orderId"] for row in ORDERS[address] if state_of(row) == state
        }


def test_the_sample_has_orders_in_every_state() -> None:
    assert {state_of(row) for rows in ORDERS.values() for row in rows} == set(STATES)


async def test_open_orders_are_meant_if_nothing_is_said(call: Call) -> None:
    rows = (await answer_of(call, "list_asset_orders", address="@Bob"))["orders"]
    assert {row["status"] for row in rows} == {"open"}


@pytest.mark.parametrize("address", ORDERS)
async def test_amounts_are_exact_and_a_price_names_its_pair(call: Call, address: str) -> None:
    raw = {row["orderId"]: row for row in ORDERS[address]}
    for row in await every_row(call, "list_asset_orders", "orders", address=address, status="all"):
        listed = raw[row["orderId"]]
        assert (row["amount"], row["price"]) == (listed["amount"], listed["price"])
        assert Decimal(row["filled"]) == Decimal(listed["fulfilled"])
        assert Decimal(row["unfilled"]) == Decimal(listed["amount"]) - Decimal(listed["fulfilled"])
        assert row["unit"] == listed["amountAssetName"]
        low, high = listed["pricePair"].split("/")
        assert row["priceUnit"] == f"{low} per {high}"
        assert row["side"] == ("sell" if listed["haveAssetName"] == row["unit"] else "buy")


async def test_a_part_that_is_filled_is_exact() -> None:
    part = order(1, amount="0.30000000", fulfilled="0.10000001", isClosed=False, isFulfilled=False)
    async with asking(ChangedChain(orders={BOB: [part]})) as (call, _):
        (row,) = (await answer_of(call, "list_asset_orders", address=BOB))["orders"]
    assert (row["filled"], row["unfilled"], row["status"]) == ("0.10000001", "0.19999999", "open")


@pytest.mark.parametrize("limit", [7, 100])
async def test_many_orders_with_the_same_time_are_reached_once_each(limit: int) -> None:
    flags = [(False, False), (True, True), (True, False), (False, True)]
    rows = [
        order(number, isClosed=flags[number % 4][0], isFulfilled=flags[number % 4][1])
        for number in range(450)
    ]
    async with asking(ChangedChain(orders={BOB: rows})) as (call, _):
        found = await every_row(call, "list_asset_orders", "orders", address=BOB, status="all", limit=limit)
    assert len(found) == 450
    assert {row["orderId"]: row["status"] for row in found} == {row["orderId"]: state_of(row) for row in rows}


async def test_a_default_page_is_small() -> None:
    rows = [
        order(number, isClosed=False, isFulfilled=False, wantAssetName="\u202e" * 40) for number in range(40)
    ]
    async with asking(ChangedChain(orders={BOB: rows})) as (call, _):
        result = await call("list_asset_orders", address=BOB)
        found = await every_row(call, "list_asset_orders", "orders", address=BOB)
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024
    assert "\u202e" not in result["content"][0]["text"]
    assert len(found) == 40


async def test_an_account_that_never_sent_anything_has_no_orders(call: Call) -> None:
    answer = await answer_of(call, "list_asset_orders", address=NOBODY, status="all")
    assert (answer["orders"], answer["page"]) == ([], {"returned": 0})
    assert answer["notes"][0] == "This account has never sent a transaction, so it has no orders."


@pytest.mark.parametrize(
    "arguments", [{"address": WRONG_CHECKSUM}, {"address": CHLOE, "status": "closed"}, {}]
)
async def test_wrong_arguments_are_refused(call: Call, arguments: dict[str, str]) -> None:
    assert code_of(await call("list_asset_orders", **arguments)) == "INVALID_ARGUMENT"


async def test_a_node_that_repeats_itself_without_end_is_not_asked_without_end() -> None:
    rows = [order(number) for number in range(100)]
    async with asking(ChangedChain(), {"/assets/orders/": rows}) as (call, source):
        result = await call("list_asset_orders", address=BOB, status="all", offset=2**31 - 200)
    assert code_of(result) == "TOO_LARGE"
    assert len(source.asked) <= 210
