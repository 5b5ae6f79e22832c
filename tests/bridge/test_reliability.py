"""Every request gets exactly one answer, whatever happens behind; what may have run is never sent twice."""

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tests.bridge.behind import Noting, until
from tests.bridge.talking import QUICK, Talker, bridged, talking, text_of, way_to
from tests.client import fakes

Json = dict[str, Any]
LOST = "Connection to the server was lost before it answered."


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.mark.parametrize("kind", ["stdio", "ws", "http"])
async def test_a_crash_answers_every_open_request_once_and_the_next_call_works(log: Path, kind: str) -> None:
    async with (
        Noting(log, kind).running() as server,
        bridged(way_to(server.target)) as bridge,
        talking(bridge) as client,
    ):
        before = await client.tools()
        waiting = [await client.start("tools/call", {"name": "hang"}) for _ in range(5)]
        await until(lambda: len(server.messages("tools/call")) == 5)
        if kind == "stdio":
            os.kill(server.pids()[0], signal.SIGKILL)
        else:
            server.kill()
        results = [(await one)["result"] for one in waiting]
        assert all(one["isError"] for one in results)
        assert {text_of(one).splitlines()[0] for one in results} == {LOST}
        if kind != "stdio":
            await server.start()
        assert text_of(await client.call("note", n=1)) == "1"
        assert await client.tools() == before
        assert len(server.messages("initialize")) == 2
        assert [m["params"]["name"] for m in server.messages("tools/call")].count("hang") == 5
        assert not client.extra
        assert "notifications/tools/list_changed" not in client.methods_told()


async def test_a_call_that_is_safe_to_repeat_is_repeated_once_and_others_never(log: Path) -> None:
    async with bridged(way_to(Noting(log).target)) as bridge, talking(bridge) as client:
        server = Noting(log)
        failed = await client.call("die")
        assert text_of(failed) == f"{LOST}\nthe disk is full"
        twice = await client.call("die_looking")
        assert twice["isError"]
        names = [message["params"]["name"] for message in server.messages("tools/call")]
        assert names == ["die", "die_looking", "die_looking"]
        assert text_of(await client.call("again", n=5)) == "5"


async def test_while_the_server_is_down_its_tools_stay_and_calls_say_why(log: Path) -> None:
    async with (
        Noting(log, "ws").running() as server,
        bridged(way_to(server.target, start_timeout=1.0)) as bridge,
        talking(bridge) as client,
    ):
        before = await client.tools()
        server.kill()
        await until(lambda: not bridge.facts()[1])
        assert await client.tools() == before
        result = await client.call("note", n=1)
        assert result["isError"]
        assert text_of(result) == "Cannot reach the server: connection refused. Is the server running?"
        answer = await client.ask("resources/list")
        assert (answer["error"]["message"], answer["error"]["data"]) == (
            "cannot reach the server",
            {"reason": "connection refused"},
        )
        facts, is_ready = bridge.facts()
        assert not is_ready
        assert facts["connections"][0]["error"] == "connection refused"
        await server.start()
        assert text_of(await client.call("note", n=2)) == "2"
        assert bridge.facts()[1]


async def test_an_outage_that_is_known_does_not_make_each_request_wait_for_its_full_time(log: Path) -> None:
    async with (
        Noting(log, "ws").running() as server,
        bridged(way_to(server.target)) as bridge,
        talking(bridge) as client,
    ):
        server.kill()
        await until(lambda: not bridge.facts()[1])
        await client.call("note", n=1)
        async with asyncio.timeout(QUICK.reconnect_seconds / 2):
            assert (await client.call("note", n=2))["isError"]


PROGRAM = """
import json, os, sys
starts = sys.argv[1]
with open(starts, "a") as file: file.write("x")
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "p", "version": "1"}}
    elif message["method"] == "tools/list":
        result = {"tools": [{"name": "t", "inputSchema": {"type": "object"}}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
    if message["method"] == "tools/list":
        print("it falls over", file=sys.stderr, flush=True)
        sys.exit(3)
"""


async def test_a_program_that_falls_over_again_and_again_is_started_with_growing_pauses(
    tmp_path: Path,
) -> None:
    starts = tmp_path / "starts"
    command = [sys.executable, "-c", PROGRAM, str(starts)]
    async with bridged(way_to(command)) as bridge, talking(bridge) as client:
        await until(lambda: starts.exists() and len(starts.read_text()) >= 2)
        await asyncio.sleep(1)
        assert len(starts.read_text()) < 15
        result = await client.call("t")
        assert result["isError"]
        assert "it falls over" in text_of(result)


async def test_a_program_that_never_starts_says_so_with_its_last_lines() -> None:
    words = "import sys; print('no licence found \\x1b[31mtoken=abcdefgh1234\\x1b[0m', file=sys.stderr); sys.exit(4)"
    mask: Callable[[str], str] = lambda text: text.replace("abcdefgh1234", "…")  # noqa: E731
    async with bridged(way_to([sys.executable, "-c", words], mask=mask)) as bridge:
        client = Talker(bridge)
        answer = await client.open()
        message = answer["error"]["message"]
        assert message.startswith("cannot reach the server: the program ended with exit code 4")
        assert "no licence found \\u{001B}[31mtoken=…" in message
        assert "abcdefgh1234" not in message
        assert bridge.never_reached.is_set()
        await client.close()


async def test_the_last_words_of_a_program_are_told_to_operators_while_it_is_down(log: Path) -> None:
    async with bridged(way_to(Noting(log).target)) as bridge, talking(bridge) as client:
        bridge.connect_early()
        failed = asyncio.ensure_future(client.call("die", say=["one", "two"]))
        await until(
            lambda: any(
                one["state"] != "ready" and "stderr" in one for one in bridge.facts()[0]["connections"]
            )
        )
        told = next(one for one in bridge.facts()[0]["connections"] if "stderr" in one)
        assert told["stderr"] == "one\ntwo"
        assert text_of(await failed) == f"{LOST}\none\ntwo"


async def test_a_late_answer_is_dropped_after_the_call_has_timed_out(log: Path) -> None:
    server = Noting(log)
    async with bridged(way_to(server.target, timeout=1)) as bridge, talking(bridge) as client:
        result = await client.call("late", seconds=1.3, n=1)
        assert (
            text_of(result)
            == "The server timed out: no answer within 1 s (--timeout). Whether it ran is not known."
        )
        sent = server.messages("tools/call")[0]
        await until(lambda: server.messages("notifications/cancelled"))
        assert server.messages("notifications/cancelled")[0]["params"]["requestId"] == sent["id"]
        await asyncio.sleep(0.5)
        assert not client.extra
        assert text_of(await client.call("note", n=2)) == "2"
        # Nothing is wrong with an answer that comes too late.
        assert "mcp_bridge_repairs_total{" not in bridge.metrics.render()


async def test_progress_keeps_a_call_alive(log: Path) -> None:
    async with bridged(way_to(Noting(log).target, timeout=1.0)) as bridge, talking(bridge) as client:

        def answer(message: Json) -> Json:
            return {"result": {}}

        client.answers = answer
        result = await client.call("flood", meta={"progressToken": "p"}, messages=300, size=20_000)
        assert text_of(result) == "flooded"
        assert [one["params"]["progress"] for one in client.told] == list(range(300))
        assert {one["params"]["progressToken"] for one in client.told} == {"p"}


def _answers(message: Json) -> list[bytes]:
    if message["method"] == "tools/list":
        tools: list[Json] = [{"name": name, "inputSchema": {"type": "object"}} for name in ("note", "look")]
        tools[1]["annotations"] = {"readOnlyHint": True}
        return [fakes.result(message, {"tools": tools})]
    return [fakes.result(message, {"content": [{"type": "text", "text": "done"}]})]


class Forgetful:
    """A server that forgets its session before the nth call, and says so in some form."""

    def __init__(self, status: int, body: bytes, *, only_one: bool = False) -> None:
        self.status = status
        self.body = body
        self.only_one = only_one
        self.session = 0
        self.is_known = False
        self.deleted: list[str] = []
        self.methods: list[str] = []

    def forget(self) -> None:
        self.is_known = False

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        session = request.headers.get("mcp-session-id")
        if request.method == "GET":
            return web.Response(status=405)
        if request.method == "DELETE":
            self.deleted.append(session or "")
            return web.Response(status=200)
        message = json.loads(await request.text())
        method = message.get("method", "")
        self.methods.append(method)
        if method == "initialize":
            if self.only_one and self.session and str(self.session) not in self.deleted:
                body = fakes.error({"id": None}, -32600, "Invalid Request: Server already initialized")
                return web.Response(status=400, body=body, content_type="application/json")
            self.session += 1
            self.is_known = True
            said = fakes.result(message, fakes.INITIALIZED)
            return web.Response(
                body=said, content_type="application/json", headers={"mcp-session-id": str(self.session)}
            )
        if "id" not in message:
            return web.Response(status=202)
        if not self.is_known or session != str(self.session):
            body = self.body.replace(b"ID", str(message["id"]).encode())
            return web.Response(status=self.status, body=body, content_type="application/json")
        return web.Response(body=_answers(message)[0], content_type="application/json")


FORMS = [
    pytest.param(404, b"", id="404"),
    pytest.param(400, b"Bad Request: No valid session ID provided", id="400"),
    pytest.param(
        404,
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
        id="404-body",
    ),
    pytest.param(
        200, b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32001,"message":"Session not found"}}', id="-32001"
    ),
    pytest.param(
        200,
        b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Server not initialized"}}',
        id="not-initialized",
    ),
]


@pytest.mark.parametrize("only_one", [False, True], ids=["any", "one-session-only"])
@pytest.mark.parametrize(("status", "body"), FORMS)
async def test_a_lost_session_is_replaced_and_only_what_is_safe_is_repeated(
    status: int, body: bytes, only_one: bool
) -> None:
    server = Forgetful(status, body, only_one=only_one)
    async with (
        fakes.web_server(server) as url,
        bridged(way_to(f"{url}/mcp")) as bridge,
        talking(bridge) as client,
    ):
        server.forget()
        result = await client.call("note")
        assert result["isError"]
        assert text_of(result) == (
            "The server no longer knew this session. A new one is open. Whether it ran is not known."
        )
        assert server.methods.count("tools/call") == 1
        assert text_of(await client.call("note")) == "done"
        assert server.deleted == ["1"]
        server.forget()
        assert text_of(await client.call("look")) == "done"
        assert server.methods.count("tools/call") == 4
        server.forget()
        assert await client.tools() == ["note", "look"]
        assert server.methods.count("initialize") == 4
        assert server.deleted == ["1", "2", "3"]


async def test_a_stream_that_ends_before_the_answer_counts_as_a_lost_session() -> None:
    server = Forgetful(200, b"")
    ends: list[int] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if ends and b"tools/call" in await request.read():
            ends.pop()
            server.methods.append("ended")
            return web.Response(body=b": nothing more\n\n", content_type="text/event-stream")
        return await server(request)

    async with (
        fakes.web_server(handle) as url,
        bridged(way_to(f"{url}/mcp")) as bridge,
        talking(bridge) as client,
    ):
        ends.append(1)
        assert text_of(await client.call("note")) == LOST
        assert text_of(await client.call("note")) == "done"
        assert server.deleted == ["1"]
        ends.append(1)
        assert text_of(await client.call("look")) == "done"
        assert server.methods.count("ended") == 2
        assert server.methods.count("initialize") == 3


async def test_a_session_that_is_lost_on_a_websocket_is_replaced() -> None:
    shaken: list[int] = []
    lost: list[int] = []

    def script(message: Json) -> list[bytes]:
        if message["method"] == "initialize":
            shaken.append(1)
            return [fakes.result(message, fakes.INITIALIZED)]
        if "id" not in message:
            return []
        if message["method"] == "tools/call" and lost:
            lost.pop()
            return [fakes.error(message, -32001, "Session not found")]
        return _answers(message)

    async with (
        fakes.websocket_server(script) as url,
        bridged(way_to(url)) as bridge,
        talking(bridge) as client,
    ):
        lost.append(1)
        assert "Whether it ran is not known" in text_of(await client.call("note"))
        assert text_of(await client.call("note")) == "done"
        lost.append(1)
        assert text_of(await client.call("look")) == "done"
        assert len(shaken) == 3


async def test_a_server_that_says_it_is_initialized_already_is_used_as_it_is() -> None:
    shaken: list[int] = []
    sockets: list[web.WebSocketResponse] = []

    def script(message: Json) -> list[bytes]:
        if message["method"] == "initialize":
            shaken.append(1)
            if len(shaken) > 1:
                return [fakes.error(message, -32600, "Server already initialized")]
            return [fakes.result(message, fakes.INITIALIZED)]
        return _answers(message) if "id" in message else []

    async with (
        fakes.websocket_server(script, sockets) as url,
        bridged(way_to(url)) as bridge,
        talking(bridge) as client,
    ):
        await sockets[0].close()
        assert text_of(await client.call("note")) == "done"
        assert len(shaken) == 2


async def test_an_error_of_a_program_about_sessions_of_its_own_does_not_end_it(tmp_path: Path) -> None:
    table = {
        "tools__list": [
            '{"jsonrpc":"2.0","id":ID,"result":{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}}'
        ],
        "tools__call": [
            '{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"Session not found: browser 7"}}'
        ],
    }
    async with bridged(way_to(fakes.child(**table))) as bridge, talking(bridge) as client:
        for _ in range(2):
            assert text_of(await client.call("t")) == "Session not found: browser 7"
        assert bridge.behind[0].connection.opened == 1


@pytest.mark.parametrize(
    ("retry_after", "tool", "calls", "text"),
    [
        pytest.param("0", "look", 2, "done", id="safe"),
        pytest.param("0", "note", 1, "Rate limit exceeded", id="not-safe"),
        pytest.param("3600", "look", 1, "Rate limit exceeded", id="too-long-a-wait"),
    ],
)
async def test_a_rate_limit_is_waited_out_once_if_that_is_safe(
    retry_after: str, tool: str, calls: int, text: str
) -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method != "POST":
            return web.Response(status=405)
        message = json.loads(await request.text())
        if "id" not in message:
            return web.Response(status=202)
        if message["method"] == "initialize":
            said = fakes.result(message, fakes.INITIALIZED)
        else:
            said = _answers(message)[0]
        if message["method"] == "tools/call":
            seen.append(message["params"]["name"])
            if len(seen) == 1:
                body = b'{"jsonrpc":"2.0","error":{"code":429,"message":"Rate limit exceeded"}}'
                return web.Response(
                    status=429,
                    body=body,
                    content_type="application/json",
                    headers={"retry-after": retry_after},
                )
        return web.Response(body=said, content_type="application/json")

    async with (
        fakes.web_server(handle) as url,
        bridged(way_to(f"{url}/mcp")) as bridge,
        talking(bridge) as client,
    ):
        result = await client.call(tool)
        assert text_of(result) == text
        assert result.get("isError", False) == (text != "done")
        assert seen == [tool] * calls


async def test_what_was_subscribed_and_set_is_so_again_after_a_reconnect(log: Path) -> None:
    async with (
        Noting(log, "ws").running() as server,
        bridged(way_to(server.target)) as bridge,
        talking(bridge) as client,
    ):
        await client.ask("logging/setLevel", {"level": "warning"})
        await client.ask("resources/subscribe", {"uri": "memo:1"})
        await client.ask("resources/subscribe", {"uri": "memo:2"})
        await client.ask("resources/unsubscribe", {"uri": "memo:2"})
        server.kill()
        await server.start()
        assert text_of(await client.call("note", n=1)) == "1"
        assert [one["params"] for one in server.messages("logging/setLevel")] == [{"level": "warning"}] * 2
        uris = [one["params"]["uri"] for one in server.messages("resources/subscribe")]
        assert uris == ["memo:1", "memo:2", "memo:1"]
        await client.call("tell", method="notifications/resources/updated", params={"uri": "memo:1"})
        await until(lambda: "notifications/resources/updated" in client.methods_told())


async def test_a_list_that_breaks_off_never_makes_the_known_one_shorter() -> None:
    is_broken = False
    sockets: list[web.WebSocketResponse] = []

    def script(message: Json) -> list[bytes]:
        if message["method"] != "tools/list":
            return _answers(message)
        cursor = message["params"].get("cursor")
        if cursor and is_broken:
            return [fakes.error(message, -32603, "no more pages today")]
        tool = {"name": "second" if cursor else "first", "inputSchema": {"type": "object"}}
        return [fakes.result(message, {"tools": [tool], **({} if cursor else {"nextCursor": "2"})})]

    async with fakes.websocket_server(fakes.legacy(script), sockets) as url:
        way = way_to(url, start_timeout=0.5)
        async with bridged(way) as bridge, talking(bridge) as client:
            is_broken = True
            await sockets[0].close()
            assert text_of(await client.call("second")) == "done"
            assert len(sockets) == 2
            assert (await client.ask("tools/list", {"cursor": "2"}))["error"][
                "message"
            ] == "no more pages today"
            assert len(bridge.behind[0].upstream.tools) == 2


HOSTILE = [
    pytest.param(b"9" * 5000, id="an-integer-of-5000-digits"),
    pytest.param(b"[" * 50_000 + b"]" * 50_000, id="deep"),
    pytest.param(b"[" + b"[]," * 1_000_000 + b"[]]", id="a-million-lists"),
    pytest.param(
        b'{"content":[{"type":"text","text":"' + b"9" * 5000 + b'"}],"n":' + b"9" * 5000 + b"}",
        id="digits-inside",
    ),
    pytest.param(b'{"content":' + b"[" * 5000 + b"]" * 5000 + b"}", id="deep-inside"),
    pytest.param(b'{"tools":[' + b"{}," * 1_000_000 + b"{}]}", id="a-million-items"),
    pytest.param(b'"\\ud800"', id="half-a-character"),
    pytest.param(b"1e999999", id="no-float"),
]


@pytest.mark.parametrize("level", ["safe", "all"])
@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.parametrize("method", ["initialize", "tools/list", "tools/call", "resources/list", "odd/method"])
async def test_a_hostile_result_is_answered_and_stalls_nobody(value: bytes, method: str, level: str) -> None:
    def script(message: Json) -> list[bytes]:
        if message["method"] == method:
            return [b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (message["id"], value)]
        if message["method"] == "initialize":
            return [
                fakes.result(message, {**fakes.INITIALIZED, "capabilities": {"tools": {}, "resources": {}}})
            ]
        return _answers(message) if "id" in message else []

    longest = 0.0

    async def heartbeat() -> None:
        nonlocal longest
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.005)
            longest = max(longest, time.thread_time() - before)

    async with fakes.websocket_server(script) as url, bridged(way_to(url, level=level)) as bridge:
        client = Talker(bridge)
        beating = asyncio.get_running_loop().create_task(heartbeat())
        opened = await client.open()
        if method != "initialize" or "result" in opened:
            params = {"name": "note", "arguments": {}} if method == "tools/call" else {}
            for asked in ("tools/list", "resources/list", "odd/method", "tools/call"):
                answer = await client.ask(asked, params if asked == "tools/call" else {})
                assert ("result" in answer) != ("error" in answer)
            assert (await client.ask("ping"))["result"] == {}
        beating.cancel()
        await client.close()
    assert longest < 1.0


async def test_every_page_of_a_list_stays_known_while_the_server_is_down() -> None:
    def script(message: Json) -> list[bytes]:
        cursor = message["params"].get("cursor")
        tool = {"name": "second" if cursor else "first", "inputSchema": {"type": "object"}}
        return [fakes.result(message, {"tools": [tool], **({} if cursor else {"nextCursor": "2"})})]

    async with AsyncExitStack() as stack:
        async with fakes.websocket_server(fakes.legacy(script)) as url:
            bridge = await stack.enter_async_context(bridged(way_to(url, start_timeout=0.5)))
            client = await stack.enter_async_context(talking(bridge))
        await until(lambda: not bridge.facts()[1])
        assert await client.tools() == ["first", "second"]
        answer = await client.ask("tools/list", {"cursor": "2"})
        assert [tool["name"] for tool in answer["result"]["tools"]] == ["second"]
        assert "error" in await client.ask("tools/list", {"cursor": "3"})
