"""Nodes that lie, repeat themselves or send nonsense: calls end, and cost no more than they may."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from qortal_mcp.limits import Limits
from qortal_mcp.qortal.endpoints.blocks import LAST_BLOCK
from qortal_mcp.qortal.limits import DEFAULT
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.work import Work

from .conftest import caller, request
from .market import OPEN, address_of, completed, contract, trade
from .outcomes import code_of, text_of
from .told_node import Tell, ToldNode, fails
from .world import ALICE, GOLD

Told = Callable[..., Awaitable[dict[str, Any]]]
HUGE = 2**62
NONSENSE = "Node error. Its answer does not have the expected form."


@asynccontextmanager
async def server_at(tell: Tell, **limits: Any) -> AsyncIterator[tuple[Server, ToldNode]]:
    source = ToldNode(tell)
    node = Node([source])
    async with asyncio.timeout(20):
        yield make_server(node, toolsets="all", limits=Limits(**limits)), source
    await node.close()


async def told(tell: Tell, tool: str, **arguments: Any) -> tuple[dict[str, Any], ToldNode]:
    """What a call gives where the node speaks as told."""
    async with server_at(tell) as (server, source):
        return await caller(server)(tool, **arguments), source


def at(path: str, said: Any) -> Tell:
    return lambda target: said if target.partition("?")[0] == path else None


def same_trades_for_ever(target: str) -> Any:
    if not target.startswith("/crosschain/trades"):
        return None
    rows = [
        completed(trade(number, "RavencoinACCTv3", OPEN), 1_794_770_000_000 + number) for number in range(100)
    ]
    return rows[: int(parse_qs(urlsplit(target).query)["limit"][0])]


async def test_a_call_that_is_cancelled_as_it_comes_asks_nothing_and_complains_of_nothing() -> None:
    complaints: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    async with server_at(lambda target: fails()) as (server, source):
        server.load()
        for tool in ("list_polls", "find_payments", "search_names", "list_completed_trades"):
            params = {"name": tool, "arguments": {"since": "7d"}}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            work = server.receive(body.encode(), Peer(lasting=False))
            assert isinstance(work, Work)
            work.cancel()
            assert await work.run(nobody) is None
        await asyncio.sleep(0)
        gc.collect()
        assert source.asked == []
    assert complaints == []


async def nobody(message: bytes) -> None:
    raise AssertionError("nothing comes before the answer")


async def test_when_one_chain_fails_nothing_is_asked_of_the_others_any_more() -> None:
    def tell(target: str) -> Any:
        return fails() if "BITCOIN" in target else same_trades_for_ever(target)

    async with server_at(tell) as (server, source):
        await caller(server)("get_balance", address=ALICE)  # the newest block is known from now on
        others = asyncio.all_tasks()
        result = await caller(server)("list_completed_trades", offset=100)
        assert text_of(result) == "Node error. Code 999: x"
        assert asyncio.all_tasks() <= others
        asked = len(source.asked)
        for _ in range(50):
            await asyncio.sleep(0)
        assert len(source.asked) == asked


@pytest.mark.promise("Limits and abuse", "A node that repeats itself is not asked for ever.")
@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize("chain", ["RAVENCOIN", "LITECOIN"])
async def test_a_node_that_repeats_itself_is_not_asked_for_ever(chain: str, newest_first: bool) -> None:
    result, source = await told(
        same_trades_for_ever, "list_completed_trades", chain=chain, offset=5000, reverse=newest_first
    )
    assert result["isError"] is False
    assert len(source.asked) < 100


async def test_trades_in_falling_order_are_taken_as_they_come() -> None:
    def tell(target: str) -> Any:
        rows = same_trades_for_ever(target)
        return None if rows is None else rows[::-1]

    result, _ = await told(tell, "list_completed_trades", chain="RAVENCOIN", reverse=False, offset=90)
    assert result["isError"] is False


@pytest.mark.promise("Limits and abuse", "Answers from memory leave other callers their turn.")
async def test_answers_from_memory_leave_the_loop_to_others() -> None:
    node, turns, is_over = Node([ToldNode()]), 0, False

    async def others() -> None:
        nonlocal turns
        while not is_over:
            turns += 1
            await asyncio.sleep(0)

    await node.reading().get(LAST_BLOCK)
    reading, waiting = node.reading(), asyncio.create_task(others())
    for _ in range(DEFAULT.call_requests):
        await reading.get(LAST_BLOCK)
    is_over = True
    await waiting
    await node.close()
    assert turns >= DEFAULT.call_requests // 20


async def test_a_group_with_countless_admins_is_answered_with_a_note() -> None:
    said = {"memberCount": 1, "adminCount": HUGE, "members": [{"member": ALICE, "joined": 1}]}
    result, source = await told(at("/groups/members/3", said), "list_group_members", group_id=3)
    assert "isAdmin is only right for the first 1000 admins." in result["structuredContent"]["notes"]
    assert len(source.asked) < 20


async def test_only_the_groups_of_the_page_are_asked_for() -> None:
    owned = [
        {"groupId": number, "owner": ALICE, "groupName": "g", "created": 1, "isOpen": True}
        for number in range(1, 2000)
    ]

    def tell(target: str) -> Any:
        if target == f"/groups/owner/{ALICE}":
            return owned
        # Whatever is asked for, it tells of another group.
        return (
            {**owned[0], "groupId": 7777} if target.startswith("/groups/") and target[8:].isdigit() else None
        )

    result, source = await told(tell, "list_groups", owner=ALICE, limit=2, offset=1000)
    assert [row["groupId"] for row in result["structuredContent"]["groups"]] == [7777, 7777]
    assert sum(target[8:].isdigit() for target in source.asked) == 2


@pytest.mark.promise("Limits and abuse", "A reply of a node that never ends is given up.")
async def test_offers_without_end_are_read_up_to_a_bound() -> None:
    def tell(target: str) -> Any:
        if target.startswith("/crosschain/tradeoffers"):
            return [trade(number, "RavencoinACCTv3", OPEN) for number in range(90)]
        return [contract(trade(1, "RavencoinACCTv3", OPEN))] if target.startswith("/at/byfunction") else None

    result, source = await told(tell, "list_trade_offers", chain="RVN", limit=1)
    assert result["structuredContent"]["page"]["returned"] == 1
    assert "these are from the 90 offers that could be read" in result["structuredContent"]["notes"][0]
    # The node's own status and height are asked again as time goes by, for whoever calls.
    asked = [target for target in source.asked if target.startswith(("/crosschain/", "/at/"))]
    assert len(asked) <= DEFAULT.call_requests


@pytest.mark.promise("Limits and abuse", "A reply of a node that never ends is given up.")
async def test_replies_that_are_large_each_time_are_given_up() -> None:
    row = {
        "price": "1.00000000",
        "unfulfilled": "1.00000000",
        "unfulfilledAssetId": GOLD,
        "more": "x" * 30_000,
    }

    def tell(target: str) -> Any:
        return [row] * 100 if target.startswith("/assets/orderbook") else None

    result, source = await told(tell, "get_order_book", asset=str(GOLD), offset=2**31 - 1)
    assert code_of(result) == "TOO_LARGE"
    assert len(source.asked) < 2 * DEFAULT.call_bytes // 3_000_000 + 10


async def test_more_busy_senders_than_asked_for_are_left_out() -> None:
    rows = [{"sender": ALICE, "size": number} for number in range(5000)]
    result, _ = await told(at("/chat/stats", rows), "get_chat_stats", limit=2)
    assert len(result["structuredContent"]["senders"]) == 2


LAST = {"signature": "x", "height": 2**40, "timestamp": 1}
VOTES = '{"totalVotes":1,"voteCounts":[],"voteWeights":[{"optionName":"Yes","voteWeight":%s}]}' % ("9" * 4000)
LONG_LEVEL = f'{{"address":"{ALICE}","level":{"9" * 4000},"blocksMinted":1}}'


@pytest.mark.promise("Errors", "Nonsense from a node is reported as an error of the node, not as an answer.")
@pytest.mark.parametrize(
    ("path", "said", "tool", "arguments"),
    [
        pytest.param(
            f"/crosschain/trade/{address_of(1)}",
            {**trade(1, "RavencoinACCTv3", OPEN), "qortAmount": "1e99"},
            "get_trade",
            {"trade_address": address_of(1)},
            id="an-amount-of-a-hundred-digits",
        ),
        pytest.param(
            f"/addresses/{ALICE}", LONG_LEVEL, "get_account_overview", {"address": ALICE}, id="long-level"
        ),
        pytest.param("/blocks/last", LAST, "list_blocks", {}, id="a-height-that-no-block-has"),
        pytest.param(
            f"/addresses/publickey/{ALICE}",
            "../peers",
            "get_trade_ledger",
            {"account": ALICE},
            id="no-public-key",
        ),
        pytest.param(
            "/assets/info",
            {"assetId": -1, "name": "GOLD", "owner": ALICE},
            "get_order_book",
            {"asset": "GOLD"},
            id="an-asset-below-zero",
        ),
    ],
)
async def test_nonsense_of_a_node_is_said_to_be_the_nodes(
    path: str, said: Any, tool: str, arguments: dict[str, Any]
) -> None:
    result, _ = await told(at(path, said), tool, **arguments)
    assert text_of(result) == NONSENSE


async def test_weights_of_thousands_of_digits_are_not_added_up() -> None:
    def tell(target: str) -> Any:
        return VOTES if target.startswith("/polls/votes/") else None

    async with server_at(tell) as (server, _):
        call = caller(server)
        poll = (await call("list_polls"))["structuredContent"]["polls"][0]["pollName"]
        assert text_of(await call("get_poll", name=poll)) == NONSENSE


async def test_an_error_number_of_any_length_is_not_passed_on() -> None:
    reply = RawReply(400, "application/json", b'{"error":%s,"message":"x"}' % (b"9" * 4000))
    result, _ = await told(at(f"/addresses/balance/{ALICE}", reply), "get_balance", address=ALICE)
    assert len(text_of(result)) < 200


async def test_the_last_page_that_an_offset_can_reach_has_no_next() -> None:
    rows = [{"pollName": "p", "owner": ALICE, "published": 1}] * 30
    result, _ = await told(at("/polls", rows), "list_polls", offset=2**31 - 1)
    assert "next" not in result["structuredContent"]["page"]


@pytest.mark.promise(
    "Limits and abuse", "An answer stays within its budget of bytes, however large the node's data are."
)
async def test_a_resource_is_no_larger_than_an_answer_of_a_tool() -> None:
    names = [{"name": "ü" * 400, "owner": ALICE} for _ in range(100)]
    async with server_at(at(f"/names/address/{ALICE}", names)) as (server, _):
        reply = await request(server, "resources/read", {"uri": f"qortal://account/{ALICE}"})
    assert reply["error"]["message"] == "Answer too large."


async def test_suggestions_are_few_and_short_whatever_the_node_knows() -> None:
    names = [{"name": "a" * length, "owner": ALICE, "registered": 1} for length in (3, 400, 5)] * 1000
    async with server_at(at("/names/search", names)) as (server, _):
        params = {
            "ref": {"type": "ref/prompt", "name": "name_report"},
            "argument": {"name": "name", "value": "a"},
        }
        reply = await request(server, "completion/complete", params)
    values = reply["result"]["completion"]["values"]
    assert {len(value) for value in values} == {3, 5}
    assert len(values) <= 20


async def test_a_call_that_a_node_makes_too_long_is_a_node_that_is_too_slow() -> None:
    class Silent(ToldNode):
        async def fetch(self, request: Any) -> Any:
            await asyncio.Event().wait()

    node = Node([Silent()])
    result = await caller(make_server(node, limits=Limits(call_seconds=0.05)))("get_balance", address=ALICE)
    await node.close()
    assert code_of(result) == "NODE_TIMEOUT"
    assert text_of(result) == "Node did not answer in time. It was given 0.05 s."
