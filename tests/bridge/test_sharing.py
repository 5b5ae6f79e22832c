"""Who shares a connection to the server, and that nobody gets what belongs to somebody else."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.bridge.behind import Noting, bridging, is_running, until
from tests.bridge.talking import QUICK, Talker, bridged, talking, text_of, way_to

Json = dict[str, Any]
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
SAMPLING: Json = {"sampling": {}}


@pytest.fixture
def server(tmp_path: Path) -> Noting:
    return Noting(tmp_path / "log")


async def test_ids_and_progress_tokens_of_two_clients_are_never_mixed(server: Noting) -> None:
    async with (
        bridged(way_to(server.target, shared=True)) as bridge,
        talking(bridge) as one,
        talking(bridge) as other,
    ):

        async def flood(client: Talker, size: int) -> Json:
            params = {
                "name": "flood",
                "arguments": {"messages": 40, "size": size},
                "_meta": {"progressToken": "same"},
            }
            return await client.ask("tools/call", params, id_="same")

        answers = await asyncio.gather(flood(one, 10), flood(other, 20))
        assert [answer["id"] for answer in answers] == ["same", "same"]
        for client, size in ((one, 10), (other, 20)):
            assert {len(said["params"]["message"]) for said in client.told} == {size}
            assert {said["params"]["progressToken"] for said in client.told} == {"same"}
            assert [said["params"]["progress"] for said in client.told] == list(range(40))
        sent = server.messages("tools/call")
        assert len(server.pids()) == 1
        assert len({message["id"] for message in sent}) == 2
        tokens = {message["params"]["_meta"]["progressToken"] for message in sent}
        assert len(tokens) == 2
        assert "same" not in tokens


async def test_each_connection_has_a_server_of_its_own_that_ends_with_it(server: Noting) -> None:
    async with bridged(way_to(server.target)) as bridge, talking(bridge) as one:
        async with talking(bridge) as other:
            assert text_of(await other.call("note", n=2)) == "2"
            assert text_of(await one.call("note", n=1)) == "1"
            first, second = server.pids()
        await until(lambda: not is_running(second))
        assert is_running(first)
        assert text_of(await one.call("note", n=3)) == "3"
    assert not is_running(first)


async def test_more_clients_than_children_are_refused_with_the_reason(server: Noting) -> None:
    async with bridged(way_to(server.target, max_children=1)) as bridge, talking(bridge):
        late = Talker(bridge)
        answer = await late.open()
        assert answer["error"]["message"] == (
            "too many clients at once: the server is reached 1 times already (--max-children)"
        )
        await late.close()
        assert len(server.pids()) == 1


async def test_a_servers_request_goes_to_the_client_whose_call_is_open(server: Noting) -> None:
    async with (
        bridged(way_to(server.target)) as bridge,
        talking(bridge, SAMPLING) as one,
        talking(bridge, SAMPLING) as other,
    ):
        one.answers = lambda message: {"result": {"who": "one"}}
        other.answers = lambda message: {"error": {"code": -1, "message": "not now"}}
        replies = await asyncio.gather(one.call("ask", a=1), other.call("ask", a=2))
        assert [json.loads(text_of(reply)) for reply in replies] == [
            {"jsonrpc": "2.0", "id": "ask 0", "result": {"who": "one"}},
            {"jsonrpc": "2.0", "id": "ask 0", "error": {"code": -1, "message": "not now"}},
        ]
        assert [said["params"]["metadata"] for said in one.asked] == [{"a": 1}]
        assert [said["params"]["metadata"] for said in other.asked] == [{"a": 2}]


async def test_a_servers_request_outside_all_calls_is_answered_with_method_not_found(server: Noting) -> None:
    async with bridged(way_to(server.target)) as bridge, talking(bridge, SAMPLING) as client:
        await client.call("ask", outside=True)
        await until(lambda: any("error" in message for message in server.messages()))
        refused = next(message for message in server.messages() if "error" in message)
        assert refused["error"]["code"] == -32601
        assert "no call is open" in refused["error"]["message"]
        assert not client.asked


async def test_a_shared_server_may_not_ask_and_is_told_that_nobody_can_answer(server: Noting) -> None:
    async with bridged(way_to(server.target, shared=True)) as bridge, talking(bridge, SAMPLING) as client:
        refused = json.loads(text_of(await client.call("ask")))
        assert refused["error"]["code"] == -32601
        assert refused["error"]["message"] == "several clients share this server: it cannot ask one of them"
        assert not client.asked
        assert server.messages("initialize")[0]["params"]["capabilities"] == {}
        answer = await client.ask("logging/setLevel", {"level": "info"})
        assert answer["error"]["code"] == -32601


async def test_cancelling_reaches_the_server_with_the_servers_id(server: Noting) -> None:
    async with bridged(way_to(server.target)) as bridge, talking(bridge) as client:
        await client.start("tools/call", {"name": "hang"}, id_="mine")
        await until(lambda: server.messages("tools/call"))
        await client.notify("notifications/cancelled", {"requestId": "mine"})
        await until(lambda: server.messages("notifications/cancelled"))
        (sent,) = server.messages("tools/call")
        (cancelled,) = server.messages("notifications/cancelled")
        assert sent["id"] != "mine"
        assert cancelled["params"]["requestId"] == sent["id"]
        assert text_of(await client.call("note", n=1)) == "1"
        assert not client.extra


async def test_notices_and_settings_of_a_client_reach_its_server_and_pings_do_not(server: Noting) -> None:
    async with bridged(way_to(server.target)) as bridge, talking(bridge, {"roots": {}}) as client:
        await client.notify("notifications/roots/list_changed")
        assert (await client.ask("logging/setLevel", {"level": "error"}))["result"] == {}
        assert (await client.ask("ping"))["result"] == {}
        await until(lambda: server.messages("notifications/roots/list_changed"))
        assert [one["params"] for one in server.messages("logging/setLevel")] == [{"level": "error"}]
        assert not server.messages("ping")
        hello = server.messages("initialize")[0]["params"]
        assert hello["capabilities"] == {"roots": {}}
        assert hello["clientInfo"] == {"name": "talker", "version": "0"}
        assert len(server.messages("notifications/initialized")) == 1


async def test_changes_are_passed_on_once_and_the_list_is_read_again(server: Noting) -> None:
    way = replace(way_to(server.target), limits=replace(QUICK, list_seconds=60))
    async with bridged(way) as bridge, talking(bridge) as client:
        assert "newcomer" not in await client.tools()
        assert (await client.ask("tools/call", {"name": "newcomer"}))["error"]["code"] == -32602
        await client.call("change", name="newcomer")
        await until(lambda: client.told)
        assert "newcomer" in await client.tools()
        await until(lambda: bridge.behind[0].upstream.tools.get("newcomer") is not None)
        assert text_of(await client.call("newcomer", n=1)) == "1"
        assert client.methods_told() == ["notifications/tools/list_changed"]


async def test_updates_reach_who_subscribed(server: Noting) -> None:
    async with bridged(way_to(server.target)) as bridge, talking(bridge) as client:
        await client.ask("resources/subscribe", {"uri": "memo:1"})
        for uri in ("memo:2", "memo:1"):
            await client.call("tell", method="notifications/resources/updated", params={"uri": uri})
        await until(lambda: client.told)
        assert [said["params"] for said in client.told] == [{"uri": "memo:1"}]


async def test_a_schema_that_a_result_contradicts_is_not_listed_again_even_after_a_reconnect(
    tmp_path: Path,
) -> None:
    async with (
        Noting(tmp_path / "log", "ws").running() as server,
        bridged(way_to(server.target)) as bridge,
        talking(bridge) as client,
    ):

        async def schema() -> Json | None:
            tools = (await client.ask("tools/list"))["result"]["tools"]
            found: Json | None = next(one for one in tools if one["name"] == "misfit").get("outputSchema")
            return found

        assert await schema() is not None
        await client.call("misfit")
        await until(lambda: client.methods_told() == ["notifications/tools/list_changed"])
        assert await schema() is None
        server.kill()
        await server.start()
        await client.call("note", n=1)
        assert (await client.call("misfit")).get("structuredContent") == {"value": "none"}
        assert await schema() is None
        assert client.methods_told() == ["notifications/tools/list_changed"]


def _modern(id_: int, method: str, params: Json) -> Json:
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "m", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": meta}}


async def test_a_modern_client_listens_to_a_server_of_the_older_era(server: Noting) -> None:
    async with bridged(way_to(server.target)) as bridge:
        client = Talker(bridge)
        wanted = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": ["memo:1"]}}
        listening = await client.start("subscriptions/listen", _modern(7, "", wanted)["params"], id_=7)
        await until(lambda: "notifications/subscriptions/acknowledged" in client.methods_told())
        for name, arguments in (
            ("change", {"name": "newcomer"}),
            ("tell", {"method": "notifications/resources/updated", "params": {"uri": "memo:1"}}),
        ):
            params = _modern(8, "", {"name": name, "arguments": arguments})["params"]
            assert "result" in await client.ask("tools/call", params)
        await until(lambda: len(client.told) == 3)
        assert client.methods_told()[1:] == [
            "notifications/tools/list_changed",
            "notifications/resources/updated",
        ]
        assert {
            said["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"] for said in client.told
        } == {7}
        assert not listening.done()
        await client.close()


def _post(bridge: Any, message: Json, session: str = "") -> tuple[int, Json]:
    more = {"mcp-session-id": session} if session else {}
    status, body = bridge.ask("/mcp", message, {**HEADERS, **more})
    return status, json.loads(body) if body[:1] == b"{" else {"events": body.decode()}


def test_clients_without_a_session_share_one_server_and_each_session_has_its_own(server: Noting) -> None:
    import http.client
    from urllib.parse import urlsplit

    def call(number: int) -> Json:
        params = {"name": "note", "arguments": {"n": number}}
        return {"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params}

    with bridging("--max-children", "2", server=server) as bridge:
        for number in (1, 2):
            status, answer = _post(bridge, call(number))
            assert (status, text_of(answer["result"])) == (200, str(number))
        assert len(server.pids()) == 1
        sessions = []
        for _ in range(3):
            parts = urlsplit(bridge.url)
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=20)
            hello = {
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "clientInfo": {"name": "s", "version": "0"},
            }
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
            connection.request("POST", "/mcp", body, {**HEADERS, "content-type": "application/json"})
            reply = connection.getresponse()
            answer = json.loads(reply.read())
            connection.close()
            sessions.append((reply.headers.get("mcp-session-id"), answer))
        assert [one is not None for one, _ in sessions] == [True, True, False]
        assert "--max-children" in sessions[2][1]["error"]["message"]
        for number, (session, _) in enumerate(sessions[:2], 10):
            assert text_of(_post(bridge, call(number), session or "")[1]["result"]) == str(number)
        assert len(server.pids()) == 3
        bridge.ask("/mcp", None, {**HEADERS, "mcp-session-id": sessions[0][0] or ""}, "DELETE")
        status, facts = bridge.ask("/readyz")
        assert status == 200
        assert len(json.loads(facts)["connections"]) == 2
        pids = server.pids()
    assert not any(map(is_running, pids))


async def test_a_session_that_nobody_uses_is_closed_and_opened_again_when_needed(server: Noting) -> None:
    from qortal_mcp.server.peer import Peer
    from qortal_mcp.server.work import Work

    limits = replace(QUICK, idle_seconds=0.3, sweep_seconds=0.05)
    async with bridged(way_to(server.target, limits=limits, max_children=1, start_timeout=30.0)) as bridge:
        peer = Peer(lasting=False, post=lambda message: True)

        async def ask(message: Json) -> Json:
            work = bridge.receive(json.dumps(message).encode(), peer)
            assert isinstance(work, Work)

            async def send(data: bytes) -> None:
                raise AssertionError("nothing is said before the answer")

            reply = await work.run(send)
            assert reply is not None
            answer: Json = json.loads(reply.body)
            return answer

        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "s", "version": "0"},
        }
        opened = await ask({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        assert "result" in opened
        (first,) = server.pids()
        await until(lambda: not is_running(first))
        await until(lambda: [one["state"] for one in bridge.facts()[0]["connections"]] == ["idle"])
        async with talking(bridge) as client:
            # Closed ones leave their place to others; and those that are in use are not closed.
            await asyncio.sleep(0.5)
            assert text_of(await client.call("note", n=1)) == "1"
            refused = await ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
            assert "--max-children" in refused["error"]["message"]
        params = {"name": "note", "arguments": {"n": 2}}
        answer = await ask({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": params})
        assert text_of(answer["result"]) == "2"
        assert len(server.messages("initialize")) == 3
