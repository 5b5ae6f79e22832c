"""A client with a lenient reading: what it puts right arrives as a reply, and what it drops is reported."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from tests.client.fakes import (
    INITIALIZED,
    HttpScript,
    Json,
    answering,
    body,
    child,
    error,
    event,
    legacy,
    ok,
    result,
    stream_of,
    wait_until,
    web_server,
    websocket_server,
)

from qortal_mcp.client import (
    Client,
    ClientLimits,
    HttpRefused,
    MalformedReply,
    Options,
    RequestTimeout,
    ServerError,
    SessionGone,
    Transcript,
    connect,
)
from qortal_mcp.client.wires.http_sse import HttpSseWire
from qortal_mcp.client.wires.stdio import StdioWire
from qortal_mcp.client.wires.websocket import WebSocketWire
from qortal_mcp.client.wires.wire import NoSink, Outgoing
from qortal_mcp.repairs.chosen import Repairs

LIMITS = ClientLimits(
    request_seconds=2, probe_seconds=0.5, goodbye_seconds=0.3, linger_seconds=0.1, exit_seconds=0.3
)
QUICK = ClientLimits(request_seconds=0.3, probe_seconds=0.3, goodbye_seconds=0.3, linger_seconds=0.1)
OK = '{"jsonrpc":"2.0","id":ID,"result":{"ok":true}}'


def reading(level: str = "safe", dropped: list[str] | None = None, **others: Any) -> Options:
    repairs = Repairs(level)

    def note(changes: tuple[Any, ...]) -> None:
        if dropped is not None:
            dropped.extend(change.code for change in changes)

    settings: dict[str, Any] = {"limits": LIMITS, **others}
    return Options(reading=repairs.messages, splitter=repairs.lines, on_dropped=note, **settings)


def codes(reply: Any) -> list[str]:
    return [change.code for change in reply.changes]


@asynccontextmanager
async def answered(text: str, options: Options) -> AsyncIterator[Client]:
    """A client of a WebSocket whose every request gets this text, where ID stands for its id."""

    def script(message: Json) -> list[bytes]:
        return [part.replace("ID", str(message["id"])).encode("latin-1") for part in text.split("|")]

    async with (
        asyncio.timeout(30),
        websocket_server(legacy(script)) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        yield client


REPLIES = [
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":{"a":1.50}}', b'{"a":1.50}', [], id="right"),
    pytest.param('{"id":ID,"result":{"a":1.50}}', b'{"a":1.50}', ["rpc-version-missing"], id="version"),
    pytest.param('[{"jsonrpc":"2.0","id":ID,"result":{}}]', b"{}", ["rpc-batch-reply"], id="batch"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":[1]}', b"[1]", [], id="array"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":null}', b"null", [], id="null"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":"a"}', b'"a"', [], id="string"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":"\xff"}', '"\ufffd"'.encode(), ["invalid-utf8"], id="utf8"),
    pytest.param('|oops|{"jsonrpc":"2.0","id":ID,"result":{}}', b"{}", [], id="B13"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected", "found"), REPLIES)
async def test_a_reply_arrives_with_what_was_put_right(text: str, expected: bytes, found: list[str]) -> None:
    async with answered(text, reading()) as client:
        reply = await client.request("x")
    assert bytes(reply.result) == expected
    assert codes(reply) == found


async def test_an_error_arrives_as_json_with_what_was_put_right() -> None:
    async with answered('{"jsonrpc":"2.0","id":ID,"error":{"code":"A","message":"no"}}', reading()) as client:
        with pytest.raises(ServerError, match="no") as failure:
            await client.request("x")
    assert json.loads(bytes(failure.value.raw or b"")) == {
        "code": -32603,
        "message": "no",
        "data": {"code": "A"},
    }
    assert codes(failure.value) == ["rpc-error-malformed"]


async def test_the_error_object_is_kept_as_it_was_written() -> None:
    text = '{"jsonrpc":"2.0","id":ID,"error":{"code":-1,"message":"no","more":1.50}}'
    async with answered(text, Options(limits=LIMITS)) as client:
        with pytest.raises(ServerError) as failure:
            await client.request("x")
    assert bytes(failure.value.raw or b"") == b'{"code":-1,"message":"no","more":1.50}'
    assert failure.value.changes == ()


async def test_what_is_dropped_is_reported_and_explains_the_timeout() -> None:
    dropped: list[str] = []
    text = '{"jsonrpc":"2.0","id":"ID","result":{}}'
    async with answered(text, reading("safe", dropped, limits=QUICK)) as client:
        with pytest.raises(RequestTimeout) as failure:
            await client.request("x")
    assert dropped == ["rpc-id-type-changed"]
    assert len(failure.value.evidence) == 1


async def test_an_id_of_another_type_is_restored_at_all() -> None:
    async with answered('{"jsonrpc":"2.0","id":"ID","result":{}}', reading("all")) as client:
        assert codes(await client.request("x")) == ["rpc-id-type-changed"]


async def test_a_second_reply_is_dropped_even_if_both_come_at_once() -> None:
    dropped: list[str] = []
    async with answered(f"{OK}{OK}|{OK}", reading("all", dropped)) as client:
        assert codes(await client.request("x")) == ["message-joined"]
        assert codes(await client.request("x")) == ["message-joined"]
    assert set(dropped) == {"rpc-duplicate-reply"}
    assert len(dropped) >= 3


async def test_a_reply_that_is_too_deep_fails_its_request_at_once() -> None:
    text = '{"jsonrpc":"2.0","id":ID,"result":' + "[" * 3000 + "]" * 3000 + "}"
    async with answered(text, reading()) as client:
        with pytest.raises(MalformedReply, match="deep"):
            await client.request("x")


async def test_what_is_put_right_in_a_notification_is_reported() -> None:
    dropped: list[str] = []
    heard: list[Any] = []
    options = reading("safe", dropped, on_notification=heard.append)
    async with answered('{"method":"a","params":null}|' + OK, options) as client:
        await client.request("x")
    assert [(notice.method, notice.params) for notice in heard] == [("a", None)]
    assert dropped == ["message-version-missing", "params-null"]


async def test_a_callback_that_fails_does_not_cost_the_connection() -> None:
    def fail(changes: tuple[Any, ...]) -> None:
        raise ValueError

    options = Options(reading=Repairs().messages, on_dropped=fail, limits=LIMITS)
    async with answered("oops|" + OK, options) as client:
        assert bytes((await client.request("x")).result) == b'{"ok":true}'


PRINTED = [
    pytest.param([OK], [], [], id="right"),
    pytest.param(["Server started", OK], [], ["stdout-pollution"], id="banner"),
    pytest.param(["", OK], [], ["blank-line"], id="blank"),
    pytest.param(['{"level":"info"}', OK], [], ["stdout-pollution"], id="json-log"),
    pytest.param(["{", '"jsonrpc":"2.0",', '"id":ID,"result":{"ok":true}', "}"], ["message-multi-line"], [], id="pretty"),
    pytest.param(["Content-Length: 45", "", OK], ["lsp-framing"], ["blank-line"], id="content-length"),
    pytest.param(["\xef\xbb\xbf" + OK], ["bom"], [], id="bom"),
    pytest.param([OK[:-1] + ',"x":1}'], ["rpc-extra-member"], [], id="extra-member"),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "found", "skipped"), PRINTED)
async def test_the_output_of_a_child_is_understood(
    lines: list[str], found: list[str], skipped: list[str]
) -> None:
    dropped: list[str] = []
    transcript = Transcript()
    options = reading("safe", dropped, observer=transcript)
    async with asyncio.timeout(30), connect(child(x=lines), era="legacy", options=options) as client:
        mark = transcript.count
        reply = await client.request("x")
        received = b"".join(record.data for record in transcript.records("received", since=mark))
    assert bytes(reply.result) == b'{"ok":true}'
    assert codes(reply) == found
    assert dropped == skipped
    printed = "".join(f"{line}\n" for line in lines).encode("latin-1").replace(b"ID", b"2")
    assert printed.startswith(received), "the transcript has every byte"


async def test_a_child_is_read_strictly_without_a_splitter() -> None:
    lines = ["{", '"jsonrpc":"2.0","id":ID,"result":{}', "}"]
    options = Options(reading=Repairs().messages, limits=QUICK)
    async with asyncio.timeout(30), connect(child(x=lines), era="legacy", options=options) as client:
        with pytest.raises(RequestTimeout):
            await client.request("x")


async def test_an_error_without_an_id_belongs_to_the_http_request_it_answers() -> None:
    data = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}'
    reply = body(data, "application/json", 400)
    async with (
        asyncio.timeout(30),
        web_server(answering(reply)) as url,
        connect(url, era="legacy", options=reading()) as client,
    ):
        with pytest.raises(ServerError, match="Session not found") as failure:
            await client.request("x")
    assert failure.value.status == 400
    assert codes(failure.value) == ["rpc-error-id-null"]


async def test_an_http_refusal_that_is_dropped_is_still_a_refusal() -> None:
    data = b'{"jsonrpc":"2.0","id":"server-error","error":{"code":-32600,"message":"no session"}}'
    dropped: list[str] = []
    async with (
        asyncio.timeout(30),
        web_server(answering(body(data, "application/json", 400))) as url,
        connect(url, era="legacy", options=reading("safe", dropped)) as client,
    ):
        with pytest.raises(HttpRefused) as failure:
            await client.request("x")
    assert failure.value.evidence == (data,)
    assert dropped == ["rpc-id-wrong"]


async def test_a_notification_that_is_answered_over_http_does_no_harm() -> None:
    calls = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        message = json.loads(await request.text() or "{}")
        if message.get("method") == "initialize":
            return web.Response(body=result(message, INITIALIZED), content_type="application/json")
        if message.get("method") == "slow":
            await calls.wait()
            return web.Response(body=result(message, {"ok": True}), content_type="application/json")
        return web.Response(body=error({}, -32600), content_type="application/json")

    dropped: list[str] = []
    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=reading("all", dropped)) as client,
    ):
        waiting = asyncio.create_task(client.request("slow"))
        await asyncio.sleep(0)
        await client.notify("notifications/acme")
        calls.set()
        assert bytes((await waiting).result) == b'{"ok": true}'
    assert set(dropped) == {"rpc-error-id-null"}


async def test_a_lost_session_is_reported_to_who_does_not_want_it_renewed() -> None:
    def status(message: Json) -> int:
        return 404 if message.get("method") == "x" else 200

    server = HttpScript(legacy(ok), session="s", status=status)
    options = reading(renews_sessions=False)
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        with pytest.raises(SessionGone) as failure:
            await client.request("x")
    assert failure.value.session_id == "s"
    assert server.methods().count("initialize") == 1


class SlowSink(NoSink):
    """Takes so many messages, then none until it is emptied."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0
        self.asked = asyncio.Event()
        self._emptied = asyncio.Event()

    def arrived(self, *_: Any, **__: Any) -> bool:
        self.taken += 1
        return False

    @property
    def is_full(self) -> bool:  # type: ignore[override]
        return self.taken >= self.most and not self._emptied.is_set()

    async def room(self) -> None:
        self.asked.set()
        await self._emptied.wait()

    def empty(self) -> None:
        self._emptied.set()


NOTICE = b'{"jsonrpc":"2.0","method":"a","params":{"x":"' + b"y" * 1000 + b'"}}'
FLOOD = 2000


async def check_that_it_waits(sink: SlowSink, at_most: int) -> None:
    await sink.asked.wait()
    taken = sink.taken
    await asyncio.sleep(0.05)
    assert sink.taken == taken <= at_most
    sink.empty()
    await wait_until(lambda: sink.taken >= FLOOD)
    assert sink.taken == FLOOD


async def test_a_child_is_not_read_while_there_is_no_room() -> None:
    program = f"import sys\nfor _ in range({FLOOD}): sys.stdout.write({NOTICE.decode()!r} + chr(10))"
    sink = SlowSink(10)
    async with asyncio.timeout(30):
        wire = await StdioWire.open([sys.executable, "-c", program], sink, limits=LIMITS)
        await check_that_it_waits(sink, 10 + 64 * 1024 // len(NOTICE))
        await wire.close()


async def test_a_websocket_is_not_read_while_there_is_no_room() -> None:
    sink = SlowSink(10)
    async with asyncio.timeout(30), websocket_server(lambda message: [NOTICE] * FLOOD) as url:
        wire = await WebSocketWire.open(url, sink, limits=LIMITS)
        await wire.send(Outgoing(b"{}"))
        await check_that_it_waits(sink, 10)
        await wire.close()


async def test_a_stream_is_not_read_while_there_is_no_room() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        stream = await stream_of(request)
        await stream.write(b"event: endpoint\ndata: /post\n\n")
        for _ in range(FLOOD):
            await stream.write(event(NOTICE))
        return stream

    sink = SlowSink(10)
    async with asyncio.timeout(30), web_server(handle) as url:
        wire = await HttpSseWire.open(url, sink, limits=LIMITS)
        await check_that_it_waits(sink, FLOOD // 2)
        await wire.close()


async def test_a_client_stops_reading_while_its_owner_has_no_room() -> None:
    asked, emptied = asyncio.Event(), asyncio.Event()
    heard: list[Any] = []

    async def room() -> None:
        asked.set()
        await emptied.wait()

    options = reading(
        on_notification=heard.append, is_full=lambda: len(heard) >= 5 and not emptied.is_set(), room=room
    )
    async with answered("|".join([NOTICE.decode()] * 50 + [OK]), options) as client:
        waiting = asyncio.create_task(client.request("x"))
        await asked.wait()
        assert (len(heard), waiting.done()) == (5, False)
        emptied.set()
        assert bytes((await waiting).result) == b'{"ok":true}'
    assert len(heard) == 50
