"""Names by price, by time and by owner, and filters that combine."""

import time
from decimal import Decimal
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .outcomes import answer_of
from .pages import every_row
from .told_node import ToldNode, fails
from .world import ALICE, BOB

ERIN = "QVD92gWZnvjdT4Y8RksZW414JPpe6XK2bq"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="names")


def on_chain(**wanted: Any) -> list[dict[str, Any]]:
    return [row for row in sample_chain()["names"] if all(row[key] == value for key, value in wanted.items())]


def name(number: int, **more: Any) -> dict[str, Any]:
    return {"name": f"n{number:05d}", "owner": ALICE, "registered": 1, "isForSale": False, **more}


def pages_of(path: str, rows: list[dict[str, Any]]) -> Any:
    """A node that pages one list as Core does."""

    def tell(target: str) -> Any:
        if target.partition("?")[0] != path:
            return None
        first = int(target.partition("offset=")[2].partition("&")[0] or 0)
        kept = rows
        if "after=" in target:
            after = int(target.partition("after=")[2].partition("&")[0])
            kept = [row for row in rows if max(row["registered"], row.get("updated", 0)) > after]
        return kept[first : first + 100]

    return ToldNode(tell)


async def rows_of(source: ToldNode, **arguments: Any) -> list[dict[str, Any]]:
    node = Node([source])
    call = caller(make_server(node, toolsets="names"))
    rows = await every_row(call, "search_names", "names", **arguments)
    await node.close()
    return rows


@pytest.mark.promise("Data of the chain", "Names for sale are listed by their exact price, cheapest first.")
@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_names_for_sale_by_price(limit: int) -> None:
    prices = [f"{number * 7919 % 1013}.{number % 3}000000{number % 10}" for number in range(230)]
    offers = [name(number, isForSale=True, salePrice=price) for number, price in enumerate(prices)]
    rows = await rows_of(pages_of("/names/forsale", offers), sort="price", limit=limit)
    assert [Decimal(row["salePrice"]) for row in rows] == sorted(map(Decimal, prices))
    assert {row["name"] for row in rows} == {offer["name"] for offer in offers}


async def test_price_order_lists_only_names_for_sale(call: Call) -> None:
    by_price = await every_row(call, "search_names", "names", sort="price")
    assert [row["name"] for row in by_price] == ["bob-for-sale", "100%real"]
    assert await every_row(call, "search_names", "names", sort="price", for_sale=True) == by_price
    assert await every_row(call, "search_names", "names", sort="price", reverse=True) == by_price[::-1]


async def test_an_offer_without_a_price_comes_last() -> None:
    offers = [name(1, isForSale=True), name(2, isForSale=True, salePrice="5.00000000")]
    rows = await rows_of(pages_of("/names/forsale", offers), sort="price")
    assert [row["name"] for row in rows] == ["n00002", "n00001"]


@pytest.mark.promise("Data of the chain", "The names of an owner are listed with their sale state and price.")
@pytest.mark.parametrize("owner", [BOB, ERIN, ALICE])
@pytest.mark.parametrize("limit", [1, 4, 100])
async def test_names_of_an_owner_have_their_sale_state(call: Call, owner: str, limit: int) -> None:
    rows = await every_row(call, "search_names", "names", owner=owner, limit=limit)
    expected = {
        row["name"]: (row["isForSale"], row.get("salePrice") if row["isForSale"] else None)
        for row in on_chain(owner=owner)
    }
    names = [row["name"] for row in sample_chain()["namesByAddress"][owner]]
    assert [row["name"] for row in rows] == names
    assert {row["name"]: (row["isForSale"], row.get("salePrice")) for row in rows} == expected
    assert all(row["registeredTime"] for row in rows)
    newest = await every_row(call, "search_names", "names", owner=owner, sort="newest", limit=limit)
    assert [row["name"] for row in newest] == names[::-1]


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(fails(401), id="unknown"),
        pytest.param(name(1), id="another-name"),
        pytest.param({**name(1), "name": "Bob"}, id="sold-meanwhile"),
    ],
)
async def test_a_name_that_cannot_be_looked_up_is_still_listed(said: Any) -> None:
    rows = await rows_of(ToldNode(lambda target: said if target == "/names/Bob" else None), owner=BOB)
    assert rows[0] == {"name": "Bob", "owner": BOB}
    assert len(rows) == 6


@pytest.mark.parametrize("odd", ["a/b", "..", "x" * 300, "search", "%" * 20])
async def test_odd_names_of_an_owner_stay_within_the_bound_of_requests(odd: str) -> None:
    owned = [{"name": f"{odd}", "owner": ALICE} for _ in range(100)]

    def tell(target: str) -> Any:
        if target.startswith("/names/address/"):
            return owned if "offset=0" in target else []
        return [name(n) for n in range(100)] if target.startswith("/names/search") else None

    source = ToldNode(tell)
    rows = await rows_of(source, owner=ALICE, limit=100)
    assert rows == [{"name": odd, "owner": ALICE}] * 100
    assert len(source.asked) <= 200


@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_filters_combine(call: Call, limit: int) -> None:
    async def names(**arguments: Any) -> list[str]:
        return [
            row["name"] for row in await every_row(call, "search_names", "names", limit=limit, **arguments)
        ]

    assert await names(owner=BOB, for_sale=True) == ["100%real", "bob-for-sale"]
    assert await names(owner=ALICE, for_sale=True) == []
    assert await names(query="BOB", for_sale=True) == ["bob-for-sale"]
    assert await names(query="b", prefix=True, owner=BOB) == [
        row["name"] for row in on_chain(owner=BOB) if row["name"].lower().startswith("b")
    ]
    assert await names(query="%real", owner=BOB, sort="price") == ["100%real"]
    since = on_chain(name="bob-for-sale")[0]["registered"] - 1
    assert await names(owner=BOB, for_sale=True, since=str(since)) == ["bob-for-sale"]
    first_page = on_chain(name="page-01")[0]["registered"]
    assert await names(query="page", since=str(first_page)) == [f"page-{n:02d}" for n in range(20, 1, -1)]


@pytest.mark.promise(
    "Data of the chain", "Names registered since a time are told apart from names changed since."
)
@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_names_registered_since_a_time(call: Call, limit: int) -> None:
    changed = next(row for row in sample_chain()["names"] if row.get("updated"))
    since = changed["registered"]
    rows = await every_row(call, "search_names", "names", since=str(since), limit=limit)
    wanted = [row for row in sample_chain()["names"] if row["registered"] > since]
    wanted.sort(key=lambda row: (-row["registered"], row["name"]))
    assert [row["name"] for row in rows] == [row["name"] for row in wanted]
    assert changed["name"] not in {row["name"] for row in rows}


async def test_a_time_ago_stays_the_same_on_every_page(call: Call) -> None:
    answer = await answer_of(call, "search_names", since="1d", limit=1)
    assert answer["page"]["next"]["since"] == "2026-11-14T21:05:45.315Z"


@pytest.mark.parametrize("limit", [1, 7, 100])
async def test_the_newest_names_first(call: Call, limit: int) -> None:
    rows = await every_row(call, "search_names", "names", sort="newest", limit=limit)
    times = [row["registered"] for row in sample_chain()["names"]]
    assert [row["registered"] for row in rows] == sorted(times, reverse=True)
    assert (
        await every_row(call, "search_names", "names", sort="newest", reverse=True, limit=limit) == rows[::-1]
    )


async def test_the_newest_of_years_of_names_are_found_among_the_recent_ones() -> None:
    day, count = 86_400_000, 1500
    newest = int(time.time() * 1000)
    names = [name(n, registered=newest - (n * 7919 % count) * day, updated=newest) for n in range(count)]
    recent = [{key: value for key, value in row.items() if key != "updated"} for row in names]
    for rows in (names, recent):
        found = await rows_of(pages_of("/names", rows), sort="newest", limit=100)
        assert [row["registered"] for row in found] == [newest - n * day for n in range(count)]
    source = pages_of("/names", recent)
    node = Node([source])
    await answer_of(caller(make_server(node, toolsets="names")), "search_names", sort="newest", limit=20)
    await node.close()
    assert len([target for target in source.asked if target.startswith("/names")]) <= 1


async def test_names_without_end_are_read_up_to_a_bound_and_noted() -> None:
    def tell(target: str) -> Any:
        if not target.startswith("/names?"):
            return None
        first = int(target.partition("offset=")[2].partition("&")[0])
        return [name(number) for number in range(first, first + 100)]

    for arguments in ({"sort": "newest"}, {"since": "1d"}, {"since": "1d", "owner": BOB}):
        source = ToldNode(tell)
        node = Node([source])
        answer = await answer_of(caller(make_server(node, toolsets="names")), "search_names", **arguments)
        await node.close()
        assert answer["notes"][0].startswith("Only the first ")
        assert len(source.asked) <= 200
