"""Async functions that say they are quick: they begin where the request was read, and get a task once they wait."""

import asyncio
import json
from typing import Any

import pytest

from qortal_mcp import Offer, Server, tool
from qortal_mcp.client import connect
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply
from qortal_mcp.server.work import Work


class Mail:
    """What a function waits for, and whether it was tidied up afterwards."""

    def __init__(self) -> None:
        self.letter: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self.is_tidy = False


@tool(quick=True)
async def at_hand() -> str:
    """Has its answer already."""
    return "at hand"


@tool(quick=True)
async def comes_later(mail: Mail) -> str:
    """Waits for its answer."""
    try:
        return await mail.letter
    finally:
        mail.is_tidy = True


@tool(quick=True)
async def lets_others_go_first() -> str:
    """Uses a time-out, which needs a task."""
    await asyncio.sleep(0)
    async with asyncio.timeout(30):
        await asyncio.sleep(0)
    return "after them"


@tool(quick=True)
async def fails() -> str:
    """Fails before it waits."""
    raise RuntimeError("broken")


@pytest.fixture
async def mail() -> Mail:
    return Mail()


@pytest.fixture
def server(mail: Mail) -> Server:
    offer = Offer([at_hand, comes_later, lets_others_go_first, fails], provide=[mail])
    return Server("quick", offer=offer)


def received(server: Server, name: str) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name}}
    return server.receive(json.dumps(body).encode(), Peer(lasting=False))


async def nobody(message: bytes) -> None:
    raise AssertionError("nothing comes before the answer")


def text_of(reply: Reply | None) -> str:
    assert reply is not None
    text: str = json.loads(reply.body)["result"]["content"][0]["text"]
    return text


async def test_an_answer_that_is_at_hand_needs_no_task(server: Server) -> None:
    others = asyncio.all_tasks()
    reply = received(server, "at_hand")
    assert isinstance(reply, Reply)
    assert text_of(reply) == "at hand"
    assert asyncio.all_tasks() == others


async def test_a_failure_before_the_first_wait_is_the_answer(server: Server) -> None:
    reply = received(server, "fails")
    assert isinstance(reply, Reply)
    assert json.loads(reply.body)["result"]["isError"] is True


async def test_what_has_to_wait_goes_on_in_a_task(server: Server, mail: Mail) -> None:
    work = received(server, "comes_later")
    assert isinstance(work, Work)
    running = asyncio.create_task(work.run(nobody))
    await asyncio.sleep(0)
    mail.letter.set_result("a letter")
    async with asyncio.timeout(30):
        assert text_of(await running) == "a letter"
    assert mail.is_tidy


async def test_a_cancelled_call_is_told_where_it_waits(server: Server, mail: Mail) -> None:
    work = received(server, "comes_later")
    running = asyncio.create_task(work.run(nobody))
    await asyncio.sleep(0)
    work.cancel()
    async with asyncio.timeout(30):
        assert await running is None
    assert mail.is_tidy


async def test_a_call_that_is_never_run_is_tidied_up(server: Server, mail: Mail) -> None:
    work = received(server, "comes_later")
    work.discard()
    del work
    assert mail.is_tidy


async def test_a_time_out_may_follow_the_first_wait(server: Server) -> None:
    async with connect(server) as client:
        assert (await client.call_tool("lets_others_go_first")).text == "after them"
