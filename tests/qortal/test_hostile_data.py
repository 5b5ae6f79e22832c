"""Data that a node should not send."""

import json

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import caller
from .faulty_node import FaultyNode, replies
from .market import OPEN, address_of, trade
from .world import ALICE


@pytest.mark.promise(
    "Text of strangers",
    "Hidden characters in names, messages and other texts are shown as `\\u{XXXX}` in every answer.",
)
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


@pytest.mark.promise(
    "Tools and their results",
    "A list is cut before a record, never inside one, and `page.next` holds the complete arguments of the next call.",
)
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
    assert second["offers"][0]["tradeAddress"] == address_of(89 - page["page"]["returned"])
    assert page["offers"][0]["creator"].endswith("… [4600 more characters]")


@pytest.mark.promise(
    "Data of the chain",
    "An account overview lists a bounded number of names, and says when it left some out.",
)
async def test_more_names_than_fit_are_cut_and_marked() -> None:
    rows = [{"name": f"name-{number:03d}", "owner": ALICE} for number in range(100)]
    async with FaultyNode() as owner:
        owner.behaviours[f"/names/address/{ALICE}"] = replies(json.dumps(rows))
        node = Node.at([owner.url])
        answer = (await caller(make_server(node))("get_account_overview", address=ALICE))["structuredContent"]
        await node.close()
    assert len(answer["names"]) == 100
    assert answer["notes"] == ["The account owns more names; names lists the oldest 100."]
    assert all("limit=" in target for target in owner.asked if target.startswith("/names/address"))


@pytest.mark.promise(
    "Data of the chain", "An account overview lists at most 20 assets, and says when it left some out."
)
async def test_more_assets_than_fit_are_cut_and_marked() -> None:
    rows = [{"assetId": number, "balance": "1.00000000", "assetName": f"A{number}"} for number in range(21)]
    async with FaultyNode() as owner:
        owner.behaviours["/assets/balances"] = replies(json.dumps(rows))
        node = Node.at([owner.url])
        answer = (await caller(make_server(node))("get_account_overview", address=ALICE))["structuredContent"]
        await node.close()
    assert [row["assetId"] for row in answer["assetBalances"]] == list(range(20))
    assert answer["notes"] == ["assetBalances lists the first 20; use asset_ids for others."]


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
