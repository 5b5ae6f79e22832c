"""Clients of one revision in front of a bridge, a server of another behind it: all in memory."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest
from msgspec import Struct
from tests.bridge.eras.single_era import SingleEra
from tests.bridge.in_process import way_to

from qortal_mcp.bridge.bridge import Bridge
from qortal_mcp.cli.running.bridge.bridging import bridge_of
from qortal_mcp.client import (
    Client,
    ElicitRequest,
    Handlers,
    Options,
    SamplingRequest,
    connect,
    elicitation,
    roots,
    sampling,
)
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.protocol.messages import ElicitResult, LogLevel, Root, SamplingResult
from qortal_mcp.protocol.versions import REVISIONS
from qortal_mcp.repairs.chosen import Repairs

SECONDS = 30.0


async def person(question: ElicitRequest) -> ElicitResult:
    return ElicitResult(action="accept", content={"value": question.message.split()[1]})


async def model(question: SamplingRequest) -> SamplingResult:
    return SamplingResult(role="assistant", content={"type": "text", "text": "hi"}, model="m")


ANSWERS: Handlers = {**elicitation(person), **sampling(model), **roots([Root(uri="file:///home/me/project")])}


class Crossing(Struct, frozen=True):
    """A server, the bridge to it, and a client in front that has connected in its revision."""

    server: SingleEra
    bridge: Bridge
    client: Client
    heard: asyncio.Queue[Notification]


Cross = Callable[..., contextlib.AbstractAsyncContextManager[Crossing]]


@contextlib.asynccontextmanager
async def crossing(
    front: str,
    behind: str,
    *,
    handlers: Handlers = ANSWERS,
    log_level: LogLevel | None = None,
    level: str = "safe",
    page_items: int = 4,
) -> AsyncIterator[Crossing]:
    """Between these two revisions."""
    server = SingleEra(behind, page_items=page_items)
    bridge = bridge_of(way_to(server, Repairs(level), timeout=SECONDS))
    heard: asyncio.Queue[Notification] = asyncio.Queue()
    options = Options(handlers=handlers, on_notification=heard.put_nowait, log_level=log_level)
    try:
        async with asyncio.timeout(SECONDS), connect(bridge, revision=front, options=options) as client:
            yield Crossing(server, bridge, client, heard)
    finally:
        await bridge.shut()


@pytest.fixture(params=REVISIONS, ids=[f"front-{revision}" for revision in REVISIONS])
def front(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=REVISIONS, ids=[f"behind-{revision}" for revision in REVISIONS])
def behind(request: pytest.FixtureRequest) -> str:
    return str(request.param)
