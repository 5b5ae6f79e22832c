"""What a modern server tells by itself, for an old client in front of it."""

import asyncio

import pytest
from msgspec import structs
from tests.bridge.eras.conftest import crossing
from tests.bridge.eras.single_era import SingleEra
from tests.bridge.eras.test_rounds import META, Door
from tests.bridge.in_process import way_to
from tests.client.everything import make

from qortal_mcp.bridge.bridge import Bridge
from qortal_mcp.bridge.limits import BridgeLimits
from qortal_mcp.client import ServerError, connect
from qortal_mcp.protocol import errors, jsonrpc
from qortal_mcp.protocol.decoding import decode
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.server.options import ServerOptions
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.work import Work

LISTEN = "subscriptions/listen"


async def test_a_subscription_that_the_server_ends_is_opened_again() -> None:
    async with crossing("2025-11-25", "2026-07-28") as found:
        await found.client.subscribe("test://note")
        before = found.server.methods().count(LISTEN)
        for listener in list(found.server.hub._listeners):
            listener.end()
        while found.server.methods().count(LISTEN) == before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await found.client.call_tool("touch")
        while (heard := await found.heard.get()).method != "notifications/resources/updated":
            pass
        assert decode(heard.params or b"")["uri"] == "test://note"
        assert found.server.methods().count(LISTEN) == before + 1


async def test_only_so_many_resources_are_watched() -> None:
    server = SingleEra("2026-07-28")
    way = way_to(server, Repairs("safe"), timeout=20.0)
    bridge = Bridge(structs.replace(way, limits=BridgeLimits(kept_subscriptions=1)), ServerOptions())
    try:
        async with asyncio.timeout(30), connect(bridge, revision="2025-06-18") as client:
            await client.subscribe("test://note")
            await client.subscribe("test://note")
            with pytest.raises(ServerError) as refused:
                await client.subscribe("test://ask")
            assert refused.value.code == errors.INVALID_PARAMS
            await client.unsubscribe("test://note")
            await client.subscribe("test://ask")
    finally:
        await bridge.shut()


async def test_a_client_that_can_only_be_answered_is_promised_no_notices() -> None:
    bridge = Bridge(way_to(SingleEra("2026-07-28"), Repairs("safe")), ServerOptions())
    hello = b'{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}'
    try:
        async with asyncio.timeout(30):
            work = bridge.receive(jsonrpc.request(1, "initialize", hello), Peer(lasting=False))
            assert isinstance(work, Work)
            reply = await work.run(_drop)
            assert reply is not None
    finally:
        await bridge.shut()
    told = decode(reply.body)["result"]["capabilities"]
    assert told["tools"] == {}
    assert told["resources"] == {}
    assert "logging" not in told


async def test_arguments_that_belong_into_headers_are_compared_in_front() -> None:
    bridge = Bridge(way_to(make(), Repairs("safe")), ServerOptions())
    door = Door(SingleEra("2026-07-28"), bridge)
    try:
        async with asyncio.timeout(30):
            await door.ask("tools/list", {})
            answer = await door.call("look_up", arguments={"city": "Oslo"})
    finally:
        await bridge.shut()
    assert answer["error"]["code"] == errors.HEADER_MISMATCH


@pytest.mark.parametrize(
    "declared", [{"elicitation": 5}, {"other": {}}, {"elicitation": {"form": {}, "x": {}}}]
)
async def test_odd_capabilities_of_a_client_do_no_harm(declared: dict[str, object]) -> None:
    bridge = Bridge(way_to(SingleEra("2025-11-25"), Repairs("safe")), ServerOptions())
    long = {"name": "n" * 2000, "version": "1"}
    meta = {
        **META,
        "io.modelcontextprotocol/clientCapabilities": declared,
        "io.modelcontextprotocol/clientInfo": long,
    }
    try:
        async with asyncio.timeout(30):
            answer = await Door(SingleEra("2025-11-25"), bridge).ask(
                "tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, meta=meta
            )
    finally:
        await bridge.shut()
    assert answer["result"]["content"][0]["text"] == "3"


async def _drop(message: bytes) -> None:
    pass
