"""Servers that are slow, dead, dying or gone, and that the others do not notice. Each is behind a bridge of its own."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.bridge.behind import Noting, is_running, until
from tests.bridge.gathered.shelves import QUICK, Client, Shelf, fronted, gathering
from tests.bridge.talking import text_of, way_to

from qortal_mcp.bridge.gathered.member import Unusable

Json = dict[str, Any]
HANGS = [sys.executable, "-c", "import time; time.sleep(1000)"]
ENDS = [sys.executable, "-c", "raise SystemExit('no key is set')"]
CHANGED = "notifications/tools/list_changed"
ERAS = [pytest.param(False, id="legacy"), pytest.param(True, id="modern")]


def descriptions(listed: Json) -> dict[str, str]:
    return {one["name"]: one.get("description", "") for one in listed["result"]["tools"]}


async def opened(client: Client) -> None:
    if client.is_modern:
        await client.ask("server/discover")
        await client.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, "s")
    else:
        await client.open()


@pytest.mark.parametrize("is_modern", ERAS)
@pytest.mark.promise(
    "Bridge", "With several servers behind one front, a server that hangs at its start delays no other."
)
async def test_the_front_answers_before_a_server_that_hangs(is_modern: bool) -> None:
    # The times that people get.
    front = gathering(
        {"slow": way_to(HANGS), "ann": Shelf("Ann")},
        bounds=replace(QUICK, handshake_seconds=1, list_seconds=2),
    )
    client = Client(front, is_modern=is_modern)
    async with asyncio.timeout(30):  # the program that hangs never answers
        await opened(client)
        listed = await client.names("tools/list", "tools")
    assert {name.partition("__")[0] for name in listed} == {"ann"}
    assert text_of(await client.call("ann__look", word="x")) == "Ann looks at x"
    await client.close()
    await front.shut()


@pytest.mark.parametrize("is_modern", ERAS)
async def test_a_slow_server_is_announced_when_it_has_come(is_modern: bool, tmp_path: Path) -> None:
    late = Noting(tmp_path / "log", "http")
    front = gathering({"late": way_to(late.target), "ann": Shelf("Ann")})
    client = Client(front, is_modern=is_modern)
    try:
        await opened(client)
        assert not any(name.startswith("late__") for name in await client.names("tools/list", "tools"))
        async with late.running():
            await until(lambda: CHANGED in client.methods_told())
            await until(lambda: front.facts()[0]["servers"]["late"]["ready"])
            # A list that is asked for while it is still read is followed by another notice.
            client.told.clear()
            while "late__note" not in await client.names("tools/list", "tools"):
                await until(lambda: CHANGED in client.methods_told())
                client.told.clear()
            assert "content" in await client.call("late__note")
    finally:
        await client.close()
        await front.shut()


@pytest.mark.parametrize("is_modern", ERAS)
@pytest.mark.promise(
    "Bridge",
    "With several servers behind one front, the tools of one that is away stay listed with a note until it is back.",
)
async def test_tools_of_a_server_that_died_stay_listed_with_a_note_until_it_is_back(
    is_modern: bool, tmp_path: Path
) -> None:
    max_ = Noting(tmp_path / "log", "http")
    await max_.start()
    front = gathering({"max": way_to(max_.target), "ann": Shelf("Ann")})
    client = Client(front, is_modern=is_modern)
    try:
        await opened(client)
        before = descriptions(await client.ask("tools/list"))
        max_.kill()
        failed = await client.call("max__note")
        assert failed["isError"] is True
        during = descriptions(await client.ask("tools/list"))
        assert during["max__note"] == "(max does not answer now.)"
        assert before["max__note"] == ""
        assert {name: text for name, text in during.items() if name.startswith("ann")} == {
            name: text for name, text in before.items() if name.startswith("ann")
        }
        client.told.clear()
        await max_.start()
        await until(lambda: CHANGED in client.methods_told())
        client.told.clear()
        while descriptions(await client.ask("tools/list")) != before:
            await until(lambda: CHANGED in client.methods_told())
            client.told.clear()
        assert "isError" not in await client.call("max__note")
    finally:
        await client.close()
        await front.shut()
        max_.kill()


@pytest.mark.parametrize("is_modern", ERAS)
async def test_a_server_that_was_away_for_long_is_announced_when_it_is_back(
    is_modern: bool, tmp_path: Path
) -> None:
    max_ = Noting(tmp_path / "log", "http")
    await max_.start()
    way = way_to(max_.target)
    # What waits for the server gives up sooner than the server comes back.
    way = replace(way, limits=replace(way.limits, reconnect_seconds=0.2))
    front = gathering({"max": way})
    client = Client(front, is_modern=is_modern)
    try:
        await opened(client)
        before = descriptions(await client.ask("tools/list"))
        max_.kill()
        await client.call("max__note")
        while "answer now" not in descriptions(await client.ask("tools/list"))["max__note"]:
            pass
        await asyncio.sleep(1)
        client.told.clear()
        await max_.start()
        await until(lambda: CHANGED in client.methods_told())
        async with asyncio.timeout(30):
            while descriptions(await client.ask("tools/list")) != before:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        assert "isError" not in await client.call("max__note")
    finally:
        await client.close()
        await front.shut()
        max_.kill()


async def test_a_server_that_hangs_delays_the_first_list_alone() -> None:
    bounds = replace(QUICK, list_seconds=5)
    async with fronted(gathering({"slow": way_to(HANGS), "ann": Shelf("Ann")}, bounds=bounds)) as client:
        await client.ask("tools/list")
        async with asyncio.timeout(10):  # waiting each time would take longer than this
            for _ in range(3):
                assert {name.partition("__")[0] for name in await client.names("tools/list", "tools")} == {
                    "ann"
                }


@pytest.mark.parametrize("is_modern", ERAS)
async def test_who_was_waited_for_in_vain_delays_no_other_client(is_modern: bool) -> None:
    bounds = replace(QUICK, handshake_seconds=4, list_seconds=4)
    front = gathering({"slow": way_to(HANGS), "ann": Shelf("Ann")}, bounds=bounds)
    first, second = (Client(front, is_modern=is_modern) for _ in range(2))
    try:
        await opened(first)
        async with asyncio.timeout(3.5):
            await opened(second)
            for method, member in (("tools/list", "tools"), ("prompts/list", "prompts")):
                assert await second.names(method, member)
    finally:
        for client in (first, second):
            await client.close()
        await front.shut()


@pytest.mark.parametrize("is_modern", ERAS)
async def test_a_slow_server_is_in_the_first_list_although_the_handshake_did_not_wait_for_it(
    is_modern: bool, tmp_path: Path
) -> None:
    # No program is there so soon; clients that read one list alone have its tools all the same.
    bounds = replace(QUICK, handshake_seconds=0.01, list_seconds=20)
    front = gathering({"slow": way_to(Noting(tmp_path / "log").target), "ann": Shelf("Ann")}, bounds=bounds)
    client = Client(front, is_modern=is_modern)
    try:
        await opened(client)
        assert "slow__note" in await client.names("tools/list", "tools")
    finally:
        await client.close()
        await front.shut()


@pytest.mark.parametrize("is_modern", ERAS)
async def test_a_server_that_is_not_there_delays_not_even_the_first_list(
    is_modern: bool, tmp_path: Path
) -> None:
    bounds = replace(QUICK, handshake_seconds=1, list_seconds=20)
    nobody = way_to(Noting(tmp_path / "log", "http").target)
    front = gathering({"nobody": nobody, "ann": Shelf("Ann")}, bounds=bounds)
    client = Client(front, is_modern=is_modern)
    try:
        await opened(client)
        async with asyncio.timeout(10):
            assert await client.names("tools/list", "tools")
    finally:
        await client.close()
        await front.shut()


async def test_a_server_that_cannot_start_says_why_in_its_own_calls_alone() -> None:
    async with fronted(gathering({"bad": way_to(ENDS), "ann": Shelf("Ann")})) as client:
        failed = await client.call("bad__x")
        assert failed["isError"] is True
        assert "no key is set" in text_of(failed)
        error = (await client.ask("resources/read", {"uri": "bad+x:y"}))["error"]
        assert "no key is set" in error["message"]
        assert text_of(await client.call("ann__look", word="x")) == "Ann looks at x"


async def test_a_server_that_cannot_be_tried_is_named_with_the_reason() -> None:
    front = gathering({"bad": Unusable("bad", "the variable KEY is not set."), "ann": Shelf("Ann")})
    async with fronted(front) as client:
        assert text_of(await client.call("bad__x")) == "bad cannot be used: the variable KEY is not set."
        assert front.facts()[0]["servers"]["bad"] == {
            "server": "bad",
            "ready": False,
            "error": "the variable KEY is not set.",
        }
        assert {name.partition("__")[0] for name in await client.names("tools/list", "tools")} == {"ann"}


@pytest.mark.parametrize("is_modern", ERAS)
async def test_servers_come_go_and_change_while_the_others_keep_their_calls(
    is_modern: bool, tmp_path: Path
) -> None:
    kept, goes, comes = (Noting(tmp_path / name) for name in ("kept", "goes", "comes"))
    ways = {"kept": way_to(kept.target), "goes": way_to(goes.target)}
    ann = Shelf("Ann")
    front = gathering({**ways, "ann": ann})
    client = Client(front, is_modern=is_modern)
    try:
        await opened(client)
        await client.call("kept__note")
        await client.call("goes__note")
        held = await client.start("tools/call", {"name": "ann__hold"})
        hanging = await client.start("tools/call", {"name": "goes__hang"})
        await until(lambda: goes.messages("tools/call")[1:])
        client.told.clear()
        await front.change({"kept": ways["kept"], "ann": ann, "comes": way_to(comes.target)})
        async with asyncio.timeout(10):
            ended = (await hanging)["result"]
            assert ended["isError"] is True
            assert text_of(ended) == "goes was taken out of the list of servers."
            await until(lambda: CHANGED in client.methods_told())
            while "comes__note" not in await client.names("tools/list", "tools"):  # noqa: ASYNC110
                await asyncio.sleep(0.05)
            names = {name.partition("__")[0] for name in await client.names("tools/list", "tools")}
            assert names == {"kept", "ann", "comes"}
            await client.call("kept__note")
            ann.release.set()
            assert text_of((await held)["result"]) == "Ann let go"
        assert len(kept.pids()) == 1
        await until(lambda: not is_running(goes.pids()[0]))
        answer = await client.ask("tools/call", {"name": "goes__note"})
        assert answer["error"]["code"] == -32602
        # The same name for another target: a restart.
        await front.change({"kept": way_to(comes.target), "ann": ann})
        await until(lambda: not is_running(kept.pids()[0]))
        assert "content" in await client.call("kept__note")
    finally:
        await client.close()
        await front.shut()


async def test_a_server_that_is_taken_out_before_its_turn_is_never_started(tmp_path: Path) -> None:
    late, kept = (Noting(tmp_path / name) for name in ("late", "kept"))
    ways = {"slow": way_to(HANGS), "late": way_to(late.target), "kept": way_to(kept.target)}
    front = gathering(ways, bounds=replace(QUICK, starts=1, start_turn_seconds=0.2))
    try:
        front.connect_early()
        await front.change({name: way for name, way in ways.items() if name != "late"})
        # Its turn comes after that of the one that is gone.
        await until(kept.pids)
        assert late.pids() == []
    finally:
        await front.shut()


async def test_hundreds_of_servers_are_started_a_few_at_a_time_and_more_are_refused() -> None:
    bounds = replace(QUICK, servers=200, starts=4, start_turn_seconds=0.05)
    servers = {f"s{number}": Shelf(f"S{number}") for number in range(200)}
    async with fronted(gathering(servers, bounds=bounds)) as client:
        assert len(await client.names("tools/list", "tools")) == 6 * 200
        assert text_of(await client.call("s199__look", word="x")) == "S199 looks at x"
    with pytest.raises(ValueError, match="more than 200 servers"):
        gathering({**servers, "one more": Shelf("X")}, bounds=bounds)


async def test_a_list_that_does_not_end_is_cut() -> None:
    bounds = replace(QUICK, list_items=4)
    async with fronted(gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")}, bounds=bounds)) as client:
        assert len(await client.names("tools/list", "tools")) == 8
    bounds = replace(QUICK, front_bytes=3000)
    async with fronted(gathering({"ann": Shelf("Ann"), "bob": Shelf("Bob")}, bounds=bounds)) as client:
        names = await client.names("tools/list", "tools")
        assert {name.partition("__")[0] for name in names} == {"ann"}
