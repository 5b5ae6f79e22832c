"""Streamable HTTP: headers, sessions, replies in every form, and any bytes at all."""

import asyncio
import gzip

import pytest
from aiohttp import web
from tests.client.fakes import (
    ANSWER,
    LIMITS,
    NOTICE,
    OK,
    OPTIONS,
    HttpScript,
    Json,
    Reply,
    answering,
    body,
    error,
    event,
    legacy,
    modern,
    ok,
    result,
    stream_of,
    web_server,
)

from qortal_mcp.client import (
    ClientError,
    ClientLimits,
    ConnectionLost,
    HttpRefused,
    MalformedReply,
    Options,
    ServerError,
    Transcript,
    connect,
)
from qortal_mcp.client.wires.http import HttpWire
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.protocol.versions import LEGACY


@pytest.mark.parametrize("revision", LEGACY)
async def test_legacy_headers_are_those_of_the_revision(revision: str) -> None:
    server = HttpScript(legacy(ok), session="abc~!")
    options = Options(limits=LIMITS, headers=(("authorization", "Bearer t"),))
    async with web_server(server) as url, connect(url, revision=revision, options=options) as client:
        await client.request("x")
    assert server.methods() == ["initialize", "notifications/initialized", "x", "DELETE"]
    for number, (_, headers, _) in enumerate(server.requests):
        assert headers["authorization"] == "Bearer t"
        assert headers.get("mcp-session-id") == ("abc~!" if number else None)
        has_header = number > 0 and revision >= "2025-06-18"
        assert headers.get("mcp-protocol-version") == (revision if has_header else None)
        assert not {"mcp-method", "mcp-name"} & headers.keys()
    assert server.requests[0][1]["accept"] == "application/json, text/event-stream"
    assert server.requests[0][1]["content-type"] == "application/json"


NAMES = [
    pytest.param("plain", "plain", id="plain"),
    pytest.param("two words", "two words", id="inner-space"),
    pytest.param("ü", "=?base64?w7w=?=", id="not-ascii"),
    pytest.param(" x", "=?base64?IHg=?=", id="leading-space"),
    pytest.param("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?=", id="looks-encoded"),
    pytest.param("a\nb", "=?base64?YQpi?=", id="line-break"),
]


@pytest.mark.parametrize(("name", "header"), NAMES)
async def test_modern_headers_mirror_the_body(name: str, header: str) -> None:
    server = HttpScript(modern(lambda message: [result(message, {"content": []})]))
    async with web_server(server) as url, connect(url, options=OPTIONS) as client:
        await client.call_tool(name)
    assert server.methods() == ["server/discover", "tools/call"]
    _, headers, message = server.requests[1]
    assert headers["mcp-protocol-version"] == "2026-07-28"
    assert headers["mcp-method"] == "tools/call"
    assert headers["mcp-name"] == header
    assert "mcp-session-id" not in headers
    meta = message["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "qortal-mcp"


SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "x-mcp-header": "City"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "deep": {"type": "object", "properties": {"flag": {"type": "boolean", "x-mcp-header": "Flag"}}},
    },
}


async def test_annotated_arguments_travel_in_headers_and_bad_annotations_cost_the_tool() -> None:
    bad = {"type": "object", "properties": {"x": {"type": "number", "x-mcp-header": "X"}}}
    tools = [{"name": "t", "inputSchema": SCHEMA}, {"name": "bad", "inputSchema": bad}]

    def script(message: Json) -> list[bytes]:
        return [result(message, {"tools": tools} if message["method"] == "tools/list" else {"content": []})]

    server = HttpScript(modern(script))
    async with web_server(server) as url, connect(url, options=OPTIONS) as client:
        listing = await client.list_tools()
        assert [tool.name for tool in listing] == ["t"]
        assert len(listing.odd) == 1
        await client.call_tool("t", {"city": "Köln", "count": 42, "deep": {"flag": True}})
        await client.call_tool("t", {"city": None})
    first, second = server.requests[-2][1], server.requests[-1][1]
    assert first["mcp-param-city"] == "=?base64?S8O2bG4=?="
    assert (first["mcp-param-count"], first["mcp-param-flag"]) == ("42", "true")
    assert not [name for name in second if name.startswith("mcp-param")]


async def test_an_expired_session_is_renewed_once() -> None:
    sessions = iter(("first", "second"))
    server = HttpScript(legacy(ok))

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.headers.get("mcp-session-id") == "first" and b'"x"' in await request.read():
            server.requests.append(("POST", {}, {"method": "lost"}))
            return web.Response(status=404)
        if b"initialize" in await request.read() and b"initialized" not in await request.read():
            server.session = next(sessions)
        return await server(request)

    async with web_server(handle) as url, connect(url, era="legacy", options=OPTIONS) as client:
        replies = await asyncio.gather(*(client.request("x") for _ in range(3)))
    assert all(reply.read(dict[str, bool]) == OK for reply in replies)
    assert server.methods().count("initialize") == 2
    assert server.requests[-1][0] == "DELETE"
    assert server.requests[-1][1]["mcp-session-id"] == "second"


async def test_a_404_without_a_session_is_a_refusal() -> None:
    server = HttpScript(
        legacy(lambda message: [error(message, -1, "gone")]),
        status=lambda m: 404 if m["method"] == "x" else 200,
    )
    async with web_server(server) as url, connect(url, era="legacy", options=OPTIONS) as client:
        with pytest.raises(ServerError, match="gone") as failure:
            await client.request("x")
    assert failure.value.status == 404


@pytest.mark.parametrize("session", ["white space", "ümlaut", "x" * 2000])
async def test_an_invalid_session_id_is_refused(session: str) -> None:
    server = HttpScript(legacy(ok), session=session)
    async with web_server(server) as url:
        with pytest.raises(ClientError):
            async with connect(url, era="legacy", options=OPTIONS):
                pass


GOOD = [
    pytest.param(body(ANSWER, "application/json; charset=utf-8"), id="json-charset"),
    pytest.param(body(b"data: " + ANSWER + b"\n\n"), id="sse-no-event-name"),
    pytest.param(body(b"event: message\r\ndata: " + ANSWER + b"\r\n\r\n"), id="sse-crlf"),
    pytest.param(body(b"event: message\rdata: " + ANSWER + b"\r\r"), id="sse-cr"),
    pytest.param(body(b"data:" + ANSWER + b"\n\n"), id="sse-no-space"),
    pytest.param(
        body(b'data: {"jsonrpc":"2.0",\ndata: "id":ID,"result":{"ok":true}}\n\n'), id="sse-several-data"
    ),
    pytest.param(body(b":\n\n: comment\n\ndata: " + ANSWER + b"\n\n"), id="sse-comments"),
    pytest.param(body(b"id: 1\ndata:\n\ndata: " + ANSWER + b"\n\n"), id="sse-priming"),
    pytest.param(body(b"data: " + NOTICE + b"\n\ndata: " + ANSWER + b"\n\n"), id="sse-notification-first"),
    pytest.param(body(b"event: ping\ndata: {}\n\ndata: " + ANSWER + b"\n\n"), id="sse-foreign-event"),
    pytest.param(body(b"data: not json\n\ndata: " + ANSWER + b"\n\n"), id="sse-not-json-first"),
    pytest.param(body(b"\xef\xbb\xbfdata: " + ANSWER + b"\n\n"), id="sse-bom"),
]


@pytest.mark.parametrize("reply", GOOD)
async def test_every_legal_form_of_a_reply_is_understood(reply: Reply) -> None:
    async with (
        asyncio.timeout(30),
        web_server(answering(reply)) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        assert (await client.request("x")).read(dict[str, bool]) == OK


BAD = [
    pytest.param(body(ANSWER, "text/plain"), MalformedReply, id="wrong-content-type"),
    pytest.param(body(b"", "application/json"), MalformedReply, id="empty-json"),
    pytest.param(body(b"", "text/event-stream"), MalformedReply, id="empty-stream"),
    pytest.param(body(b"event: result\ndata: " + ANSWER + b"\n\n"), MalformedReply, id="foreign-event-name"),
    pytest.param(body(b"", "text/plain", 202), MalformedReply, id="202"),
    pytest.param(body(b"<html>", "text/html", 500), HttpRefused, id="500-html"),
    pytest.param(body(b"", "text/plain", 401, www_authenticate="Bearer"), HttpRefused, id="401"),
    pytest.param(body(b"", "text/plain", 429, retry_after="5"), HttpRefused, id="429"),
    pytest.param(body(b'{"error":"no"}', "application/json", 400), HttpRefused, id="400-json"),
    pytest.param(body(b"", "text/plain", 307, location="http://127.0.0.1:9/x"), HttpRefused, id="redirect"),
    pytest.param(
        body(b'{"jsonrpc":"2.0","id":null,"error":{"code":5,"message":"m"}}', "application/json", 400),
        ServerError,
        id="400-rpc",
    ),
    pytest.param(
        body(gzip.compress(ANSWER), "application/json", content_encoding="gzip"), MalformedReply, id="packed"
    ),
    pytest.param(
        body(gzip.compress(bytes(50_000_000)), "text/event-stream", content_encoding="gzip"),
        MalformedReply,
        id="bomb",
    ),
    pytest.param(body(b"x" * 200_000, "application/json"), MalformedReply, id="too-large"),
    pytest.param(body(b"data: " + b"x" * 200_000 + b"\n\n"), MalformedReply, id="event-too-large"),
    pytest.param(body(b"data: " + b"x" * 200_000), MalformedReply, id="line-too-large"),
    pytest.param(body(b"data: xxxxxxxx\n" * 20_000), MalformedReply, id="too-many-data-lines"),
]


@pytest.mark.parametrize(("reply", "kind"), BAD)
async def test_an_invalid_reply_is_an_error_and_the_client_survives(
    reply: Reply, kind: type[ClientError]
) -> None:
    async def mixed(request: web.Request, message: Json) -> web.StreamResponse:
        return await (reply if message["method"] == "x" else body(ANSWER, "application/json"))(
            request, message
        )

    async with (
        asyncio.timeout(30),
        web_server(answering(mixed)) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        with pytest.raises(kind):
            await client.request("x")
        assert (await client.request("y")).read(dict[str, bool]) == OK


@pytest.mark.parametrize("status", [200, 202, 204, 400, 404, 500])
async def test_whatever_the_status_of_initialized_the_server_is_used(status: int) -> None:
    server = HttpScript(legacy(ok))

    async def handle(request: web.Request) -> web.StreamResponse:
        if b"notifications/initialized" in await request.read():
            return web.Response(status=status)
        return await server(request)

    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        assert (await client.request("x")).read(dict[str, bool]) == OK


async def test_any_bytes_can_be_sent_and_the_reply_is_seen_as_it_is() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        data = await request.read()
        headers = {"x-method": request.method, "x-odd": request.headers.get("odd", ""), "set-cookie": "a=b"}
        return web.Response(body=data[::-1], status=418, headers=headers, content_type="text/odd")

    transcript = Transcript()
    async with asyncio.timeout(30), web_server(handle) as url:
        wire = HttpWire(url + "/a/../%2e%2e/b", observer=transcript, limits=LIMITS)
        reply = await wire.exchange(b'{"odd":\xff', (("odd", "yes"),))
        again = await wire.exchange(None, method="OPTIONS", usual_headers=False)
        await wire.close()
    assert (reply.status, reply.body) == (418, b'\xff:"ddo"{')
    assert dict(reply.headers)["x-odd"] == "yes"
    assert dict(again.headers)["x-method"] == "OPTIONS"
    sent = transcript.records("sent", "head")
    assert sent[0].http is not None
    assert sent[0].http.url.endswith("/a/../%2e%2e/b")
    assert [record.data for record in transcript.records("sent", "message")] == [b'{"odd":\xff']
    assert [record.data for record in transcript.records("received", "body")] == [b'\xff:"ddo"{']


async def test_events_are_recorded_as_they_came() -> None:
    data = b": note\nid: 7\nevent: odd\ndata: \xff\n\nretry: 5\ndata: a\ndata: b\n\n"
    transcript = Transcript()
    async with asyncio.timeout(30), web_server(answering(body(data))) as url:
        wire = HttpWire(url, observer=transcript, limits=LIMITS)
        reply = await wire.exchange(b'{"id":1,"method":"x"}')
        await wire.close()
    assert [(found.event, found.id, found.data) for found in reply.events] == [
        ("odd", "7", "\udcff"),
        ("message", None, "a\nb"),
    ]
    assert b"".join(record.data for record in transcript.records("received", "body")) == data


async def test_a_raw_exchange_has_its_own_time_limit() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        await asyncio.Event().wait()
        return web.Response()

    async with asyncio.timeout(30), web_server(handle) as url:
        wire = HttpWire(url, limits=LIMITS)
        with pytest.raises(ConnectionLost, match="within"):
            await wire.exchange(b"{}", timeout=0.1)
        await wire.close()


async def test_a_stream_that_goes_on_is_shown_as_far_as_it_came() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        stream = await stream_of(request)
        await stream.write(event(NOTICE))
        await asyncio.Event().wait()
        return stream

    async with asyncio.timeout(30), web_server(handle) as url:
        wire = HttpWire(url, limits=LIMITS)
        reply = await wire.exchange(b"{}", timeout=0.2)
        cut = await wire.exchange(b"{}", timeout=2, at_most_events=1)
        await wire.close()
    assert (len(reply.events), reply.is_whole) == (1, False)
    assert (len(cut.events), cut.is_whole) == (1, False)


async def test_raw_bodies_go_through_the_sink_like_any_reply() -> None:
    heard: list[Notification] = []
    options = Options(limits=LIMITS, on_notification=heard.append, standing_stream=False)
    server = HttpScript(lambda message: [NOTICE] if "odd" in message else legacy(ok)(message))
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        await client.wire.send_raw(b'{"odd":1}')
    assert [notice.method for notice in heard] == ["notifications/odd"]


async def test_notifications_and_log_levels_of_the_modern_era() -> None:
    server = HttpScript(modern(ok))
    options = Options(limits=LIMITS, log_level="warning")
    async with asyncio.timeout(30), web_server(server) as url, connect(url, options=options) as client:
        await client.request("x", {"_meta": {"traceparent": "00-1"}})
        await client.notify("notifications/odd", {"a": 1})
    _, _, asked = server.requests[1]
    assert asked["params"]["_meta"]["io.modelcontextprotocol/logLevel"] == "warning"
    assert asked["params"]["_meta"]["traceparent"] == "00-1"
    method, headers, told = server.requests[2]
    assert (method, headers["mcp-method"]) == ("POST", "notifications/odd")
    assert told == {"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": 1}}


async def test_a_refused_notification_is_an_error() -> None:
    server = HttpScript(legacy(ok))

    async def handle(request: web.Request) -> web.StreamResponse:
        if b"notifications/odd" in await request.read():
            return web.Response(status=400)
        return await server(request)

    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        with pytest.raises(HttpRefused):
            await client.notify("notifications/odd")


async def test_all_events_of_one_reply_together_are_bounded() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        stream = await stream_of(request)
        for _ in range(40):
            await stream.write(b"data: " + b"a" * 1_000 + b"\n\n")
        return stream

    small = ClientLimits(message_bytes=2_000)
    async with asyncio.timeout(30), web_server(handle) as url:
        wire = HttpWire(url, limits=small)
        with pytest.raises(MalformedReply, match="larger than 4000 bytes"):
            await wire.exchange(b"{}")
        reply = await wire.exchange(b"{}", at_most_bytes=100_000)
        await wire.close()
    assert len(reply.events) == 40
