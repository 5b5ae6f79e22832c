"""A session that a server no longer knows: every form of saying so, and what the client makes of it."""

import asyncio
import json
from datetime import UTC, datetime

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st
from tests.client.fakes import INITIALIZED, LIMITS, OK, Json, result, stream_of, web_server
from tests.cost import is_linear

from qortal_mcp.client import ClientError, HttpRefused, Options, ServerError, SessionGone, connect
from qortal_mcp.client.lost_sessions import FORMS, form_of, read
from qortal_mcp.client.refusals import challenge, readable, retry_after
from qortal_mcp.client.wires.http_sse import HttpSseWire
from qortal_mcp.client.wires.media import EVENT_STREAM, JSON, is_message, kind_of
from qortal_mcp.client.wires.replies import addressed, mistake_of_notice
from qortal_mcp.client.wires.wire import Outgoing

FORGIVES = frozenset({"stale-session-status"})


def rpc(code: int, message: str, id_: object = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "error": {"code": code, "message": message}}).encode()


LOST = [
    pytest.param(404, b"", "404 to a session id", id="404"),
    pytest.param(404, b"<html>", "404 to a session id", id="404-html"),
    pytest.param(404, rpc(-32001, "Session not found"), "404 to a session id", id="404-rpc"),
    pytest.param(400, b"session not found", "400 that speaks of the session", id="400-text"),
    pytest.param(
        400,
        rpc(-32000, "Bad Request: No valid session ID provided"),
        "400 that speaks of the session",
        id="400-rpc",
    ),
    pytest.param(
        400,
        rpc(-32600, "Session not found", "server-error"),
        "400 that speaks of the session",
        id="400-foreign-id",
    ),
    pytest.param(
        400,
        rpc(-32000, "Bad Request: Server not initialized"),
        "400 that speaks of the handshake",
        id="400-not-initialized",
    ),
    pytest.param(200, rpc(-32001, "Session not found", 7), "the code -32001", id="200-code"),
    pytest.param(500, rpc(-32001, "Unknown", 7), "the code -32001", id="500-code"),
    pytest.param(200, rpc(-32600, "Invalid session", 7), "an error that says so", id="200-invalid"),
    pytest.param(
        200, rpc(-32000, "The session abc has expired", 7), "an error that says so", id="200-expired"
    ),
    pytest.param(
        200,
        rpc(-32000, "Server not initialized", 7),
        "a server without a handshake",
        id="200-not-initialized",
    ),
    pytest.param(
        200,
        rpc(-32600, "Received request before initialization was complete", 7),
        "a server without a handshake",
        id="200-before-initialization",
    ),
]


@pytest.mark.parametrize(("status", "body", "form"), LOST)
def test_a_lost_session_is_recognised(status: int, body: bytes, form: str) -> None:
    said = read(body, status, 7, had_session=True, opens=False)
    assert said is not None
    assert form_of(said) == form
    assert form in {one.name for one in FORMS}


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(400, b"Invalid Request: Server already initialized", id="text"),
        pytest.param(400, rpc(-32600, "Invalid Request: Server already initialized"), id="rpc"),
        pytest.param(200, rpc(-32603, "Already initialised", 7), id="200"),
    ],
)
def test_a_second_handshake_is_recognised(status: int, body: bytes) -> None:
    said = read(body, status, 7, had_session=False, opens=True)
    assert said is not None
    assert form_of(said) == "a second handshake"
    as_call = read(body, status, 7, had_session=True, opens=False)
    assert as_call is not None
    assert form_of(as_call) is None


KEPT = [
    pytest.param(404, b"", False, id="404-without-a-session"),
    pytest.param(404, rpc(-32000, "No such file", 7), True, id="404-with-the-answer"),
    pytest.param(400, b"bad argument", True, id="400-about-something-else"),
    pytest.param(400, rpc(-32602, "the field session is missing", 7), True, id="400-with-the-answer"),
    pytest.param(200, rpc(-32602, "Session not found: x", 7), True, id="a-tool-with-sessions"),
    pytest.param(200, rpc(-32001, "Request timed out", 7), True, id="a-time-out"),
    pytest.param(200, rpc(-32000, "Database not initialized", 7), True, id="a-database"),
    pytest.param(401, rpc(-32001, "Session expired"), True, id="401"),
    pytest.param(403, b"no session", True, id="403"),
    pytest.param(429, b"too many requests in this session", True, id="429"),
    pytest.param(500, b"session not found", True, id="500"),
]


@pytest.mark.parametrize(("status", "body", "had_session"), KEPT)
def test_other_refusals_are_not_about_the_session(status: int, body: bytes, had_session: bool) -> None:
    said = read(body, status, 7, had_session=had_session, opens=False)
    assert said is not None
    assert form_of(said) is None


@pytest.mark.parametrize(
    "body", [result({"id": 7}, {"text": "session not found"}), b"", b"oops", b"[]", b"\xff"]
)
def test_what_refuses_nothing_is_no_refusal(body: bytes) -> None:
    assert read(body, 200, 7, had_session=True, opens=False) is None


class Forgetful:
    """Forgets its first session at the request `x`, and says so in a given form."""

    def __init__(self, status: int, body: bytes, *, sse: bool = False) -> None:
        self._status, self._body, self._sse = status, body, sse
        self.log: list[tuple[str, str | None]] = []
        self._opened = 0

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        message: Json = json.loads(await request.text() or "{}")
        method = message.get("method", request.method)
        session = request.headers.get("mcp-session-id")
        self.log.append((method, session))
        if method == "initialize":
            self._opened += 1
            version = message["params"]["protocolVersion"]
            body = result(message, {**INITIALIZED, "protocolVersion": version})
            headers = {"mcp-session-id": f"s{self._opened}"}
            return web.Response(body=body, content_type="application/json", headers=headers)
        if "id" not in message:
            return web.Response(status=202 if request.method == "POST" else 200)
        if session != "s1":
            return web.Response(body=result(message, OK), content_type="application/json")
        said = self._body.replace(b": 7", b": %d" % message["id"])
        if self._sse:
            stream = await stream_of(request)
            await stream.write(b"id: 1\ndata: " + said + b"\n\n")
            return stream
        kind = "application/json" if said[:1] == b"{" else "text/plain"
        return web.Response(body=said, status=self._status, content_type=kind)


@pytest.mark.parametrize(("status", "body", "form"), LOST)
async def test_the_old_session_is_ended_and_the_request_repeated_in_a_new_one(
    status: int, body: bytes, form: str
) -> None:
    server = Forgetful(status, body)
    reported: list[tuple[str, str]] = []
    options = Options(
        limits=LIMITS, forgives=FORGIVES, on_forgiven=lambda code, detail: reported.append((code, detail))
    )
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        assert (await client.request("x")).read(dict[str, bool]) == OK
    assert server.log == [
        ("initialize", None),
        ("notifications/initialized", "s1"),
        ("x", "s1"),
        ("DELETE", "s1"),
        ("initialize", None),
        ("notifications/initialized", "s2"),
        ("x", "s2"),
        ("DELETE", "s2"),
    ]
    assert reported == ([] if form == FORMS[0].name else [("stale-session-status", form)])


async def test_a_session_lost_in_a_stream_is_not_resumed() -> None:
    server = Forgetful(200, rpc(-32001, "Session not found", 7), sse=True)
    options = Options(limits=LIMITS, forgives=FORGIVES)
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        assert (await client.request("x")).read(dict[str, bool]) == OK
    assert "GET" not in [method for method, _ in server.log]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        pytest.param(400, b"session not found", HttpRefused, id="400"),
        pytest.param(200, rpc(-32001, "Session not found", 7), ServerError, id="200"),
    ],
)
async def test_without_forgiveness_only_404_means_a_lost_session(
    status: int, body: bytes, error: type[ClientError]
) -> None:
    server = Forgetful(status, body)
    async with (
        asyncio.timeout(30),
        web_server(server) as url,
        connect(url, era="legacy", options=Options(limits=LIMITS)) as client,
    ):
        with pytest.raises(error) as failure:
            await client.request("x")
    assert not isinstance(failure.value, SessionGone)
    assert [method for method, _ in server.log].count("initialize") == 1


async def test_a_server_that_knows_one_client_only_is_recognised() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        body = rpc(-32600, "Invalid Request: Server already initialized")
        return web.Response(status=400, body=body, content_type="application/json")

    async with asyncio.timeout(30), web_server(handle) as url:
        with pytest.raises(SessionGone, match="already initialized") as failure:
            async with connect(url, era="legacy", options=Options(limits=LIMITS, forgives=FORGIVES)):
                pass
    assert failure.value.session_id == ""


@pytest.mark.parametrize(("status", "body"), [(404, b"Could not find session"), (400, b"Invalid session ID")])
async def test_the_session_of_http_sse_is_lost_in_the_same_forms(status: int, body: bytes) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        if request.method == "POST":
            return web.Response(status=status, body=body)
        stream = await stream_of(request)
        await stream.write(b"event: endpoint\ndata: /messages?session_id=1\n\n")
        await asyncio.Event().wait()
        return stream

    from qortal_mcp.client.forgiving import Forgiving

    forgiving = Forgiving(FORGIVES | {"notification-refused"})
    async with asyncio.timeout(30), web_server(handle) as url:
        wire = await HttpSseWire.open(url, limits=LIMITS, forgiving=forgiving)
        exact = await HttpSseWire.open(url, limits=LIMITS)
        try:
            with pytest.raises(SessionGone):
                await wire.send(Outgoing(b"{}", id=1))
            await wire.send(Outgoing(b"{}"))
            for message in (Outgoing(b"{}", id=1), Outgoing(b"{}")):
                with pytest.raises(HttpRefused) as failure:
                    await exact.send(message)
                assert not isinstance(failure.value, SessionGone)
        finally:
            await wire.close()
            await exact.close()


READABLE = [
    pytest.param(b"<html>Internal Server Error</html>", "Internal Server Error", id="html"),
    pytest.param(
        b"<!DOCTYPE html><html><head><title>502</title><style>x{}</style></head><body><h1>Bad\n Gateway</h1>"
        b"<script>alert(1)</script> nginx &amp; co</body></html>",
        "Bad Gateway nginx & co",
        id="page",
    ),
    pytest.param(b"<html><head><title>Not here</title></head><body></body></html>", "Not here", id="title"),
    pytest.param(b'{"error":"forbidden: x"}', "forbidden: x", id="error-text"),
    pytest.param(b'{"error":{"code":1,"message":"m"}}', "m", id="error-object"),
    pytest.param(b'{"detail":"Not Found"}', "Not Found", id="detail"),
    pytest.param(b'{"a":[1]}', '{"a":[1]}', id="other-json"),
    pytest.param(b'{"a":', '{"a":', id="half-json"),
    pytest.param(b" oops\r\n\x1b[31m", "oops \\u{001B}[31m", id="text"),
    pytest.param(b"\xff", "\ufffd", id="not-utf8"),
    pytest.param(b"", "", id="empty"),
    pytest.param(b"x" * 300, "x" * 200 + "… [100 more characters]", id="long"),
]


@pytest.mark.parametrize(("body", "text"), READABLE)
def test_a_refusal_is_one_readable_line(body: bytes, text: str) -> None:
    assert readable(body) == text


@pytest.mark.parametrize("piece", [b"<script ", b"<head>", b"<", b"[", b'{"error":'], ids=bytes.decode)
def test_a_hostile_page_takes_linear_time(piece: bytes) -> None:
    assert is_linear(piece.__mul__, readable, 4_000_000 // len(piece))


def test_a_number_beyond_every_float_is_shown_as_it_is() -> None:
    assert readable(b'{"error":1e999}') == '{"error":1e999}'


@given(st.one_of(st.binary(), st.text().map(str.encode)), st.sampled_from([None, 200, 400, 404, 500]))
def test_any_bytes_are_judged_without_an_error(body: bytes, status: int | None) -> None:
    assert len(readable(body)) <= 4096
    said = read(body, status, 7, had_session=True, opens=False)
    assert (said is None) or form_of(said) in {None, *(form.name for form in FORMS)}
    assert kind_of(body) in (None, "", JSON, EVENT_STREAM)
    assert is_message(body) in (True, False)
    assert addressed(body, 7) is None
    assert mistake_of_notice(500, body) == "notification-refused"


def test_a_challenge_is_shown_with_all_its_parts() -> None:
    assert challenge((("X", "y"), ("WWW-Authenticate", " Bearer a=1 "), ("www-authenticate", "Basic"))) == (
        "Bearer a=1, Basic"
    )
    assert challenge((("content-type", "x"),)) == ""
    assert challenge((("www-authenticate", "Bearer \x1b"),)) == "Bearer \\u{001B}"


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("1", 1.0),
        (" 30 ", 30.0),
        ("Wed, 21 Oct 2026 07:28:10 GMT", 10.0),
        ("Wed, 21 Oct 2026 07:28:10", 10.0),
        ("Wed, 21 Oct 2026 07:00:00 GMT", 0.0),
        ("soon", None),
        ("-1", None),
        ("1.5", None),
        ("", None),
        ("99999999999", None),
    ],
)
def test_the_time_to_wait_is_a_number_or_a_date(value: str, seconds: float | None) -> None:
    now = datetime(2026, 10, 21, 7, 28, tzinfo=UTC)
    assert retry_after((("Retry-After", value),), now) == seconds
    assert retry_after(()) is None
