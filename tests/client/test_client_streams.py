"""Event streams over HTTP: endless ones, broken ones, and the standing one of a session."""

import asyncio
import json
from collections.abc import Callable

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
    answering,
    event,
    legacy,
    modern,
    ok,
    result,
    stream_of,
    web_server,
)

from qortal_mcp.client import ClientLimits, ConnectionLost, Options, RequestTimeout, connect
from qortal_mcp.protocol.jsonrpc import Notification


@pytest.mark.parametrize(
    "data",
    [b":\n\n", b"data: " + NOTICE + b"\n\n", b"id: 1\nretry: 0\n\n"],
    ids=["comments", "notices", "ids"],
)
async def test_a_stream_without_end_ends_with_the_time_limit(data: bytes) -> None:
    gone = asyncio.Event()

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        stream = await stream_of(request)
        try:
            while True:
                await stream.write(data * 100)
        finally:
            gone.set()

    async with (
        asyncio.timeout(30),
        web_server(answering(reply)) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        with pytest.raises(RequestTimeout):
            await client.request("x", timeout=0.3)
        await gone.wait()


async def test_a_stream_that_is_not_ended_after_its_answer_keeps_nobody_waiting() -> None:
    gone = asyncio.Event()

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        stream = await stream_of(request)
        await stream.write(event(result(message, OK)))
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        return stream

    async with (
        asyncio.timeout(30),
        web_server(answering(reply)) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        answer = await client.request("x", timeout=1)
        assert answer.read(dict[str, bool]) == OK
        await gone.wait()


@pytest.mark.parametrize("opening", [legacy, modern])
async def test_cancelling_closes_the_stream_and_says_so_where_the_era_wants_it(
    opening: Callable[..., object],
) -> None:
    began, gone = asyncio.Event(), asyncio.Event()
    told: list[Json] = []

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        stream = await stream_of(request)
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            gone.set()
        return stream

    handle = answering(reply, opening)

    async def noting(request: web.Request) -> web.StreamResponse:
        message = json.loads(await request.text() or "{}")
        if "id" not in message:
            told.append(message)
        return await handle(request)

    async with asyncio.timeout(30), web_server(noting) as url, connect(url, options=OPTIONS) as client:
        call = asyncio.create_task(client.request("x"))
        await began.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await gone.wait()
    cancelled = [message for message in told if message.get("method") == "notifications/cancelled"]
    assert len(cancelled) == (1 if opening is legacy else 0)


class Resumable:
    """A POST stream that breaks off after an event id; the rest comes by GET."""

    def __init__(self, pieces: list[bytes], retry: bytes = b"retry: 1\n") -> None:
        self.pieces = pieces
        self.retry = retry
        self.resumed: list[str | None] = []
        self.id: object = None

    async def __call__(self, request: web.Request, message: Json) -> web.StreamResponse:
        if request.method == "POST":
            self.id = message["id"]
        else:
            self.resumed.append(request.headers.get("last-event-id"))
        number = len(self.resumed)
        stream = await stream_of(request)
        piece = self.pieces[number].replace(b"ID", str(self.id).encode())
        await stream.write(b"id: e%d\n%bdata: \n\n" % (number, self.retry) + piece)
        if request.transport is not None and number % 2:
            request.transport.abort()
        return stream


async def test_a_stream_that_breaks_is_resumed_where_it_stopped() -> None:
    server = Resumable([b"", event(NOTICE), b"", event(ANSWER)])
    heard: list[Notification] = []
    options = Options(limits=LIMITS, on_notification=heard.append, standing_stream=False)
    async with (
        asyncio.timeout(30),
        web_server(answering(server)) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        assert (await client.request("x")).read(dict[str, bool]) == OK
    assert server.resumed == ["e0", "e1", "e2"]
    assert [notice.method for notice in heard] == ["notifications/odd"]


async def test_a_stream_without_progress_is_given_up() -> None:
    server = Resumable([b""] * 100)
    options = Options(limits=ClientLimits(resumptions=3, goodbye_seconds=0.2))
    async with (
        asyncio.timeout(30),
        web_server(answering(server)) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        with pytest.raises(ConnectionLost, match="too often"):
            await client.request("x")
    assert len(server.resumed) == 3


async def test_a_stream_that_breaks_without_an_id_loses_its_request() -> None:
    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        stream = await stream_of(request)
        await stream.write(event(NOTICE))
        assert request.transport is not None
        request.transport.abort()
        return stream

    async with (
        asyncio.timeout(30),
        web_server(answering(reply)) as url,
        connect(url, era="legacy", options=OPTIONS) as client,
    ):
        with pytest.raises(ConnectionLost):
            await client.request("x")


async def test_the_standing_stream_is_kept_and_resumed() -> None:
    server = HttpScript(legacy(ok), session="s")
    asked: list[str | None] = []
    heard: asyncio.Queue[Notification] = asyncio.Queue()

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method != "GET":
            return await server(request)
        assert request.headers["mcp-session-id"] == "s"
        asked.append(request.headers.get("last-event-id"))
        stream = await stream_of(request)
        await stream.write(b"retry: 1\n" + event(NOTICE, f"n{len(asked)}"))
        if len(asked) > 1:
            await asyncio.Event().wait()
        return stream

    options = Options(limits=LIMITS, on_notification=heard.put_nowait)
    async with asyncio.timeout(30), web_server(handle) as url, connect(url, era="legacy", options=options):
        await heard.get()
        await heard.get()
    assert asked == [None, "n1"]


@pytest.mark.parametrize("status", [404, 405, 500, 200])
async def test_a_server_without_a_standing_stream_can_still_be_used(status: int) -> None:
    server = HttpScript(legacy(ok))
    asked = asyncio.Event()

    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            asked.set()
            return web.Response(status=status, text="<html>")
        return await server(request)

    options = Options(limits=LIMITS, standing_stream=True)
    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        await asked.wait()
        assert (await client.request("x")).read(dict[str, bool]) == OK


async def test_a_standing_stream_that_closes_at_once_does_not_keep_the_client_busy() -> None:
    asked = 0
    server = HttpScript(legacy(ok))

    async def handle(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        if request.method == "GET":
            asked += 1
            return web.Response(body=b"id: 1\nretry: 0\ndata:\n\n", content_type="text/event-stream")
        return await server(request)

    limits = ClientLimits(shortest_resume_seconds=10, goodbye_seconds=0.3)
    options = Options(limits=limits, standing_stream=True)
    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        for _ in range(20):
            await client.request("x")
    assert asked == 1
