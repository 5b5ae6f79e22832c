"""Blocks are kept for ever once nothing can replace them, and until the next block before that."""

from collections.abc import AsyncIterator

import pytest

from qortal_mcp.qortal.endpoints.record import SETTLED_BLOCKS
from qortal_mcp.qortal.node.http_source import HttpSource
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import Behaviour, FaultyNode, replies

DEEP = 100
YEAR_SECONDS = 365 * 24 * 3600.0


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Chain:
    """A node that can be told its newest block, a clock, and a client that asks about blocks."""

    def __init__(self, faulty: FaultyNode) -> None:
        self.clock = Clock()
        self.faulty = faulty
        self.node = Node([HttpSource(faulty.url)], now=self.clock)
        self.call: Call = caller(make_server(self.node))

    async def grows_to(self, height: int, later: float = 60.0) -> None:
        """Another newest block, which everybody has heard of."""
        self.clock.now += later
        self.faulty.behaviours["/blocks/last"] = newest(height)
        await self.call("get_node_status")

    async def block(self, **which: object) -> None:
        assert (await self.call("get_block", **which))["isError"] is False

    def times_asked(self, beginning: str) -> int:
        return sum(target.startswith(beginning) for target in self.faulty.asked)


def newest(height: int) -> Behaviour:
    return replies(f'{{"signature":"of {height}","height":{height},"timestamp":1794776745315}}')


@pytest.fixture
async def chain() -> AsyncIterator[Chain]:
    async with FaultyNode() as faulty:
        chain = Chain(faulty)
        yield chain
        await chain.node.close()


@pytest.mark.promise("Nodes", "A block deep below the tip is asked for once and kept.")
async def test_a_block_deep_below_the_tip_is_asked_for_once_and_for_all(chain: Chain) -> None:
    await chain.grows_to(DEEP + SETTLED_BLOCKS)
    await chain.block(height=DEEP)
    await chain.grows_to(DEEP + SETTLED_BLOCKS + 1, later=YEAR_SECONDS)
    await chain.block(height=DEEP)
    assert chain.times_asked(f"/blocks/byheight/{DEEP}") == 1


async def test_a_block_near_the_tip_is_asked_for_again_after_the_next_block(chain: Chain) -> None:
    await chain.grows_to(DEEP + SETTLED_BLOCKS - 1)
    await chain.block(height=DEEP)
    await chain.block(height=DEEP)
    assert chain.times_asked(f"/blocks/byheight/{DEEP}") == 1
    await chain.grows_to(DEEP + SETTLED_BLOCKS)
    await chain.block(height=DEEP)
    assert chain.times_asked(f"/blocks/byheight/{DEEP}") == 2
    # That time it was settled.
    await chain.grows_to(DEEP + SETTLED_BLOCKS + 1)
    await chain.block(height=DEEP)
    assert chain.times_asked(f"/blocks/byheight/{DEEP}") == 2


async def test_blocks_in_a_row_are_settled_when_the_last_of_them_is(chain: Chain) -> None:
    last = DEEP + 8
    for height in (last + SETTLED_BLOCKS - 1, last + SETTLED_BLOCKS, last + SETTLED_BLOCKS + 1):
        await chain.grows_to(height)
        result = await chain.call("list_blocks", from_height=DEEP, newest_first=False, limit=9)
        assert result["structuredContent"]["page"]["returned"] == 9
    assert chain.times_asked("/blocks/range/") == 2


@pytest.mark.promise("Nodes", "An answer from memory says at which height it was read.")
async def test_a_settled_block_keeps_the_moment_it_was_read_at(chain: Chain) -> None:
    await chain.grows_to(DEEP + SETTLED_BLOCKS)
    await chain.block(height=DEEP)
    await chain.grows_to(DEEP + 2 * SETTLED_BLOCKS)
    answer = (await chain.call("get_block", height=DEEP))["structuredContent"]
    assert answer["asOf"]["height"] == DEEP + SETTLED_BLOCKS
