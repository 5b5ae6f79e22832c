"""The waiting places in front of a node: shared between callers, whatever one of them does."""

import asyncio
import json
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from qortal_mcp.qortal.endpoints.record import Request
from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.flights import Flights
from qortal_mcp.qortal.node.gate import Gate
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply
from qortal_mcp.qortal.sample.reader import answer
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.caller import asking
from qortal_mcp.server.dispatch import Server
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply
from qortal_mcp.server.tool_errors import ToolError, rate_limited
from qortal_mcp.server.work import Work


class Crowd:
    """Callers at one gate. Each stays inside until it is told to leave."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self.gate = Gate(at_once, waiting)
        self.admitted: list[str] = []
        self.refused: list[str] = []
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self._leaving: dict[str, asyncio.Event] = {}

    async def come(self, *names: str) -> None:
        """The first letter of a name is the caller."""
        for name in names:
            self._leaving[name] = asyncio.Event()
            self.tasks[name] = asyncio.create_task(self._visit(name))
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def leave(self, *names: str) -> None:
        for name in names:
            self._leaving[name].set()
            await asyncio.sleep(0.001)

    async def _visit(self, name: str) -> None:
        asking.set(name[0].strip("_"))
        try:
            async with self.gate:
                self.admitted.append(name)
                await self._leaving[name].wait()
        except ToolError as exc:
            self.refused.append(name if exc.code == "RATE_LIMITED" and exc.retry_after else exc.code)

    async def end(self) -> None:
        for event in self._leaving.values():
            event.set()
        await asyncio.gather(*self.tasks.values(), return_exceptions=True)


@asynccontextmanager
async def crowd(at_once: int, waiting: int) -> AsyncIterator[Crowd]:
    found = Crowd(at_once, waiting)
    try:
        yield found
    finally:
        await found.end()
    assert found.gate.inside == 0
    async with asyncio.timeout(30):
        await found.come(*(f"z{number}" for number in range(at_once)))
    assert found.gate.inside == at_once, "no place was lost"
    await found.end()


@pytest.mark.promise("Nodes", "Those who wait for a node are admitted in turn, one of each caller.")
async def test_callers_take_turns() -> None:
    async with crowd(1, 10) as all_:
        await all_.come("a0", "a1", "a2", "a3", "b1", "c1", "b2")
        await all_.leave("a0", "a1", "b1", "c1", "a2", "b2")
        assert all_.admitted == ["a0", "a1", "b1", "c1", "a2", "b2", "a3"]
        assert all_.refused == []


@pytest.mark.promise(
    "Nodes", "If all waiting places are taken, the caller with the most of them is refused first."
)
async def test_who_has_the_most_places_loses_one_to_who_has_fewer() -> None:
    async with crowd(1, 4) as all_:
        await all_.come("a0", "a1", "a2", "a3", "a4", "a5")
        assert all_.refused == ["a5"]
        await all_.come("b1")  # the first one of a caller finds a place
        assert all_.refused == ["a5"]
        await all_.come("b2")
        assert all_.refused == ["a5", "a4"]
        await all_.come("a6")
        assert all_.refused == ["a5", "a4", "a6"]
        await all_.leave("a0", "a1", "b1", "a2", "b2")
        assert all_.admitted == ["a0", "a1", "b1", "a2", "b2", "a3"]


async def test_between_equals_the_one_that_asked_more_often_is_refused() -> None:
    async with crowd(1, 1) as all_:
        await all_.come("a0", "a1", "b1")
        await all_.come("c1", "c2", "c3")
        assert all_.refused == ["c1", "c2", "c3"]
        await all_.leave("a0")  # a1 is inside, so one place is free
        await all_.come("c4")
        assert all_.refused == ["c1", "c2", "c3"]
        await all_.come("d1")
        assert all_.refused == ["c1", "c2", "c3", "c4"]


async def test_what_the_server_needs_for_everybody_is_never_refused() -> None:
    async with crowd(1, 2) as all_:
        await all_.come("a0", "a1", "b1", "c1", "d1", "_1", "_2", "_3")
        assert [name for name in all_.refused if name.startswith("_")] == []


async def test_a_caller_that_leaves_gives_its_place_back() -> None:
    async with crowd(1, 2) as all_:
        await all_.come("a0", "a1", "b1")
        all_.tasks["a1"].cancel()
        await asyncio.sleep(0)
        await all_.come("c1")
        assert all_.refused == []
        await all_.leave("a0", "b1")
        assert all_.admitted == ["a0", "b1", "c1"]


async def test_a_caller_that_leaves_while_it_is_admitted_passes_its_place_on() -> None:
    async with crowd(1, 2) as all_:
        await all_.come("a0", "a1", "b1")
        all_._leaving["a0"].set()
        await asyncio.sleep(0)  # a0 leaves and admits a1, whose turn has not come yet
        all_.tasks["a1"].cancel()
        await asyncio.sleep(0.001)
        assert all_.admitted[-1] == "b1"


class SlowNode:
    """The sample chain, a while later."""

    origin = "slow"

    def __init__(self) -> None:
        self.asked = 0

    async def fetch(self, request: Request) -> RawReply:
        self.asked += 1
        await asyncio.sleep(0.005)
        return answer(request.target)

    async def warm(self) -> None: ...

    async def close(self) -> None: ...


async def nowhere(message: bytes) -> None: ...


async def succeeds(server: Server, caller: Hashable, height: int) -> bool:
    call: dict[str, Any] = {"name": "get_block", "arguments": {"height": height}}
    message = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":%b}'
    outcome = server.receive(message % json.dumps(call).encode(), Peer(lasting=False, caller=caller))
    if isinstance(outcome, Work):
        outcome = await outcome.run(nowhere)
    assert isinstance(outcome, Reply)
    return b"Rate limit exceeded" not in outcome.body


@pytest.mark.promise("Nodes", "A flood of calls from one caller does not cost another caller its answers.")
@pytest.mark.parametrize("is_one_address", [True, False], ids=["one-address", "a-pool-of-connections"])
async def test_a_pool_of_connections_costs_nobody_else_an_answer(is_one_address: bool) -> None:
    node = Node([SlowNode()], NodeLimits(requests=4, waiting_requests=32))
    server = make_server(node)
    heights = iter(range(1, 10**9))
    stopped = False

    async def flood(connection: int) -> None:
        caller = "10.0.0.1" if is_one_address else ("127.0.0.1", connection)
        while not stopped:
            await succeeds(server, caller, next(heights))
            await asyncio.sleep(0)

    pool = [asyncio.create_task(flood(number)) for number in range(60)]
    try:
        await asyncio.sleep(0.2)
        answered = [await succeeds(server, "10.0.0.2", 1_000_000 + number) for number in range(30)]
    finally:
        stopped = True
        await asyncio.gather(*pool)
        await node.close()
    assert answered.count(False) == 0


async def test_a_caller_is_not_refused_with_the_one_whose_request_it_shares() -> None:
    flights: Flights[str] = Flights()
    may_fail = asyncio.Event()

    async def loses_its_place() -> str:
        await may_fail.wait()
        raise rate_limited(1.0)

    async def succeeds() -> str:
        await asyncio.sleep(0)
        return "answered"

    first = asyncio.create_task(flights.join("key", loses_its_place))
    await asyncio.sleep(0)
    second = asyncio.create_task(flights.join("key", succeeds))
    await asyncio.sleep(0)
    may_fail.set()
    assert await second == "answered"
    with pytest.raises(ToolError, match="Rate limit exceeded"):
        await first
