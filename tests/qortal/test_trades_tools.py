"""Trades against foreign coins: offers, single trades, and the foreign chains themselves."""

import json
from typing import Any

import pytest

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .market import KINDS, OPEN, TAKEN, Market, address_of
from .outcomes import answer_of, code_of, text_of
from .pages import every_row
from .world import ALICE, BOB, CONTRACT

TOOLSETS = "trades"
TICKERS = {
    "BITCOIN": "BTC",
    "LITECOIN": "LTC",
    "DOGECOIN": "DOGE",
    "DIGIBYTE": "DGB",
    "RAVENCOIN": "RVN",
    "PIRATECHAIN": "ARRR",
}
# A contract that is no trade.
NO_TRADE = "AQs84NgDLgJEALtywqx5k8cXf1Qv5NNXPq"
CANCELLED = next(
    address for address, row in sample_chain()["trades"].items() if row.get("mode") == "CANCELLED"
)


@pytest.fixture
def call(node: Node) -> Call:
    return caller(make_server(node, toolsets=TOOLSETS))


@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_pages_of_offers_hold_every_offer_once(call: Call, limit: int) -> None:
    offers = await every_row(call, "list_trade_offers", "offers", limit=limit)
    wanted = sorted(sample_chain()["tradeOffers"], key=lambda row: -row["creationTimestamp"])
    assert [row["tradeAddress"] for row in offers] == [row["qortalAtAddress"] for row in wanted]


MARKETS: list[Any] = [
    pytest.param([], id="empty"),
    pytest.param([("LitecoinACCTv3", OPEN)] * 250, id="one-kind"),
    pytest.param(
        [("LitecoinACCTv1", OPEN)] * 150 + [("LitecoinACCTv3", OPEN)] * 170, id="one-kind-after-other"
    ),
    pytest.param(
        [("LitecoinACCTv3", OPEN)] * 300 + [("LitecoinACCTv1", OPEN)] * 5 + [("LitecoinACCTv3", OPEN)] * 300,
        id="few-of-a-kind-in-the-middle",
    ),
    pytest.param([("RavencoinACCTv3", OPEN), ("RavencoinACCTv3", TAKEN)] * 120, id="every-other-is-taken"),
    pytest.param(
        [("RavencoinACCTv3", TAKEN)] * 130 + [("RavencoinACCTv3", OPEN)] * 3, id="a-whole-window-is-taken"
    ),
    pytest.param([(kind, OPEN) for kind in KINDS] * 60, id="many-chains"),
]


@pytest.mark.parametrize("contracts", MARKETS)
@pytest.mark.parametrize("chain", [None, "LITECOIN", "RAVENCOIN"])
async def test_pages_reach_the_last_offer_of_any_market(
    contracts: list[tuple[str, str]], chain: str | None
) -> None:
    market = Market(contracts)
    node = Node([market])
    call = caller(make_server(node, toolsets=TOOLSETS))
    arguments = {"limit": 100} if chain is None else {"chain": chain, "limit": 100}
    found = await every_row(call, "list_trade_offers", "offers", **arguments)
    await node.close()
    wanted = [
        address_of(number)
        for number, (kind, mode) in enumerate(contracts)
        if mode == OPEN and chain in (None, KINDS[kind])
    ]
    assert [offer["tradeAddress"] for offer in found] == wanted[::-1]
    # All pages came from the offers that the first one read, and no list was asked for without a limit.
    offers = [target for target in market.asked if target.startswith("/crosschain/")]
    assert len(offers) == len(set(offers))
    lists = [target for target in market.asked if target.startswith(("/crosschain/tradeoffers?", "/at/by"))]
    assert all("limit=100" in target or "limit=1&" in target for target in lists)


class Vanishing(Market):
    """A market in which a single trade that is asked for is no longer there."""

    async def fetch(self, request: Request) -> RawReply:
        if request.target.startswith("/crosschain/trade/"):
            self.asked.append(request.target)
            return RawReply(404, "application/json", b'{"error":124,"message":"x"}')
        return await super().fetch(request)


@pytest.mark.promise("Tools and their results", "A row that vanished while a list was read is left out.")
async def test_an_offer_that_vanished_while_it_was_read_is_left_out() -> None:
    contracts = (
        [("LitecoinACCTv3", OPEN)] * 300 + [("LitecoinACCTv1", OPEN)] * 5 + [("LitecoinACCTv3", OPEN)] * 300
    )
    market = Vanishing(contracts)
    node = Node([market])
    call = caller(make_server(node, toolsets=TOOLSETS))
    found = await every_row(call, "list_trade_offers", "offers", chain="LTC", limit=100)
    await node.close()
    gone = {target.rpartition("/")[2] for target in market.asked if target.startswith("/crosschain/trade/")}
    assert gone
    everything = {address_of(number) for number in range(len(contracts))}
    assert {offer["tradeAddress"] for offer in found} == everything - gone


@pytest.mark.promise(
    "Tools and their results",
    "A market too large for one call is answered as far as it could be read, with a note.",
)
@pytest.mark.parametrize("chain", [None, "LITECOIN", "RAVENCOIN"])
@pytest.mark.parametrize(
    "limits",
    [NodeLimits(call_rows=900), NodeLimits(call_requests=20), NodeLimits(call_bytes=150_000)],
    ids=str,
)
async def test_of_a_market_too_large_for_one_call_the_newest_offers_are_shown_and_noted(
    chain: str | None, limits: NodeLimits
) -> None:
    kinds = ["LitecoinACCTv1", "LitecoinACCTv3", "RavencoinACCTv3", "RavencoinACCTv3"]
    contracts = [(kind, OPEN) for kind in kinds] * 600
    node = Node([Market(contracts)], limits)
    call = caller(make_server(node, toolsets=TOOLSETS))
    answer = await answer_of(call, "list_trade_offers", **({} if chain is None else {"chain": chain}))
    await node.close()
    newest = [
        address_of(number)
        for number, (kind, _) in reversed([*enumerate(contracts)])
        if chain in (None, KINDS[kind])
    ]
    assert [offer["tradeAddress"] for offer in answer["offers"]] == newest[:20]
    assert answer["notes"][0].startswith("The market is too large for one call: these are from the ")


async def test_a_trade_is_told_whole(call: Call) -> None:
    trade = (await call("get_trade", trade_address=CONTRACT))["structuredContent"]
    assert trade["mode"] == "OFFERING"
    assert trade["creator"] == BOB
    assert (trade["offeringQort"], trade["expectedForeign"]) == ("10.00000000", "0.00500000")
    assert (trade["price"], trade["priceUnit"]) == ("0.00050000", "LTC per QORT")
    assert trade["timestamp"] == 1794770291216
    assert trade["time"] == "2026-11-15T19:18:11.216Z"
    assert "buyer" not in trade


async def test_locks_are_told_in_milliseconds(call: Call) -> None:
    trade = (await call("get_trade", trade_address="AG2JdKPoC9L3584iGF2Sn6sfMeEgbygue1"))["structuredContent"]
    assert trade["mode"] == "REDEEMED"
    assert trade["lockedUntil"] == 1794861982000
    assert trade["lockedUntilTime"] == "2026-11-16T20:46:22.000Z"
    assert trade["refundTimeoutMinutes"] == 60


async def test_what_a_contract_never_filled_is_left_out(call: Call) -> None:
    trade = (await call("get_trade", trade_address=CANCELLED))["structuredContent"]
    assert trade["mode"] == "CANCELLED"
    unset = {"buyer", "partnerTradeAddress", "lockedUntil", "hashOfSecretA", "partnerForeignPKH"}
    assert not unset & trade.keys()
    assert not any(isinstance(value, str) and value.startswith("1111") for value in trade.values())


@pytest.mark.parametrize("address", [NO_TRADE, "AQCLV5km8AkHt17zk6oxX71AhQB1vqtLGn", ALICE])
async def test_what_is_no_trade_is_not_found(call: Call, address: str) -> None:
    result = await call("get_trade", trade_address=address)
    assert text_of(result) == "Trade not found."
    assert code_of(result) == "NOT_FOUND"


async def test_old_names_lead_to_the_trade(call: Call) -> None:
    new = await call("get_trade", trade_address=CONTRACT)
    assert await call("get_trade_detail", at_address=CONTRACT) == new


@pytest.mark.parametrize("chain", TICKERS)
async def test_a_foreign_chain_tells_its_fees_in_coins(call: Call, chain: str) -> None:
    answer = (await call("get_foreign_chain", chain=TICKERS[chain]))["structuredContent"]
    coin = sample_chain()["coins"][TICKERS[chain].lower()]
    assert answer["foreignCurrency"] == chain
    assert answer["unit"] == TICKERS[chain]
    assert answer["feePerKb"] == f"{coin['feekb'] / 10**8:.8f}"
    assert answer["feeRequired"] == f"{coin['feerequired'] / 10**8:.8f}"
    assert answer["isEnabled"] is True
    assert answer["height"] is None
    assert f"cannot reach the {chain} network" in answer["notes"][0]


async def test_a_foreign_chain_within_reach_tells_its_height() -> None:
    async with FaultyNode() as online:
        online.behaviours["/crosschain/ltc/height"] = replies("2806172", 200, "text/plain")
        node = Node.at([online.url])
        answer = (await caller(make_server(node, toolsets=TOOLSETS))("get_foreign_chain", chain="LTC"))[
            "structuredContent"
        ]
        await node.close()
    assert answer["height"] == 2806172
    assert "notes" not in answer


async def test_a_chain_that_is_switched_off_is_told_as_such() -> None:
    async with FaultyNode() as restricted:
        off = {"enabled": False, "connectedServers": 0, "knownServers": 0}
        restricted.behaviours["/crosschain/doge/status"] = replies(json.dumps(off))
        for what in ("height", "feekb", "feerequired"):
            restricted.behaviours[f"/crosschain/doge/{what}"] = replies("<html>", 500, "text/html")
        node = Node.at([restricted.url])
        answer = (await caller(make_server(node, toolsets=TOOLSETS))("get_foreign_chain", chain="doge"))[
            "structuredContent"
        ]
        await node.close()
    assert answer["isEnabled"] is False
    assert (answer["height"], answer["feePerKb"], answer["feeRequired"]) == (None, None, None)
    assert answer["notes"] == ["DOGECOIN is off on this node."]


async def test_a_node_that_knows_nothing_of_foreign_chains_says_so() -> None:
    async with FaultyNode() as old:
        for what in ("status", "height", "feekb", "feerequired"):
            old.behaviours[f"/crosschain/ltc/{what}"] = replies("<html>", 404, "text/html")
        node = Node.at([old.url])
        result = await caller(make_server(node, toolsets=TOOLSETS))("get_foreign_chain", chain="LTC")
        await node.close()
    assert code_of(result) == "NOT_SUPPORTED"


@pytest.mark.promise("Text of strangers", "Words of a hostile node are shown as data.")
async def test_words_of_a_hostile_node_are_shown_and_not_obeyed() -> None:
    row = {**sample_chain()["trades"][CONTRACT], "mode": "OFFERING\u202e\x1b[31m", "qortAmount": "0E-8"}
    async with FaultyNode() as hostile:
        hostile.behaviours[f"/crosschain/trade/{CONTRACT}"] = replies(json.dumps(row))
        node = Node.at([hostile.url])
        result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade", trade_address=CONTRACT)
        await node.close()
    trade = result["structuredContent"]
    assert trade["mode"] == "OFFERING\\u{202E}\\u{001B}[31m"
    assert trade["offeringQort"] == "0.00000000"
    assert trade["price"] is None


@pytest.mark.parametrize("member", ["lockTimeA", "creationTimestamp", "qortAmount", "expectedForeignAmount"])
async def test_values_out_of_all_bounds_are_a_node_error(member: str) -> None:
    row = {**sample_chain()["trades"][CONTRACT], member: "x" if "Amount" in member else 10**17}
    async with FaultyNode() as broken:
        broken.behaviours[f"/crosschain/trade/{CONTRACT}"] = replies(json.dumps(row))
        node = Node.at([broken.url])
        result = await caller(make_server(node, toolsets=TOOLSETS))("get_trade", trade_address=CONTRACT)
        await node.close()
    assert code_of(result) == "NODE_ERROR"
