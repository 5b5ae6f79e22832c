"""Broken HTTP servers, each with its mistake overlooked and without: the payload, or an error that says what is wrong."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, get_args

import pytest
from aiohttp import web
from tests.audit.cases import BY_NAME, Case
from tests.audit.stub import HttpAsk, HttpReply, Server
from tests.audit.wires import http_server, old_sse_server
from tests.client.fakes import HttpScript, Json, answering, body, legacy, ok, result, wait_until, web_server

from qortal_mcp.audit.checks import BY_CODE as CHECKS
from qortal_mcp.audit.judging.check import MUST
from qortal_mcp.client import (
    ClientError,
    ClientLimits,
    HttpRefused,
    MalformedReply,
    Options,
    ServerError,
    SessionGone,
    connect,
)
from qortal_mcp.client.eras import Era
from qortal_mcp.client.forgiving import Code
from qortal_mcp.repairs.wires import WIRES

LIMITS = ClientLimits(
    request_seconds=2,
    probe_seconds=0.3,
    connect_seconds=0.3,
    linger_seconds=0.1,
    goodbye_seconds=0.3,
    resume_seconds=0.01,
)
ALL = frozenset(one.code for one in WIRES)
# Noticed in the background, after the answer.
_LATER = {"get-status", "get-hangs", "sse-not-closed"}


def test_every_code_of_a_wire_is_in_the_table_of_repairs() -> None:
    assert set(get_args(Code)) == ALL
    assert all(one.apply is None for one in WIRES)


def test_what_breaks_a_must_is_overlooked_at_the_safe_level() -> None:
    levels = {one.code: "safe" if CHECKS[one.code].severity == MUST else "all" for one in WIRES}
    # Makes something up; is demanded of a bridge; breaks a MUST in some of its forms.
    departs = {"session-id-not-issued": "all", "rate-limit-status": "safe", "rpc-error-status": "safe"}
    assert {one.code: one.level for one in WIRES} == levels | departs


@dataclass(frozen=True)
class Row:
    """What comes of a notification, a list and a call of `t`: its text, or an error."""

    name: str
    code: Code | None
    forgiving: str | type[ClientError] = "fine"
    says: str = ""
    strict: str | type[ClientError] = "fine"
    era: Era = "legacy"
    revision: str | None = "2025-11-25"
    # Without a report: the mistake cannot be overlooked.
    is_reported: bool = field(default=True)


_STREAM = "the stream of events ended without an answer"
ROWS = [
    Row("http-notif-200-empty", "notification-status"),
    Row("http-notif-200-json", "notification-status"),
    Row("http-notif-200-rpc", "notification-answered"),
    Row("http-notif-204", "notification-status"),
    Row("http-notif-404", "notification-refused", strict=HttpRefused),
    Row("http-notif-400-rpc", "notification-refused", strict=HttpRefused),
    Row("http-notif-500", "notification-refused", strict=HttpRefused),
    Row("http-get-404", "get-status"),
    Row("http-get-200-html", "get-status"),
    Row("http-get-200-json", "get-status"),
    Row("http-get-500", "get-status"),
    Row("http-get-401", "get-status"),
    Row("http-get-hang", "get-hangs"),
    Row("http-ct-missing", "content-type-header", strict=MalformedReply),
    Row("http-ct-text", "content-type-header", strict=MalformedReply),
    Row("http-sse-noend", "sse-not-closed"),
    Row("http-sse-empty", "sse-no-reply", MalformedReply, _STREAM, strict=MalformedReply),
    Row("http-sse-eventname", "sse-event-name", strict=MalformedReply),
    Row("http-sse-priming", "sse-empty-data-event", revision="2025-06-18"),
    Row("http-sse-not-json", "sse-data-not-json"),
    Row("http-err-400", "rpc-error-status", ServerError, r"down \(-32000\)", strict=ServerError),
    Row("http-err-404", "rpc-error-status", ServerError, r"down \(-32000\)", strict=ServerError),
    Row("http-err-500", "rpc-error-status", ServerError, r"down \(-32000\)", strict=ServerError),
    Row("http-err-500-html", "rpc-error-status", HttpRefused, "500: Internal Server Error", HttpRefused),
    Row("http-call-202", "no-reply", MalformedReply, "HTTP status 202 and no body", MalformedReply),
    Row("http-call-200-empty", "no-reply", MalformedReply, "the reply has no body", MalformedReply),
    Row("http-stale-404", None),
    Row("http-stale-400", "stale-session-status", strict=HttpRefused),
    Row("http-session-noid-400", "session-id-not-issued", strict=HttpRefused),
    Row(
        "http-session-noid-400-rpc",
        "session-id-not-issued",
        HttpRefused,
        "404: the server requires a session id, but did not issue one",
        strict=ClientError,
        is_reported=False,
    ),
    Row("http-429-call", "rate-limit-status", HttpRefused, "HTTP status 429", strict=HttpRefused),
    Row("http-307", "redirect", strict=HttpRefused),
    Row("http-legacy-sse", None, revision=None),
    Row("http-discover-500", None, era="auto", revision=None),
    Row("http-discover-hang", None, era="auto", revision=None),
    Row("http-discover-200-empty", None, era="auto", revision=None),
    Row("http-header-strict", "protocol-header-refused", strict=HttpRefused),
    Row("http-header-required", "protocol-header-demanded", strict=HttpRefused, revision="2025-03-26"),
]
IDS = [row.name for row in ROWS]


@asynccontextmanager
async def serving(case: Case) -> AsyncIterator[str]:
    served = old_sse_server if case.over == "old sse" else http_server
    async with served(case.server) as url:
        yield url


async def used(row: Row, forgives: frozenset[str], reported: list[str]) -> str:
    """The text of the call. `reported` gets the codes of what was overlooked."""
    case = BY_NAME[row.name]
    options = Options(
        limits=LIMITS,
        standing_stream="-get-" in row.name,
        forgives=forgives,
        on_forgiven=lambda code, detail: reported.append(code),
    )
    async with (
        asyncio.timeout(30),
        serving(case) as url,
        connect(url, era=row.era, revision=row.revision, options=options) as client,
    ):
        await client.notify("notifications/odd")
        assert "t" in [tool.name for tool in await client.list_tools()]
        called = await client.call_tool("t")
        if row.code in forgives & _LATER:
            await wait_until(lambda: bool(reported))
    return called.content[0].text  # type: ignore[union-attr]


@pytest.mark.parametrize("row", ROWS, ids=IDS)
async def test_a_broken_server_is_usable_or_says_why_not(row: Row) -> None:
    forgives = frozenset({row.code} if row.code else ALL)
    reported: list[str] = []
    if isinstance(row.forgiving, str):
        assert await used(row, forgives, reported) == row.forgiving
    else:
        with pytest.raises(row.forgiving, match=row.says):
            await used(row, forgives, reported)
    assert set(reported) == ({row.code} if row.code and row.is_reported else set())


@pytest.mark.parametrize("row", ROWS, ids=IDS)
async def test_with_everything_overlooked_the_outcome_is_the_same(row: Row) -> None:
    if isinstance(row.forgiving, str):
        assert await used(row, ALL, []) == row.forgiving
    else:
        with pytest.raises(row.forgiving, match=row.says):
            await used(row, ALL, [])


@pytest.mark.parametrize("row", ROWS, ids=IDS)
async def test_without_its_code_a_mistake_is_what_it_was(row: Row) -> None:
    for forgives in (frozenset[str](), ALL - {row.code}):
        reported: list[str] = []
        if isinstance(row.strict, str):
            assert await used(row, forgives, reported) == row.strict
        else:
            with pytest.raises(row.strict):
                await used(row, forgives, reported)
        assert row.code not in reported


RIGHT = ["http-json", "http-sse", "http-session", "http-get-stream", "http-ct-charset", "http-sse-noevent"]
RIGHT += ["http-sse-crlf", "http-sse-multidata", "http-sse-comment", "http-sse-notif"]
RIGHT += ["http-sse-primed-in-2025-11-25", "http-event-ids", "http-session-optional"]


@pytest.mark.parametrize("name", RIGHT)
async def test_nothing_is_reported_of_a_right_server(name: str) -> None:
    reported: list[str] = []
    assert await used(Row(name, None), ALL, reported) == "fine"
    assert reported == []


async def test_a_right_modern_server_may_give_errors_their_statuses() -> None:
    reported: list[str] = []
    options = Options(limits=LIMITS, forgives=ALL, on_forgiven=lambda code, detail: reported.append(code))
    async with serving(BY_NAME["http-modern"]) as url, connect(url, options=options) as client:
        with pytest.raises(ServerError, match="unknown tool") as failure:
            await client.call_tool("nope")
    assert failure.value.status == 400
    assert reported == []


async def asked(handler: Any, forgives: frozenset[str] = ALL) -> Json:
    """The result of one request `x` of the legacy era."""
    options = Options(limits=LIMITS, forgives=forgives)
    async with (
        asyncio.timeout(30),
        web_server(handler) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        value: Json = (await client.request("x")).read(dict[str, Any])
        return value


_RESULT = b'{"jsonrpc":"2.0","id":ID,"result":{"ok":true}}'
ODD_BODIES = [
    pytest.param(body(_RESULT, "text/html"), id="json-as-html"),
    pytest.param(body(b"\n \n" + _RESULT, "application/octet-stream"), id="json-after-blank-lines"),
    pytest.param(body(_RESULT, "text/event-stream"), id="json-as-events"),
    pytest.param(body(b"data: " + _RESULT + b"\n\n", "text/plain"), id="events-as-text"),
    pytest.param(
        body(b"event: message\ndata: " + _RESULT + b"\n\n", "application/json"), id="events-as-json"
    ),
    pytest.param(body(b": hello\n\nid: 1\ndata: " + _RESULT + b"\n\n", ""), id="events-without-a-type"),
    pytest.param(body(b'{"jsonrpc":"2.0","id":ID,"result":{"ok":true}}', "text/json"), id="text-json"),
]


@pytest.mark.parametrize("reply", ODD_BODIES)
async def test_a_body_is_what_it_is_whatever_its_type_says(reply: Any) -> None:
    assert await asked(answering(reply)) == {"ok": True}
    with pytest.raises(ClientError):
        await asked(answering(reply), ALL - {"content-type-header"})


async def test_a_stream_of_the_wrong_type_is_read_while_it_goes_on() -> None:
    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        stream = web.StreamResponse(headers={"content-type": "text/plain"})
        await stream.prepare(request)
        for piece in (b"da", b"ta: ", result(message, {"ok": True}), b"\n\n"):
            await stream.write(piece)
            await asyncio.sleep(0.01)
        await asyncio.Event().wait()
        return stream

    assert await asked(answering(reply)) == {"ok": True}


_PRIMED = b"id: 1\nretry: 50\ndata:\n\n"


async def test_a_stream_that_cannot_be_resumed_ended_without_an_answer() -> None:
    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        if request.method == "GET":
            return web.Response(status=405)
        return web.Response(body=_PRIMED, content_type="text/event-stream")

    with pytest.raises(MalformedReply, match=_STREAM):
        await asked(answering(reply))
    with pytest.raises(HttpRefused, match="405"):
        await asked(answering(reply), ALL - {"sse-no-reply"})


async def test_a_stream_is_resumed_until_the_answer_comes() -> None:
    ids: list[str] = []

    async def reply(request: web.Request, message: Json) -> web.StreamResponse:
        if request.method == "POST":
            ids.append(str(message["id"]))
            return web.Response(body=_PRIMED, content_type="text/event-stream")
        ids.append(request.headers["last-event-id"])
        data = b"" if len(ids) < 4 else b"data: " + _RESULT.replace(b"ID", ids[0].encode()) + b"\n\n"
        return web.Response(body=data, content_type="text/event-stream")

    assert await asked(answering(reply)) == {"ok": True}
    assert ids[1:] == ["1", "1", "1"]


async def test_a_large_page_in_place_of_a_session_is_a_lost_session() -> None:
    server = HttpScript(legacy(ok), session="first")
    lost: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        if b'"x"' in await request.read() and not lost:
            lost.append("x")
            return web.Response(status=404, text="<p>" * 5000, content_type="text/html")
        return await server(request)

    assert await asked(handle) == {"ok": True}
    assert server.methods().count("initialize") == 2


async def test_an_error_of_the_wrong_type_and_status_is_the_answer() -> None:
    data = b'{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"why"}}'
    with pytest.raises(ServerError, match="why"):
        await asked(answering(body(data, "text/plain", 400)))


ERRORS = [
    pytest.param(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"why"}}', id="null-id"),
    pytest.param(b'{"jsonrpc":"2.0","error":{"code":-32000,"message":"why"}}', id="no-id"),
    pytest.param(
        b'{"jsonrpc":"2.0","id":"server-error","error":{"code":-32000,"message":"why"}}', id="own-id"
    ),
]


@pytest.mark.parametrize("status", [400, 404, 422, 500, 503])
@pytest.mark.parametrize("data", ERRORS)
async def test_an_error_in_a_refusal_is_the_answer_whatever_its_id(data: bytes, status: int) -> None:
    with pytest.raises(ServerError, match="why") as failure:
        await asked(answering(body(data, "application/json", status)))
    assert (failure.value.code, failure.value.status) == (-32000, status)


async def test_the_answer_to_a_notification_is_not_taken_for_that_of_a_request() -> None:
    told = asyncio.Event()
    refusal = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"Method not found"}}'

    async def handle(request: web.Request) -> web.StreamResponse:
        data = await request.read()
        if b"notifications/odd" in data:
            told.set()
            return web.Response(body=refusal, content_type="application/json")
        if b'"x"' in data:
            await told.wait()
            await asyncio.sleep(0.05)
        return await usual(request)

    usual = HttpScript(legacy(ok))
    options = Options(limits=LIMITS, forgives=frozenset({"notification-answered"}))
    async with (
        asyncio.timeout(30),
        web_server(handle) as url,
        connect(url, era="legacy", options=options) as client,
    ):
        waiting = asyncio.create_task(client.request("x"))
        await wait_until(lambda: "x" in usual.methods() or not waiting.done())
        await client.notify("notifications/odd")
        assert (await waiting).read(dict[str, bool]) == {"ok": True}


async def test_without_its_code_the_error_of_a_rate_limit_is_an_answer_like_any_other() -> None:
    data = b'{"jsonrpc":"2.0","error":{"code":429,"message":"Rate limit exceeded"}}'
    with pytest.raises(ServerError, match="Rate limit exceeded"):
        await asked(answering(body(data, "application/json", 429)), ALL - {"rate-limit-status"})


async def test_a_rate_limit_says_when_to_come_back_and_why() -> None:
    data = b'{"jsonrpc":"2.0","error":{"code":429,"message":"Rate limit exceeded"}}'
    with pytest.raises(HttpRefused, match="HTTP status 429: Rate limit exceeded") as failure:
        await asked(answering(body(data, "application/json", 429, retry_after="7")))
    assert failure.value.status == 429
    assert failure.value.retry_after == 7.0
    assert failure.value.detail == "Rate limit exceeded"


@pytest.mark.parametrize("status", [401, 403])
async def test_a_challenge_is_readable_even_beside_an_error(status: int) -> None:
    data = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Unauthorized"}}'
    asks = 'Bearer resource_metadata="https://a.test/x"'
    with pytest.raises(HttpRefused, match=f"HTTP status {status}: Unauthorized") as failure:
        await asked(answering(body(data, "application/json", status, www_authenticate=asks)))
    assert not isinstance(failure.value, SessionGone)
    assert failure.value.challenge == asks


async def test_an_id_is_made_up_for_a_server_that_only_looks_whether_there_is_one() -> None:
    def bend(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        if ask.method == "initialize" or ask.verb != "POST" or "mcp-session-id" in ask.headers:
            seen.append(ask.headers.get("mcp-session-id"))
            return reply
        return HttpReply(400, (("content-type", "text/plain"),), b"Mcp-Session-Id header is required")

    seen: list[str | None] = []
    reported: list[str] = []
    options = Options(
        limits=LIMITS,
        forgives=frozenset({"session-id-not-issued"}),
        on_forgiven=lambda code, detail: reported.append(code),
    )
    async with http_server(Server(http=bend)) as url, connect(url, era="legacy", options=options) as client:
        assert (await client.call_tool("t")).content[0].text == "fine"  # type: ignore[union-attr]
    assert seen[0] is None
    assert len(set(seen[1:])) == 1, "the same one for the whole session"
    assert reported == ["session-id-not-issued"]


async def test_a_call_that_was_answered_with_400_is_not_repeated() -> None:
    server = HttpScript(
        legacy(lambda message: [result(message, {})] if message["method"] == "first" else []),
    )

    async def handle(request: web.Request) -> web.StreamResponse:
        if b'"second"' in await request.read():
            await server(request)
            return web.Response(status=400, text="bad argument")
        return await server(request)

    options = Options(limits=LIMITS, forgives=ALL)
    async with web_server(handle) as url, connect(url, era="legacy", options=options) as client:
        await client.request("first")
        with pytest.raises(HttpRefused, match="HTTP status 400: bad argument"):
            await client.request("second")
    assert server.methods().count("second") == 1


ELSEWHERE = [
    pytest.param(307, "http://127.0.0.1:9/mcp", "http://127.0.0.1:9, another origin", id="other-port"),
    pytest.param(308, "https://evil.test/mcp?t=1", "https://evil.test, another origin", id="other-host"),
    pytest.param(307, "//evil.test:81/", "http://evil.test:81, another origin", id="without-a-scheme"),
    pytest.param(307, "", "nowhere", id="no-location"),
    pytest.param(302, "/mcp/", "not with 307 or 308", id="302"),
    pytest.param(303, "/mcp/", "not with 307 or 308", id="303"),
]


@pytest.mark.parametrize(("status", "location", "says"), ELSEWHERE)
async def test_other_redirects_are_refused_and_named(status: int, location: str, says: str) -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append(request.path)
        return web.Response(status=status, headers={"location": location} if location else {})

    options = Options(limits=LIMITS, forgives=ALL, headers=(("authorization", "Bearer secret"),))
    async with asyncio.timeout(30), web_server(handle) as url:
        with pytest.raises(HttpRefused, match=says) as failure:
            async with connect(url + "/mcp", era="legacy", options=options):
                pass
    assert failure.value.status == status
    assert set(seen) == {"/mcp"}


async def test_a_redirect_is_followed_once_and_remembered_with_the_token() -> None:
    seen: list[tuple[str, str, str | None]] = []
    server = HttpScript(legacy(ok), session="abc")

    async def handle(request: web.Request) -> web.StreamResponse:
        seen.append((request.method, request.path, request.headers.get("authorization")))
        if request.path == "/mcp":
            return web.Response(status=308, headers={"location": "/mcp/"})
        return await server(request)

    options = Options(
        limits=LIMITS, forgives=frozenset({"redirect"}), headers=(("authorization", "Bearer t"),)
    )
    async with web_server(handle) as url, connect(url + "/mcp", era="legacy", options=options) as client:
        await client.request("x")
    assert [(method, path) for method, path, _ in seen] == [
        ("POST", "/mcp"),
        ("POST", "/mcp/"),
        ("POST", "/mcp/"),
        ("POST", "/mcp/"),
        ("DELETE", "/mcp/"),
    ]
    assert {token for _, _, token in seen} == {"Bearer t"}


async def test_a_redirect_that_leads_on_is_refused() -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        return web.Response(status=307, headers={"location": request.path + "/"})

    options = Options(limits=LIMITS, forgives=ALL)
    async with web_server(handle) as url:
        with pytest.raises(HttpRefused, match="more than once"):
            async with connect(url + "/mcp", era="legacy", options=options):
                pass


async def test_a_bug_in_the_callback_does_not_cost_the_answer(caplog: pytest.LogCaptureFixture) -> None:
    def fail(code: str, detail: str) -> None:
        raise ZeroDivisionError

    options = Options(limits=LIMITS, forgives=ALL, on_forgiven=fail)
    case = BY_NAME["http-ct-text"]
    async with serving(case) as url, connect(url, era="legacy", options=options) as client:
        assert (await client.call_tool("t")).content[0].text == "fine"  # type: ignore[union-attr]
    assert "a callback failed" in caplog.text
