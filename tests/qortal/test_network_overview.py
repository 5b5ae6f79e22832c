"""The network at a glance."""

from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .world import HEIGHT


@pytest.fixture
async def call(node: Node) -> Call:
    return caller(make_server(node, toolsets="node"))


async def answer_of(call: Call, tool: str) -> dict[str, Any]:
    result = await call(tool)
    assert result["isError"] is False, result
    found: dict[str, Any] = result["structuredContent"]
    return found


async def test_the_network_at_a_glance(call: Call) -> None:
    found = await answer_of(call, "get_network_overview")
    assert found["last24Hours"]["blockCount"] == HEIGHT
    assert found["last24Hours"]["transactionCount"] == 557
    assert found["last24Hours"]["transactionCountByType"]["PAYMENT"] == 56
    assert found["circulatingSupplyQort"] == "2958.50000000"
    assert found["onlineMinters"] == {
        "total": 2,
        "byLevel": [{"level": 3, "count": 1}, {"level": 10, "count": 1}],
    }
    assert found["peers"] == {"total": 0, "inbound": 0, "outbound": 0, "data": 0}
    assert found["fees"] == {"payment": "0.01000000", "registerName": "1.25000000", "unit": "QORT"}


async def test_what_a_node_does_not_give_is_null() -> None:
    async with FaultyNode() as young:
        for path in (
            "/admin/summary",
            "/stats/supply/circulating",
            "/addresses/online/levels",
            "/peers/summary",
            "/transactions/unitfee",
        ):
            young.behaviours[path] = replies("<html>", 500, "text/html")
        node = Node.at([young.url])
        found = await answer_of(caller(make_server(node, toolsets="node")), "get_network_overview")
        await node.close()
    assert found["last24Hours"] is None
    assert found["circulatingSupplyQort"] is None
    assert found["onlineMinters"] is None
    assert found["peers"] == {"total": 0, "inbound": None, "outbound": None, "data": 0}
    assert found["fees"] is None


async def test_a_supply_of_nothing_is_written_with_eight_places() -> None:
    async with FaultyNode() as fresh:
        fresh.behaviours["/stats/supply/circulating"] = replies("0E-8", 200, "text/plain")
        node = Node.at([fresh.url])
        found = await answer_of(caller(make_server(node, toolsets="node")), "get_network_overview")
        await node.close()
    assert found["circulatingSupplyQort"] == "0.00000000"


@pytest.mark.parametrize(
    ("old", "member"),
    [
        ("get_node_info", "version"),
        ("get_node_uptime", "uptime"),
        ("get_block_height", "height"),
        ("get_node_summary", "last24Hours"),
    ],
)
async def test_old_names_still_work(call: Call, old: str, member: str) -> None:
    assert (await answer_of(call, old))[member]
