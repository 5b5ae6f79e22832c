"""Whether a node is healthy: nodes that are unwell in one way each, as a client of the server sees them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec import structs

from qortal_mcp.qortal.endpoints import ENDPOINTS
from qortal_mcp.qortal.health import Condition, is_healthy, problems_of, verdict, version_of
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .live_chain import live_answer
from .outcomes import answer_of
from .told_node import ToldNode, fails

STATUS = {
    "height": 596,
    "isSynchronizing": False,
    "syncPercent": 100,
    "isMintingPossible": True,
    "numberOfConnections": 20,
    "numberOfDataConnections": 12,
}
DAY = 86_400


def told(target: str, changes: dict[str, Any]) -> Any:
    """A main net node that is well, apart from what is changed."""
    if target in changes:
        return changes[target]
    if target == "/admin/status":
        return {**STATUS, **changes.get("status", {})}
    if target == "/admin/info":
        about = {**json.loads(live_answer(target).body), "isTestNet": False, **changes.get("info", {})}
        return {name: value for name, value in about.items() if value is not None}
    return live_answer(target, changes.get("age", 0.0))


@asynccontextmanager
async def node_with(**changes: Any) -> AsyncIterator[Call]:
    node = Node([ToldNode(lambda target: told(target, changes))])
    yield caller(make_server(node))
    await node.close()


def in_seconds(seconds: int) -> int:
    return int(json.loads(live_answer("/admin/info").body)["currentTimestamp"]) + seconds * 1000


@pytest.mark.promise(
    "Nodes",
    "`get_node_status` says in one sentence whether the node is healthy, and what to do about each problem.",
)
async def test_a_node_that_is_well_has_no_problems() -> None:
    async with node_with() as call:
        answer = await answer_of(call, "get_node_status")
    assert answer["problems"] == []
    assert answer["isHealthy"] is True
    assert (
        answer["verdict"] == "Healthy: in sync at height 596, newest block less than a second old, 20 peers."
    )
    assert answer["tipAgeSeconds"] == 0
    assert abs(answer["clockDriftSeconds"]) <= 1
    assert answer["peers"] == {"total": 20, "inbound": 0, "outbound": 0, "data": 12}
    assert answer["whyNoMinting"] is None


UNWELL: list[Any] = [
    pytest.param({"status": {"height": 0}, "/blocks/last": fails(301)}, "The node has no blocks yet: its height is 0.", True, id="height-0"),
    pytest.param({"status": {"isSynchronizing": True, "syncPercent": 41}}, "The node is synchronizing (41 % done).", True, id="syncing"),
    pytest.param({"status": {"isSynchronizing": True, "syncPercent": None}}, "The node is synchronizing.", True, id="syncing-no-percent"),
    pytest.param({"age": 2 * DAY + 5}, "The node's newest block is 2 days old, and blocks come about once a minute.", True, id="stale"),
    pytest.param(
        {"age": -DAY - 5.0},
        "The node's newest block is 1 day in the future: the clock of the node or of this machine is wrong.",
        True,
        id="future",
    ),
    pytest.param(
        {"/blocks/last": fails(301)},
        "The node does not tell its newest block, so nobody can say how old its data is.",
        True,
        id="hidden-tip",
    ),
    pytest.param(
        {"info": {"currentTimestamp": None}},
        "The node has no clock: no time server has answered it, and without one it neither synchronizes nor mints.",
        True,
        id="no-clock",
    ),
    pytest.param({"info": {"currentTimestamp": in_seconds(2 * 3600 + 1800)}}, "The node's clock is 2 hours ahead of this machine's.", True, id="clock-ahead"),
    pytest.param({"info": {"currentTimestamp": in_seconds(-5400)}}, "The node's clock is 1 hour behind this machine's.", True, id="clock-behind"),
    pytest.param({"status": {"numberOfConnections": 0}}, "The node has no peers, so it gets no new blocks.", True, id="no-peers"),
    pytest.param(
        {"status": {"numberOfConnections": 1}}, "The node has only 1 peer; it needs 3 to synchronize and to mint.", False, id="few-peers"
    ),
    pytest.param(
        {"status": {"numberOfDataConnections": 0}},
        "The node has no peers for QDN data, so it cannot fetch what others published.",
        False,
        id="no-data-peers",
    ),
]  # fmt: skip


@pytest.mark.promise(
    "Nodes",
    "`get_node_status` says in one sentence whether the node is healthy, and what to do about each problem.",
)
@pytest.mark.parametrize(("changes", "problem", "is_serious"), UNWELL)
async def test_each_problem_is_named_with_what_to_do(
    changes: dict[str, Any], problem: str, is_serious: bool
) -> None:
    async with node_with(**changes) as call:
        answer = await answer_of(call, "get_node_status")
    (found,) = answer["problems"]
    assert found["problem"] == problem
    assert len(found["advice"]) > 20
    assert found["isSerious"] is is_serious
    assert answer["isHealthy"] is not is_serious
    if is_serious:
        assert answer["verdict"] == f"Not healthy: {problem[0].lower()}{problem[1:]}"
    else:
        assert answer["verdict"].startswith("Healthy, with 1 thing to improve: in sync at height 596, ")


async def test_an_old_core_is_told_what_it_lacks() -> None:
    async with node_with(info={"buildVersion": "qortal-4.5.9-1234567"}) as call:
        answer = await answer_of(call, "get_node_status")
    (found,) = answer["problems"]
    newer = [each for each in ENDPOINTS if tuple(map(int, each.since.split("."))) > (4, 5, 9)]
    assert found["problem"].startswith(
        f"The node runs Core 4.5.9, which lacks {len(newer)} of the {len(ENDPOINTS)} "
    )
    assert found["advice"] == "Update Qortal Core to 6.1.6 or later."
    assert answer["isHealthy"] is True


async def test_the_gravest_problem_comes_first_and_the_others_are_counted() -> None:
    async with node_with(status={"numberOfConnections": 1}, age=DAY) as call:
        answer = await answer_of(call, "get_node_status")
    assert [found["isSerious"] for found in answer["problems"]] == [True, False]
    assert answer["verdict"].endswith(", and 1 more problem.")


async def test_how_old_is_too_old_follows_the_setting() -> None:
    node = Node(
        [ToldNode(lambda target: told(target, {"age": 125.0}))],
        structs.replace(Node.sample().limits, max_tip_age_seconds=60),
    )
    answer = await answer_of(caller(make_server(node)), "get_node_status")
    await node.close()
    assert answer["isHealthy"] is False
    assert answer["tipAgeSeconds"] in (125, 126)


async def test_the_sample_chain_is_healthy_although_it_stands_still(call: Call) -> None:
    answer = await answer_of(call, "get_node_status")
    assert (answer["isHealthy"], answer["problems"]) == (True, [])
    assert answer["tipAgeSeconds"] is answer["clockDriftSeconds"] is None
    assert answer["verdict"] == "Healthy: this is the sample chain, which stands still."


async def test_a_test_chain_of_one_node_needs_no_peers() -> None:
    async with FaultyNode() as alone:
        node = Node.at([alone.url])
        answer = await answer_of(caller(make_server(node)), "get_node_status")
        await node.close()
    assert (answer["numberOfConnections"], answer["isHealthy"], answer["problems"]) == (0, True, [])


NO_MINTING: list[Any] = [
    pytest.param({"status": {"isMintingPossible": False}}, "The node has no minting key, or ", id="no-key"),
    pytest.param(
        {"status": {"isMintingPossible": False, "numberOfConnections": 2}}, "The node has only 2 peers; ", id="few-peers"
    ),
    pytest.param(
        {"status": {"isMintingPossible": False, "isSynchronizing": True}}, "The node is synchronizing (100", id="syncing"
    ),
    pytest.param(
        {"status": {"isMintingPossible": False}, "info": {"currentTimestamp": None}}, "The node has no clock", id="no-clock"
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "why"), NO_MINTING)
async def test_a_node_that_cannot_mint_says_why(changes: dict[str, Any], why: str) -> None:
    async with node_with(**changes) as call:
        answer = await answer_of(call, "get_node_status")
    assert answer["whyNoMinting"].startswith(why)


async def test_a_node_that_hides_its_version_and_peers_is_still_judged() -> None:
    page = RawReply(404, "text/html", b"<html>")
    async with node_with(**{"/admin/info": page, "/peers/summary": page}) as call:
        answer = await answer_of(call, "get_node_status")
    assert answer["isHealthy"] is True
    assert answer["clockDriftSeconds"] is None
    assert answer["peers"]["inbound"] is None


async def test_drift_is_measured_when_the_node_was_asked_and_not_when_its_answer_is_reused() -> None:
    now, day = [1000.0], [1_800_000_000.0]
    info = {
        "buildVersion": "qortal-6.1.8",
        "uptime": 5,
        "isTestNet": True,
        "currentTimestamp": 1_800_000_007_000,
    }
    source = ToldNode(lambda target: info if target == "/admin/info" else None)
    node = Node([source], now=lambda: now[0], clock=lambda: day[0])
    call = caller(make_server(node))
    for _ in range(2):
        assert (await answer_of(call, "get_node_status"))["clockDriftSeconds"] == 7
        now[0] += 1.5
        day[0] += 1.5
    await node.close()
    assert source.asked.count("/admin/info") == 1


async def test_a_version_of_strangers_does_no_harm() -> None:
    async with FaultyNode() as odd:
        odd.behaviours["/admin/info"] = replies(
            json.dumps({"buildVersion": "9" * 5000 + ".1.1\u202e", "uptime": 1, "currentTimestamp": 10**18})
        )
        node = Node.at([odd.url])
        answer = await answer_of(caller(make_server(node)), "get_node_status")
        await node.close()
    assert "\u202e" not in json.dumps(answer, ensure_ascii=False)


WELL = Condition(height=5, is_synchronizing=False, is_minting_possible=True, peers=3, tip_age_seconds=900.0)


@pytest.mark.parametrize(
    ("changes", "count"),
    [
        ({}, 0),
        ({"tip_age_seconds": 900.1}, 1),
        ({"tip_age_seconds": -120.0}, 0),
        ({"tip_age_seconds": -120.1}, 1),
        ({"drift_seconds": -30}, 0),
        ({"drift_seconds": 31}, 1),
        ({"peers": 2}, 1),
        ({"data_peers": 0}, 1),
        ({"version": "qortal-6.1.6"}, 0),
        ({"version": "qortal-6.1.5"}, 1),
        ({"version": "unknown"}, 0),
        ({"has_clock": False}, 1),
    ],
)
def test_bounds_are_judged_to_the_second(changes: dict[str, Any], count: int) -> None:
    assert len(problems_of(structs.replace(WELL, **changes))) == count


def test_minor_problems_leave_a_node_healthy_and_are_counted() -> None:
    node = structs.replace(WELL, peers=1, data_peers=0)
    problems = problems_of(node)
    assert is_healthy(problems)
    assert verdict(node, problems) == (
        "Healthy, with 2 things to improve: in sync at height 5, newest block 15 minutes old, 1 peer."
    )


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("qortal-6.1.8-bb6b1bf", (6, 1, 8)), ("6.10.0", (6, 10, 0)), ("", None), ("6.1", None)],
)
def test_a_version_is_read_from_what_core_says(text: str, numbers: tuple[int, int, int] | None) -> None:
    assert version_of(text) == numbers
