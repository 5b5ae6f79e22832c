"""Answers of nodes that several processes share: found by the others, never a wrong one, never for long."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.qortal.live_chain import live_answer
from tests.qortal.moving_chain import MovingChain
from tests.qortal.told_node import ToldNode

from qortal_mcp.qortal.endpoints.blocks import BLOCK_AT_HEIGHT
from qortal_mcp.qortal.endpoints.names import NAME
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.node.source import RawReply, Source
from qortal_mcp.store.address import address_of
from qortal_mcp.store.connection import connected
from qortal_mcp.store.limits import StoreLimits
from qortal_mcp.store.store import Store

from .tiny_store import TinyStore, tiny_store

# As fast as the machine may be, and long enough for a loaded one.
LIMITS = StoreLimits(reply_seconds=2.0, rest_seconds=0.05)
ALICE = "/names/alice-test"


@pytest.fixture
def there() -> Iterator[TinyStore]:
    with tiny_store() as store:
        yield store


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(10):
        while not true():  # noqa: ASYNC110 - a thread or another task makes it true
            await asyncio.sleep(0.005)


@asynccontextmanager
async def process(
    there: TinyStore, *sources: Source, password: str | None = None, limits: StoreLimits = LIMITS, **more: Any
) -> AsyncIterator[Node]:
    """A node as one process has it: with memory and a connection of its own."""
    store = Store(address_of(there.url), password, connected, limits)
    node = Node(sources, store=store, **more)
    store.open()
    try:
        await until(lambda: store.is_up)
        node.learn_chain()
        await node.tip()
        await asyncio.sleep(0.02)  # the first block comes in the background
        yield node
    finally:
        await node.close()
        await store.close()


async def block(node: Node) -> Any:
    return await node.reading().get(BLOCK_AT_HEIGHT, height=5)


async def alice(node: Node) -> Any:
    return await node.reading().get(NAME, name="alice-test")


async def kept(there: TinyStore, count: int = 1) -> list[bytes]:
    """The keys in the store, once there are so many."""
    await until(lambda: len(there.values) >= count)
    return list(there.values)


@pytest.mark.promise(
    "Operations", "Several servers can share what they read from nodes through Valkey or Redis."
)
async def test_what_one_process_read_another_does_not_ask_for(there: TinyStore) -> None:
    first, second = ToldNode(), ToldNode()
    async with process(there, first) as a, process(there, second) as b:
        read = await alice(a)
        await kept(there)
        assert await alice(b) == read
    assert ALICE in first.asked
    assert ALICE not in second.asked


async def test_an_answer_that_was_shared_says_the_state_it_was_read_at(there: TinyStore) -> None:
    first, second = ToldNode(), ToldNode()
    async with process(there, first) as a, process(there, second) as b:
        mine, others = a.reading(), b.reading()
        await mine.get(NAME, name="alice-test")
        await kept(there)
        await others.get(NAME, name="alice-test")
        assert others.as_of == mine.as_of
        assert others.as_of.node == "told"
        assert others.as_of.height == 596


async def test_a_new_block_ends_what_was_read_before_it_on_every_machine(there: TinyStore) -> None:
    first, second = MovingChain(), MovingChain()
    async with process(there, first) as a:
        await alice(a)
        await kept(there)
        second.height += 1
        second.changed[ALICE] = {"owner": "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v", "data": "new"}
        async with process(there, second) as b:
            assert (await alice(b)).data == "new"
    assert ALICE in second.asked


async def test_identical_requests_ask_the_store_once(there: TinyStore) -> None:
    async with process(there, ToldNode()) as a, process(there, ToldNode()) as b:
        await alice(a)
        await kept(there)
        before = len(there.commands("GETRANGE"))
        await asyncio.gather(*(alice(b) for _ in range(20)))
        assert len(there.commands("GETRANGE")) == before + 1


async def test_another_chain_is_never_read(there: TinyStore) -> None:
    def other_chain(target: str) -> Any:
        if target != "/blocks/first":
            return None
        return live_answer(target).body.decode().replace('"signature":"', '"signature":"Z', 1)

    assert other_chain("/blocks/first") != live_answer("/blocks/first").body.decode()
    other = ToldNode(other_chain)
    async with process(there, ToldNode()) as a, process(there, other) as b:
        await alice(a)
        await kept(there)
        await alice(b)
        assert ALICE in other.asked
        assert len(await kept(there, 2)) == 2


async def test_other_nodes_are_another_group(there: TinyStore) -> None:
    elsewhere = ToldNode()
    elsewhere.origin = "elsewhere"
    async with process(there, ToldNode()) as a, process(there, elsewhere) as b:
        await alice(a)
        await kept(there)
        await alice(b)
    assert ALICE in elsewhere.asked


async def test_nothing_is_shared_until_the_chain_is_known(there: TinyStore) -> None:
    nameless = ToldNode(lambda target: RawReply(404, "", b"") if target == "/blocks/first" else None)
    async with process(there, nameless) as a:
        await alice(a)
        await asyncio.sleep(0.05)
    assert not there.values
    assert not there.commands("GETRANGE")


async def test_the_sample_chain_is_never_shared(there: TinyStore) -> None:
    def marked(target: str) -> RawReply:
        reply = live_answer(target)
        return RawReply(reply.status, reply.content_type, reply.body, is_sample=True)

    async with process(there, ToldNode(marked)) as a:
        await alice(a)
        await asyncio.sleep(0.05)
    assert not there.values


async def test_compared_answers_are_not_shared(there: TinyStore) -> None:
    one, two = ToldNode(), ToldNode()
    two.origin = "two"
    async with process(there, one, two, confirm=2) as a:
        await alice(a)
        await asyncio.sleep(0.05)
    assert not there.values
    assert not there.commands("GETRANGE")


async def test_every_value_has_an_end_and_no_key_says_what_was_asked(there: TinyStore) -> None:
    async with process(there, ToldNode()) as a:
        await alice(a)
        await block(a)
        keys = await kept(there, 2)
    assert all(command[3] == b"PX" and int(command[4]) <= 86_400_000 for command in there.commands("SET"))
    assert all(key.startswith(b"qortal-mcp:1:reply:") and b"alice" not in key for key in keys)


RUBBISH: list[Any] = [
    pytest.param(lambda value: b"rubbish", id="rubbish"),
    pytest.param(lambda value: b"qm1", id="only-the-mark"),
    pytest.param(lambda value: value[:-1], id="cut-short"),
    pytest.param(lambda value: value[:30], id="cut-in-its-head"),
    pytest.param(lambda value: value + b" ", id="longer"),
    pytest.param(lambda value: value.replace(b"alice", b"mallo"), id="changed"),
    pytest.param(lambda value: b"\xff" * 300_000, id="huge"),
    pytest.param(lambda value: value.replace(b"qm1", b"qm9", 1), id="another-version"),
]


@pytest.mark.promise(
    "Operations", "What is wrong in a shared store is ignored, and no caller sees an error of it."
)
@pytest.mark.parametrize("spoil", RUBBISH)
async def test_what_is_wrong_in_the_store_is_read_from_the_node(
    there: TinyStore, spoil: Callable[[bytes], bytes]
) -> None:
    second = ToldNode()
    async with process(there, ToldNode()) as a, process(there, second) as b:
        read = await alice(a)
        (key,) = await kept(there)
        value, ends = there.values[key]
        there.values[key] = (spoil(value), ends)
        assert await alice(b) == read
    assert ALICE in second.asked


async def test_a_value_under_the_key_of_another_is_ignored(there: TinyStore) -> None:
    second = ToldNode()
    async with process(there, ToldNode()) as a, process(there, second) as b:
        await alice(a)
        (mine,) = await kept(there)
        await block(a)
        other = next(key for key in await kept(there, 2) if key != mine)
        there.values[mine] = there.values[other]
        assert (await alice(b)).name == "alice-test"
    assert ALICE in second.asked


async def test_with_a_password_only_those_who_know_it_can_write_what_is_used(there: TinyStore) -> None:
    with tiny_store("a-password") as locked:
        second = ToldNode()
        async with (
            process(locked, ToldNode(), password="a-password") as a,
            process(there, ToldNode()) as stranger,
            process(locked, second, password="a-password") as b,
        ):
            await alice(a)
            (key,) = await kept(locked)
            await alice(stranger)
            forged = there.values[(await kept(there))[0]]
            locked.values[key] = forged
            await alice(b)
        assert ALICE in second.asked


async def test_a_value_that_is_too_long_is_not_sent_for(there: TinyStore) -> None:
    limits = StoreLimits(reply_seconds=2.0, rest_seconds=0.05)
    async with process(there, ToldNode(), limits=limits) as a, process(there, ToldNode()) as b:
        await alice(a)
        (key,) = await kept(there)
        there.values[key] = (b"x" * 50_000_000, there.values[key][1])
        await alice(b)
        asked = there.commands("GETRANGE")[-1]
        assert [int(word) for word in asked[2:]] == [0, limits.value_bytes]


async def test_a_reply_that_is_too_long_is_not_sent_to_the_store(there: TinyStore) -> None:
    long = ToldNode(lambda target: {"name": "alice-test", "data": "x" * 300_000} if target == ALICE else None)
    async with process(there, long) as a:
        await a.reading().optional(NAME, name="alice-test")
        await asyncio.sleep(0.05)
    assert not there.values


async def test_what_claims_to_come_from_the_future_is_ignored(there: TinyStore) -> None:
    second = ToldNode()
    ahead = lambda: time.time() + 60  # noqa: E731
    async with process(there, ToldNode(), clock=ahead) as a, process(there, second) as b:
        await alice(a)
        await kept(there)
        await alice(b)
    assert ALICE in second.asked
