"""How a node is spoken to: connections are used again, and nothing that it sends is taken for something else."""

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from qortal_mcp.qortal.limits import NodeLimits
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from .conftest import Call, caller
from .faulty_node import Behaviour, FaultyNode, replies, sends
from .live_chain import live_answer
from .world import ALICE, BOB, CHLOE

LIMITS = NodeLimits(reply_seconds=5, connect_seconds=5, tip_seconds=5, reply_bytes=20_000, rest_seconds=0.001)
OK = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


@pytest.fixture
async def faulty() -> AsyncIterator[FaultyNode]:
    async with FaultyNode() as node:
        yield node


@pytest.fixture
async def call(faulty: FaultyNode) -> AsyncIterator[Call]:
    node = Node.at([faulty.url], LIMITS)
    yield caller(make_server(node))
    await node.close()


def balance_of(address: str) -> str:
    return f"/addresses/balance/{address}"


async def balance(call: Call, address: str) -> str:
    async with asyncio.timeout(30):
        result = await call("get_balance", address=address)
    assert result["isError"] is False, result
    found: str = result["structuredContent"]["balance"]
    return found


def writes(raw: bytes) -> Behaviour:
    """Whatever bytes, and then the connection waits for the next request."""

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(raw)

    return behave


def chunked(*pieces: bytes) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return OK + b"Transfer-Encoding: chunked\r\n\r\n" + body + b"0\r\n\r\n"


async def test_questions_after_each_other_share_a_connection(faulty: FaultyNode, call: Call) -> None:
    seen: set[Any] = set()

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.add(writer.get_extra_info("peername"))
        writer.write(OK + b"Content-Length: 3\r\n\r\n1.5")

    faulty.behaviours |= dict.fromkeys(map(balance_of, (ALICE, BOB, CHLOE)), behave)
    await call("get_node_status")  # opens what is needed for the height
    assert [await balance(call, address) for address in (ALICE, BOB, CHLOE)] == ["1.50000000"] * 3
    assert len(seen) == 1


async def test_a_connection_that_the_node_gave_up_is_replaced_unnoticed(
    faulty: FaultyNode, call: Call
) -> None:
    used: set[Any] = set()

    async def answers_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = writer.get_extra_info("peername")
        if peer in used:
            writer.close()  # as a node does whose patience ended just when the question came
        else:
            used.add(peer)
            target = faulty.asked[-1]
            body = b"1.5" if target.startswith("/addresses") else live_answer(target).body
            writer.write(OK + b"Content-Length: %d\r\n\r\n" % len(body) + body)

    faulty.behaviours["*"] = answers_once
    for address in (ALICE, BOB, CHLOE):
        assert await balance(call, address) == "1.50000000"


WHOLE: list[Any] = [
    pytest.param(chunked(b"1", b".", b"5"), id="in-pieces"),
    pytest.param(
        b"HTTP/1.1 103 Early Hints\r\nContent-Length: 7\r\n\r\n" + OK + b"Content-Length: 3\r\n\r\n1.5",
        id="hints-first",
    ),
    pytest.param(OK + b"Content-Length: 3\r\nConnection: close\r\n\r\n1.5", id="the-last-one-here"),
    pytest.param(OK + b"Content-Length: 3\r\n\r\n1.5", id="plain"),
    pytest.param(b"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\n1.5", id="older-http"),
]


@pytest.mark.parametrize("raw", WHOLE)
async def test_a_reply_may_come_in_any_form_of_http(faulty: FaultyNode, call: Call, raw: bytes) -> None:
    faulty.behaviours[balance_of(ALICE)] = writes(raw)
    assert await balance(call, ALICE) == "1.50000000"
    assert await balance(call, BOB) != "1.50000000"


async def test_a_reply_may_end_with_the_connection(faulty: FaultyNode, call: Call) -> None:
    faulty.behaviours[balance_of(ALICE)] = sends(OK + b"\r\n1.5")
    assert await balance(call, ALICE) == "1.50000000"


@pytest.mark.parametrize("surplus", [OK + b"Content-Length: 3\r\n\r\n6.6", b"rubbish", b"\0"])
async def test_what_follows_an_answer_is_not_the_next_answer(
    faulty: FaultyNode, call: Call, surplus: bytes
) -> None:
    faulty.behaviours[balance_of(ALICE)] = writes(OK + b"Content-Length: 3\r\n\r\n1.5" + surplus)
    faulty.behaviours[balance_of(BOB)] = replies("2.5")
    for _ in range(3):
        result = await call("get_balance", address=ALICE)
        assert result["isError"] or result["structuredContent"]["balance"] == "1.50000000"
        assert await balance(call, BOB) == "2.50000000"


async def streams_for_ever(writer: asyncio.StreamWriter, start: bytes, piece: bytes) -> None:
    writer.write(start)
    while not writer.is_closing():
        writer.write(piece)
        await writer.drain()


ENDLESS: list[Any] = [
    pytest.param(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 100, "NODE_ERROR", id="head"),
    pytest.param(b"HTTP/1.1 200 OK\r\nX: ", b"y" * 1000, "NODE_ERROR", id="one-header"),
    pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100, "NODE_ERROR", id="hints"),
    pytest.param(OK + b"\r\n", b"1" * 1000, "TOO_LARGE", id="body"),
    pytest.param(OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n1\r\n" * 99, "TOO_LARGE", id="pieces"),
    pytest.param(
        OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n1\r\n0\r\n",
        b"X: y\r\n" * 99,
        "TOO_LARGE",
        id="trailers",
    ),
]


@pytest.mark.promise("Limits and abuse", "A reply of a node that never ends is given up.")
@pytest.mark.parametrize(("start", "piece", "code"), ENDLESS)
async def test_a_reply_without_end_is_given_up(
    faulty: FaultyNode, call: Call, start: bytes, piece: bytes, code: str
) -> None:
    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await streams_for_ever(writer, start, piece)

    faulty.behaviours[balance_of(ALICE)] = behave
    async with asyncio.timeout(30):
        result = await call("get_balance", address=ALICE)
    assert result["_meta"]["qortal-mcp/error"]["code"] == code


async def test_a_node_that_changes_the_protocol_gives_no_answer(faulty: FaultyNode, call: Call) -> None:
    faulty.behaviours[balance_of(ALICE)] = writes(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n"
    )
    async with asyncio.timeout(30):
        result = await call("get_balance", address=ALICE)
    assert result["_meta"]["qortal-mcp/error"]["code"] == "NODE_ERROR"


async def test_a_caller_who_leaves_takes_the_question_back(faulty: FaultyNode, call: Call) -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def behave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        try:
            await reader.read()
        finally:
            gone.set()

    faulty.behaviours[balance_of(ALICE)] = behave
    leaving = asyncio.ensure_future(call("get_balance", address=ALICE))
    async with asyncio.timeout(30):
        await asked.wait()
        leaving.cancel()
        await gone.wait()
        await asyncio.wait([leaving])
    assert leaving.cancelled()


@pytest.mark.parametrize("host", ["a" * 64 + ".example", "a..b"])
async def test_a_host_that_cannot_be_is_unreachable(host: str) -> None:
    node = Node.at([f"http://{host}:12391"], LIMITS)
    result = await caller(make_server(node))("get_balance", address=ALICE)
    await node.close()
    assert result["_meta"]["qortal-mcp/error"]["code"] == "NODE_UNREACHABLE"


@pytest.mark.promise("Nodes", "What a node answered wrongly is not kept.")
@pytest.mark.parametrize(
    ("head", "body"),
    [
        pytest.param(b"Content-Length: 9000000", b"x" * 30_000, id="too-large"),
        pytest.param(b"Content-Length: 20000", b"[" * 20_000, id="not-readable"),
    ],
)
async def test_bad_answers_leave_nothing_behind(
    faulty: FaultyNode, call: Call, head: bytes, body: bytes
) -> None:
    faulty.behaviours[balance_of(ALICE)] = writes(OK + head + b"\r\n\r\n" + body)
    tracemalloc.start()
    gc.collect()
    gc.disable()  # it would hide for a while what refers to itself
    try:
        for number in range(120):
            if number == 20:
                before, _ = tracemalloc.get_traced_memory()
            async with asyncio.timeout(30):
                result = await call("get_balance", address=ALICE)
            assert result["isError"] is True
        kept = tracemalloc.get_traced_memory()[0] - before
    finally:
        gc.enable()
        tracemalloc.stop()
    assert kept < 50 * len(body), f"{kept / 100:.0f} bytes for each answer"
