"""Several servers behind one front over HTTP: sessions of the legacy era with questions and notices, and modern clients without any."""

import asyncio
from typing import Any

from msgspec import Raw
from tests.bridge.behind import until
from tests.bridge.gathered.shelves import Shelf, gathering
from tests.bridge.in_process import serving, websocket_of

from qortal_mcp.client import Client, Options
from qortal_mcp.protocol.jsonrpc import Notification

Json = dict[str, Any]


class Ears:
    def __init__(self) -> None:
        self.heard: list[str] = []

    def hear(self, notification: Notification) -> None:
        self.heard.append(notification.method)


async def answer(params: Raw) -> bytes:
    return b'{"action":"accept","content":{"answer":"tea"}}'


async def test_sessions_and_sockets_hear_call_and_are_asked() -> None:
    ann, bob = Shelf("Ann"), Shelf("Bob")
    front = gathering({"ann": ann, "bob": bob})
    async with serving(front) as url:
        for address in (url, websocket_of(url)):
            ears = Ears()
            options = Options(handlers={"elicitation/create": answer}, on_notification=ears.hear)
            client = Client(address, options)
            try:
                async with asyncio.timeout(10):
                    await client.open("legacy", "2025-06-18")
                    reply = await client.request("tools/call", {"name": Raw(b'"bob__ask"')})
                    assert b"Bob got tea" in bytes(reply.result)
                    await client.request("resources/subscribe", {"uri": Raw(b'"ann+note://a"')})
                    ann.hub.resource_updated("note://a")
                    bob.hub.list_changed("prompts")
                    await until(lambda: "notifications/resources/updated" in ears.heard)  # noqa: B023
                    await until(lambda: "notifications/prompts/list_changed" in ears.heard)  # noqa: B023
            finally:
                await client.close()
        await until(lambda: not ann.hub.peers)
    await front.shut()


async def test_modern_clients_call_side_by_side_under_the_same_id() -> None:
    ann = Shelf("Ann")
    front = gathering({"ann": ann, "bob": Shelf("Bob")})
    async with serving(front) as url:
        clients = [Client(url, Options()) for _ in range(5)]
        async with asyncio.timeout(10):
            for client in clients:
                await client.open("modern")
            calls = [
                client.request(
                    "tools/call", {"name": Raw(b'"ann__look"'), "arguments": Raw(b'{"word":"%d"}' % at)}
                )
                for at, client in enumerate(clients)
            ]
            for at, reply in enumerate(await asyncio.gather(*calls)):
                assert b"Ann looks at %d" % at in bytes(reply.result)
            for client in clients:
                await client.close()
    await front.shut()
