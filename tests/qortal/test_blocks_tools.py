"""Blocks as a client sees them: one, many, and who signed them."""

import json
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .outcomes import answer_of, error_of
from .pages import every_row
from .world import ALICE, BOB, HEIGHT, NOBODY, WRONG_CHECKSUM

BLOCKS: list[dict[str, Any]] = sample_chain()["blocks"]
GENESIS_MS = 1794763063902


@pytest.fixture
async def call(node: Node) -> Call:
    return caller(make_server(node, toolsets="blocks,transactions"))


@pytest.mark.parametrize(
    ("arguments", "height"),
    [
        pytest.param({"height": 298}, 298, id="height"),
        pytest.param({"signature": BLOCKS[297]["signature"]}, 298, id="signature"),
        pytest.param({"position": "first"}, 1, id="first"),
        pytest.param({"position": "last"}, HEIGHT, id="last"),
        pytest.param({"time": "2026-11-15T21:05:45.315Z"}, HEIGHT, id="time-of-the-newest"),
        pytest.param({"time": "2026-11-15T22:05:45.314+01:00"}, HEIGHT - 1, id="a-moment-before"),
        pytest.param({"time": 1794776745315}, HEIGHT, id="milliseconds"),
        pytest.param({"time": str(BLOCKS[297]["timestamp"])}, 298, id="milliseconds-as-text"),
        pytest.param({"time": "2999-01-01"}, HEIGHT, id="future"),
        # Core itself says that there is no block at this time.
        pytest.param({"time": GENESIS_MS + 1}, 1, id="while-there-was-only-the-first"),
    ],
)
async def test_a_block_is_found_in_several_ways(call: Call, arguments: dict[str, Any], height: int) -> None:
    found = await answer_of(call, "get_block", **arguments)
    assert found["height"] == height
    assert found["signature"] == BLOCKS[height - 1]["signature"]


@pytest.mark.promise("Data of the chain", "Times come both in milliseconds and in ISO 8601.")
async def test_a_block_has_exact_fees_with_their_unit_and_both_times(call: Call) -> None:
    found = await answer_of(call, "get_block", height=HEIGHT)
    assert found["totalFees"] == "0.00000377"
    assert found["unit"] == "QORT"
    assert found["timestamp"] == 1794776745315
    assert found["time"] == "2026-11-15T21:05:45.315Z"
    assert found["minterAddress"] == ALICE
    assert "minting" not in found


async def test_nobody_minted_the_first_block(call: Call) -> None:
    assert (await answer_of(call, "get_block", position="first"))["minterAddress"] is None


async def test_minting_is_told_on_request_with_distances_to_the_last_digit(call: Call) -> None:
    found = await answer_of(call, "get_block", height=298, minting=True)
    recorded = sample_chain()["mintingInfo"]["298"]
    assert found["minting"]["keyDistance"] == str(recorded["keyDistance"])
    assert found["minting"]["maxDistance"] == recorded["maxDistance"]
    assert found["minting"]["timeDelta"] == 4146


async def test_a_block_without_minting_says_so(call: Call) -> None:
    found = await answer_of(call, "get_block", position="first", minting=True)
    assert found["minting"] is None
    assert found["notes"][0] == "The node does not know how this block was won."


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Invalid arguments. Give exactly one of height, signature, time, position."),
        ({"height": 5, "position": "last"}, "Invalid position. Give exactly one of"),
        ({"height": 0}, "Invalid height."),
        ({"height": 597}, "Block not found."),
        ({"signature": "4" * 88}, "Invalid signature."),
        ({"signature": "0OIl" * 40}, "Invalid signature."),
        ({"signature": "1" * 128}, "Block not found."),
        ({"time": "yesterday"}, "Invalid time. Give ISO 8601"),
        ({"time": -1}, "Invalid time."),
        ({"time": GENESIS_MS - 1}, "Block not found."),
        ({"position": "middle"}, "Invalid position."),
    ],
)
async def test_blocks_that_cannot_be_found_are_refused(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    assert (await error_of(call, "get_block", **arguments)).startswith(sentence)


@pytest.mark.promise(
    "Old clients", "Old names of tools and arguments still work, though they are not listed."
)
@pytest.mark.parametrize(
    ("tool", "arguments", "height"),
    [
        ("get_block_by_height", {"height": 7}, 7),
        ("get_block_by_signature", {"signature": BLOCKS[6]["signature"]}, 7),
        ("get_block_height_by_signature", {"signature": BLOCKS[6]["signature"]}, 7),
        ("get_block_at_timestamp", {"timestamp": BLOCKS[6]["timestamp"]}, 7),
        ("get_first_block", {}, 1),
        ("get_last_block", {}, HEIGHT),
    ],
)
async def test_old_names_of_tools_for_one_block_still_work(
    call: Call, tool: str, arguments: dict[str, Any], height: int
) -> None:
    assert (await answer_of(call, tool, **arguments))["height"] == height


async def test_blocks_come_newest_first_and_fit_a_small_page(call: Call) -> None:
    result = await call("list_blocks")
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024
    heights = [row["height"] for row in result["structuredContent"]["blocks"]]
    assert heights == list(range(HEIGHT, HEIGHT - 20, -1))


@pytest.mark.promise("Tools and their results", "Following `page.next` reaches every record once.")
@pytest.mark.parametrize("limit", [7, 100])
@pytest.mark.parametrize("newest_first", [True, False])
async def test_pages_of_blocks_reach_the_last_one(call: Call, limit: int, newest_first: bool) -> None:
    rows = await every_row(call, "list_blocks", "blocks", limit=limit, newest_first=newest_first)
    expected = BLOCKS[::-1] if newest_first else BLOCKS
    assert [row["signature"] for row in rows] == [block["signature"] for block in expected]


async def test_a_list_of_blocks_begins_where_it_is_told_to(call: Call) -> None:
    down = await answer_of(call, "list_blocks", from_height=3)
    up = await answer_of(call, "list_blocks", from_height=595, newest_first=False)
    assert [row["height"] for row in down["blocks"]] == [3, 2, 1]
    assert [row["height"] for row in up["blocks"]] == [595, 596]
    assert "next" not in down["page"]
    assert (await answer_of(call, "list_blocks", offset=100_000))["blocks"] == []


@pytest.mark.promise("Tools and their results", "Pages stay in place while new blocks are added.")
async def test_the_following_page_stays_in_place_when_blocks_are_added(call: Call) -> None:
    page = await answer_of(call, "list_blocks", limit=5)
    assert page["page"]["next"] == {"limit": 5, "from_height": HEIGHT, "offset": 5}


@pytest.mark.parametrize(
    ("tool", "arguments", "heights"),
    [
        ("list_block_range", {"height": 10, "count": 3}, [10, 11, 12]),
        ("list_block_range", {"height": 10, "count": 3, "reverse": True}, [10, 9, 8]),
        ("list_block_range", {"height": 10, "count": 1, "include_online_signatures": False}, [10]),
        ("list_block_summaries", {"start": 10, "end": 14}, [10, 11, 12, 13]),
        ("list_block_summaries", {"start": 10, "count": 2}, [10, 11]),
    ],
)
async def test_old_names_of_tools_for_many_blocks_still_work(
    call: Call, tool: str, arguments: dict[str, Any], heights: list[int]
) -> None:
    found = await answer_of(call, tool, **arguments)
    assert [row["height"] for row in found["blocks"]] == heights


async def test_a_young_chain_is_looked_through_for_what_somebody_signed(call: Call) -> None:
    rows = await every_row(call, "list_blocks", "blocks", signer=BOB, limit=10)
    signed = [block["height"] for block in BLOCKS if block["minterAddress"] == BOB]
    assert [row["height"] for row in rows] == signed[::-1]
    assert len(rows) == 24


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"signer": WRONG_CHECKSUM}, "Invalid Qortal address."),
        (
            {"signer": ALICE, "newest_first": False},
            "Invalid signer. A signer's blocks come newest first: leave out",
        ),
        (
            {"signer": ALICE, "from_height": 5},
            "Invalid signer. A signer's blocks come newest first: leave out",
        ),
    ],
)
async def test_signers_that_cannot_be_listed_are_refused(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    assert (await error_of(call, "list_blocks", **arguments)).startswith(sentence)


async def test_an_address_that_never_signed_anything_signed_no_block(call: Call) -> None:
    found = await answer_of(call, "list_blocks", signer=NOBODY)
    assert found["blocks"] == []
    assert found["notes"][0].startswith("This address has no known public key")


@pytest.mark.parametrize(("newest_first", "heights"), [(True, [596]), (False, [])])
async def test_a_height_above_the_newest_block_is_told(
    call: Call, newest_first: bool, heights: list[int]
) -> None:
    found = await answer_of(call, "list_blocks", from_height=9999, newest_first=newest_first, limit=1)
    assert [row["height"] for row in found["blocks"]] == heights
    assert found["notes"][0] == "from_height 9999 is above the newest block, 596."


async def test_a_time_in_seconds_is_not_taken_for_1970(call: Call) -> None:
    assert (await error_of(call, "get_block", time=1794775505)).startswith(
        "Invalid time. This looks like seconds. Give ISO 8601,"
    )
    assert (await answer_of(call, "get_block", time=1794775505000))["height"] > 1


async def test_the_count_of_a_block_is_that_without_what_contracts_made(call: Call) -> None:
    inside = (await answer_of(call, "search_transactions", block=595))["transactions"]
    made_by_people = [row for row in inside if row["type"] != "AT"]
    listed = (await answer_of(call, "list_blocks", from_height=595, limit=1))["blocks"][0]
    assert (await answer_of(call, "get_block", height=595))["transactionCount"] == len(made_by_people)
    assert listed["transactionCount"] == len(made_by_people) < len(inside)


class OldChain:
    """A source that pages blocks of a signer as Core does: by database and archive, each for itself."""

    origin = "old"

    def __init__(self, recent: int, archived: int) -> None:
        heights = list(range(2_000_000, 2_000_000 - 3 * (recent + archived), -3))
        self.database, self.archive = heights[:recent], heights[recent:]

    async def fetch(self, request: Request) -> RawReply:
        path, _, query = request.target.partition("?")
        if path == "/blocks/last":
            return _reply({"signature": "tip", "height": 2_000_005, "timestamp": int(time.time() * 1000)})
        if not path.startswith("/blocks/signer/"):
            return answer(request.target)
        values = dict(pair.split("=") for pair in query.split("&"))
        first, last = int(values["offset"]), int(values["offset"]) + int(values["limit"])
        archived = self.archive[first:last]
        rows = [*self.database[first:last], *archived] if archived else []
        return _reply(
            [{"height": row, "signature": f"block {row}", "timestamp": 1794776745315} for row in rows]
        )

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


def _reply(value: Any) -> RawReply:
    return RawReply(200, "application/json", json.dumps(value).encode())


@pytest.fixture
async def old_chain(request: pytest.FixtureRequest) -> AsyncIterator[tuple[OldChain, Call]]:
    source = OldChain(*request.param)
    node = Node([source])
    yield source, caller(make_server(node, toolsets="blocks"))
    await node.close()


@pytest.mark.parametrize(
    "old_chain", [(0, 7), (3, 7), (10, 40), (0, 50), (12, 50), (0, 333), (7, 333), (130, 400)], indirect=True
)
@pytest.mark.parametrize("limit", [20, 100])
async def test_pages_reach_the_last_block_of_a_signer_whatever_is_archived(
    old_chain: tuple[OldChain, Call], limit: int
) -> None:
    source, call = old_chain
    rows = await every_row(call, "list_blocks", "blocks", signer=ALICE, limit=limit)
    assert [row["height"] for row in rows] == [*source.database, *source.archive]


@pytest.mark.parametrize("old_chain", [(30, 0)], indirect=True)
async def test_a_node_that_cannot_list_a_signer_says_so(old_chain: tuple[OldChain, Call]) -> None:
    found = await answer_of(old_chain[1], "list_blocks", signer=ALICE)
    assert found["blocks"] == []
    assert found["notes"] == ["This node lists a signer's blocks only if some of them are in its archive."]


async def test_signers_come_with_their_counts_most_first(call: Call) -> None:
    rows = await every_row(call, "list_block_signers", "signers", limit=1)
    assert [row["blockCount"] for row in rows] == [565, 24, 6, 1]
    assert rows[0]["address"] == ALICE
    one = await answer_of(call, "list_block_signers", address=BOB)
    assert [row["blockCount"] for row in one["signers"]] == [24]
    assert (await answer_of(call, "list_block_signers", address=NOBODY))["signers"] == []


async def test_a_block_with_hostile_or_huge_members_is_made_safe() -> None:
    async with FaultyNode() as hostile:
        block = {
            **BLOCKS[9],
            "minterAddress": "evil\u202e\x1b[31m",
            "onlineAccountsSignatures": "9" * 200_000,
        }
        hostile.behaviours["/blocks/byheight/10"] = replies(json.dumps(block))
        node = Node.at([hostile.url])
        found = await answer_of(caller(make_server(node, toolsets="blocks")), "get_block", height=10)
        await node.close()
    assert found["minterAddress"] == "evil\\u{202E}\\u{001B}[31m"
    assert "onlineAccountsSignatures" not in found


async def test_online_signatures_are_never_asked_for() -> None:
    async with FaultyNode() as node_on_wire:
        node = Node.at([node_on_wire.url])
        call = caller(make_server(node, toolsets="blocks"))
        for tool, arguments in (
            ("get_block", {"height": 80}),
            ("list_block_range", {"height": 80, "count": 2}),
        ):
            await answer_of(call, tool, **arguments)
        found = await answer_of(call, "list_block_range", height=80, count=2, include_online_signatures=True)
        await node.close()
    assert not any("OnlineSignatures" in target for target in node_on_wire.asked)
    assert found["notes"] == ["Online signatures are never returned."]
