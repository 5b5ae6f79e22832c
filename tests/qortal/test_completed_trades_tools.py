"""Completed trades against foreign coins: lists, ledgers, prices."""

from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .market import DONE, KINDS, Market
from .outcomes import answer_of, code_of, text_of
from .pages import every_row
from .told_node import ToldNode
from .world import ALICE, ALICE_KEY, BOB, NOBODY

TOOLSETS = "trades"
TICKERS = {
    "BITCOIN": "BTC",
    "LITECOIN": "LTC",
    "DOGECOIN": "DOGE",
    "DIGIBYTE": "DGB",
    "RAVENCOIN": "RVN",
    "PIRATECHAIN": "ARRR",
}


@pytest.fixture
def call(node: Node) -> Call:
    return caller(make_server(node, toolsets=TOOLSETS))


def completed(**wanted: str) -> list[dict[str, Any]]:
    return [
        row
        for row in sample_chain()["completedTrades"]
        if all(row[name] == value for name, value in wanted.items())
    ]


@pytest.mark.parametrize("limit", [1, 7, 100])
@pytest.mark.parametrize("newest_first", [True, False])
async def test_pages_of_completed_trades_hold_every_trade_once(
    call: Call, limit: int, newest_first: bool
) -> None:
    rows = await every_row(call, "list_completed_trades", "trades", limit=limit, reverse=newest_first)
    assert sorted(row["tradeAddress"] for row in rows) == sorted(row["atAddress"] for row in completed())
    times = [row["timestamp"] for row in rows]
    assert times == sorted(times, reverse=newest_first)


@pytest.mark.parametrize("chain", TICKERS)
async def test_trades_of_one_chain_are_all_there_and_say_so(call: Call, chain: str) -> None:
    rows = await every_row(call, "list_completed_trades", "trades", chain=TICKERS[chain].lower(), limit=2)
    recorded = sample_chain()["tradesByChain"][chain]
    assert {row["tradeAddress"] for row in rows} == {row["atAddress"] for row in recorded}
    assert len(rows) == len(recorded)
    assert {row["foreignCurrency"] for row in rows} == {chain}
    assert {row["priceUnit"] for row in rows} == {f"{TICKERS[chain]} per QORT"}


@pytest.mark.parametrize(
    ("role", "member"), [("seller", "sellerAddress"), ("buyer", "buyerReceivingAddress")]
)
@pytest.mark.parametrize("who", [ALICE, ALICE_KEY])
async def test_trades_are_found_by_address_and_by_key(call: Call, role: str, member: str, who: str) -> None:
    rows = await every_row(call, "list_completed_trades", "trades", **{role: who}, limit=2)
    wanted = completed(**{member: ALICE})
    assert wanted
    assert sorted(row["tradeAddress"] for row in rows) == sorted(row["atAddress"] for row in wanted)
    assert {row[role] for row in rows} == {ALICE}


async def test_an_account_that_never_signed_anything_has_no_trades_and_a_note(call: Call) -> None:
    answer = (await call("list_completed_trades", buyer=NOBODY))["structuredContent"]
    assert answer["trades"] == []
    assert answer["page"] == {"returned": 0}
    assert "This buyer's public key is not known" in answer["notes"][0]


async def test_trades_since_a_time_are_those_after_it(call: Call) -> None:
    middle = completed()[20]["tradeTimestamp"]
    rows = await every_row(call, "list_completed_trades", "trades", since=middle, limit=5)
    wanted = [row for row in completed() if row["tradeTimestamp"] > middle]
    assert sorted(row["tradeAddress"] for row in rows) == sorted(row["atAddress"] for row in wanted)


@pytest.mark.parametrize("since", ["1970-01-02", 1593450000000, sample_chain()["blocks"][0]["timestamp"]])
async def test_a_time_before_the_chain_is_no_trap(call: Call, since: int | str) -> None:
    rows = await every_row(call, "list_completed_trades", "trades", since=since, limit=50)
    assert len(rows) == len(completed())


async def test_a_time_after_the_chain_leaves_nothing(call: Call) -> None:
    answer = (await call("list_completed_trades", since=9999999999999))["structuredContent"]
    assert answer["trades"] == []


HISTORIES: list[Any] = [
    pytest.param([("RavencoinACCTv3", DONE)] * 230, id="one-kind"),
    pytest.param([("LitecoinACCTv1", DONE)] * 150 + [("LitecoinACCTv3", DONE)] * 170, id="old-and-new-kind"),
    pytest.param([("LitecoinACCTv1", DONE), ("LitecoinACCTv3", DONE)] * 140, id="interleaved"),
    pytest.param(
        [("LitecoinACCTv3", DONE)] * 200 + [("LitecoinACCTv1", DONE)] * 3 + [("LitecoinACCTv3", DONE)] * 200,
        id="few-of-a-kind-in-the-middle",
    ),
    pytest.param([(kind, DONE) for kind in KINDS] * 60, id="many-chains"),
]


@pytest.mark.parametrize("contracts", HISTORIES)
@pytest.mark.parametrize("per_block", [1, 3])
@pytest.mark.parametrize(("limit", "newest_first"), [(100, True), (37, True), (60, False)])
async def test_pages_reach_the_last_trade_of_any_history(
    contracts: list[tuple[str, str]], per_block: int, limit: int, newest_first: bool
) -> None:
    market = Market(contracts, per_block=per_block)
    node = Node([market])
    call = caller(make_server(node, toolsets=TOOLSETS))
    rows = await every_row(call, "list_completed_trades", "trades", limit=limit, reverse=newest_first)
    await node.close()
    assert sorted(row["tradeAddress"] for row in rows) == sorted(row["atAddress"] for row in market.completed)
    times = [row["timestamp"] for row in rows]
    assert times == sorted(times, reverse=newest_first)
    lists = [target for target in market.asked if target.startswith("/crosschain/trades?")]
    assert all("limit=" in target for target in lists)


async def test_a_default_page_of_trades_is_small(call: Call) -> None:
    result = await call("list_completed_trades")
    assert result["structuredContent"]["page"]["returned"] == 20
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024


async def test_old_argument_names_are_taken(call: Call) -> None:
    new = await call("list_completed_trades", chain="LTC", seller=ALICE_KEY, since=1794770129530)
    old = await call(
        "list_completed_trades",
        foreign_blockchain="LITECOIN",
        seller_public_key=ALICE_KEY,
        minimum_timestamp=1794770129530,
    )
    assert old == new


@pytest.mark.parametrize(
    ("tool", "arguments", "sentence"),
    [
        ("list_completed_trades", {"seller": "Qx"}, "Invalid Qortal address."),
        ("list_completed_trades", {"buyer": "0" * 40}, "Invalid Qortal address."),
        ("list_completed_trades", {"since": 0}, "Invalid since."),
        ("list_completed_trades", {"since": 10**18}, "Invalid since."),
        ("list_completed_trades", {"since": 1794770291}, "Invalid since. This looks like seconds."),
        (
            "get_trade_ledger",
            {"account": BOB, "since": "1794770291"},
            "Invalid since. This looks like seconds.",
        ),
        ("list_completed_trades", {"since": "yesterday"}, "Invalid since. Give ISO 8601, such as"),
        ("list_completed_trades", {"buyer": "alice-test"}, "Invalid Qortal address. See the argument buyer."),
        ("list_completed_trades", {"chain": "ETH"}, "Invalid chain."),
        ("get_trade_price", {}, "Missing argument chain."),
        ("get_trade_price", {"chain": "LTC", "trades": 0}, "Invalid trades."),
        ("get_trade_ledger", {"account": "alice"}, "Invalid Qortal address."),
        ("get_foreign_chain", {"chain": "QORT"}, "Invalid chain."),
        ("get_trade", {"trade_address": "abc"}, "Invalid Qortal address."),
    ],
)
async def test_wrong_arguments_are_refused_by_name(
    call: Call, tool: str, arguments: dict[str, Any], sentence: str
) -> None:
    result = await call(tool, **arguments)
    assert text_of(result).startswith(sentence)
    assert code_of(result) == "INVALID_ARGUMENT"


@pytest.mark.promise("Data of the chain", "Prices and quantities carry their unit.")
async def test_a_price_is_an_amount_with_a_unit(call: Call) -> None:
    price = (await call("get_trade_price", chain="LTC"))["structuredContent"]
    assert (price["price"], price["priceUnit"]) == ("1754.85073820", "QORT per LTC")
    assert price["foreignCurrency"] == "LITECOIN"


async def test_a_price_the_other_way_round_says_so(call: Call) -> None:
    price = (await call("get_trade_price", chain="bitcoin", inverse=True))["structuredContent"]
    assert (price["price"], price["priceUnit"]) == ("0.00000840", "BTC per QORT")


async def test_a_price_of_few_trades(call: Call) -> None:
    new = (await call("get_trade_price", chain="LTC", trades=1))["structuredContent"]
    assert new["price"] == "1698.08636375"
    old = (await call("get_trade_price", blockchain="LITECOIN", max_trades=1))["structuredContent"]
    assert old == new


async def test_more_trades_than_a_price_takes_are_lowered_and_noted(call: Call) -> None:
    price = (await call("get_trade_price", chain="LTC", trades=1000))["structuredContent"]
    assert price["trades"] == 13
    assert any("lowered to 50" in note for note in price["notes"])


@pytest.mark.promise(
    "Data of the chain", "A price says how many trades it is made of; without trades it is null."
)
async def test_without_trades_there_is_no_price_and_a_note() -> None:
    node = Node([Market([])])
    price = await answer_of(caller(make_server(node, toolsets=TOOLSETS)), "get_trade_price", chain="LTC")
    await node.close()
    assert (price["price"], price["priceUnit"], price["trades"]) == (None, "QORT per LTC", 0)
    assert price["notes"] == ["No completed trades against LITECOIN yet, so there is no price."]


@pytest.mark.parametrize(
    ("done", "per_block", "trades", "note"),
    [
        (12, 1, 10, None),
        (3, 1, 10, "The price is made of 3 trades: the node has no more."),
        (1, 1, 10, "The price is made of 1 trade: the node has no more."),
        (12, 3, 6, "The price is made of 2 trades: of the 6 newest, Core counts one per block."),
    ],
)
async def test_a_price_of_fewer_trades_than_wanted_says_why(
    done: int, per_block: int, trades: int, note: str | None
) -> None:
    node = Node([Market([("LitecoinACCTv3", DONE)] * done, per_block=per_block)])
    call = caller(make_server(node, toolsets=TOOLSETS))
    price = await answer_of(call, "get_trade_price", chain="LTC", trades=trades)
    await node.close()
    assert price.get("notes") == (None if note is None else [note])


OFF = '{"enabled":false,"connectedServers":0,"knownServers":0}'


@pytest.mark.promise("Errors", "A ledger that a node cannot make because a coin is off there names the coin.")
@pytest.mark.parametrize(
    ("off", "named"),
    [(("doge",), "DOGECOIN is off there"), (("ltc", "arrr"), "LITECOIN and PIRATECHAIN are off there")],
)
async def test_a_coin_that_is_off_is_named_where_core_makes_no_ledger(
    off: tuple[str, ...], named: str
) -> None:
    def tell(target: str) -> Any:
        if target.startswith("/crosschain/ledger/"):
            return RawReply(500, "text/html", b"<html>")
        return OFF if target in {f"/crosschain/{coin}/status" for coin in off} else None

    node = Node([ToldNode(tell)])
    result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade_ledger", account=ALICE_KEY)
    await node.close()
    assert code_of(result) == "NOT_SUPPORTED"
    assert text_of(result) == (
        f"Not supported by this node. {named}, and Core makes ledgers only while all coins are on."
    )


async def test_a_ledger_that_fails_while_all_coins_are_on_is_a_node_error() -> None:
    source = ToldNode(lambda target: RawReply(500, "text/html", b"<html>") if "ledger" in target else None)
    node = Node([source])
    result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade_ledger", account=ALICE_KEY)
    await node.close()
    assert (code_of(result), text_of(result)) == ("NODE_ERROR", "Node error. HTTP 500.")


async def test_a_node_that_fails_at_a_price_is_not_taken_for_one_without_trades() -> None:
    async with FaultyNode() as broken:
        broken.behaviours["/crosschain/price/LITECOIN"] = replies("<html>", 500, "text/html")
        node = Node.at([broken.url])
        result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade_price", chain="LTC")
        await node.close()
    assert code_of(result) == "NODE_ERROR"


def ledger_of(address: str) -> list[list[str]]:
    return [line.split(",") for line in sample_chain()["ledger"][address][1].splitlines()[1:]]


@pytest.mark.parametrize("limit", [1, 4, 100])
async def test_a_ledger_is_the_csv_line_by_line(call: Call, limit: int) -> None:
    rows = await every_row(call, "get_trade_ledger", "trades", account=BOB, limit=limit)
    lines = ledger_of(BOB)[::-1]
    assert len(rows) == len(lines)
    for row, (market, currency, quantity, _, _, total, when, _) in zip(rows, lines, strict=True):
        sells = currency == "QORT"
        assert row["side"] == ("sell" if sells else "buy")
        assert row["qortAmount"] == (total if sells else quantity)
        assert row["foreignAmount"] == (quantity if sells else total)
        assert TICKERS[row["foreignCurrency"]] == (market if sells else currency)
        assert row["time"][:16].replace("-", "").replace("T", " ") == when
        assert "commission" not in row


async def test_a_ledger_by_key_under_its_old_argument(call: Call) -> None:
    new = await call("get_trade_ledger", account=ALICE)
    old = await call("get_trade_ledger", public_key=ALICE_KEY)
    assert old["structuredContent"]["trades"] == new["structuredContent"]["trades"]
    assert new["structuredContent"]["trades"]


async def test_a_ledger_since_a_time(call: Call) -> None:
    rows = (await call("get_trade_ledger", account=BOB, reverse=False))["structuredContent"]["trades"]
    since = rows[2]["timestamp"]
    later = (await call("get_trade_ledger", account=BOB, since=since, reverse=False))["structuredContent"]
    assert later["trades"] == rows[2:]
    everything_since = await call("get_trade_ledger", account=BOB, since="1970-01-02", reverse=False)
    assert everything_since["structuredContent"]["trades"] == rows


async def test_someone_unknown_has_an_empty_ledger(call: Call) -> None:
    answer = (await call("get_trade_ledger", account=NOBODY))["structuredContent"]
    assert answer["trades"] == []
    assert "This account's public key is not known" in answer["notes"][0]


async def test_a_commission_is_told_where_there_is_one() -> None:
    head = "Market,Currency,Quantity,Commission Paid,Commission Currency,Total Price,Date Time,Exchange\n"
    line = "LTC,QORT,0.5,0.00001000,LTC,700,20261115 20:57,Qortal\n"
    async with FaultyNode() as fees:
        fees.behaviours[f"/crosschain/ledger/{ALICE_KEY}"] = replies(head + line, 200, "text/csv")
        node = Node.at([fees.url])
        result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade_ledger", account=ALICE_KEY)
        await node.close()
    row = result["structuredContent"]["trades"][0]
    assert (row["commission"], row["commissionUnit"]) == ("0.00001000", "LTC")
    assert (row["qortAmount"], row["foreignAmount"]) == ("700.00000000", "0.50000000")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "a,b\n1,2\n",
        "Market,Currency,Quantity,Commission Paid,Commission Currency,Total Price,Date Time,Exchange\n1\n",
    ],
)
async def test_what_is_no_ledger_is_a_node_error(body: str) -> None:
    async with FaultyNode() as broken:
        broken.behaviours[f"/crosschain/ledger/{ALICE_KEY}"] = replies(body, 200, "text/csv")
        node = Node.at([broken.url])
        result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade_ledger", account=ALICE_KEY)
        await node.close()
    assert code_of(result) == "NODE_ERROR"


@pytest.mark.parametrize(("chain", "trades", "counted"), [("BTC", 10, 9), ("LTC", 10, 9), ("LTC", 50, 13)])
async def test_a_price_tells_how_many_trades_it_comes_from(
    call: Call, chain: str, trades: int, counted: int
) -> None:
    rows = await every_row(call, "list_completed_trades", "trades", chain=chain, limit=100)
    newest = rows[:trades]
    assert len({row["timestamp"] for row in newest}) == counted
    answer = (await call("get_trade_price", chain=chain, trades=trades))["structuredContent"]
    assert answer["trades"] == counted


async def test_the_inverse_price_is_the_one_of_other_tools(call: Call) -> None:
    price = (await call("get_trade_price", chain="LTC", trades=1, inverse=True))["structuredContent"]
    newest = (await call("list_completed_trades", chain="LTC", limit=1))["structuredContent"]["trades"][0]
    assert price["priceUnit"] == newest["priceUnit"] == "LTC per QORT"
    # One is cut to eight places, the other rounded.
    assert abs(float(price["price"]) - float(newest["price"])) < 2e-8


async def test_trades_since_a_time_in_iso_are_those_since_the_same_in_milliseconds(call: Call) -> None:
    rows = (await call("list_completed_trades", limit=10))["structuredContent"]["trades"]
    by_number = await call("list_completed_trades", since=rows[5]["timestamp"])
    by_text = await call("list_completed_trades", since=rows[5]["time"])
    assert by_number["structuredContent"]["trades"] == by_text["structuredContent"]["trades"]
    assert by_number["structuredContent"]["trades"]
