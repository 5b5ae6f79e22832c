"""HTTP+SSE with its mistakes overlooked: types, names, redirects; and where its secrets go."""

import asyncio
import json

import pytest
from aiohttp import web
from tests.client.fakes import OK, legacy, ok, web_server

from qortal_mcp.client import ClientError, ClientLimits, HttpRefused, MalformedReply, Options, connect
from qortal_mcp.client.forgiving import Forgiving
from qortal_mcp.client.wires.http_sse import HttpSseWire
from qortal_mcp.repairs.wires import WIRES

LIMITS = ClientLimits(request_seconds=2, connect_seconds=0.5, handshake_seconds=0.5, goodbye_seconds=0.3)
ALL = frozenset(one.code for one in WIRES)
SECRET = (("authorization", "Bearer secret"),)


class OddServer:
    """HTTP+SSE at `/sse`, wrong in what its arguments say."""

    def __init__(
        self,
        *,
        media_type: str = "text/event-stream",
        event: str = "message",
        endpoint: str = "/messages",
        noise: bytes = b"",
        moves: bool = False,
    ) -> None:
        self._media_type, self._event, self._endpoint = media_type, event, endpoint
        self._noise, self._moves = noise, moves
        self._streams: list[web.StreamResponse] = []
        self.seen: list[tuple[str, str, str | None]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.seen.append((request.method, request.path, request.headers.get("authorization")))
        if request.method == "GET" and request.path == "/sse" and self._moves:
            return web.Response(status=307, headers={"location": "/sse/"})
        if request.method == "POST" and request.path.startswith("/sse"):
            return web.Response(status=405)
        if request.method == "POST":
            if request.path == "/messages" and self._moves:
                return web.Response(status=308, headers={"location": "/messages/"})
            for answer in legacy(ok)(json.loads(await request.text())):
                event = b"event: %b\ndata: %b\n\n" % (self._event.encode(), answer)
                await self._streams[-1].write(self._noise + event)
            return web.Response(status=202)
        stream = web.StreamResponse(headers={"content-type": self._media_type})
        await stream.prepare(request)
        await stream.write(b"event: endpoint\ndata: %b\n\n" % self._endpoint.encode())
        self._streams.append(stream)
        await asyncio.Event().wait()
        return stream


ODD = [
    pytest.param(OddServer(media_type="text/plain"), "content-type-header", id="content-type"),
    pytest.param(OddServer(event="result"), "sse-event-name", id="event-name"),
    pytest.param(OddServer(noise=b"data: ping\n\n"), "sse-data-not-json", id="not-json"),
    pytest.param(OddServer(moves=True), "redirect", id="redirect"),
]


@pytest.mark.parametrize(("server", "code"), ODD)
async def test_a_mistake_is_overlooked_here_too(server: OddServer, code: str) -> None:
    reported: list[str] = []
    options = Options(
        limits=LIMITS,
        headers=SECRET,
        forgives=frozenset({code}),
        on_forgiven=lambda found, detail: reported.append(found),
    )
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url + "/sse", era="legacy", options=options) as client,
    ):
        assert (await client.request("x")).read(dict[str, bool]) == OK
    assert set(reported) == {code}


@pytest.mark.parametrize(("server", "code"), [one for one in ODD if one.id != "not-json"])
async def test_without_its_code_it_is_not(server: OddServer, code: str) -> None:
    options = Options(limits=LIMITS, forgives=ALL - {code})
    async with asyncio.timeout(30), web_server(server) as url:
        with pytest.raises(ClientError):
            async with connect(url + "/sse", era="legacy", options=options) as client:
                await client.request("x", timeout=0.3)


async def test_secrets_stay_at_their_origin_however_forgiving_the_client_is() -> None:
    elsewhere: list[str] = []

    async def other(request: web.Request) -> web.StreamResponse:
        elsewhere.append(request.path)
        return web.Response(status=202)

    async def leads_away(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"location": away})

    async with asyncio.timeout(30), web_server(other) as away:
        named = OddServer(endpoint=away + "/messages")
        async with web_server(named) as url:
            with pytest.raises(MalformedReply, match="another origin"):
                await HttpSseWire.open(url + "/sse", headers=SECRET, limits=LIMITS, forgiving=Forgiving(ALL))
        async with web_server(leads_away) as url:
            with pytest.raises(HttpRefused, match=f"redirects to {away}, another origin"):
                await HttpSseWire.open(url + "/sse", headers=SECRET, limits=LIMITS, forgiving=Forgiving(ALL))
    assert elsewhere == []
