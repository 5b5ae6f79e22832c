"""The two eras across real transports: sockets and processes in front and behind."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest
from msgspec.structs import replace
from tests.bridge.eras.conftest import ANSWERS, SECONDS
from tests.bridge.eras.single_era import SingleEra
from tests.bridge.in_process import bridged, serving, way_to, websocket_of
from tests.cli.running import COMMAND

from qortal_mcp.bridge.limits import BridgeLimits
from qortal_mcp.cli.running.bridge.bridging import bridge_of
from qortal_mcp.client import Client, Options, Progress, connect
from qortal_mcp.protocol.decoding import decode
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.protocol.messages import ListenFilter
from qortal_mcp.protocol.versions import MODERN
from qortal_mcp.repairs.chosen import Repairs

Transport = Literal["stdio", "http", "websocket"]
Target = str | list[str]
TRANSPORTS: tuple[Transport, ...] = ("stdio", "http", "websocket")
# The client's revision, and the only one that the server speaks.
ERAS = [("2025-06-18", "2026-07-28"), ("2026-07-28", "2025-06-18"), ("2026-07-28", "2026-07-28")]
PROGRAM = str(Path(__file__).with_name("single_era.py"))


@contextlib.asynccontextmanager
async def server_at(transport: Transport, revision: str) -> AsyncIterator[Target]:
    if transport == "stdio":
        yield [sys.executable, PROGRAM, revision]
        return
    async with serving(SingleEra(revision)) as url:
        yield url if transport == "http" else websocket_of(url)


@contextlib.asynccontextmanager
async def front_at(transport: Transport, server: Target) -> AsyncIterator[Target]:
    if transport == "stdio":
        yield [*COMMAND, "bridge", *([server] if isinstance(server, str) else ["--", *server])]
        return
    async with bridged(server, timeout=SECONDS) as front:
        yield front.http if transport == "http" else front.websocket


@pytest.mark.parametrize(("revision", "spoken"), ERAS, ids=[f"{one}-to-{other}" for one, other in ERAS])
@pytest.mark.parametrize("behind", TRANSPORTS)
@pytest.mark.parametrize("front", TRANSPORTS)
async def test_everything_crosses(front: Transport, behind: Transport, revision: str, spoken: str) -> None:
    heard: asyncio.Queue[Notification] = asyncio.Queue()
    options = Options(
        handlers=ANSWERS, on_notification=heard.put_nowait, log_level="info" if revision in MODERN else None
    )
    async with (
        asyncio.timeout(SECONDS),
        server_at(behind, spoken) as server,
        front_at(front, server) as bridge,
        connect(bridge, revision=revision, options=options) as client,
    ):
        assert len(await client.list_tools()) == 10
        steps: list[Progress] = []
        assert (await client.call_tool("count", {"to": 3}, progress=steps.append)).text == "3"
        assert [step.progress for step in steps] == [1, 2, 3]
        await _cancelled(client)
        assert (await client.call_tool("talk")).text == "said"
        logged = [decode(one.params or b"")["data"] for one in _taken(heard)]
        assert logged == [{"text": "careful"}]
        assert (await client.call_tool("ask_name")).text == "{'value': 'name?'} {'value': 'colour?'}"
        assert (await client.call_tool("think")).text == "hi in file:///home/me/project"
        assert (await client.read_resource("test://note")).contents[0].text == "noted"
        await _subscribed(client, heard)


@pytest.mark.parametrize("chosen", [None, "2026-07-28"], ids=["any", "chosen"])
@pytest.mark.parametrize("front", ["2025-06-18", "2026-07-28"])
@pytest.mark.promise(
    "Bridge", "A program that speaks only 2026-07-28 can be used however long it takes to start."
)
async def test_a_modern_program_is_known_as_one_however_slowly_it_starts(
    front: str, chosen: str | None
) -> None:
    way = way_to([sys.executable, PROGRAM, "2026-07-28"], Repairs("safe"), start_timeout=SECONDS)
    # No program is there so soon.
    bridge = bridge_of(replace(way, revision=chosen, limits=BridgeLimits(probe_seconds=0.01)))
    try:
        async with asyncio.timeout(SECONDS), connect(bridge, revision=front) as client:
            assert (await client.call_tool("add", {"a": 1, "b": 2})).text == "3"
            assert bridge.facts()[0]["connections"][0]["revision"] == "2026-07-28"
    finally:
        await bridge.shut()


async def _cancelled(client: Client) -> None:
    began = asyncio.Event()
    call = asyncio.create_task(client.call_tool("wait", progress=lambda _: began.set()))
    await began.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    while (await client.call_tool("running")).text != "0":
        pass


async def _subscribed(client: Client, heard: asyncio.Queue[Notification]) -> None:
    """The server says once that the note has changed."""
    if client.terms.is_modern:
        async with client.listen(ListenFilter(resourceSubscriptions=["test://note"])) as subscription:
            await client.call_tool("touch")
            assert (await anext(subscription)).method == "notifications/resources/updated"
        return
    await client.subscribe("test://note")
    await client.call_tool("touch")
    while (await heard.get()).method != "notifications/resources/updated":
        pass


def _taken(heard: asyncio.Queue[Notification]) -> list[Notification]:
    found = [heard.get_nowait() for _ in range(heard.qsize())]
    return [one for one in found if one.method == "notifications/message"]
