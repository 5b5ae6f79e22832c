"""A node that answers many more rows than it was asked for, or the same ones for ever: an answer stays one page."""

import asyncio
import json
from typing import Any

import pytest
from docgen.examples import EXAMPLES

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS, definitions

from .conftest import Call, caller
from .market import OPEN, address_of, trade
from .world import ALICE

# As many as fit into the 4 MiB that are read of one reply, or enough.
ROWS = 3000
REPLY_BYTES = 3 * 1024 * 1024
ANSWER_BYTES = 64 * 1024
LISTS = [
    definition["name"]
    for definition in definitions(tuple(TOOLSETS))
    if "limit" in definition["inputSchema"]["properties"] and definition["name"] != "read_qdn"
]
FIRST = 1_700_000_000_000


class Generous:
    """The sample chain, but every list comes over and over again, and some addresses answer what they are told."""

    origin = "generous"

    def __init__(self, told: dict[str, list[dict[str, Any]]] | None = None) -> None:
        self._told = told or {}

    async def fetch(self, request: Request) -> RawReply:
        await asyncio.sleep(0)
        told = self._told.get(request.target.partition("?")[0])
        if told is not None:
            return RawReply(200, "application/json", json.dumps(told).encode())
        reply = answer(request.target)
        if reply.status != 200 or not reply.body.startswith(b"[{"):
            return reply
        rows = json.loads(reply.body)
        times = min(ROWS // len(rows), REPLY_BYTES // len(reply.body)) + 1
        return RawReply(200, reply.content_type, json.dumps(rows * times).encode())

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


def asking(source: Generous) -> Call:
    return caller(make_server(Node([source]), toolsets="all"))


def longest_list(page: dict[str, Any]) -> int:
    return max(
        (len(rows) for noun, rows in page.items() if isinstance(rows, list) and noun != "notes"), default=0
    )


def page_or_refusal(result: dict[str, Any], noun: str, limit: int) -> None:
    """A page within its bounds, or a word about there being too much."""
    if result["isError"]:
        assert result["_meta"]["qortal-mcp/error"] == {"code": "TOO_LARGE", "retryable": False}, result
        return
    assert len(result["content"][0]["text"].encode()) <= ANSWER_BYTES
    page = result["structuredContent"]
    assert page["page"]["returned"] == len(page[noun]) <= limit


@pytest.mark.promise(
    "Limits and abuse", "An answer stays within its budget of bytes, however large the node's data are."
)
@pytest.mark.parametrize("limit", [1, 20, 100])
@pytest.mark.parametrize("tool", LISTS)
async def test_more_rows_than_asked_for_still_make_one_page(tool: str, limit: int) -> None:
    call = asking(Generous())
    async with asyncio.timeout(20):
        result = await call(tool, **{**EXAMPLES.get(tool, {}), "limit": limit})
    assert result["isError"] is False, result
    assert len(result["content"][0]["text"].encode()) <= ANSWER_BYTES
    page = result["structuredContent"]
    assert longest_list(page) <= limit
    if "next" in page.get("page", {}):
        assert page["page"]["next"]["offset"] > 0
        async with asyncio.timeout(20):
            following = await call(tool, **page["page"]["next"])
        assert following["isError"] is False, following
        assert longest_list(following["structuredContent"]) <= limit


@pytest.mark.parametrize("chain", ["LTC", "RVN", None])
async def test_offers_without_end_are_given_page_by_page(chain: str | None) -> None:
    endless = [trade(number, "RavencoinACCTv3", OPEN) for number in range(ROWS)]
    call = asking(Generous({"/crosschain/tradeoffers": endless}))
    async with asyncio.timeout(20):
        result = await call("list_trade_offers", limit=100, **({} if chain is None else {"chain": chain}))
    assert result["isError"] is False, result
    page_or_refusal(result, "offers", 100)


# What each asks for: a single page, pages from the newest on, and pages from the oldest on.
REACH = [
    {"limit": 20},
    {"limit": 100, "offset": 100},
    {"limit": 100, "offset": 900},
    {"limit": 100, "reverse": False},
]
TIMES = {
    "one-moment": [FIRST] * ROWS,
    "oldest-first": [FIRST + number for number in range(ROWS)],
    "newest-first": [FIRST - number for number in range(ROWS)],
    "before-all-time": list(range(ROWS)),
}


@pytest.mark.parametrize("reach", REACH, ids=str)
@pytest.mark.parametrize("chain", ["LTC", "RVN", None])
@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
async def test_the_same_trades_whatever_is_asked_for_are_no_trap(
    times: list[int], chain: str | None, reach: dict[str, Any]
) -> None:
    row = {
        "qortAmount": "1.0",
        "foreignAmount": "0.1",
        "sellerAddress": ALICE,
        "buyerReceivingAddress": ALICE,
    }
    same = [{**row, "tradeTimestamp": time, "atAddress": address_of(at)} for at, time in enumerate(times)]
    call = asking(Generous({"/crosschain/trades": same}))
    async with asyncio.timeout(20):
        result = await call("list_completed_trades", **reach, **({} if chain is None else {"chain": chain}))
    page_or_refusal(result, "trades", reach["limit"])
