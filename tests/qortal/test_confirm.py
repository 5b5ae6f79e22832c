"""`--confirm`: several nodes are asked the same, compared at one block, and what they do not agree on is said."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from msgspec import structs

from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.confirm.comparing import ALL_OWN, PARTLY_OWN
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server, readiness

from .busy_chain import BusyChain, payment, time_of
from .conftest import Call, caller
from .faulty_node import Behaviour, FaultyNode, hangs, replies
from .live_chain import live_answer
from .outcomes import answer_of, code_of, error_of
from .world import ALICE, BOB, HEIGHT

LIMITS = NodeLimits(
    reply_seconds=2,
    connect_seconds=1,
    tip_seconds=1,
    tip_age_seconds=0.2,
    rest_seconds=60,
    confirm_seconds=0.6,
)
BALANCE = f"/addresses/balance/{ALICE}"
LIE = replies("5.00000000", 200, "text/plain")


@pytest.fixture
async def several() -> AsyncIterator[list[FaultyNode]]:
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(FaultyNode()) for _ in range(3)]


@asynccontextmanager
async def confirming(
    wanted: int, *faulty: FaultyNode, limits: NodeLimits = LIMITS
) -> AsyncIterator[tuple[Node, Call]]:
    node = Node.at([each.url for each in faulty], limits, confirm=wanted)
    try:
        async with asyncio.timeout(20):
            yield node, caller(make_server(node, toolsets="all"))
    finally:
        await node.close()


def newest(height: int, signature: str | None = None) -> Behaviour:
    """A newest block of that height, made just now."""
    block = json.loads(live_answer(f"/blocks/byheight/{height}").body)
    block["timestamp"] = int(time.time() * 1000)
    return replies(json.dumps(block | ({} if signature is None else {"signature": signature})))


def balances(node: FaultyNode) -> int:
    return sum(target.partition("?")[0] == BALANCE for target in node.asked)


@pytest.mark.promise(
    "Nodes", "With `--confirm N`, asOf.confirmedBy names N nodes that gave the same answer at one block."
)
async def test_nodes_that_agree_are_named(several: list[FaultyNode]) -> None:
    first, second, third = several
    async with confirming(2, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
        assert answer["asOf"]["node"] == first.url
        assert answer["asOf"]["confirmedBy"] == [first.url, second.url]
        assert "notes" not in answer
    assert (balances(first), balances(second), third.asked) == (1, 1, [])
    async with confirming(3, *several) as (_, call):
        answer = await answer_of(call, "get_account_overview", address=ALICE)
        assert answer["asOf"]["confirmedBy"] == [each.url for each in several]


async def test_without_it_one_node_is_asked_and_nothing_is_said(several: list[FaultyNode]) -> None:
    async with confirming(1, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert "confirmedBy" not in answer["asOf"]
    assert several[1].asked == []


@pytest.mark.promise(
    "Nodes", "With `--confirm N`, a note names the nodes that contradict an answer, and what they contradict."
)
async def test_a_node_that_lies_about_a_balance_is_named(several: list[FaultyNode]) -> None:
    first, second, third = several
    second.behaviours[BALANCE] = LIE
    async with confirming(3, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["balance"] != "5.00000000"
    assert answer["asOf"]["confirmedBy"] == [first.url, third.url]
    assert answer["notes"] == [f"Nodes disagree: {second.url} differs from {first.url} on {BALANCE}."]


async def test_if_the_first_node_lies_nobody_confirms_it(several: list[FaultyNode]) -> None:
    first, second, third = several
    first.behaviours[BALANCE] = LIE
    async with confirming(3, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["confirmedBy"] == []
    assert answer["notes"] == [
        f"Nodes disagree: {other.url} differs from {first.url} on {BALANCE}." for other in (second, third)
    ]


async def test_the_members_that_differ_are_named_but_not_what_they_hold(several: list[FaultyNode]) -> None:
    first, second, _ = several
    path = f"/addresses/{ALICE}"
    account = {**json.loads(live_answer(path).body), "level": 9, "blocksMinted": 77777, "somethingNew": 1}
    second.behaviours[path] = replies(json.dumps(account))
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_account_overview", address=ALICE)
    assert answer["asOf"]["confirmedBy"] == []
    (note,) = answer["notes"]
    assert note.startswith(f"Nodes disagree: {second.url} differs from {first.url} on {path} (")
    assert all(named in note for named in ("level", "blocksMinted"))
    assert not any(hidden in note for hidden in ("77777", "somethingNew"))


async def test_members_that_nobody_reads_and_the_order_of_rows_do_not_matter(
    several: list[FaultyNode],
) -> None:
    first, second, _ = several
    path = f"/groups/member/{ALICE}"
    rows = [{**row, "somethingNew": 1} for row in json.loads(live_answer(path).body)]
    assert len(rows) > 1
    second.behaviours[path] = replies(json.dumps(rows[::-1]))
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "list_groups", member=ALICE)
    assert answer["asOf"]["confirmedBy"] == [first.url, second.url]


@pytest.mark.promise(
    "Nodes", "With `--confirm N`, nodes that stand at different blocks are compared once they have met."
)
@pytest.mark.parametrize("late", [0, 1])
async def test_a_node_that_is_a_block_behind_is_waited_for(several: list[FaultyNode], late: int) -> None:
    first, second, _ = several
    behind = several[late]
    behind.behaviours["/blocks/last"] = newest(HEIGHT - 1)
    behind.behaviours[BALANCE] = LIE  # what it was a block ago
    async with confirming(2, first, second, limits=structs.replace(LIMITS, confirm_seconds=5)) as (_, call):
        coming = asyncio.create_task(answer_of(call, "get_balance", address=ALICE))
        await asyncio.sleep(0.5)
        assert not coming.done()
        behind.behaviours.clear()
        answer = await coming
    assert answer["balance"] != "5.00000000"
    assert answer["asOf"]["confirmedBy"] == [first.url, second.url]
    assert "notes" not in answer


@pytest.mark.promise(
    "Nodes", "With `--confirm N`, an answer that too few nodes could confirm says so, and why."
)
async def test_a_node_that_stays_behind_confirms_nothing(several: list[FaultyNode]) -> None:
    first, second, _ = several
    second.behaviours["/blocks/last"] = newest(HEIGHT - 1)
    limits = structs.replace(LIMITS, confirm_seconds=1.5)
    async with confirming(2, first, second, limits=limits) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
        assert answer["asOf"]["confirmedBy"] == []
        why = f"{second.url} is at block {HEIGHT - 1}, not {HEIGHT}"
        assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {why}."]
        # Nobody waits again for the same two blocks.
        started = time.monotonic()
        assert (await answer_of(call, "get_balance", address=BOB))["asOf"]["confirmedBy"] == []
        assert time.monotonic() - started < limits.confirm_seconds
        # Blocks that both have can be compared anyway.
        answer = await answer_of(call, "get_block", height=5)
        assert answer["asOf"]["confirmedBy"] == [first.url, second.url]


async def test_a_false_block_is_noticed_although_one_node_is_behind(several: list[FaultyNode]) -> None:
    first, second, _ = several
    second.behaviours["/blocks/last"] = newest(HEIGHT - 1)
    path = "/blocks/byheight/5"
    block = json.loads(live_answer(path).body)
    second.behaviours[path] = replies(
        json.dumps({**block, "transactionCount": block["transactionCount"] + 1})
    )
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_block", height=5)
    assert answer["notes"] == [
        f"Nodes disagree: {second.url} differs from {first.url} on {path} (transactionCount)."
    ]


async def test_a_third_node_stands_in_for_one_that_cannot_confirm(several: list[FaultyNode]) -> None:
    first, second, third = several
    second.behaviours["/blocks/last"] = newest(HEIGHT - 1)
    async with confirming(2, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["confirmedBy"] == [first.url, third.url]
    assert "notes" not in answer


async def test_a_dead_node_confirms_nothing_and_fails_nothing(several: list[FaultyNode]) -> None:
    first, second, third = several
    await second.stop()
    async with confirming(2, first, second) as (node, call):
        for address in (ALICE, BOB):
            answer = await answer_of(call, "get_balance", address=address)
            assert answer["asOf"]["confirmedBy"] == []
            assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {second.url} did not answer."]
        assert (await readiness(node))[1] is True
    async with confirming(2, first, second, third) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
        assert answer["asOf"]["confirmedBy"] == [first.url, third.url]


async def test_if_the_first_node_is_dead_the_others_answer_and_confirm(several: list[FaultyNode]) -> None:
    first, second, third = several
    await first.stop()
    async with confirming(2, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["node"] == second.url
    assert answer["asOf"]["confirmedBy"] == [second.url, third.url]


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """One after the other; the last one from then on."""
    left = list(behaviours)

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(reader, writer)

    return behave


async def test_a_node_that_moves_on_while_it_is_asked_is_not_called_a_liar(several: list[FaultyNode]) -> None:
    first, second, _ = several
    here, elsewhere = newest(HEIGHT), newest(HEIGHT, "another block")
    second.behaviours[BALANCE] = LIE
    second.behaviours["/blocks/last"] = in_turn(here, *[here, elsewhere] * 10)
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    why = "moved to another block each time it was asked"
    assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {second.url} {why}."]


async def test_a_block_that_came_between_two_answers_is_no_contradiction(several: list[FaultyNode]) -> None:
    first, second, _ = several
    right = replies(live_answer(BALANCE).body, 200, "text/plain")
    first.behaviours[BALANCE] = in_turn(LIE, right)
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["balance"] == live_answer(BALANCE).body.decode()
    assert answer["asOf"]["confirmedBy"] == [first.url, second.url]


async def test_a_node_that_fails_when_asked_again_confirms_nothing(several: list[FaultyNode]) -> None:
    first, second, _ = several
    second.behaviours[BALANCE] = in_turn(LIE, replies("busy", 503, "text/plain"))
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {second.url} did not answer."]


@pytest.mark.parametrize("path", [BALANCE, f"/blocks/byheight/{HEIGHT - 1}"])
async def test_an_answer_stands_if_its_node_fails_while_others_are_asked(
    several: list[FaultyNode], path: str
) -> None:
    first, second, _ = several
    busy = replies("busy", 503, "text/plain")
    if path == BALANCE:
        first.behaviours[path] = in_turn(LIE, busy)
    else:
        first.behaviours[path] = busy
        second.behaviours["/blocks/last"] = newest(HEIGHT - 1)
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["node"] == first.url
    assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {second.url} could not be compared."]


@pytest.mark.parametrize("height", [HEIGHT, HEIGHT - 3])
async def test_a_node_on_another_chain_is_named(several: list[FaultyNode], height: int) -> None:
    first, second, _ = several
    second.behaviours["/blocks/last"] = newest(height, "another block")
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["confirmedBy"] == []
    assert answer["notes"] == [
        f"Nodes disagree: {second.url} differs from {first.url} on the block at height {height}."
    ]


async def test_a_node_that_is_far_behind_is_not_asked(several: list[FaultyNode]) -> None:
    first, second, _ = several
    second.behaviours["/blocks/last"] = replies(live_answer("/blocks/last", 23 * 3600).body)
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {second.url} is behind."]
    assert balances(second) == 0


async def test_a_slow_node_is_waited_for_only_a_little(several: list[FaultyNode]) -> None:
    first, second, _ = several
    second.behaviours[BALANCE] = hangs
    async with confirming(2, first, second) as (_, call):
        started = time.monotonic()
        answer = await answer_of(call, "get_balance", address=ALICE)
        assert time.monotonic() - started < LIMITS.reply_seconds
    assert answer["notes"] == [f"Confirmed by only 1 of 2 nodes: {second.url} did not answer in time."]


class Restless(BusyChain):
    """A node that says something else each time, also about its newest block."""

    origin = "restless"

    def _block(self, height: int) -> dict[str, Any]:
        return super()._block(height) | ({"signature": f"{len(self.asked)}"} if height == self.height else {})

    def _search(self, wanted: dict[str, str], target: str) -> list[dict[str, Any]]:
        return [row | {"fee": "5.00000000"} for row in super()._search(wanted, target)]


async def test_all_parts_of_an_answer_wait_for_other_nodes_only_so_long_together() -> None:
    rows = [payment(number, 1 + number) for number in range(2500)]
    first, second = BusyChain(2500, rows), Restless(2500, rows)
    limits = structs.replace(LIMITS, confirm_answer_seconds=0.5)
    node = Node([first, second], limits, confirm=2, clock=lambda: time_of(2500) / 1000)
    answer = await answer_of(caller(make_server(node)), "get_changes", since="2d")
    await node.close()
    assert (answer["complete"], answer["transactions"]) == (True, 2500)
    assert answer["asOf"]["confirmedBy"] == []
    assert "Confirmed by only 1 of 2 nodes: restless did not answer in time." in answer["notes"]
    # Those who are not waited for are not asked.
    assert len(second.searches) < len(first.searches) / 2


async def test_all_are_asked_side_by_side(several: list[FaultyNode]) -> None:
    all_asked = asyncio.Barrier(3)

    async def together(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with all_asked:
            await replies("1.00000000", 200, "text/plain")(reader, writer)

    for each in several:
        each.behaviours[BALANCE] = together
    async with confirming(3, *several) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert len(answer["asOf"]["confirmedBy"]) == 3


async def test_an_answer_from_memory_keeps_its_confirmation(several: list[FaultyNode]) -> None:
    first, second, _ = several
    async with confirming(2, first, second) as (_, call):
        answers = await asyncio.gather(*(answer_of(call, "get_balance", address=ALICE) for _ in range(5)))
        answers.append(await answer_of(call, "get_balance", address=ALICE))
    assert all(answer["asOf"]["confirmedBy"] == [first.url, second.url] for answer in answers)
    assert (balances(first), balances(second)) == (1, 1)


@pytest.mark.parametrize("liar", [0, 1])
async def test_what_one_node_does_not_find_another_may_have(several: list[FaultyNode], liar: int) -> None:
    first, second, _ = several
    path = "/names/alice-test"
    several[liar].behaviours[path] = replies('{"error":401}', 404)
    async with confirming(2, first, second) as (_, call):
        if liar == 0:
            text = await error_of(call, "get_name_info", name="alice-test")
            assert text == f"Name not found. Nodes disagree: {second.url} differs from {first.url} on {path}."
            assert code_of(await call("get_name_info", name="alice-test")) == "NOT_FOUND"
        else:
            answer = await answer_of(call, "get_name_info", name="alice-test")
            assert answer["asOf"]["confirmedBy"] == []
            assert answer["notes"] == [f"Nodes disagree: {second.url} differs from {first.url} on {path}."]


async def test_what_no_node_has_is_not_found_as_ever(several: list[FaultyNode]) -> None:
    async with confirming(3, *several) as (_, call):
        assert await error_of(call, "get_name_info", name="nobody-has-this") == "Name not found."


async def test_the_owner_of_a_name_that_stands_for_an_address_is_confirmed_too(
    several: list[FaultyNode],
) -> None:
    first, second, _ = several
    path = "/names/alice-test"
    row = {**json.loads(live_answer(path).body), "owner": BOB}
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address="@alice-test")
        assert answer["asOf"]["confirmedBy"] == [first.url, second.url]
    second.behaviours[path] = replies(json.dumps(row))
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address="@alice-test")
    assert answer["asOf"]["confirmedBy"] == []
    assert f"Nodes disagree: {second.url} differs from {first.url} on {path} (owner)." in answer["notes"]


@pytest.mark.promise(
    "Nodes", "With `--confirm N`, what is each node's own view is not compared, and that is said."
)
async def test_what_is_each_nodes_own_is_not_compared(several: list[FaultyNode]) -> None:
    first, second, _ = several
    async with confirming(2, first, second) as (node, call):
        answer = await answer_of(call, "get_node_status")
        assert answer["asOf"]["confirmedBy"] == []
        assert answer["notes"] == [ALL_OWN]
        assert second.asked == []
        answer = await answer_of(call, "get_network_overview")
        assert answer["asOf"]["confirmedBy"] == []
        assert answer["notes"] == [f"{PARTLY_OWN} The rest is the same on {first.url} and {second.url}."]
        assert (await readiness(node))[0].node == first.url


async def test_transactions_that_are_in_no_block_are_not_compared(several: list[FaultyNode]) -> None:
    first, second, _ = several
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "search_transactions", address=ALICE, status="BOTH", limit=2)
        assert answer["notes"] == [ALL_OWN]
        answer = await answer_of(call, "search_transactions", address=ALICE, limit=2)
        assert answer["asOf"]["confirmedBy"] == [first.url, second.url]
        signature = answer["transactions"][0]["signature"]
        answer = await answer_of(call, "get_transaction", signature=signature)
        assert answer["asOf"]["confirmedBy"] == [first.url, second.url]
        for each in (first, second):
            path = f"/transactions/signature/{signature}"
            row = json.loads(live_answer(path).body)
            del row["blockHeight"]
            each.behaviours[path] = replies(json.dumps(row))
    async with confirming(2, first, second) as (_, call):
        answer = await answer_of(call, "get_transaction", signature=signature)
        assert answer["notes"] == [ALL_OWN]


async def test_read_core_is_confirmed_like_any_tool(several: list[FaultyNode]) -> None:
    first, second, _ = several
    async with confirming(2, first, second) as (_, call):
        asked = {"endpoint": "/names/{name}", "values": {"name": "alice-test"}}
        assert (await answer_of(call, "read_core", **asked))["asOf"]["confirmedBy"] == [first.url, second.url]
        asked = {"endpoint": "/peers/summary"}
        assert (await answer_of(call, "read_core", **asked))["notes"] == [ALL_OWN]


# What is kept until the next block is on the chain. Any other endpoint is named here, so a new one has to be decided on.
ON_THE_CHAIN = {
    "/blocks/last",
    "/blocks/height",
    "/blocks/signers",
    "/transactions/pending",
    "/transactions/creator/{publickey}",
    "/transactions/payments/between",
    "/groups/balances",
    *(f"/groups/top{what}/{{year}}" for what in ("bans", "kicks", "joins", "leaves")),
    "/polls/apps/ratings",
    "/crosschain/trade/{ataddress}",
    "/arbitrary/search",
    "/at/executables",
}
THE_SAME_AT_ANY_TIME = {
    "/addresses/validate/{address}",
    "/addresses/convert/{publickey}",
    "/blocks/first",
    "/transactions/signature/{signature}/raw",
    "/transactions/unitfee",
    "/crosschain/htlc/address/{blockchain}/{refundPKH}/{locktime}/{redeemPKH}/{hashOfSecret}",
    "/arbitrary/categories",
    "/utils/layout/{txtype}",
}
EACH_NODES_OWN = (
    "/admin/",
    "/peers/",
    "/utils/timestamp",
    "/addresses/online",
    # Where rows come from depends on what the node has archived, or was told to record.
    "/blocks/signer/{address}",
    "/assets/balancedynamic",
    "/transactions/unconfirmed",
    # Any one of several.
    "/transactions/reference/{reference}",
    "/chat/",
    # Messages that are in no block yet hide offers.
    "/crosschain/tradeoffers",
    "/crosschain/signedfees",
    *(f"/crosschain/{coin}/" for coin in ("btc", "ltc", "doge", "dgb", "rvn", "arrr")),
    # What the node holds of QDN.
    "/arbitrary/resources",
    "/arbitrary/{service}/",
    "/arbitrary/indices",
)


def test_every_endpoint_is_compared_or_not_on_purpose() -> None:
    found: dict[str, set[str]] = {"always": set(), "at one block": set(), "never": set()}
    for endpoint in ENDPOINTS:
        found[endpoint.same_for({}).value].add(endpoint.template)
    until_next_block = {endpoint.template for endpoint in ENDPOINTS if endpoint.keep.until_next_block}
    assert found["at one block"] - until_next_block == ON_THE_CHAIN
    assert found["always"] == THE_SAME_AT_ANY_TIME
    assert {each for each in found["never"] if not each.startswith(EACH_NODES_OWN)} == set()
    assert {each for each in found["at one block"] if each.startswith(EACH_NODES_OWN)} == set()


def test_only_what_is_in_a_block_is_the_same_on_all_nodes() -> None:
    status: Any
    for endpoint in ENDPOINTS:
        if "confirmationStatus" in endpoint.query:
            for status in ("UNCONFIRMED", "BOTH"):
                assert endpoint.same_for({"confirmationStatus": status}).value == "never"
            assert endpoint.same_for({"confirmationStatus": "CONFIRMED"}).value == "at one block"
            assert endpoint.defaults["confirmationStatus"] == "CONFIRMED"
