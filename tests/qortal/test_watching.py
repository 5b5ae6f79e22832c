"""Accounts, names and trades that are subscribed to: a notice when one reads differently, and only then."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace
from tests.qortal.moving_chain import MovingChain

from qortal_mcp.client import Options, ServerError, connect
from qortal_mcp.client.client import Client
from qortal_mcp.limits import DEFAULT, Limits
from qortal_mcp.protocol.decoding import decode
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.protocol.messages import ListenFilter
from qortal_mcp.protocol.versions import REVISIONS, is_modern
from qortal_mcp.qortal import watching
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server import Server

ALICE = "QgV4s3xnzLhVBEJxcYui4u4q11yhUHsd9v"
BOB = "QixPbJUwsaHsVEofJdozU9zgVqkK6aYhrK"
TRADE = "AYSdZDKhkpafRVm1YzDcrGMo5hBd9qK8uZ"
NAME_URI, NAME_TARGET = "qortal://name/Bob", "/names/Bob"
LEGACY = [revision for revision in REVISIONS if not is_modern(revision)]
MODERN = REVISIONS[-1]

# Where the resource is, what the node is asked for it, and what is different there.
THINGS = [
    pytest.param(f"qortal://account/{ALICE}", f"/addresses/{ALICE}", {"level": 5}, id="account"),
    pytest.param("qortal://account/%40alice-test", f"/addresses/{ALICE}", {"level": 5}, id="owner-of-a-name"),
    pytest.param(NAME_URI, NAME_TARGET, {"owner": ALICE}, id="name"),
    pytest.param(f"qortal://trade/{TRADE}", f"/crosschain/trade/{TRADE}", {"mode": "TRADING"}, id="trade"),
]


@pytest.fixture
def chain(monkeypatch: pytest.MonkeyPatch) -> MovingChain:
    monkeypatch.setattr(watching, "_LOOK_SECONDS", 0.001)
    return MovingChain()


@asynccontextmanager
async def serving(
    chain: MovingChain, toolsets: str = "default", limits: Limits = DEFAULT
) -> AsyncIterator[Server]:
    # Every look at the clock is a minute later: nothing is remembered for a number of seconds.
    clock = iter(range(0, 10**9, 60))
    node = Node([chain], now=lambda: float(next(clock)))
    server = make_server(node, toolsets=toolsets, limits=limits)
    async with asyncio.timeout(10):
        yield server
    server.close()
    await node.close()


class Subscriber:
    """One connection; `heard` holds the URIs of its notices."""

    def __init__(self) -> None:
        self.heard: asyncio.Queue[str] = asyncio.Queue()
        self.client: Client
        self.accepted: list[str] = []

    def take(self, notice: Notification) -> None:
        assert notice.method == "notifications/resources/updated"
        self.heard.put_nowait(decode(notice.params or b"")["uri"])


@asynccontextmanager
async def subscribed(server: Server, revision: str, *uris: str) -> AsyncIterator[Subscriber]:
    """The same in both eras."""
    found = Subscriber()
    options = Options(on_notification=found.take)
    async with connect(
        server, era="modern" if is_modern(revision) else "legacy", revision=revision, options=options
    ) as client:
        found.client = client
        if not is_modern(revision):
            for uri in uris:
                await client.subscribe(uri)
            found.accepted = list(uris)
            yield found
            return
        async with client.listen(ListenFilter(resourceSubscriptions=list(uris))) as notices:
            found.accepted = list(notices.accepted.resourceSubscriptions or ())

            async def pump() -> None:
                async for notice in notices:
                    found.take(notice)

            pumping = asyncio.create_task(pump())
            yield found
            pumping.cancel()


@pytest.mark.promise(
    "Tools and their results",
    "Who subscribes to an account, a name or a trade hears when it reads differently, and only then.",
)
@pytest.mark.parametrize("revision", REVISIONS)
@pytest.mark.parametrize(("uri", "target", "members"), THINGS)
async def test_a_subscriber_hears_when_the_answer_changes_and_only_then(
    chain: MovingChain, uri: str, target: str, members: dict[str, Any], revision: str
) -> None:
    async with serving(chain) as server, subscribed(server, revision, uri) as subscriber:
        await chain.looked_at()
        chain.height += 1  # asOf alone is different
        await chain.looked_at(6)
        assert subscriber.heard.empty()
        chain.changed[target] = members
        chain.height += 1
        assert await subscriber.heard.get() == uri
        (contents,) = (await subscriber.client.read_resource(uri)).contents
        answer = json.loads(contents.text or "")
        assert members.items() <= answer.items()
        assert answer["asOf"]["height"] == 598
        await chain.looked_at(6)
        assert subscriber.heard.empty()


async def test_who_is_online_in_a_trade_is_noticed_without_a_new_block(chain: MovingChain) -> None:
    uri = f"qortal://trade/{TRADE}"
    async with serving(chain) as server, subscribed(server, MODERN, uri) as subscriber:
        await chain.looked_at()
        chain.changed[f"/crosschain/trade/{TRADE}"] = {"creatorPresenceExpiry": 1794776271564}
        assert await subscriber.heard.get() == uri


async def test_a_name_can_be_awaited_before_it_is_registered(chain: MovingChain) -> None:
    chain.changed[NAME_TARGET] = None
    async with serving(chain) as server, subscribed(server, REVISIONS[0], NAME_URI) as subscriber:
        await chain.looked_at()
        with pytest.raises(ServerError, match="Name not found"):
            await subscriber.client.read_resource(NAME_URI)
        chain.changed.clear()
        chain.height += 1
        assert await subscriber.heard.get() == NAME_URI


async def test_a_node_that_goes_away_is_no_change_but_what_it_says_afterwards_may_be(
    chain: MovingChain,
) -> None:
    async with serving(chain) as server, subscribed(server, MODERN, NAME_URI) as subscriber:
        await chain.looked_at()
        chain.is_away = True
        await chain.looked_at(4)
        chain.is_away = False
        await chain.looked_at(4)
        assert subscriber.heard.empty()
        chain.is_away = True
        await chain.looked_at(4)
        chain.changed[NAME_TARGET] = {"owner": ALICE}
        chain.height += 1
        chain.is_away = False
        assert await subscriber.heard.get() == NAME_URI


async def test_who_subscribes_while_the_node_is_away_hears_when_there_is_something_to_read(
    chain: MovingChain,
) -> None:
    chain.is_away = True
    async with serving(chain) as server, subscribed(server, MODERN, NAME_URI) as subscriber:
        await chain.looked_at(4)
        chain.is_away = False
        assert await subscriber.heard.get() == NAME_URI


@pytest.mark.promise(
    "Limits and abuse", "However many subscribe to the same thing, the node is asked once for all of them."
)
async def test_the_node_is_asked_once_for_all_subscribers_of_a_thing(chain: MovingChain) -> None:
    spelt = "qortal://name/%42ob"
    async with (
        serving(chain) as server,
        subscribed(server, MODERN, NAME_URI, spelt) as first,
        subscribed(server, LEGACY[-1], NAME_URI) as second,
        subscribed(server, LEGACY[0], NAME_URI) as third,
    ):
        await chain.looked_at()
        before = chain.asked.count(NAME_TARGET)
        chain.changed[NAME_TARGET] = {"owner": ALICE}
        chain.height += 1
        assert {await first.heard.get(), await first.heard.get()} == {NAME_URI, spelt}
        assert await second.heard.get() == await third.heard.get() == NAME_URI
        assert chain.asked.count(NAME_TARGET) == before + 1


@pytest.mark.promise("Limits and abuse", "Nothing is asked of a node when nobody is subscribed any more.")
@pytest.mark.parametrize("revision", REVISIONS)
async def test_nothing_is_asked_when_nobody_listens_any_more(chain: MovingChain, revision: str) -> None:
    uris = ["qortal://node", NAME_URI, f"qortal://account/{ALICE}", f"qortal://trade/{TRADE}"]
    async with serving(chain) as server:
        before = asyncio.all_tasks()
        async with subscribed(server, revision, *uris) as stays:
            await chain.looked_at()
            async with subscribed(server, revision, *uris):
                pass
            await chain.looked_at()  # the others are still served
            if not is_modern(revision):
                for uri in uris:
                    await stays.client.unsubscribe(uri)
                await asyncio.sleep(0.05)
                asked = len(chain.asked)
                await asyncio.sleep(0.05)
                assert len(chain.asked) == asked
        while asyncio.all_tasks() - before:  # noqa: ASYNC110 tasks that end have no event
            await asyncio.sleep(0)


BAD = [
    pytest.param("qortal://account/nobody", "Invalid Qortal address.", id="not-an-address"),
    pytest.param(f"qortal://account/{ALICE[:-1]}x", "Invalid Qortal address.", id="wrong-checksum"),
    pytest.param("qortal://trade/@alice-test", "Invalid Qortal address.", id="name-for-a-trade"),
    pytest.param("qortal://trade/" + "A" * 34, "Invalid Qortal address.", id="no-contract"),
    pytest.param("qortal://name/" + "x" * 300, "Invalid name.", id="long-name"),
    pytest.param("qortal://name/" + quote("abandon " * 11 + "about"), "Refused.", id="seed-phrase"),
    pytest.param("qortal://name/", "Resource not found", id="nothing"),
    pytest.param("qortal://name/a/b", "Resource not found", id="deeper"),
    pytest.param("qortal://name/x" + "y" * 3000, "Resource not found", id="huge"),
    pytest.param("http://169.254.169.254/", "Resource not found", id="elsewhere"),
]


@pytest.mark.parametrize(("uri", "reason"), BAD)
@pytest.mark.parametrize("revision", REVISIONS)
async def test_a_bad_uri_is_refused_and_costs_the_node_nothing(
    chain: MovingChain, uri: str, reason: str, revision: str
) -> None:
    async with serving(chain) as server:
        if is_modern(revision):
            async with subscribed(server, revision, uri, "qortal://guide") as subscriber:
                assert subscriber.accepted == ["qortal://guide"]
        else:
            with pytest.raises(ServerError) as refused:
                async with subscribed(server, revision, uri):
                    raise AssertionError("refused before")
            assert (refused.value.code, refused.value.message[: len(reason)]) == (-32002, reason)
            assert "abandon" not in str(refused.value.data)
        assert chain.asked == []


HOSTILE = [
    "qortal://name/..",
    "qortal://name/%2e%2e",
    "qortal://name/%2e%2e%2fadmin%2fstop",
    "qortal://name/%00",
    "qortal://name/%E2%80%AE",
    "qortal://name/{name}",
    "qortal://name/%ff%fe",
    "qortal://name/%F0%9F%9A%80",
]


@pytest.mark.parametrize("uri", HOSTILE)
@pytest.mark.parametrize("revision", [LEGACY[0], MODERN])
async def test_a_hostile_uri_leads_nowhere_else(chain: MovingChain, uri: str, revision: str) -> None:
    async with serving(chain) as server:
        # Some can be names; the others are refused.
        with contextlib.suppress(ServerError):
            async with subscribed(server, revision, uri):
                await chain.looked_at(4)
        async with subscribed(server, revision, NAME_URI) as subscriber:
            await chain.looked_at()
            chain.changed[NAME_TARGET] = {"owner": ALICE}
            chain.height += 1
            assert await subscriber.heard.get() == NAME_URI
        places = ("/names/", "/blocks/last", "/admin/status", "/addresses/")
        # Some names can only be found by a search, in whose query they stand.
        paths = [target.partition("?")[0] for target in chain.asked]
        assert all(path.startswith(places) and ".." not in path for path in paths)


async def test_a_thing_of_a_toolset_that_is_off_cannot_be_watched(chain: MovingChain) -> None:
    async with serving(chain, toolsets="-names") as server:
        with pytest.raises(ServerError, match="Resource not found"):
            async with subscribed(server, LEGACY[0], NAME_URI):
                raise AssertionError("refused before")
        async with subscribed(server, MODERN, NAME_URI, "qortal://node") as subscriber:
            assert subscriber.accepted == ["qortal://node"]


@pytest.mark.promise(
    "Limits and abuse", "The number of watched things is bounded, for one caller and in all."
)
@pytest.mark.parametrize("limit", ["watched_resources", "caller_watched_resources"])
async def test_the_number_of_watched_things_is_bounded(chain: MovingChain, limit: str) -> None:
    uris = [f"qortal://name/n{number}" for number in range(3)]
    async with serving(chain, limits=replace(DEFAULT, **{limit: 2})) as server:
        async with subscribed(server, LEGACY[-1], *uris[:2]) as first:
            await first.client.subscribe(uris[1])
            await first.client.subscribe("qortal://guide")  # costs nothing
            await first.client.subscribe("qortal://name/%6E1")  # the same thing
            with pytest.raises(ServerError, match="too many resources"):
                await first.client.subscribe(uris[2])
            async with subscribed(server, MODERN, *reversed(uris)) as second:
                assert second.accepted == [uris[1], uris[0]]
            await first.client.unsubscribe(uris[0])
            await first.client.subscribe(uris[2])
        async with subscribed(server, MODERN, *uris) as third:
            assert third.accepted == uris[:2]


async def test_a_burst_of_blocks_and_subscribers_asks_for_a_few_things_at_once(chain: MovingChain) -> None:
    uris = [f"qortal://name/n{number}" for number in range(40)]
    inside = most = 0
    fetch = chain.fetch

    async def counted(request: Any) -> Any:
        nonlocal inside, most
        inside += request.target.startswith("/names/")
        most = max(most, inside)
        try:
            return await fetch(request)
        finally:
            inside -= request.target.startswith("/names/")

    chain.fetch = counted  # type: ignore[method-assign]
    async with serving(chain) as server, subscribed(server, MODERN, *uris):
        for _ in range(3):
            await chain.looked_at()
            chain.height += 1
        await chain.looked_at()
    assert 1 <= most <= 8
