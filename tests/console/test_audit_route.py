"""Audits from the page: what arrives and when, where they may go, and what ends them."""

import asyncio
import contextlib
import json
import re
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import aiohttp
import msgspec
import pytest
import uvicorn
from msgspec import Struct, structs
from tests.audit.audits import served
from tests.audit.cases import BY_NAME
from tests.audit.stub import EXIT, Ask, HttpAsk, HttpReply, Replies, Server
from tests.audit.wires import http_server
from tests.door import Door, open_door

from qortal_mcp.audit.judging.check import SEVERITIES
from qortal_mcp.audit.judging.finding import Finding, Report
from qortal_mcp.audit.judging.judge import CONFORMS, INCOMPLETE, VIOLATES
from qortal_mcp.audit.reports.impacts import OUTCOME_WORDS
from qortal_mcp.client.errors import ConnectionLost
from qortal_mcp.client.wires.http import HttpWire
from qortal_mcp.client.wires.routes import Place, Route, place_of
from qortal_mcp.client.wires.websocket import WebSocketWire
from qortal_mcp.console.auditing import limits as auditing_limits
from qortal_mcp.console.auditing.limits import AuditingLimits
from qortal_mcp.console.auditing.never import never_audited
from qortal_mcp.console.auditing.route import Auditing
from qortal_mcp.console.auditing.target import Refusal, Request, Targets, requested
from qortal_mcp.console.files import STATIC
from qortal_mcp.server import Server as McpServer
from qortal_mcp.transports.callers import Callers
from qortal_mcp.transports.guard import Guard
from qortal_mcp.transports.http import HttpApp, Site
from qortal_mcp.transports.serve import bind, url_of

EVENTS = {"accept": "text/event-stream"}
TOKEN = "a-token-of-the-tests"
# Nothing is there: it was reserved for documentation (RFC 5737).
ELSEWHERE = "192.0.2.1"
NOWHERE = "http://127.0.0.1:1/mcp"
BROKEN = BY_NAME["block-object"]
TARGETS: tuple[Targets, ...] = ("loopback", "any")
ONE_AT_A_TIME = structs.replace(auditing_limits.DEFAULT, audits=1)


class Console(Struct, frozen=True):
    """The route, as a page reaches it."""

    http: aiohttp.ClientSession
    app: HttpApp
    url: str

    def post(self, body: Any, headers: dict[str, str] | None = None) -> Any:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})}
        return self.http.post(self.url, data=data, headers=sent)

    async def refusal(self, body: Any) -> tuple[int, str]:
        async with self.post(body, EVENTS) as reply:
            return reply.status, (await reply.json())["error"]

    async def events(self, url: str, **more: Any) -> AsyncIterator[Any]:
        async with self.post({"url": url, **more}, EVENTS) as reply:
            assert reply.status == 200, await reply.text()
            async for event in events_in(reply):
                yield event


@contextlib.asynccontextmanager
async def console(
    targets: Targets = "loopback",
    limits: AuditingLimits = auditing_limits.DEFAULT,
    token: str | None = None,
    never: frozenset[Place] = frozenset(),
) -> AsyncIterator[Console]:
    """A server in this process that audits, within limits that a test may change."""
    auditing = Auditing(targets, never, limits=limits)
    site = Site(handlers={"/console/audit": auditing.handle}, end=auditing.close)
    # As behind a proxy on this machine, which says who asks: all of loopback is one caller.
    callers = Callers(has_token=token is not None, proxies=["127.0.0.1"])
    app = HttpApp(McpServer("console"), guard=Guard(token=token), callers=callers, site=site)
    sock = bind("127.0.0.1", 0)
    config = uvicorn.Config(app, lifespan="on", log_config=None, access_log=False)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[sock])
    headers = {"authorization": f"Bearer {token}"} if token else {}
    try:
        async with aiohttp.ClientSession(headers=headers) as http:
            yield Console(http, app, url_of(sock, "/console/audit"))
    finally:
        for listener in server.servers:
            listener.close()
        await app.drain()
        for connection in list(server.server_state.connections):
            connection.shutdown()
        await asyncio.gather(*server.server_state.tasks, return_exceptions=True)
        await server.lifespan.shutdown()


async def events_in(reply: aiohttp.ClientResponse) -> AsyncIterator[Any]:
    async for line in reply.content:
        if line.startswith(b"data: "):
            yield json.loads(line.removeprefix(b"data: "))


def codes(report: Any) -> set[str]:
    return {finding["code"] for finding in report["findings"]}


@contextlib.asynccontextmanager
async def hanging_server() -> AsyncIterator[tuple[str, asyncio.Event]]:
    """A broken server that never answers a handshake of the oldest revision, and whether a client was left waiting."""
    waits = asyncio.Event()

    def never(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        if ask.method == "initialize" and ask.asked[0].params.get("protocolVersion") == "2024-11-05":
            waits.set()
            return HttpReply(None, then="hold")
        return reply

    async with http_server(replace(BROKEN.server, http=never)) as url:
        yield url, waits


def test_the_page_says_what_clients_do_in_the_words_of_the_other_reports() -> None:
    words = (STATIC / "audit" / "report.js").read_text()
    for outcome, sentence in OUTCOME_WORDS.items():
        assert re.search(rf"""'?{outcome}'?: ['"]{re.escape(sentence)}['"],""", words), outcome


def test_the_page_knows_every_severity_and_every_verdict() -> None:
    words = (STATIC / "audit" / "report.js").read_text()
    for name in (*SEVERITIES, CONFORMS, VIOLATES, INCOMPLETE):
        assert re.search(rf"^  {name}: {{", words, re.MULTILINE), name


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample") as running:
        yield running


def test_this_server_can_audit_itself(door: Door) -> None:
    reply = door.send(
        json.dumps({"url": door.url}).encode(), path="/console/audit", headers={"accept": "text/event-stream"}
    )
    events = [
        json.loads(line.removeprefix(b"data: "))
        for line in reply.body.splitlines()
        if line.startswith(b"data: ")
    ]
    assert reply.headers["content-type"] == "text/event-stream"
    assert {event["type"] for event in events[:-1]} == {"progress"}
    last = events[-1]
    assert (last["type"], last["report"]["verdict"]) == ("ended", "conforms")
    assert last["markdown"].startswith("# MCP audit of ")


def test_who_accepts_no_events_gets_the_report_of_the_command(door: Door) -> None:
    reply = door.send(json.dumps({"url": door.url}).encode(), path="/console/audit")
    assert (reply.status, reply.headers["content-type"]) == (200, "application/json")
    assert msgspec.json.decode(reply.body, type=Report).verdict == "conforms"
    assert reply.json.keys() == set(Report.__struct_encode_fields__)


def test_the_page_can_ask_what_may_be_audited(door: Door) -> None:
    assert door.get("/console/audit").json == {"targets": "loopback"}


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
def test_other_methods_are_refused(door: Door, method: str) -> None:
    reply = door.send(method=method, path="/console/audit")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, POST, OPTIONS")


@pytest.mark.parametrize("name", ["block-object", "ws-binary", "http-legacy-sse"])
async def test_what_is_wrong_is_in_the_report_over_each_transport(name: str) -> None:
    case = BY_NAME[name]
    async with console() as page, served(case) as url:
        assert isinstance(url, str)
        events = [event async for event in page.events(url)]
    report = events[-1]["report"]
    assert case.code in codes(report)
    assert case.code is not None
    assert case.code in events[-1]["markdown"]
    assert report["target"] == url


async def test_only_the_revisions_that_were_asked_for_are_visited() -> None:
    async with console() as page, http_server(Server()) as url:
        events = [event async for event in page.events(url, revisions=["2025-06-18"])]
    assert events[-1]["report"]["revisions"] == ["2025-06-18"]


async def test_findings_arrive_while_the_server_still_lets_the_audit_wait() -> None:
    async with console() as page, hanging_server() as (url, _), asyncio.timeout(30):
        async for event in page.events(url):
            assert event["type"] in ("progress", "finding")
            if event["type"] == "finding":
                break
    finding = msgspec.convert(event["finding"], Finding)
    assert finding.code == BROKEN.code
    assert finding.clients
    assert finding.fix


async def test_a_tool_that_may_change_something_is_never_called() -> None:
    called: list[Any] = []

    def noted(ask: Ask, replies: Replies) -> Replies:
        if ask.method == "tools/call":
            called.append(ask.params.get("name"))
        return replies

    server = Server(tool={"annotations": {"readOnlyHint": False}}, bend=noted)
    async with console() as page, http_server(server) as url:
        assert [event async for event in page.events(url)][-1]["type"] == "ended"
    assert "ok" in called
    assert "t" not in called


async def test_what_a_server_calls_its_tools_cannot_steer_a_reader() -> None:
    async with console() as page, http_server(Server(tool={"name": "a\u202eb"})) as url:
        events = [event async for event in page.events(url)]
    said = [event["text"] for event in events if event["type"] == "progress"]
    assert any(r"calling a\u{202E}b" in text for text in said)
    assert "\u202e" not in json.dumps(events, ensure_ascii=False)


@pytest.mark.parametrize("headers", [EVENTS, {}], ids=["events", "json"])
async def test_a_server_that_is_not_there_is_a_failure_in_words(headers: dict[str, str]) -> None:
    async with console() as page, page.post({"url": NOWHERE}, headers) as reply:
        if headers:
            last = [event async for event in events_in(reply)][-1]
            assert last["type"] == "failed"
        else:
            assert reply.status == 502
            last = await reply.json()
    assert last["error"].startswith("The server cannot be reached: connection refused.")


async def test_a_server_that_hangs_up_on_everything_is_reported() -> None:
    async with console() as page, http_server(Server(bend=lambda ask, replies: [EXIT])) as url:
        last = [event async for event in page.events(url)][-1]
    assert last["type"] in ("ended", "failed")


RUBBISH = [
    pytest.param(b"", id="nothing"),
    pytest.param(b"{", id="not-json"),
    pytest.param(b"\xff\xfe", id="not-utf-8"),
    pytest.param(b"[" * 5_000, id="deep"),
    pytest.param(b"null", id="null"),
    pytest.param({}, id="no-url"),
    pytest.param({"url": None}, id="null-url"),
    pytest.param({"url": ["http://127.0.0.1/"]}, id="list"),
    pytest.param({"url": "http://127.0.0.1/", "argv": ["sh", "-c", "id"]}, id="unknown-member"),
    pytest.param({"url": "http://127.0.0.1/", "headers": {"authorization": "x"}}, id="headers"),
    pytest.param({"url": "http://127.0.0.1/", "revisions": ["1999-01-01"]}, id="no-such-revision"),
    pytest.param({"url": "http://127.0.0.1/", "revisions": ["2025-06-18"] * 9}, id="many-revisions"),
    pytest.param({"url": "http://127.0.0.1/" + "a" * 2_000}, id="long"),
    pytest.param({"url": ""}, id="empty"),
    pytest.param({"url": "npx some-server"}, id="command"),
    pytest.param({"url": "file:///etc/passwd"}, id="file"),
    pytest.param({"url": "unix:///run/x.sock"}, id="unix"),
    pytest.param({"url": "127.0.0.1:9000"}, id="no-scheme"),
    pytest.param({"url": "http:///mcp"}, id="no-host"),
    pytest.param({"url": "http://127.0.0.1:0/"}, id="port-zero"),
    pytest.param({"url": "http://127.0.0.1:65536/"}, id="port-too-large"),
    pytest.param({"url": "http://127.0.0.1:80:80/"}, id="two-ports"),
    pytest.param({"url": "http://me@127.0.0.1/"}, id="user"),
    pytest.param({"url": "http://me:word@127.0.0.1/"}, id="password"),
    pytest.param({"url": "http://127.0.0.1/?access_token=abcdef"}, id="secret"),
    pytest.param({"url": "http://127.0.0.1/#part"}, id="fragment"),
    pytest.param({"url": "http://127.0.0.1/ x"}, id="blank"),
    pytest.param({"url": "http://127.0.0.1/\r\nx: y"}, id="header-injection"),
    pytest.param({"url": "http://127.0.0.1/\u00e9"}, id="not-ascii"),
]


@pytest.mark.parametrize("body", RUBBISH)
async def test_a_request_that_is_not_understood_is_refused_with_a_reason(body: Any) -> None:
    async with console() as page:
        status, why = await page.refusal(body)
    assert status == 400
    assert why.endswith(".")


# What some library or system takes for another host than it looks like, or for none of this machine.
BEYOND = [
    f"http://{ELSEWHERE}/mcp",
    "http://10.0.0.1/mcp",
    "http://169.254.169.254/mcp",
    "https://example.org/mcp",
    "ws://example.org/mcp",
    "http://127.0.0.1.example.org/",
    "http://localhost.example.org/",
    "http://x.localhost/",
    "http://localhost./",
    "http://127.0.0.1./",
    "http://0.0.0.0/",
    "http://0/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.0.0.1/",
    "http://0177.0.0.1/",
    "http://127.0.0.01/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::127.0.0.1]/",
    "http://[fe80::1]/",
    "http://[0:0:0:0:0:ffff:7f00:1]/",
]
NOT_ADDRESSES = [
    "http://127.0.0.1@example.org/",
    "http://example.org#@127.0.0.1/",
    "http://example.org\\@127.0.0.1/",
    "http://127.0.0.1\\.example.org/",
    "http://127.0.0.1%2eexample.org/",
    "http://127.0.0.1%00.example.org/",
    "http://[::1%25lo]/",
    "http://[::1]example.org/",
    "http://[::1/",
    "http:/127.0.0.1/",
    "http://\uff11\uff12\uff17.0.0.1/",
    "http://\u24db\u24de\u24d2alhost/",
    "\thttp://127.0.0.1/",
    "http://127.0.0.1/\n",
]


@pytest.mark.parametrize("url", BEYOND)
async def test_nothing_beyond_this_machine_is_audited_unless_the_operator_allows_it(url: str) -> None:
    async with console() as page:
        status, why = await page.refusal({"url": url})
    assert status == 403
    assert "--audit-targets any" in why
    assert url not in why


@pytest.mark.parametrize("url", NOT_ADDRESSES)
@pytest.mark.parametrize("targets", ["loopback", "any"])
async def test_an_address_that_can_be_read_in_two_ways_is_none(url: str, targets: Targets) -> None:
    async with console(targets) as page:
        assert (await page.refusal({"url": url}))[0] == 400


@pytest.mark.parametrize("url", ["http://localhost:9/a?b=c", "HTTP://LocalHost:9/a?b=c"])
def test_a_host_is_written_in_one_way(url: str) -> None:
    body = json.dumps({"url": url}).encode()
    assert requested(body, "loopback") == Request("http://localhost:9/a?b=c")


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://127.9.8.7:9/x", "wss://[::1]:9/", f"http://{ELSEWHERE}/"]
)
def test_any_server_is_audited_where_the_operator_allows_it(url: str) -> None:
    assert requested(json.dumps({"url": url}).encode(), "any") == Request(url)


async def test_where_audits_are_off_the_reply_says_how_to_switch_them_on() -> None:
    async with console("off") as page:
        status, why = await page.refusal(b"whatever")
    assert status == 403
    assert "--audit-targets loopback" in why


@pytest.mark.parametrize("host", [ELSEWHERE, "example.org", "[::ffff:127.0.0.1]", "localhost.example.org"])
async def test_a_connection_that_is_bound_to_this_machine_cannot_leave_it(host: str) -> None:
    bound = Route(only_loopback=True)
    wire = HttpWire(f"http://{host}/mcp", route=bound)
    with pytest.raises(ConnectionLost, match="only this machine may be contacted"):
        await wire.exchange(b"{}", timeout=5)
    await wire.close()
    with pytest.raises(ConnectionLost, match="only this machine may be contacted"):
        await WebSocketWire.open(f"ws://{host}/mcp", route=bound)


async def test_localhost_is_this_machine_without_asking_anybody(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("a name was looked up")

    async with http_server(Server()) as url:
        wire = HttpWire(url.replace("127.0.0.1", "localhost"), route=Route(only_loopback=True))
        monkeypatch.setattr(socket, "getaddrinfo", never)
        assert (await wire.exchange(b"{}", timeout=5)).status == 202
        await wire.close()


async def test_a_redirect_to_another_host_is_not_followed() -> None:
    away = HttpReply(307, (("location", f"http://{ELSEWHERE}/mcp"),))
    async with console() as page, http_server(Server(http=lambda ask, reply: away)) as url:
        report = [event async for event in page.events(url)][-1]["report"]
    assert report["verdict"] == "incomplete"
    assert any("another host" in gap["reason"] for gap in report["gaps"])


async def test_no_proxy_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[str] = []

    def trap(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        met.append(ask.path)
        return reply

    async with console() as page, http_server(Server(http=trap)) as proxy, http_server(Server()) as url:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        assert [event async for event in page.events(url)][-1]["report"]["verdict"] == "conforms"
    assert met == []


async def test_a_caller_has_one_audit_at_a_time() -> None:
    async with (
        console(token=TOKEN) as page,
        hanging_server() as (url, waits),
        asyncio.timeout(30),
        page.post({"url": url}, EVENTS),
    ):
        await waits.wait()
        async with page.post({"url": NOWHERE}, EVENTS) as second:
            assert second.status == 429
            assert int(second.headers["retry-after"]) > 0
            assert "of yours" in (await second.json())["error"]


async def test_a_server_has_few_audits_at_a_time() -> None:
    async with (
        console(limits=ONE_AT_A_TIME) as page,
        hanging_server() as (url, waits),
        asyncio.timeout(30),
        page.post({"url": url}, EVENTS | {"x-forwarded-for": "192.0.2.7"}),
    ):
        await waits.wait()
        status, why = await page.refusal({"url": NOWHERE})
    assert status == 429
    assert "Try again" in why


async def test_a_machine_has_one_audit_at_a_time_however_many_connections_it_opens() -> None:
    async with (
        console() as page,
        hanging_server() as (url, waits),
        asyncio.timeout(30),
        page.post({"url": url}, EVENTS),
    ):
        await waits.wait()
        status, why = await page.refusal({"url": NOWHERE})
    assert status == 429
    assert "An audit of yours is still running" in why


def test_the_next_audit_may_start_as_soon_as_the_report_is_there(door: Door) -> None:
    for _ in range(3):
        reply = door.send(json.dumps({"url": door.url}).encode(), path="/console/audit")
        assert reply.status == 200


NODES = ("http://127.0.0.1:4321", "https://node.example:8443/")
OURS = [
    "http://127.0.0.1:4321/admin/stop",
    "http://localhost:4321/mcp",
    "ws://127.9.9.9:4321/",
    "http://[::1]:4321/mcp",
    "https://node.example:8443/mcp",
    "https://NODE.example:8443/mcp",
    "http://127.0.0.1:12391/admin/stop",
    "http://localhost:62391/transactions/process",
    "http://127.0.0.1/v1",
]


@pytest.mark.promise(
    "Console",
    "An audit never contacts the node that is read, a Core on this machine, or the model's endpoint.",
)
@pytest.mark.parametrize("url", OURS)
def test_nodes_and_the_model_are_never_audited(url: str) -> None:
    never = never_audited((*NODES, "http://127.0.0.1/v1"))
    for targets in TARGETS:
        refused = requested(json.dumps({"url": url}).encode(), targets, never)
        assert isinstance(refused, Refusal)
        assert refused.status == 403


async def test_a_connection_to_a_place_that_is_kept_away_from_is_not_opened() -> None:
    async with http_server(BROKEN.server) as url:
        port = int(url.rpartition(":")[2].partition("/")[0])
        wire = HttpWire(url, route=Route(never=frozenset({place_of("localhost", port)})))
        with pytest.raises(ConnectionLost, match="may not be contacted"):
            await wire.exchange(b"{}", timeout=5)
        await wire.close()


@pytest.mark.parametrize("node", ["http://127.1:{}", "http://0.0.0.0:{}", "http://[::ffff:127.0.0.1]:{}/"])
@pytest.mark.parametrize("targets", TARGETS)
async def test_a_node_is_recognised_however_its_address_is_written(node: str, targets: Targets) -> None:
    met: list[str] = []

    def noted(ask: HttpAsk, reply: HttpReply) -> HttpReply:
        met.append(ask.path)
        return reply

    async with http_server(Server(http=noted)) as url:
        port = url.rpartition(":")[2].partition("/")[0]
        never = never_audited((node.format(port),))
        async with console(targets, never=never) as page, page.post({"url": url}) as reply:
            assert reply.status in (403, 502)
    assert met == []


def test_a_name_that_is_no_address_keeps_nobody_away() -> None:
    assert never_audited(("http://[", "http://x:99999", "")) >= never_audited(())


def test_the_node_of_a_running_server_gets_no_request_of_an_audit() -> None:
    asked: list[str] = []

    class Node(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(f"POST {self.path}")

        def log_message(self, format: str, *words: object) -> None:
            """Nobody reads it."""

    node = ThreadingHTTPServer(("127.0.0.1", 0), Node)
    thread = threading.Thread(target=node.serve_forever, args=(0.02,))
    thread.start()
    try:
        address = f"http://127.0.0.1:{node.server_port}"
        with open_door("--node", address) as door:
            body = json.dumps({"url": f"http://localhost:{node.server_port}/admin/stop"}).encode()
            assert door.send(body, path="/console/audit").status == 403
    finally:
        node.shutdown()
        thread.join()
        node.server_close()
    assert asked == []


async def test_an_audit_ends_when_its_caller_leaves() -> None:
    async with console(limits=ONE_AT_A_TIME) as page, hanging_server() as (url, waits), asyncio.timeout(30):
        reply = await page.post({"url": url}, EVENTS)
        await waits.wait()
        reply.close()
        while True:
            async with page.post({"url": NOWHERE}) as second:
                if second.status != 429:
                    break
    assert second.status == 502


async def test_an_audit_that_takes_too_long_is_stopped() -> None:
    limits = structs.replace(auditing_limits.DEFAULT, total_seconds=1.5)
    async with console(limits=limits) as page, hanging_server() as (url, _), asyncio.timeout(30):
        last = [event async for event in page.events(url)][-1]
    assert last == {"type": "failed", "error": "The audit was stopped: it took longer than 1.5 s."}


async def test_what_a_server_was_too_slow_for_is_a_gap_in_the_report() -> None:
    audit = structs.replace(auditing_limits.DEFAULT.audit, total_seconds=1.5)
    limits = structs.replace(auditing_limits.DEFAULT, audit=audit)
    async with console(limits=limits) as page, hanging_server() as (url, _), asyncio.timeout(30):
        report = [event async for event in page.events(url)][-1]["report"]
    assert any("1.5 s are over" in gap["reason"] for gap in report["gaps"])
    assert BROKEN.code in codes(report)


async def test_a_report_that_is_too_large_is_refused() -> None:
    limits = structs.replace(auditing_limits.DEFAULT, event_bytes=2_000)
    async with console(limits=limits) as page, http_server(BROKEN.server) as url:
        last = [event async for event in page.events(url)][-1]
    assert last["error"].startswith("The report is larger than the page takes.")


async def test_an_audit_ends_when_the_server_shuts_down() -> None:
    async with console() as page, hanging_server() as (url, waits), asyncio.timeout(30):
        async with page.post({"url": url}, EVENTS) as reply:
            await waits.wait()
            await page.app.drain()
            last = [event async for event in events_in(reply)][-1]
        assert "shutting down" in last["error"]
        assert (await page.refusal({"url": url}))[0] == 503


async def test_a_body_that_is_too_large_is_refused() -> None:
    async with console() as page, page.post(b" " * 10_000) as reply:
        assert reply.status == 413


@pytest.mark.parametrize(
    ("headers", "status"),
    [({"content-type": "text/plain"}, 415), ({"accept": "image/png"}, 406)],
    ids=["not-json", "wants-a-picture"],
)
async def test_other_media_types_are_refused(headers: dict[str, str], status: int) -> None:
    async with console() as page, page.post({"url": NOWHERE}, headers) as reply:
        assert reply.status == status
        assert (await reply.json())["error"].endswith(".")


async def test_audits_need_the_token() -> None:
    async with (
        console(token=TOKEN) as page,
        aiohttp.ClientSession() as stranger,
        stranger.post(page.url, json={"url": NOWHERE}) as reply,
    ):
        assert reply.status == 401
