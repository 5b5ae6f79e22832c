"""An old server asks a modern client: the client's request ends with the questions and comes back with the answers."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
from msgspec import structs
from tests.bridge.eras.single_era import SingleEra
from tests.bridge.in_process import way_to
from tests.bridge.talking import way_to as program_at

from qortal_mcp.bridge.bridge import Bridge
from qortal_mcp.bridge.limits import BridgeLimits
from qortal_mcp.limits import Limits
from qortal_mcp.protocol import errors, headers, jsonrpc
from qortal_mcp.protocol.decoding import decode
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.server.options import ServerOptions
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply
from qortal_mcp.server.work import Work

Json = dict[str, Any]
_encode = msgspec.json.Encoder().encode
META: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
}
ACCEPT = {"action": "accept", "content": {"value": "x"}}


class Door:
    """A bridge with an old server behind, asked by modern clients without connections."""

    def __init__(self, server: SingleEra, bridge: Bridge) -> None:
        self.server = server
        self.bridge = bridge

    async def ask(self, method: str, params: Json, *, caller: str = "me", meta: Json = META) -> Json:
        """The whole answer."""
        body = jsonrpc.request(1, method, _encode({**params, "_meta": meta}))
        names = {"Mcp-Method": method}
        if "name" in params:
            names["Mcp-Name"] = params["name"]
        mirrored = headers.Mirrored({headers.PROTOCOL_VERSION: "2026-07-28", **_lower(names)})
        work = self.bridge.receive(body, Peer(lasting=False, caller=caller), mirrored)
        if not isinstance(work, Reply):
            assert work is not None
            work = await work.run(_drop)
        assert work is not None
        found: Json = decode(work.body)
        return found

    async def call(self, tool: str, *, caller: str = "me", **members: Any) -> Json:
        return await self.ask("tools/call", {"name": tool, "arguments": {}, **members}, caller=caller)


def _lower(names: dict[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in names.items()}


async def _drop(message: bytes) -> None:
    pass


@contextlib.asynccontextmanager
async def door(
    *, ask_seconds: float = 20.0, max_children: int = 32, timeout: float = 20.0, **bounds: Any
) -> AsyncIterator[Door]:
    server = SingleEra("2025-11-25")
    way = structs.replace(
        way_to(server, Repairs("safe"), timeout=timeout),
        limits=BridgeLimits(**bounds),
        max_children=max_children,
    )
    bridge = Bridge(way, ServerOptions(limits=Limits(ask_seconds=ask_seconds)))
    try:
        async with asyncio.timeout(30):
            yield Door(server, bridge)
    finally:
        await bridge.shut()


def questions(answer: Json) -> Json:
    result = answer["result"]
    assert result["resultType"] == "input_required"
    found: Json = result["inputRequests"]
    return found


def text(answer: Json) -> str:
    found: str = answer["result"]["content"][0]["text"]
    return found


def answered(asked: Json, answer: Json = ACCEPT) -> Json:
    """What brings a client back."""
    return {
        "requestState": asked["result"]["requestState"],
        "inputResponses": dict.fromkeys(questions(asked), answer),
    }


@pytest.mark.promise(
    "Bridge", "An old server that asks a modern client gets its answer, however many rounds that takes."
)
async def test_questions_come_one_round_after_the_other() -> None:
    async with door() as found:
        first = await found.call("ask_name")
        (question,) = questions(first).values()
        assert question["method"] == "elicitation/create"
        assert question["params"]["message"] == "Your name?"
        second = await found.call("ask_name", **answered(first))
        assert second["result"]["requestState"] != first["result"]["requestState"]
        last = await found.call("ask_name", **answered(second))
        assert last["result"]["resultType"] == "complete"
        assert text(last) == "{'value': 'x'} {'value': 'x'}"
        assert found.server.methods().count("tools/call") == 1
        assert len(found.bridge.suspended) == 0


async def test_who_comes_back_without_an_answer_is_asked_again() -> None:
    async with door() as found:
        first = await found.call("ask_name")
        again = await found.call("ask_name", requestState=first["result"]["requestState"])
        assert questions(again) == questions(first)
        second = await found.call("ask_name", **answered(again))
        assert questions(second) != questions(first)


async def test_a_state_counts_once_for_its_own_call_and_its_own_caller() -> None:
    async with door() as found:
        first = await found.call("ask_name")
        back = answered(first)
        for wrong in (
            await found.call("think", **back),
            await found.call("ask_name", caller="somebody else", **back),
            await found.ask("tools/call", {"name": "ask_name", "arguments": {"a": 1}, **back}),
            await found.call("ask_name", **{**back, "requestState": "made up"}),
            await found.call("ask_name", **{**back, "inputResponses": [1]}),
            await found.call("ask_name", **{**back, "inputResponses": dict.fromkeys(questions(first), 1)}),
        ):
            assert wrong["error"]["code"] == errors.INVALID_PARAMS
        assert questions(await found.call("ask_name", **back))
        assert (await found.call("ask_name", **back))["error"]["code"] == errors.INVALID_PARAMS


async def test_a_tool_that_clients_know_by_another_name_can_ask() -> None:
    server = SingleEra("2025-11-25", renamed="ask name!")
    bridge = Bridge(way_to(server, Repairs("all"), timeout=20.0), ServerOptions())
    found = Door(server, bridge)
    try:
        async with asyncio.timeout(30):
            listed = (await found.ask("tools/list", {}))["result"]["tools"]
            (name,) = [one["name"] for one in listed if one["name"].startswith("ask")]
            assert name != "ask name!"
            asked = await found.call(name)
            for _ in range(2):
                asked = await found.call(name, **answered(asked))
            assert text(asked) == "{'value': 'x'} {'value': 'x'}"
    finally:
        await bridge.shut()


async def test_what_a_person_declines_reaches_the_server() -> None:
    async with door() as found:
        first = await found.call("ask_name")
        second = await found.call("ask_name", **answered(first, {"action": "decline"}))
        last = await found.call("ask_name", **answered(second, {"action": "cancel"}))
        assert "result" in last
        given = [one["result"] for one in found.server.received if "result" in one]
        assert [one["action"] for one in given] == ["decline", "cancel"]


async def test_two_clients_at_once_answer_their_own_questions() -> None:
    async with door() as found:
        one, other = await asyncio.gather(
            found.call("ask_name", caller="one"), found.call("ask_name", caller="other")
        )
        yes = {"action": "accept", "content": {"value": "one"}}
        no = {"action": "accept", "content": {"value": "other"}}
        for _ in range(2):
            one, other = await asyncio.gather(
                found.call("ask_name", caller="one", **answered(one, yes)),
                found.call("ask_name", caller="other", **answered(other, no)),
            )
        assert text(one) == "{'value': 'one'} {'value': 'one'}"
        assert text(other) == "{'value': 'other'} {'value': 'other'}"


async def test_one_call_after_the_other_is_on_one_connection() -> None:
    async with door() as found:
        for _ in range(3):
            asked = await found.call("ask_name")
            asked = await found.call("ask_name", **answered(asked))
            assert text(await found.call("ask_name", **answered(asked)))
        assert found.server.methods().count("initialize") == 1


async def test_who_never_comes_back_is_given_up() -> None:
    async with door(ask_seconds=0.2) as found:
        first = await found.call("ask_name")
        assert len(found.bridge.suspended) == 1
        while len(found.bridge.suspended):  # noqa: ASYNC110
            await asyncio.sleep(0.02)
        late = await found.call("ask_name", **answered(first))
        assert late["error"]["code"] == errors.INVALID_PARAMS
        while any(not one.is_free for one in found.bridge.behind):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_only_so_many_calls_wait_for_answers() -> None:
    async with door(caller_suspended_calls=2) as found:
        for _ in range(2):
            assert questions(await found.call("ask_name"))
        third = await found.call("ask_name")
        assert third["result"]["isError"]
        assert "too many calls are waiting" in text(third)
        assert questions(await found.call("ask_name", caller="somebody else"))


async def test_callers_share_no_connection_on_which_they_can_be_asked() -> None:
    async with door() as found:
        for caller in ("alice", "bob", "alice"):
            assert text(await found.call("add", caller=caller, arguments={"a": 1, "b": 1})) == "2"
        assert found.server.methods().count("initialize") == 2


async def test_the_clock_stands_still_while_anything_is_unanswered() -> None:
    async with door(timeout=1.5) as found:
        first = await found.call("think")
        one, other = questions(first)
        chosen = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
        answers: Json = {one: chosen, other: {"roots": [{"uri": "file:///a"}]}}
        again = await found.call(
            "think", requestState=first["result"]["requestState"], inputResponses={one: answers[one]}
        )
        await asyncio.sleep(2.0)
        back = {"requestState": again["result"]["requestState"], "inputResponses": {other: answers[other]}}
        assert text(await found.call("think", **back)) == "hi in file:///a"


async def test_a_connection_that_is_over_takes_its_open_questions_along() -> None:
    server = SingleEra("2025-11-25")
    bridge = Bridge(way_to(server, Repairs("safe"), timeout=20.0), ServerOptions())
    peer = Peer(lasting=True)
    try:
        async with asyncio.timeout(30):
            body = jsonrpc.request(
                1, "tools/call", _encode({"name": "ask_name", "arguments": {}, "_meta": META})
            )
            work = bridge.receive(body, peer)
            assert isinstance(work, Work)
            assert await work.run(_drop) is not None
            assert len(bridge.suspended) == 1
            bridge.leave(peer)
            assert len(bridge.suspended) == 0
    finally:
        await bridge.shut()


async def test_a_lost_server_ends_the_call_that_waits() -> None:
    async with door() as found:
        first = await found.call("ask_name")
        for one in found.bridge.behind:
            await one.connection.rest()
        last = await found.call("ask_name", **answered(first))
        assert last["result"]["isError"]


async def test_clients_that_can_be_asked_nothing_share_one_connection_with_all() -> None:
    async with door() as found:
        answer = await found.ask("server/discover", {})
        assert answer["result"]["supportedVersions"] == ["2026-07-28"]
        assert text(await found.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}})) == "3"
        assert found.server.methods().count("initialize") == 1


async def test_whatever_clients_call_themselves_they_share_connections() -> None:
    async with door() as found:
        for number in range(20):
            own = {**META, "io.modelcontextprotocol/clientInfo": {"name": f"c{number}", "version": "1"}}
            answer = await found.ask("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}}, meta=own)
            assert text(answer) == "3"
        assert found.server.methods().count("initialize") == 1


async def test_a_connection_that_somebody_waits_for_is_not_taken_away() -> None:
    """Three kinds of clients, two connections, and a server that is slow to start."""
    kinds: list[Json] = [{"sampling": {}}, {"elicitation": {}}, {"roots": {}}]
    async with door(max_children=2) as found:
        asked = [
            found.ask(
                "tools/call",
                {"name": "add", "arguments": {"a": 1, "b": 2}},
                meta={**META, "io.modelcontextprotocol/clientCapabilities": kind},
            )
            for kind in kinds
        ]
        *first, last = await asyncio.gather(*asked)
        assert [text(one) for one in first] == ["3", "3"]
        assert "too many clients at once" in last["error"]["message"]


async def test_subscriptions_end_with_a_listener_that_leaves_while_it_is_accepted() -> None:
    async with door() as found:
        body = {"notifications": {"resourceSubscriptions": ["test://note", "test://ask"]}}
        listening = asyncio.create_task(found.ask("subscriptions/listen", body))
        while "resources/subscribe" not in found.server.methods():  # noqa: ASYNC110
            await asyncio.sleep(0)
        listening.cancel()

        def named(method: str) -> set[str]:
            return {one["params"]["uri"] for one in found.server.received if one.get("method") == method}

        while not named("resources/unsubscribe") >= named("resources/subscribe"):  # noqa: ASYNC110
            await asyncio.sleep(0)
        assert "test://note" in named("resources/unsubscribe")
        assert not any(peer.subscriptions for peer in found.server.hub.peers)


async def test_an_old_server_cannot_make_up_questions_of_the_modern_era() -> None:
    script = (
        "import json,sys\n"
        "for line in sys.stdin:\n"
        "  m=json.loads(line)\n"
        "  if 'id' not in m: continue\n"
        "  r={'initialize':{'protocolVersion':'2025-11-25','capabilities':{'tools':{}},'serverInfo':{'name':'s','version':'1'}},"
        "'tools/list':{'tools':[{'name':'add','inputSchema':{'type':'object'}}]},"
        "'tools/call':{'resultType':'input_required','requestState':'x','content':[{'type':'text','text':'hi'}]}}.get(m['method'])\n"
        "  print(json.dumps({'jsonrpc':'2.0','id':m['id'],**({'result':r} if r else {'error':{'code':-32601,'message':'no'}})}),flush=True)\n"
    )
    bridge = Bridge(program_at([sys.executable, "-c", script]), ServerOptions())
    try:
        async with asyncio.timeout(30):
            answer = await Door(SingleEra("2025-11-25"), bridge).call("add")
    finally:
        await bridge.shut()
    assert answer["result"]["resultType"] == "complete"
    assert text(answer) == "hi"


async def test_a_call_of_a_server_that_is_not_there_fails_as_a_tool_does() -> None:
    bridge = Bridge(program_at([sys.executable, "-c", "raise SystemExit(1)"]), ServerOptions())
    try:
        async with asyncio.timeout(30):
            answer = await Door(SingleEra("2025-11-25"), bridge).call("add")
    finally:
        await bridge.shut()
    assert answer["result"]["isError"]
    assert text(answer).startswith("Cannot reach")
