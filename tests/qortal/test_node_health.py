"""Which node answers: one that is really a Qortal node, that answers at all, and whose newest block is young."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import structs

from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.http_source import HttpSource
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample import SAMPLE_NOTICE
from qortal_mcp.qortal.server import Readiness, make_server, readiness

from .conftest import Call, caller
from .faulty_node import Behaviour, FaultyNode, hangs, replies, sends
from .live_chain import live_answer
from .outcomes import answer_of, code_of, error_of, text_of
from .world import ALICE, ALICE_KEY, BOB, HEIGHT

LIMITS = NodeLimits(reply_seconds=0.6, connect_seconds=1, tip_seconds=0.3, rest_seconds=0.001)
HOURS = 23 * 3600
STALE = "The node is behind: its newest block is 23 hours old."
AHEAD = (
    "The node's newest block is 23 hours in the future: the clock of the node or of this machine is wrong."
)
NOT_A_NODE = "Node error. This is not a Qortal node."


def aged(seconds: float) -> Behaviour:
    """A newest block of that age."""
    return replies(live_answer("/blocks/last", seconds).body)


@asynccontextmanager
async def nodes(*faulty: FaultyNode, limits: NodeLimits = LIMITS) -> AsyncIterator[tuple[Node, Call]]:
    node = Node.at([each.url for each in faulty], limits)
    try:
        async with asyncio.timeout(15):
            yield node, caller(make_server(node))
    finally:
        await node.close()


def searches(node: FaultyNode) -> list[str]:
    """What was searched for: other requests only probe whether the node answers again."""
    return [target for target in node.asked if target.startswith("/arbitrary/search")]


@pytest.fixture
async def first() -> AsyncIterator[FaultyNode]:
    async with FaultyNode() as node:
        yield node


@pytest.fixture
async def second() -> AsyncIterator[FaultyNode]:
    async with FaultyNode() as node:
        yield node


@pytest.mark.promise(
    "Nodes",
    "A node whose newest block is old answers last, whatever it says itself, and its answers say how old.",
)
async def test_a_stale_node_answers_after_one_in_sync(first: FaultyNode, second: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = aged(HOURS)
    async with nodes(first, second) as (node, call):
        for address in (ALICE, BOB):
            answer = await answer_of(call, "get_balance", address=address)
            assert answer["asOf"]["node"] == second.url
            assert "notes" not in answer
        facts, is_ready = await readiness(node)
        assert (facts.node, is_ready) == (second.url, True)
    assert not [target for target in first.asked if target.startswith("/addresses")]


async def test_what_a_stale_node_does_not_know_is_asked_of_the_other(
    first: FaultyNode, second: FaultyNode
) -> None:
    first.behaviours["/blocks/last"] = aged(HOURS)
    first.behaviours[f"/addresses/{ALICE}"] = replies('{"error":124}', 404)
    async with nodes(first, second) as (_, call):
        assert (await answer_of(call, "get_account_overview", address=ALICE))["address"] == ALICE


@pytest.mark.promise(
    "Nodes",
    "A node whose newest block is old answers last, whatever it says itself, and its answers say how old.",
)
async def test_a_stale_node_alone_answers_and_says_how_old_it_is(first: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = aged(HOURS + 60)
    async with nodes(first) as (node, call):
        assert (await answer_of(call, "get_balance", address=ALICE))["notes"] == [STALE]
        facts, is_ready = await readiness(node)
    assert facts.height == HEIGHT
    assert facts.isSynchronizing is False
    assert isinstance(facts.tipAgeSeconds, int)
    assert facts.tipAgeSeconds // 3600 == 23
    assert not is_ready


async def test_stale_nodes_still_answer_if_those_in_sync_fail(first: FaultyNode, second: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = aged(HOURS)
    await second.stop()
    async with nodes(first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["node"] == first.url
    assert answer["notes"] == [STALE]


async def test_a_node_that_caught_up_comes_first_again(first: FaultyNode, second: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = aged(HOURS)
    async with nodes(first, second) as (_, call):
        assert (await answer_of(call, "search_qdn", service=200))["asOf"]["node"] == second.url
        del first.behaviours["/blocks/last"]
        for offset in range(200):
            answer = await answer_of(call, "search_qdn", service=200, offset=offset)
            if answer["asOf"]["node"] == first.url:
                break
        assert answer["asOf"]["node"] == first.url


async def test_a_node_that_says_it_is_synchronizing_comes_last_too(
    first: FaultyNode, second: FaultyNode
) -> None:
    status = {**json.loads(live_answer("/admin/status").body), "isSynchronizing": True}
    first.behaviours["/admin/status"] = replies(json.dumps(status))
    async with nodes(first, second) as (_, call):
        assert (await answer_of(call, "get_balance", address=ALICE))["asOf"]["node"] == second.url
    async with nodes(first) as (node, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
        assert answer["asOf"]["isSynchronizing"] is True
        assert (await readiness(node))[1] is False


@pytest.mark.parametrize(
    ("most", "notes"), [(60.0, ["The node is behind: its newest block is 2 minutes old."]), (180.0, None)]
)
async def test_how_old_is_too_old_can_be_set(first: FaultyNode, most: float, notes: list[str] | None) -> None:
    first.behaviours["/blocks/last"] = aged(125)
    async with nodes(first, limits=NodeLimits(max_tip_age_seconds=most)) as (_, call):
        assert (await answer_of(call, "get_balance", address=ALICE)).get("notes") == notes


async def test_a_block_from_the_future_is_not_old(first: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = aged(-60)
    async with nodes(first) as (node, _):
        assert await readiness(node) == (Readiness(first.url, HEIGHT, False, 0), True)


@pytest.mark.promise(
    "Nodes",
    "A node whose newest block is in the future answers last, and its answers say that a clock is wrong.",
)
async def test_a_block_far_in_the_future_means_that_a_clock_is_wrong(
    first: FaultyNode, second: FaultyNode
) -> None:
    first.behaviours["/blocks/last"] = aged(-HOURS - 60)
    async with nodes(first) as (node, call):
        assert (await answer_of(call, "get_balance", address=ALICE))["notes"] == [AHEAD]
        assert await readiness(node) == (Readiness(first.url, HEIGHT, False, 0), False)
    async with nodes(first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert (answer["asOf"]["node"], "notes" in answer) == (second.url, False)


async def test_meeting_several_nodes_costs_no_request_more(first: FaultyNode, second: FaultyNode) -> None:
    async with nodes(first, second) as (_, call):
        await answer_of(call, "get_balance", address=ALICE)
        await answer_of(call, "get_balance", address=BOB)
    assert sorted(target.partition("?")[0] for target in first.asked) == [
        f"/addresses/balance/{ALICE}",
        f"/addresses/balance/{BOB}",
        "/admin/status",
        "/blocks/last",
    ]
    assert second.asked == []


@pytest.mark.promise("Nodes", "A node that stopped answering fails calls at once, until a probe is answered.")
async def test_a_frozen_node_fails_fast_once_it_is_known(first: FaultyNode) -> None:
    first.behaviours["*"] = hangs
    async with nodes(first) as (node, call):
        assert code_of(await call("get_balance", address=ALICE)) == "NODE_TIMEOUT"
        results = await asyncio.gather(*(call("search_qdn", service=200, offset=each) for each in range(40)))
        assert searches(first) == []
        assert {code_of(result) for result in results} == {"NODE_TIMEOUT"}
        assert text_of(results[0]) == (
            "Node did not answer in time. It has stopped answering; it will be asked again as soon as it does."
        )
        assert results[0]["_meta"]["qortal-mcp/error"]["retryable"] is True
        assert (await readiness(node))[1] is False
        del first.behaviours["*"]
        for _ in range(100):
            result = await call("get_balance", address=ALICE)
            if not result["isError"]:
                break
            await asyncio.sleep(0.05)
        assert result["isError"] is False


async def test_waiting_calls_fail_with_the_first_when_a_node_is_frozen(first: FaultyNode) -> None:
    first.behaviours["*"] = hangs
    async with nodes(first) as (_, call):
        results = await asyncio.gather(*(call("search_qdn", service=200, offset=each) for each in range(60)))
        assert {code_of(result) for result in results} == {"NODE_TIMEOUT"}
        assert 0 < len(searches(first)) <= LIMITS.requests


async def test_another_node_answers_for_a_frozen_one(first: FaultyNode, second: FaultyNode) -> None:
    first.behaviours["*"] = hangs
    limits = structs.replace(LIMITS, reply_seconds=2, tip_seconds=1)
    async with nodes(first, second, limits=limits) as (_, call):
        assert (await answer_of(call, "get_balance", address=ALICE))["asOf"]["node"] == second.url
        async with asyncio.timeout(limits.tip_seconds):
            assert (await answer_of(call, "get_balance", address=BOB))["asOf"]["node"] == second.url


async def test_one_slow_endpoint_does_not_make_a_node_frozen(first: FaultyNode) -> None:
    first.behaviours[f"/addresses/balance/{ALICE}"] = hangs
    async with nodes(first) as (_, call):
        for _ in range(2):
            assert "It was given 0.6 s." in await error_of(call, "get_balance", address=ALICE)
        assert (await answer_of(call, "get_balance", address=BOB))["asOf"]["height"] == HEIGHT


async def test_a_node_that_only_hides_its_height_is_not_frozen(first: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = hangs
    async with nodes(first) as (_, call):
        for address in (ALICE, BOB):
            answer = await answer_of(call, "get_balance", address=address)
            assert answer["notes"] == ["The node did not report its height."]


WEBSITES: list[Any] = [
    pytest.param(replies("<html>Welcome</html>", 200, "text/html"), id="page"),
    pytest.param(replies("<html>Not found</html>", 404, "text/html"), id="404"),
    pytest.param(replies('{"hello":"world"}'), id="json"),
    pytest.param(replies("[]"), id="list"),
    pytest.param(replies("OK", 200, "text/plain"), id="text"),
    pytest.param(replies("1.00000000", 200, "text/plain"), id="a-number"),
    pytest.param(replies("", 301, "text/html", "Location: https://example.org/"), id="redirect"),
    pytest.param(replies("Bad request", 400, "text/plain"), id="400"),
    pytest.param(sends(b"SSH-2.0-OpenSSH_9\r\n"), id="ssh"),
]


async def test_if_no_node_is_usable_the_answer_says_what_is_wrong_with_each(first: FaultyNode) -> None:
    first.behaviours["*"] = replies("<html>Welcome</html>", 200, "text/html")
    nobody = "http://127.0.0.1:1"
    node = Node.at([first.url, nobody], LIMITS)
    try:
        result = await caller(make_server(node))("get_balance", address=ALICE)
    finally:
        await node.close()
    assert code_of(result) == "NODE_UNREACHABLE"
    tried = f"{first.url} (not a Qortal node) and {nobody} (unreachable)"
    assert text_of(result) == f"Node unreachable. Tried {tried}."


@pytest.mark.promise("Nodes", "A website or another service given as a node is recognised and called that.")
@pytest.mark.parametrize("behaviour", WEBSITES)
async def test_something_else_than_a_node_is_called_that(first: FaultyNode, behaviour: Behaviour) -> None:
    first.behaviours["*"] = behaviour
    async with nodes(first) as (node, call):
        for tool, arguments in (
            ("get_balance", {"address": ALICE}),
            ("get_node_status", {}),
            ("get_network_overview", {}),
            ("search_names", {}),
        ):
            result = await call(tool, **arguments)
            assert text_of(result) == NOT_A_NODE, tool
            assert code_of(result) == "NODE_ERROR"
        assert await readiness(node) == (Readiness(first.url), False)


async def test_the_log_says_once_that_this_is_not_a_node(
    first: FaultyNode, caplog: pytest.LogCaptureFixture
) -> None:
    first.behaviours["*"] = replies("<html>Welcome</html>", 200, "text/html")
    with caplog.at_level(logging.WARNING):
        async with nodes(first) as (node, call):
            await readiness(node)
            await call("get_balance", address=ALICE)
    assert [record.message for record in caplog.records] == ["this is not a Qortal node"]


async def test_a_website_beside_a_node_is_passed_over(first: FaultyNode, second: FaultyNode) -> None:
    first.behaviours["*"] = replies("1.00000000", 200, "text/plain")
    async with nodes(first, second) as (_, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
    assert answer["asOf"]["node"] == second.url
    assert answer["balance"] != "1.00000000"


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(sends(b"\x15\x03\x01\x00\x02\x02\x16"), id="alert"),
        pytest.param(
            replies("<html>The plain HTTP request was sent to HTTPS port</html>", 400, "text/html"), id="page"
        ),
        pytest.param(
            replies("Client sent an HTTP request to an HTTPS server.", 400, "text/plain"), id="text"
        ),
    ],
)
async def test_https_behind_a_plain_address_is_called_that(first: FaultyNode, behaviour: Behaviour) -> None:
    first.behaviours["*"] = behaviour
    async with nodes(first) as (_, call):
        text = await error_of(call, "get_balance", address=ALICE)
    assert text == "Node error. It speaks HTTPS: its address must begin with https://."


SAYS_SO = "X-Qortal-MCP-Sample: true"


@pytest.mark.promise(
    "Nodes", "Data of `sample-node` is marked as sample data by whoever reads it with this server."
)
async def test_a_node_that_says_it_is_the_sample_is_marked(first: FaultyNode) -> None:
    first.behaviours["/blocks/last"] = replies(live_answer("/blocks/last", HOURS).body, 200, "x", SAYS_SO)
    first.behaviours["/admin/status"] = replies(live_answer("/admin/status").body, 200, "x", SAYS_SO)
    first.behaviours[f"/addresses/balance/{ALICE}"] = replies("1.00000000", 200, "text/plain", SAYS_SO)
    async with nodes(first) as (node, call):
        answer = await answer_of(call, "get_balance", address=ALICE)
        # Its clock stands still, so its age says nothing.
        assert answer["notes"] == [SAMPLE_NOTICE]
        assert answer["asOf"]["node"] == first.url
        assert await readiness(node) == (Readiness(first.url, HEIGHT, False), True)


async def test_one_part_of_an_answer_that_is_sample_data_is_enough(first: FaultyNode) -> None:
    first.behaviours[f"/addresses/balance/{ALICE}"] = replies("1.00000000", 200, "text/plain", SAYS_SO)
    async with nodes(first) as (_, call):
        assert (await answer_of(call, "get_balance", address=ALICE))["notes"] == [SAMPLE_NOTICE]


async def test_only_the_node_itself_can_say_that_it_is_the_sample(first: FaultyNode) -> None:
    first.behaviours[f"/addresses/balance/{ALICE}"] = replies(
        "1.00000000", 200, "text/plain", "X-Other: X-Qortal-MCP-Sample: true"
    )
    async with nodes(first) as (_, call):
        assert "notes" not in await answer_of(call, "get_balance", address=ALICE)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def tip_at(height: int) -> Behaviour:
    block = {**json.loads(live_answer("/blocks/last").body), "height": height, "signature": f"block {height}"}
    return replies(json.dumps(block))


@pytest.mark.promise("Data of the chain", "asOf is the state that the rows of an answer come from.")
async def test_an_old_conversion_of_a_key_does_not_make_an_answer_old(first: FaultyNode) -> None:
    clock = Clock()
    node = Node([HttpSource(first.url, LIMITS)], LIMITS, now=clock)
    call = caller(make_server(node))
    row = {
        **json.loads(
            live_answer(f"/transactions/search?address={ALICE}&confirmationStatus=CONFIRMED&limit=1").body
        )[0],
        "blockHeight": 2043,
    }
    try:
        first.behaviours["/blocks/last"] = tip_at(2005)
        await answer_of(call, "search_transactions", creator=ALICE_KEY, limit=1)
        clock.now += 3000
        first.behaviours["/blocks/last"] = tip_at(2043)
        first.behaviours[f"/transactions/creator/{ALICE_KEY}"] = replies(json.dumps([row]))
        converted = [target for target in first.asked if target.startswith("/addresses/convert")]
        answer = await answer_of(call, "search_transactions", creator=ALICE_KEY, limit=1)
        assert [target for target in first.asked if target.startswith("/addresses/convert")] == converted
    finally:
        await node.close()
    assert converted
    assert answer["transactions"][0]["blockHeight"] == 2043
    assert answer["asOf"]["height"] == 2043


async def test_an_old_fee_does_not_make_an_overview_old(first: FaultyNode) -> None:
    clock = Clock()
    node = Node([HttpSource(first.url, LIMITS)], LIMITS, now=clock)
    call = caller(make_server(node))
    try:
        first.behaviours["/blocks/last"] = tip_at(2005)
        assert (await answer_of(call, "get_fee", type="PAYMENT"))["asOf"]["height"] == 2005
        clock.now += 3000
        first.behaviours["/blocks/last"] = tip_at(2043)
        assert (await answer_of(call, "get_network_overview"))["asOf"]["height"] == 2043
        # On its own it still says when it was read.
        assert (await answer_of(call, "get_fee", type="PAYMENT"))["asOf"]["height"] == 2005
    finally:
        await node.close()
