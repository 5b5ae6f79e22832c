"""Assets, their holders and markets, as a client sees them."""

import json
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import Chain, sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import select
from qortal_mcp.qortal.words.amounts import units, written
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller, request
from .faulty_node import FaultyNode, replies
from .test_tools import AS_OF, SAMPLE, answer_of, definition_of, error_of, follow
from .world import ALICE, BOB, NOBODY, WRONG_CHECKSUM

TICKET = 5


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="assets")


@pytest.mark.parametrize("limit", [1, 3, 7, 100])
@pytest.mark.parametrize("reverse", [False, True])
async def test_following_pages_reaches_every_asset_once(call: Call, limit: int, reverse: bool) -> None:
    rows = await follow(call, "list_assets", "assets", limit=limit, reverse=reverse)
    ids = [row["assetId"] for row in rows]
    assert ids == sorted(range(7), reverse=reverse)


async def test_quantities_are_units_of_the_asset_and_exact(call: Call) -> None:
    rows = (await answer_of(call, "list_assets"))["assets"]
    assert {row["name"]: row["quantity"] for row in rows[3:]} == {
        "GOLD": "1000000.00000000",
        "BADGE": "10.00000000",
        "TICKET": "500.00000000",
        "Silver 🥈": "9000000000.00000000",
    }


async def test_data_of_all_assets_is_not_listed(call: Call) -> None:
    listing = await answer_of(call, "list_assets", include_data=True)
    assert all("data" not in row for row in listing["assets"])
    assert listing["notes"][0] == "Data is not listed; get_asset returns the data of one asset."


@pytest.mark.parametrize("asset", ["GOLD", "3", 3, " GOLD "])
async def test_an_asset_has_an_id_and_a_name(call: Call, asset: Any) -> None:
    found = await answer_of(call, "get_asset", asset=asset)
    assert (found["assetId"], found["name"], found["owner"]) == (3, "GOLD", ALICE)
    assert found["data"] == '{"unit":"g"}'


@pytest.mark.parametrize("asset", ["gold", "G0LD", "NOPE", "9999", 77])
async def test_names_of_assets_are_exact(call: Call, asset: Any) -> None:
    assert await error_of(call, "get_asset", asset=asset) == ("NOT_FOUND", "Asset not found.")


async def test_an_asset_named_like_a_number_is_found() -> None:
    row = {**sample_chain()["assetInfo"]["3"], "assetId": 12, "name": "2024"}

    class Odd(Elsewhere):
        async def fetch(self, request: Request) -> RawReply:
            if request.target == "/assets/info?assetName=2024":
                return RawReply(200, "application/json", json.dumps(row).encode())
            return answer(request.target)

    node = Node([Odd()])
    found = await answer_of(caller(make_server(node, toolsets="assets")), "get_asset", asset="2024")
    await node.close()
    assert found["assetId"] == 12


async def test_what_strangers_wrote_about_assets_is_shown_as_data() -> None:
    row = {
        "assetId": 3,
        "name": "G\u200bOLD",
        "owner": ALICE,
        "description": "\u202e" + "x" * 5000,
        "quantity": 1,
    }
    async with FaultyNode() as hostile:
        hostile.behaviours["/assets"] = replies(json.dumps([row]))
        hostile.behaviours["/assets/info"] = replies(json.dumps({**row, "data": "\x1b[31m" + "y" * 9000}))
        node = Node.at([hostile.url])
        call = caller(make_server(node, toolsets="assets"))
        listed = (await answer_of(call, "list_assets"))["assets"][0]
        single = await answer_of(call, "get_asset", asset=3)
        await node.close()
    assert listed["name"] == "G\\u{200B}OLD"
    assert listed["quantity"] == "0.00000001"
    assert listed["description"].startswith("\\u{202E}xxx")
    assert listed["description"].endswith(" more characters]")
    assert len(listed["description"]) < 200
    assert single["data"].startswith("\\u{001B}[31myyy")
    assert single["data"].endswith("y… [5005 more characters]")
    assert len(single["description"]) > 4000


async def test_the_rich_list_begins_with_the_richest(call: Call) -> None:
    holders = await follow(call, "list_holders", "holders", asset=0, limit=7)
    whole = [row for row in sample_chain()["balances"] if row["assetId"] == 0 and units(row["balance"])]
    assert len(holders) == len({row["address"] for row in holders}) == len(whole)
    balances = [units(row["balance"]) for row in holders]
    assert balances == sorted(balances, reverse=True)
    assert holders[0] == {"address": ALICE, "assetId": 0, "assetName": "QORT", "balance": "1001427.50833805"}


async def test_holders_are_found_by_asset_name_and_by_address(call: Call) -> None:
    gold = (await answer_of(call, "list_holders", asset="GOLD", addresses=[ALICE, BOB]))["holders"]
    assert [(row["address"], row["assetName"]) for row in gold] == [(ALICE, "GOLD"), (BOB, "GOLD")]
    held = (await answer_of(call, "list_holders", addresses=[ALICE]))["holders"]
    assert {row["assetId"] for row in held} >= {0, 3}
    assert (await answer_of(call, "list_holders", addresses=[NOBODY]))["holders"] == []


async def test_an_order_book_is_told_from_one_side(call: Call) -> None:
    orders = (await answer_of(call, "get_order_book", asset="GOLD", limit=100))["orders"]
    sells = [row for row in orders if row["side"] == "sell"]
    buys = [row for row in orders if row["side"] == "buy"]
    assert orders[0] == {
        "side": "sell",
        "price": "2.00000000",
        "priceUnit": "QORT per GOLD",
        "amount": "4.00000000",
        "unit": "GOLD",
    }
    assert orders[1] == {
        "side": "buy",
        "price": "1.50000000",
        "priceUnit": "QORT per GOLD",
        "amount": "4.00000000",
        "unit": "GOLD",
    }
    assert [units(row["price"]) for row in sells] == sorted(units(row["price"]) for row in sells)
    assert [units(row["price"]) for row in buys] == sorted((units(r["price"]) for r in buys), reverse=True)
    assert (len(sells), len(buys)) == (8, 8)


async def test_a_pair_has_no_direction(call: Call) -> None:
    for tool in ("get_order_book", "list_asset_trades"):
        one = await answer_of(call, tool, asset="GOLD", other="TICKET")
        other = await answer_of(call, tool, asset=TICKET, other=3)
        noun = "orders" if tool == "get_order_book" else "trades"
        assert one[noun] == other[noun]
        assert one[noun][0]["priceUnit"] == "GOLD per TICKET"


async def test_trades_of_both_directions_are_merged_newest_first(call: Call) -> None:
    trades = (await answer_of(call, "list_asset_trades", asset="GOLD"))["trades"]
    assert len(trades) == 15
    times = [row["timestamp"] for row in trades]
    assert times == sorted(times, reverse=True)
    assert trades[0] == {
        "timestamp": 1794776375894,
        "time": "2026-11-15T20:59:35.894Z",
        "side": "sell",
        "amount": "12.50000000",
        "unit": "GOLD",
        "total": "23.75000000",
        "totalUnit": "QORT",
        "price": "1.90000000",
        "priceUnit": "QORT per GOLD",
        "seller": ALICE,
        "buyer": "Qa7AN7PAhrDcNakiZyJdd1tuQUDK7NEeLB",
    }
    bought = next(row for row in trades if row["side"] == "buy")
    assert units(bought["total"]) * 10**8 == units(bought["amount"]) * units(bought["price"])


@pytest.mark.parametrize("limit", [1, 4, 15, 16, 100])
@pytest.mark.parametrize(
    ("tool", "noun", "pair"),
    [
        ("get_order_book", "orders", {"asset": "GOLD"}),
        ("get_order_book", "orders", {"asset": "TICKET", "other": "GOLD"}),
        ("list_asset_trades", "trades", {"asset": "GOLD"}),
        ("list_asset_trades", "trades", {"asset": "TICKET", "other": "GOLD"}),
        ("list_asset_trades", "trades", {"asset": "BADGE"}),
    ],
)
async def test_following_pages_reaches_the_whole_market(
    call: Call, tool: str, noun: str, pair: dict[str, Any], limit: int
) -> None:
    everything = (await answer_of(call, tool, **pair, limit=100))[noun]
    assert await follow(call, tool, noun, **pair, limit=limit) == everything


class Elsewhere:
    """A source of one's own."""

    origin = "elsewhere"

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


class BusyMarket(Elsewhere):
    """GOLD and QORT with as many orders and trades as wanted, many at one moment."""

    def __init__(self, sells: int, buys: int) -> None:
        families = {name: sample_chain()[name] for name in ("node", "blocks", "assets", "assetInfo")}
        orders = [order(number, 3, 0, 1000 + number) for number in range(sells)]
        orders += [order(sells + number, 0, 3, 999 - number) for number in range(buys)]
        trades = {
            "3/0": [trade(number, 3, 0) for number in range(sells)],
            "0/3": [trade(sells + number, 0, 3) for number in range(buys)],
        }
        self._chain = Chain(
            msgspec.json.encode({**families, "orders": {ALICE: orders}, "assetTrades": trades})
        )

    async def fetch(self, request: Request) -> RawReply:
        return answer(request.target, self._chain)


def order(number: int, have: int, want: int, price: int) -> dict[str, Any]:
    return {
        "orderId": f"order{number}",
        "haveAssetId": have,
        "wantAssetId": want,
        "amount": written(number + 1),
        "price": written(price),
        "fulfilled": written(0),
        "timestamp": 1794770000000 + number,
        "isClosed": False,
        "isFulfilled": False,
        "creator": ALICE,
        "amountAssetId": 3,
        "amountAssetName": "GOLD",
        "pricePair": "QORT/GOLD",
    }


def trade(number: int, have: int, want: int) -> dict[str, Any]:
    return {
        "trade": {
            "initiatingOrderId": f"order{number}",
            "targetOrderId": "waiting",
            "initiatorAmount": written(number + 1),
            "targetAmount": written(number + 1),
            "timestamp": 1794770000000 + number // 7,
        },
        "initiatingOrder": order(number, have, want, 1),
        "targetOrder": order(number, want, have, 1),
    }


@pytest.mark.parametrize(("sells", "buys"), [(250, 3), (0, 201), (130, 130), (100, 0)])
@pytest.mark.parametrize(("tool", "noun"), [("get_order_book", "orders"), ("list_asset_trades", "trades")])
@pytest.mark.parametrize("limit", [37, 100])
async def test_pages_reach_the_end_of_any_market(
    sells: int, buys: int, tool: str, noun: str, limit: int
) -> None:
    node = Node([BusyMarket(sells, buys)])
    rows = await follow(caller(make_server(node, toolsets="assets")), tool, noun, asset="GOLD", limit=limit)
    await node.close()
    # Amounts tell the rows apart.
    assert sorted(units(row["amount"]) for row in rows) == list(range(1, sells + buys + 1))
    if noun == "trades":
        times = [row["timestamp"] for row in rows]
        assert times == sorted(times, reverse=True)


BAD_CALLS: list[Any] = [
    ("get_asset", {}, "Missing argument asset."),
    ("get_asset", {"asset": ""}, "Invalid asset."),
    ("get_asset", {"asset": "x" * 41}, "Invalid asset."),
    ("get_asset", {"asset": 1.5}, "Invalid asset."),
    ("get_asset", {"asset_id": 3, "asset_name": "GOLD"}, "Invalid asset."),
    ("list_holders", {}, "Invalid arguments. Give at least one of asset and addresses."),
    ("list_holders", {"asset": 0, "asset_ids": [1]}, "Invalid asset_ids."),
    ("list_holders", {"addresses": []}, "Invalid Qortal address."),
    ("list_holders", {"addresses": [WRONG_CHECKSUM]}, "Invalid Qortal address."),
    ("list_holders", {"addresses": [ALICE] * 21}, "Invalid Qortal address."),
    ("list_holders", {"asset": 0, "ordering": "RICHEST"}, "Invalid ordering."),
    ("get_order_book", {}, "Missing argument asset."),
    ("list_assets", {"limit": 0}, "Invalid limit."),
    ("list_assets", {"includeEverything": True}, "Unknown argument includeEverything."),
]


@pytest.mark.parametrize(("tool", "arguments", "sentence"), BAD_CALLS)
async def test_bad_arguments_never_reach_the_node(
    tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        code, text = await error_of(caller(make_server(node, toolsets="assets")), tool, **arguments)
        await node.close()
    assert code == "INVALID_ARGUMENT"
    assert text.startswith(sentence)
    assert watched.asked == []


@pytest.mark.parametrize("pair", [{"asset": "GOLD", "other": "3"}, {"asset": "0"}, {"asset": "QORT"}])
async def test_an_asset_is_not_traded_for_itself(call: Call, pair: dict[str, Any]) -> None:
    code, text = await error_of(call, "get_order_book", **pair)
    assert (code, text) == ("INVALID_ARGUMENT", "Invalid other. It is the same asset.")


@pytest.mark.parametrize(
    ("old", "old_arguments", "tool", "arguments"),
    [
        ("get_asset_info", {"asset_id": 3}, "get_asset", {"asset": "3"}),
        ("get_asset_info", {"asset_name": "GOLD"}, "get_asset", {"asset": "GOLD"}),
        ("get_asset_balances", {"addresses": [ALICE]}, "list_holders", {"addresses": [ALICE]}),
        ("get_asset_balances", {"asset_ids": [3]}, "list_holders", {"asset_ids": [3]}),
        (
            "get_asset_balances",
            {"asset_ids": [3], "ordering": "ASSET_ACCOUNT", "exclude_zero": True, "reverse": False},
            "list_holders",
            {"asset_ids": [3], "ordering": "ASSET_ACCOUNT", "exclude_zero": True, "reverse": False},
        ),
    ],
)
async def test_old_names_mean_the_same(
    call: Call, old: str, old_arguments: dict[str, Any], tool: str, arguments: dict[str, Any]
) -> None:
    assert await answer_of(call, old, **old_arguments) == await answer_of(call, tool, **arguments)


async def test_balances_of_an_old_call_can_be_paged_to_the_end(call: Call) -> None:
    rows = await follow(call, "get_asset_balances", "holders", asset_ids=[3], reverse=False, limit=2)
    balances = [units(row["balance"]) for row in rows]
    assert balances == sorted(balances)
    assert len(rows) == len(
        [row for row in sample_chain()["balances"] if row["assetId"] == 3 and units(row["balance"])]
    )


async def test_assets_are_off_by_default(node: Node) -> None:
    assert "assets" not in select()
    server = make_server(node, toolsets="accounts")
    reply = await request(server, "tools/call", {"name": "get_asset_info", "arguments": {"asset_id": 3}})
    assert reply["error"]["code"] == -32602


async def test_default_pages_are_small(call: Call) -> None:
    for tool, arguments in (
        ("list_assets", {}),
        ("list_holders", {"asset": 0}),
        ("get_order_book", {"asset": "GOLD"}),
        ("list_asset_trades", {"asset": "GOLD"}),
    ):
        result = await call(tool, **arguments)
        assert len(result["content"][0]["text"].encode()) <= 8 * 1024


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("list_assets", {}),
        ("list_assets", {"offset": 100}),
        ("get_asset", {"asset": 6}),
        ("list_holders", {"asset": 0}),
        ("list_holders", {"addresses": [ALICE, NOBODY]}),
        ("get_order_book", {"asset": "GOLD"}),
        ("get_order_book", {"asset": "BADGE"}),
        ("list_asset_trades", {"asset": "GOLD", "other": "TICKET"}),
    ],
)
async def test_an_answer_keeps_to_its_schema(node: Node, tool: str, arguments: dict[str, Any]) -> None:
    server = make_server(node, toolsets="assets")
    answer = await answer_of(caller(server), tool, **arguments)
    definition = await definition_of(server, tool)
    assert definition is not None
    jsonschema_rs.validate(definition["outputSchema"], answer)
    assert answer["asOf"] == AS_OF
    assert answer["notes"][-1] == SAMPLE


async def test_qort_has_no_quantity_that_was_issued_once(call: Call) -> None:
    found = await answer_of(call, "get_asset", asset="QORT")
    assert found["quantity"] is None
    assert found["notes"][0] == "get_network_overview returns the circulating QORT."
    first = (await answer_of(call, "list_assets", limit=1))["assets"][0]
    assert (first["name"], first["quantity"]) == ("QORT", None)


async def test_the_order_of_two_assets_does_not_change_their_market(call: Call) -> None:
    one = await answer_of(call, "get_order_book", asset="GOLD", other="QORT")
    assert one["orders"] == (await answer_of(call, "get_order_book", asset="QORT", other="GOLD"))["orders"]
    assert {row["unit"] for row in one["orders"]} == {"GOLD"}
