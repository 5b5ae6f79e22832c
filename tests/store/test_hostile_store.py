"""Whatever a store says, or does not say, calls are answered in time and memory stays flat."""

import asyncio
import json
import resource
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.qortal.told_node import ToldNode

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.rates.rate import RateLimit
from qortal_mcp.server.rates.shared_rate import SharedRate
from qortal_mcp.store.address import address_of
from qortal_mcp.store.connection import connected
from qortal_mcp.store.limits import StoreLimits
from qortal_mcp.store.store import Store
from qortal_mcp.transports.connection import Connection

from .test_shared_replies import until
from .tiny_store import Manner, TinyStore, tiny_store

# The revision that has batches.
HELLO = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}}
LIMITS = StoreLimits(reply_seconds=0.5, rest_seconds=0.05)


@pytest.fixture
def there() -> Iterator[TinyStore]:
    with tiny_store() as store:
        yield store


class Talk:
    """A client of a server that shares its rate and its answers."""

    def __init__(self, store: Store, node: Node, per_second: float) -> None:
        self.store = store
        self.node = ToldNode()
        rate = SharedRate(store, "group", per_second, RateLimit(per_second))
        server = make_server(node, rate_limit=per_second, rate=rate)
        self._said: asyncio.Queue[Any] = asyncio.Queue()
        self.connection = Connection(server, self._hear, lambda message: True, "somebody")

    async def _hear(self, message: bytes) -> None:
        self._said.put_nowait(json.loads(message))

    async def send(self, *messages: Any) -> None:
        for message in messages:
            await self.connection.take(json.dumps(message).encode())

    async def hear(self) -> Any:
        async with asyncio.timeout(20):
            return await self._said.get()

    async def call(self, tool: str, **arguments: Any) -> Any:
        params = {"name": tool, "arguments": arguments}
        await self.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        return (await self.hear())["result"]


@asynccontextmanager
async def talking(
    there: TinyStore, per_second: float = 1000, limits: StoreLimits = LIMITS
) -> AsyncIterator[Talk]:
    store = Store(address_of(there.url), None, connected, limits)
    node = Node([ToldNode()], store=store)
    store.open()
    talk = Talk(store, node, per_second)
    try:
        await talk.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
        assert "result" in await talk.hear()
        await until(lambda: store.is_up)
        node.learn_chain()
        await talk.call("get_node_status")
        yield talk
    finally:
        await talk.connection.drop()
        await node.close()
        await store.close()


def said(reply: bytes) -> Manner:
    return lambda words: None if words[0] in (b"PING", b"SELECT") else reply


HOSTILE = [
    pytest.param(said(b"garbage\r\n"), id="garbage"),
    pytest.param(said(b"+" + b"x" * 200_000 + b"\r\n"), id="a-line-that-is-too-long"),
    pytest.param(said(b"$2000000000\r\n" + b"x" * 65536), id="a-huge-value"),
    pytest.param(said(b"$-7\r\n"), id="a-negative-length"),
    pytest.param(said(b"$99999999999999999999999\r\n"), id="a-length-that-is-no-number"),
    pytest.param(said(b"*1000000\r\n" + b"*1\r\n" * 1000), id="lists-in-lists"),
    pytest.param(said(b":123456789012\r\n"), id="a-number"),
    pytest.param(said(b":-5\r\n"), id="a-negative-number"),
    pytest.param(said(b"$5\r\nhello\r\n"), id="a-text"),
    pytest.param(said(b"$-1\r\n"), id="nothing"),
    pytest.param(said(b"+OK\r\n"), id="ok"),
    pytest.param(said(b"+OK\r\n+OK\r\n$3\r\nabc\r\n"), id="more-replies-than-commands"),
    pytest.param(said(b"-WRONGTYPE Operation against a key\r\n"), id="wrong-type"),
    pytest.param(said(b"-\x1b[31m \xff\r\n"), id="an-error-that-is-not-text"),
    pytest.param(said(b"-OOM command not allowed\r\n"), id="out-of-memory"),
    pytest.param(said(b"$5\r\nhelloXX"), id="a-value-without-its-end"),
    pytest.param(said(b""), id="silence"),
]


@pytest.mark.promise(
    "Operations", "What is wrong in a shared store is ignored, and no caller sees an error of it."
)
@pytest.mark.parametrize("manner", HOSTILE)
async def test_whatever_the_store_says_calls_are_answered(
    there: TinyStore, manner: Manner, caplog: pytest.LogCaptureFixture
) -> None:
    async with talking(there) as talk:
        there.manner = manner
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for height in range(2, 8):
            assert (await talk.call("get_block", height=height))["isError"] is False
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 30_000
    assert "\x1b" not in caplog.text
    assert not [record for record in caplog.records if record.levelname == "ERROR"]


@pytest.mark.parametrize("command", [b"GETRANGE", b"SET", b"EVALSHA", b"EVAL"])
async def test_a_connection_that_is_cut_in_the_middle_is_no_error(there: TinyStore, command: bytes) -> None:
    async with talking(there) as talk:
        there.cuts = {command}
        for height in range(2, 8):
            assert (await talk.call("get_block", height=height))["isError"] is False
        there.cuts = set()
        await until(lambda: talk.store.is_up)


async def test_a_store_that_hangs_is_waited_for_once(there: TinyStore) -> None:
    limits = StoreLimits(reply_seconds=0.1, rest_seconds=60)
    async with talking(there, limits=limits) as talk:
        there.goes_on.clear()
        began = time.monotonic()
        assert (await talk.call("get_block", height=2))["isError"] is False
        first = time.monotonic() - began
        assert not talk.store.is_up
        asked = len(there.asked)
        for height in range(3, 20):
            assert (await talk.call("get_block", height=height))["isError"] is False
        assert len(there.asked) == asked
        assert first >= 0.1
        there.goes_on.set()


async def test_its_return_is_noticed_without_a_call(there: TinyStore) -> None:
    limits = StoreLimits(reply_seconds=0.5, rest_seconds=0.05, idle_seconds=0.05)
    async with talking(there, limits=limits) as talk:
        there.stop()
        await until(lambda: not talk.store.is_up)
        there.start()
        await until(lambda: talk.store.is_up)


async def test_the_limit_of_this_process_holds_while_the_store_is_away(there: TinyStore) -> None:
    async with talking(there, per_second=0.01, limits=StoreLimits(rest_seconds=60)) as talk:
        there.stop()
        results = [json.dumps(await talk.call("validate_address", address="x")) for _ in range(4)]
        assert sum("RATE_LIMITED" not in result for result in results) <= 1
        assert "RATE_LIMITED" in results[-1]


async def test_two_servers_count_together_to_the_call(there: TinyStore) -> None:
    async with talking(there, per_second=0.01) as a, talking(there, per_second=0.01) as b:
        # Each made a call to find its node: the first took what there was.
        for talk in (a, b, a, b):
            result = await talk.call("validate_address", address="x")
            assert result["_meta"]["qortal-mcp/error"] == {"code": "RATE_LIMITED", "retryable": True}


async def test_rubbish_where_a_bucket_is_kept_counts_as_nothing(there: TinyStore) -> None:
    async with talking(there, per_second=0.01) as talk:
        (key,) = [key for key in there.values if b":rate:" in key]
        there.values[key] = (b"rubbish", time.monotonic() + 60)
        assert (await talk.call("validate_address", address="x"))["isError"] is False


async def test_every_request_of_a_batch_is_counted(there: TinyStore) -> None:
    async with talking(there, per_second=1000) as talk:
        before = len(there.commands("EVALSHA"))
        pings = [{"jsonrpc": "2.0", "id": at, "method": "ping"} for at in range(5)]
        await talk.send([*pings, {"jsonrpc": "2.0", "method": "notifications/initialized"}])
        assert len(await talk.hear()) == 5
        assert len(there.commands("EVALSHA")) == before + 5


async def test_what_is_sent_to_a_store_that_takes_nothing_is_bounded(there: TinyStore) -> None:
    limits = StoreLimits(reply_seconds=5, rest_seconds=0.05, waiting_writes=4)
    async with talking(there, limits=limits) as talk:
        store = talk.store
        there.goes_on.clear()
        for at in range(50):
            store.write(f"key{at}", b"x" * 1000, 60)
        there.goes_on.set()
        await until(lambda: len(there.commands("SET")) >= 4)
        assert len([words for words in there.commands("SET") if words[1].startswith(b"key")]) <= 8
        assert 'operation="write",outcome="dropped"' in store.metrics.render()


async def test_a_message_that_waits_for_the_store_is_not_lost_when_the_server_stops(there: TinyStore) -> None:
    async with talking(there, limits=StoreLimits(reply_seconds=5, rest_seconds=0.05)) as talk:
        there.goes_on.clear()
        sending = asyncio.create_task(talk.send({"jsonrpc": "2.0", "id": 9, "method": "ping"}))
        await asyncio.sleep(0.05)
        taken = asyncio.create_task(talk.connection.taken())
        await asyncio.sleep(0)
        assert not taken.done()
        there.goes_on.set()
        await taken
        assert (await talk.hear())["id"] == 9
        await sending
