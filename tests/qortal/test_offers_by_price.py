"""Offers by price, the cheapest ones for an amount of QORT, and those of one account."""

from decimal import ROUND_HALF_UP, Decimal
from itertools import combinations
from typing import Any

import pytest

from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .market import OPEN, Market
from .outcomes import answer_of, code_of, text_of
from .pages import every_page, every_row
from .world import ALICE, BOB

TOOLSETS = "trades"
OFFERS = sample_chain()["tradeOffers"]


@pytest.fixture
def call(node: Node) -> Call:
    return caller(make_server(node, toolsets=TOOLSETS))


def price(row: dict[str, Any]) -> Decimal:
    return Decimal(row["expectedForeign"]) / Decimal(row["offeringQort"])


@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_offers_of_a_chain_come_cheapest_first(call: Call, limit: int) -> None:
    rows = await every_row(call, "list_trade_offers", "offers", chain="LTC", sort="price", limit=limit)
    assert [price(row) for row in rows] == sorted(price(row) for row in rows)
    assert {row["tradeAddress"] for row in rows} == {
        row["qortalAtAddress"] for row in OFFERS if row["foreignBlockchain"] == "LITECOIN"
    }


async def test_offers_of_several_chains_are_compared_within_each_chain_only(call: Call) -> None:
    rows = await every_row(call, "list_trade_offers", "offers", sort="price", limit=4)
    assert len(rows) == len(OFFERS)
    chains = [row["foreignCurrency"] for row in rows]
    for chain in set(chains):
        first, count = chains.index(chain), chains.count(chain)
        assert chains[first : first + count] == [chain] * count
        prices = [price(row) for row in rows[first : first + count]]
        assert prices == sorted(prices)


def least_cost(offers: list[dict[str, Any]], wanted: Decimal) -> Decimal:
    """The cost of the cheapest of all combinations that give enough."""
    return min(
        cost
        for count in range(1, len(offers) + 1)
        for some in combinations(offers, count)
        if sum(Decimal(row["offeringQort"]) for row in some) >= wanted
        for cost in [sum((Decimal(row["expectedForeign"]) for row in some), Decimal(0))]
    )


@pytest.mark.promise(
    "Tools and their results",
    "The cheapest offers for an amount of QORT come with their exact total cost and average price.",
)
@pytest.mark.parametrize("qort", ["0.00000001", "25", "25.00000001", "60", "100.5"])
@pytest.mark.parametrize("limit", [1, 20])
async def test_the_cheapest_offers_for_an_amount_are_added_up(call: Call, qort: str, limit: int) -> None:
    everything = await every_row(call, "list_trade_offers", "offers", chain="LTC", limit=100)
    pages = await every_page(call, "list_trade_offers", chain="LTC", qort=qort, limit=limit)
    taken = [row for page in pages for row in page["offers"]]
    given = sum((Decimal(row["offeringQort"]) for row in taken), Decimal(0))
    cost = sum((Decimal(row["expectedForeign"]) for row in taken), Decimal(0))
    assert given >= Decimal(qort)
    assert cost == least_cost(everything, Decimal(qort))
    for page in pages:
        assert page["purchase"] == {
            "qortWanted": f"{Decimal(qort):.8f}",
            "qort": f"{given:.8f}",
            "isEnough": True,
            "offers": len(taken),
            "totalForeign": f"{cost:.8f}",
            "unit": "LTC",
            "averagePrice": f"{(cost / given).quantize(Decimal('1e-8'), ROUND_HALF_UP):f}",
            "priceUnit": "LTC per QORT",
            "complete": True,
        }
        is_noted = any("only be taken whole" in note for note in page["notes"])
        assert is_noted is (given > Decimal(qort))


async def test_more_qort_than_is_on_offer_takes_every_offer_and_says_so(call: Call) -> None:
    answer = await answer_of(call, "list_trade_offers", chain="LTC", qort="1000000")
    assert len(answer["offers"]) == answer["purchase"]["offers"] == 7
    assert answer["purchase"]["isEnough"] is False


async def test_offers_are_taken_whole_so_one_may_cost_less_than_several_of_a_lower_price(call: Call) -> None:
    everything = await every_row(call, "list_trade_offers", "offers", chain="LTC", limit=100)
    for wanted in range(1, 150, 3):
        answer = await answer_of(call, "list_trade_offers", chain="LTC", qort=str(wanted))
        purchase = answer["purchase"]
        if purchase["isEnough"]:
            assert Decimal(purchase["totalForeign"]) == least_cost(everything, Decimal(wanted))


async def test_the_open_offers_of_an_account_by_address_and_by_name(call: Call) -> None:
    wanted = {row["qortalAtAddress"] for row in OFFERS if row["qortalCreator"] == BOB}
    assert wanted
    by_address = await every_row(call, "list_trade_offers", "offers", creator=BOB, limit=1)
    assert {row["tradeAddress"] for row in by_address} == wanted
    name = sample_chain()["primaryNames"][BOB]["name"]
    by_name = await answer_of(call, "list_trade_offers", creator=f"@{name}")
    assert {row["tradeAddress"] for row in by_name["offers"]} == wanted
    dogecoin = await answer_of(call, "list_trade_offers", creator=ALICE, chain="DOGE", sort="price")
    assert all(row["creator"] == ALICE for row in dogecoin["offers"])


async def test_without_an_amount_there_is_no_purchase(call: Call) -> None:
    assert "purchase" not in await answer_of(call, "list_trade_offers", chain="LTC", sort="price")


async def test_a_market_read_in_part_says_that_cheaper_offers_may_exist() -> None:
    node = Node([Market([("LitecoinACCTv3", OPEN)] * 600)], NodeLimits(call_rows=300))
    call = caller(make_server(node, toolsets=TOOLSETS))
    answer = await answer_of(call, "list_trade_offers", chain="LTC", qort="5")
    await node.close()
    assert answer["purchase"]["complete"] is False
    assert "too large for one call" in answer["notes"][0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"qort": "10"}, "Missing argument chain. Prices in different coins"),
        ({"qort": "0", "chain": "LTC"}, "Invalid qort. It must be more than 0."),
        ({"qort": "-1", "chain": "LTC"}, "Invalid"),
        ({"qort": "1e3", "chain": "LTC"}, "Invalid"),
        ({"qort": "10", "chain": "LTC", "hidden": True}, "Invalid hidden."),
        ({"sort": "cheap"}, "Invalid sort."),
        ({"creator": "bob"}, "Invalid Qortal address."),
    ],
)
async def test_wrong_arguments_are_refused_by_name(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    result = await call("list_trade_offers", **arguments)
    assert (code_of(result), text_of(result).startswith(sentence)) == ("INVALID_ARGUMENT", True)
