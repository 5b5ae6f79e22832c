"""What servers say and ask besides their answers, through one front: questions, logs, notices, subscriptions."""

import asyncio
from typing import Any

from tests.bridge.behind import until
from tests.bridge.gathered.shelves import Client, Shelf, fronted, gathering
from tests.bridge.talking import text_of

Json = dict[str, Any]


def told(client: Client, method: str) -> list[Json]:
    return [one.get("params", {}) for one in client.told if one["method"] == method]


async def test_a_legacy_client_is_asked_by_the_server_it_called() -> None:
    async with fronted(gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")})) as client:
        client.answers = lambda message: {
            "result": {"action": "accept", "content": {"answer": message["params"]["message"]}}
        }
        both = await asyncio.gather(client.call("bob__ask"), client.call("ann__ask"))
        assert [text_of(one) for one in both] == [
            "Bob got What does Bob need?",
            "Ann got What does Ann need?",
        ]
        assert len(client.asked) == 2


async def test_a_modern_client_is_asked_in_rounds_with_the_state_untouched() -> None:
    async with fronted(gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")}), is_modern=True) as client:
        first = await client.call("bob__ask")
        assert first["resultType"] == "input_required"
        params = {
            "name": "bob__ask",
            "arguments": {},
            "inputResponses": {"q": {"action": "accept", "content": {"answer": "tea"}}},
            "requestState": first["requestState"],
        }
        second = (await client.ask("tools/call", params))["result"]
        assert text_of(second) == "Bob got tea"


async def test_logs_say_which_server_they_are_from() -> None:
    async with fronted(gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")})) as client:
        await client.call("bob__report")
        assert told(client, "notifications/message") == []
        assert (await client.ask("logging/setLevel", {"level": "info"}))["result"] == {}
        await client.call("bob__report")
        await client.call("ann__report")
        assert [(one["logger"], one["data"]) for one in told(client, "notifications/message")] == [
            ("bob/shelf", "Bob is half way"),
            ("bob", "Bob is done"),
            ("ann/shelf", "Ann is half way"),
            ("ann", "Ann is done"),
        ]


async def test_a_log_level_holds_for_servers_that_come_later() -> None:
    front = gathering({"ann": Shelf("Ann")})
    async with fronted(front) as client:
        await client.ask("logging/setLevel", {"level": "info"})
        late = Shelf("Bob")
        await front.change({"ann": front.members["ann"].source, "bob": late})
        await until(lambda: any(peer.log_level for peer in late.hub.peers))
        await client.call("bob__report")
        assert told(client, "notifications/message")


async def test_changed_lists_of_any_server_are_announced_and_a_flood_of_them_only_now_and_then() -> None:
    ann, bob = Shelf("Ann"), Shelf("Bob")
    async with fronted(gathering({"ann": ann, "bob": bob})) as client:
        ann.hub.list_changed("prompts")
        await until(lambda: told(client, "notifications/prompts/list_changed"))
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() - began < 0.5:
            for _ in range(100):
                bob.hub.list_changed("tools")
            await asyncio.sleep(0)
        await asyncio.sleep(0.1)
        assert 1 <= len(told(client, "notifications/tools/list_changed")) <= 14


async def test_a_subscription_goes_to_its_server_and_its_notices_come_under_the_same_address() -> None:
    ann, bob = Shelf("Ann"), Shelf("Bob")
    async with fronted(gathering({"ann": ann, "bob": bob})) as client:
        assert (await client.ask("resources/subscribe", {"uri": "bob+note://a"}))["result"] == {}
        ann.hub.resource_updated("note://a")
        bob.hub.resource_updated("note://a")
        await until(lambda: told(client, "notifications/resources/updated"))
        assert told(client, "notifications/resources/updated") == [{"uri": "bob+note://a"}]
        await client.ask("resources/unsubscribe", {"uri": "bob+note://a"})
        bob.hub.resource_updated("note://a")
        await client.ask("ping")
        assert len(told(client, "notifications/resources/updated")) == 1


def listening(**wanted: Any) -> Json:
    return {"notifications": wanted}


async def test_one_modern_subscription_hears_all_servers() -> None:
    ann, bob = Shelf("Ann"), Shelf("Bob")
    async with fronted(gathering({"ann": ann, "bob": bob}), is_modern=True) as client:
        uris = ["bob+note://a", "ann+note://zzz", "eve+note://a"]
        await client.start(
            "subscriptions/listen", listening(toolsListChanged=True, resourceSubscriptions=uris), "s"
        )
        await until(lambda: told(client, "notifications/subscriptions/acknowledged"))
        (kept,) = told(client, "notifications/subscriptions/acknowledged")
        assert kept["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["bob+note://a"]}
        assert kept["_meta"] == {"io.modelcontextprotocol/subscriptionId": "s"}
        bob.hub.resource_updated("note://a")
        ann.hub.list_changed("tools")
        ann.hub.list_changed("prompts")
        await until(lambda: told(client, "notifications/tools/list_changed"))
        await until(lambda: told(client, "notifications/resources/updated"))
        (updated,) = told(client, "notifications/resources/updated")
        assert updated == {"uri": "bob+note://a", "_meta": {"io.modelcontextprotocol/subscriptionId": "s"}}
        assert told(client, "notifications/prompts/list_changed") == []


async def test_a_subscription_that_a_server_ends_is_opened_again() -> None:
    ann, bob = Shelf("Ann"), Shelf("Bob")
    front = gathering({"ann": ann, "bob": bob})
    async with fronted(front, is_modern=True) as client:
        await client.start("subscriptions/listen", listening(toolsListChanged=True), "s")
        await until(lambda: len(ann.hub) == len(bob.hub) == 1)
        for listener in list(bob.hub._listeners):
            listener.end()
        # What may have been missed is announced, and the next change is heard.
        await until(lambda: told(client, "notifications/tools/list_changed"))
        await until(lambda: len(bob.hub) == 1)
        assert client.extra == []
        before = len(told(client, "notifications/tools/list_changed"))
        bob.hub.list_changed("tools")
        await until(lambda: len(told(client, "notifications/tools/list_changed")) > before)


async def test_nothing_is_left_on_the_servers_when_a_client_leaves() -> None:
    ann = Shelf("Ann")
    front = gathering({"ann": ann})
    client = Client(front)
    await client.open()
    assert len(ann.hub.peers) == 1
    await client.close()
    assert len(ann.hub.peers) == 0
    await front.shut()
