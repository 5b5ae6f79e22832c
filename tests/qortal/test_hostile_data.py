"""Data that a node should not send, and markets that are larger than a page."""

import json
from typing import Any

import msgspec
import pytest

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node import Node
from qortal_mcp.qortal.sample.chain import Chain, sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.source import RawReply

from .conftest import caller
from .faulty_node import FaultyNode, replies
from .world import ALICE

KINDS = {
    "LitecoinACCTv1": "LITECOIN",
    "LitecoinACCTv3": "LITECOIN",
    "BitcoinACCTv3": "BITCOIN",
    "RavencoinACCTv3": "RAVENCOIN",
}


class Market:
    """A source whose chain holds as many contracts as wanted. Everything else is the sample's."""

    origin = "market"

    def __init__(self, contracts: list[tuple[str, str]]) -> None:
        self.asked: list[str] = []
        families = {name: sample_chain()[name] for name in ("node", "blocks")}
        trades = {f"A{number}": trade(number, kind, mode) for number, (kind, mode) in enumerate(contracts)}
        finished = {address: {"isFinished": False} for address in trades}
        self._chain = Chain(
            msgspec.json.encode({**families, "trades": trades, "contracts": finished, "hiddenOffers": []})
        )

    async def fetch(self, request: Request) -> RawReply:
        self.asked.append(request.target)
        return answer(request.target, self._chain)

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


def trade(number: int, kind: str, mode: str) -> dict[str, Any]:
    return {
        "qortalAtAddress": f"A{number}",
        "qortalCreator": ALICE,
        "qortAmount": "1.00000000",
        "expectedForeignAmount": "0.10000000",
        "foreignBlockchain": KINDS[kind],
        "acctName": kind,
        "mode": mode,
        "creationTimestamp": 1794770000000 + number,
    }


OPEN, TAKEN = "OFFERING", "TRADING"
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
    pytest.param([(kind, OPEN) for kind in KINDS] * 60, id="many-chains"),
]


@pytest.mark.parametrize("contracts", MARKETS)
@pytest.mark.parametrize("chain", [None, "LITECOIN", "RAVENCOIN"])
async def test_pages_reach_the_last_offer_of_any_market(
    contracts: list[tuple[str, str]], chain: str | None
) -> None:
    market = Market(contracts)
    node = Node([market])
    call = caller(make_server(node))
    wanted = [
        f"A{number}"
        for number, (kind, mode) in enumerate(contracts)
        if mode == OPEN and chain in (None, KINDS[kind])
    ]
    found: list[str] = []
    following: dict[str, Any] | None = {"limit": 100} if chain is None else {"chain": chain, "limit": 100}
    while following is not None:
        page = (await call("list_trade_offers", **following))["structuredContent"]
        found += [offer["tradeAddress"] for offer in page["offers"]]
        following = page["page"].get("next")
    await node.close()
    assert found == wanted[::-1]
    # All pages came from what the first one read.
    assert len(market.asked) == len(set(market.asked))


async def test_hidden_characters_of_strangers_are_shown() -> None:
    async with FaultyNode() as hostile:
        name = "evil\u202egnp\u200b.exe\x1b[31m"
        hostile.behaviours[f"/names/address/{ALICE}"] = replies(json.dumps([{"name": name, "owner": ALICE}]))
        hostile.behaviours[f"/names/primary/{ALICE}"] = replies(json.dumps({"name": name, "owner": ALICE}))
        node = Node.at([hostile.url])
        result = await caller(make_server(node))("get_account_overview", address=ALICE)
        await node.close()
    shown = "evil\\u{202E}gnp\\u{200B}.exe\\u{001B}[31m"
    assert result["structuredContent"]["names"] == [shown]
    assert result["structuredContent"]["primaryName"] == shown
    assert "\u202e" not in result["content"][0]["text"]


async def test_a_list_is_cut_at_a_record_and_goes_on_from_there() -> None:
    rows = [{**trade(number, "RavencoinACCTv3", OPEN), "qortalCreator": "ü" * 5000} for number in range(90)]
    async with FaultyNode() as hostile:
        hostile.behaviours["/crosschain/tradeoffers/hidden"] = replies(json.dumps(rows))
        node = Node.at([hostile.url])
        call = caller(make_server(node))
        first = await call("list_trade_offers", hidden=True, limit=100)
        page = first["structuredContent"]
        second = (await call("list_trade_offers", **page["page"]["next"]))["structuredContent"]
        await node.close()
    assert len(first["content"][0]["text"].encode()) <= 64 * 1024
    assert 1 < page["page"]["returned"] < 90
    assert second["offers"][0]["tradeAddress"] == f"A{89 - page['page']['returned']}"
    assert page["offers"][0]["creator"].endswith("… [4600 more characters]")


async def test_more_names_than_fit_are_cut_and_marked() -> None:
    rows = [{"name": f"name-{number:03d}", "owner": ALICE} for number in range(100)]
    async with FaultyNode() as owner:
        owner.behaviours[f"/names/address/{ALICE}"] = replies(json.dumps(rows))
        node = Node.at([owner.url])
        answer = (await caller(make_server(node))("get_account_overview", address=ALICE))["structuredContent"]
        await node.close()
    assert len(answer["names"]) == 100
    assert answer["notes"] == ["The account owns more names; names holds the oldest 100."]
    assert all("limit=" in target for target in owner.asked if target.startswith("/names/address"))


async def test_more_assets_than_fit_are_cut_and_marked() -> None:
    rows = [{"assetId": number, "balance": "1.00000000", "assetName": f"A{number}"} for number in range(21)]
    async with FaultyNode() as owner:
        owner.behaviours["/assets/balances"] = replies(json.dumps(rows))
        node = Node.at([owner.url])
        answer = (await caller(make_server(node))("get_account_overview", address=ALICE))["structuredContent"]
        await node.close()
    assert [row["assetId"] for row in answer["assetBalances"]] == list(range(20))
    assert answer["notes"] == ["assetBalances holds the first 20; ask for others with asset_ids."]


async def test_a_node_too_old_for_primary_names_still_gives_an_overview() -> None:
    async with FaultyNode() as old:
        old.behaviours[f"/names/primary/{ALICE}"] = replies("<html>", 404, "text/html")
        node = Node.at([old.url])
        answer = (await caller(make_server(node))("get_account_overview", address=ALICE))["structuredContent"]
        await node.close()
    assert answer["primaryName"] == "alice-test"


async def test_a_node_without_percent_or_version_gives_null() -> None:
    async with FaultyNode() as young:
        young.behaviours["/admin/status"] = replies(
            '{"isMintingPossible":false,"isSynchronizing":true,"numberOfConnections":0,"height":1}'
        )
        young.behaviours["/admin/info"] = replies("<html>", 404, "text/html")
        node = Node.at([young.url])
        answer = (await caller(make_server(node))("get_node_status"))["structuredContent"]
        await node.close()
    assert answer["syncPercent"] is None
    assert answer["version"] is None
    assert answer["asOf"]["isSynchronizing"] is True
