"""What only HTTP shows: media types, statuses, mirrored headers, and who may ask at all."""

import json
from typing import Any

import pytest
from tests.matrix import rawhttp
from tests.matrix.conftest import Connect
from tests.matrix.processes import Child, Zygote
from tests.matrix.wires import BOTH_TYPES, CAPABILITIES, MODERN, VERSION, HttpWire, SessionWire

JSON = ("Content-Type", "application/json")
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
LIST = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
HEADER_MISMATCH = -32020

only_http = pytest.mark.parametrize("transport", ["http", "sessions"])
only_plain = pytest.mark.parametrize("transport", ["http"])
any_legacy = pytest.mark.parametrize("revision", ["2025-06-18"])
both_eras = pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
only_modern = pytest.mark.parametrize("revision", [MODERN])


async def http(connect: Connect, **more: Any) -> HttpWire:
    wire = await connect(**more)
    assert isinstance(wire, HttpWire)
    return wire


ACCEPTED = [
    pytest.param(None, "application/json", id="none"),
    pytest.param("application/json", "application/json", id="json"),
    pytest.param(BOTH_TYPES, "application/json", id="both"),
    pytest.param("text/event-stream, application/json", "application/json", id="both-turned"),
    pytest.param("*/*", "application/json", id="anything"),
    pytest.param("application/*", "application/json", id="any-application"),
    pytest.param("APPLICATION/JSON;q=0.5", "application/json", id="weighted"),
    pytest.param("text/event-stream", "text/event-stream", id="events"),
    pytest.param("text/*", "text/event-stream", id="any-text"),
    pytest.param("application/json;q=0, text/event-stream", "text/event-stream", id="no-json"),
]


@pytest.mark.promise(
    "Transports", "An answer has the form that the client accepts: JSON, or a stream of events."
)
@pytest.mark.parametrize(("accept", "media_type"), ACCEPTED)
@only_http
@both_eras
async def test_an_answer_has_the_form_that_the_client_takes(
    connect: Connect, accept: str | None, media_type: str
) -> None:
    wire = await http(connect)
    message = wire.message("tools/list")
    headers = [JSON, *wire.headers_of(message)] + ([] if accept is None else [("Accept", accept)])
    reply, body = await wire.ask("POST", headers, json.dumps(message).encode())
    assert (reply.status, reply.media_type) == (200, media_type)
    if media_type == "text/event-stream":
        assert body.startswith(b"event: message\ndata: {")
        assert body.endswith(b"}\n\n")
        assert reply.headers["cache-control"].startswith("no-cache")


@pytest.mark.parametrize(
    "accept", ["text/html", "image/*, text/plain", "", "application/json;q=0", "nonsense"]
)
@only_http
@both_eras
async def test_a_client_that_takes_neither_form_hears_so(connect: Connect, accept: str) -> None:
    wire = await http(connect)
    message = wire.message("tools/list")
    headers = [JSON, ("Accept", accept), *wire.headers_of(message)]
    reply, body = await wire.ask("POST", headers, json.dumps(message).encode())
    assert (reply.status, json.loads(body)["error"]["code"]) == (406, -32600)


@pytest.mark.parametrize("transport", ["http", "sessions"])
async def test_progress_turns_the_answer_into_events_where_the_client_takes_them(connect: Connect) -> None:
    wire = await http(connect)
    answer = await wire.call("steps", meta={"progressToken": 1})
    head = answer.post.head.result()
    assert (head.status, head.media_type, len(answer.before)) == (200, "text/event-stream", 3)
    assert head.headers["x-accel-buffering"] == "no"
    if wire.modern or wire.session_id is None:
        assert answer.post.event_ids == []  # nothing could be resumed
    wire.accept = "application/json"
    answer = await wire.call("steps", meta={"progressToken": 1})
    assert (answer.post.head.result().media_type, answer.before) == ("application/json", [])


CONTENT_TYPES = [
    ("application/json", 200),
    ("Application/JSON; charset=utf-8", 200),
    ("application/json;", 200),
    (None, 415),
    ("text/plain", 415),
    ("application/x-www-form-urlencoded", 415),
    ("application/jsonx", 415),
    ("application/json-rpc", 415),
]


@pytest.mark.parametrize(("content_type", "status"), CONTENT_TYPES)
@only_http
@any_legacy
async def test_only_json_is_taken(connect: Connect, content_type: str | None, status: int) -> None:
    wire = await http(connect)
    headers = [] if content_type is None else [("Content-Type", content_type)]
    reply, _ = await wire.ask("POST", headers, PING)
    assert reply.status == status


@only_http
@any_legacy
async def test_a_compressed_body_is_refused(connect: Connect) -> None:
    wire = await http(connect)
    reply, _ = await wire.ask("POST", [JSON, ("Content-Encoding", "gzip")], PING)
    assert reply.status == 415


@pytest.mark.promise("Transports", "A bare `curl` with only a content type gets JSON with every field.")
@only_http
@any_legacy
async def test_a_bare_curl_gets_json_and_every_field(connect: Connect) -> None:
    wire = await http(connect)
    reply, body = await wire.ask("POST", [JSON], LIST)
    assert (reply.status, reply.media_type) == (200, "application/json")
    assert json.loads(body)["result"]["tools"][0]["outputSchema"]["type"] == "object"


@pytest.mark.promise(
    "Transports", "`POST /mcp` takes every method, and other HTTP methods are answered with 405."
)
@only_http
@any_legacy
async def test_other_http_methods_are_refused_and_the_right_ones_named(connect: Connect) -> None:
    wire = await http(connect)
    with_sessions = isinstance(wire, SessionWire)
    for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD"):
        reply, _ = await rawhttp_head(wire.port, method, "/mcp", [("MCP-Protocol-Version", MODERN)])
        assert reply.status == 405
        allowed = reply.headers["allow"].split(", ")
        assert allowed == (["POST", "GET", "DELETE", "OPTIONS"] if with_sessions else ["POST", "OPTIONS"])
    if not with_sessions:
        reply, _ = await wire.ask("GET", [("Accept", "text/event-stream")])
        assert reply.status == 405


@pytest.mark.promise(
    "Transports", "There are no REST routes and no OAuth: those paths, like any unknown path, are 404."
)
@only_http
@any_legacy
async def test_an_unknown_path_is_not_found(connect: Connect) -> None:
    wire = await http(connect)
    for path in ("/", "/mcp//", "/MCP", "/sse", "/.well-known/oauth-protected-resource"):
        for method in ("GET", "POST", "OPTIONS"):
            reply, _ = await wire.ask(method, [JSON], PING if method == "POST" else b"", path)
            assert (path, reply.status) == (path, 404)
            assert reply.headers["x-request-id"]
    for path in ("/mcp?x=1", "/mcp/", "/mcp/?x=1"):
        reply, _ = await wire.ask("POST", [JSON], PING, path)
        assert (path, reply.status) == (path, 200)


@pytest.mark.promise("Operations", "Every HTTP reply carries an `X-Request-ID`.")
@only_plain
@any_legacy
async def test_every_reply_has_an_id_of_its_own(connect: Connect) -> None:
    wire = await http(connect)
    found = set()
    for method, path, body in (
        ("POST", "/mcp", PING),
        ("POST", "/mcp", b"rubbish"),
        ("GET", "/mcp", b""),
        ("GET", "/nope", b""),
        ("GET", "/healthz", b""),
        ("OPTIONS", "/mcp", b""),
    ):
        reply, _ = await wire.ask(method, [JSON], body, path)
        found.add(reply.headers["x-request-id"])
    reply, _ = await rawhttp.ask(wire.port, "GET", "/mcp", host="evil.example")
    found.add(reply.headers["x-request-id"])
    assert len(found) == 7


@only_plain
@any_legacy
async def test_operator_pages_answer_get_and_head_alone(connect: Connect) -> None:
    wire = await http(connect)
    for method, status in (("GET", 200), ("HEAD", 200), ("POST", 405), ("DELETE", 405), ("OPTIONS", 204)):
        reply, _ = await rawhttp_head(wire.port, method, "/metrics")
        assert (method, reply.status) == (method, status)
    reply, body = await wire.ask("GET", path="/metrics")
    assert b"mcp_server_operation_duration_seconds_bucket" in body


async def rawhttp_head(
    port: int, method: str, path: str, headers: rawhttp.Headers = ()
) -> tuple[rawhttp.Reply, bytes]:
    """As `ask`, but a reply to HEAD has a length and no body."""
    async with await rawhttp.Client.open(port) as client:
        await client.send(rawhttp.request_bytes(method, path, [*headers, ("Connection", "close")]))
        reply = await client.reply()
        return reply, await client.reader.read()


@pytest.mark.promise(
    "Limits and abuse", "A message that is too large is refused without being kept, and the server goes on."
)
@only_http
@any_legacy
async def test_a_body_over_the_limit_is_refused_however_it_is_sent(connect: Connect) -> None:
    wire = await http(connect, limits={"message_bytes": 1000})
    large = PING + b" " * 1000
    reply, body = await wire.ask("POST", [JSON], large)
    assert (reply.status, json.loads(body)["error"]["code"]) == (413, -32600)
    chunked = [JSON, ("Transfer-Encoding", "chunked"), ("Connection", "close")]
    head = rawhttp.request_bytes("GET", "/mcp", chunked).replace(b"GET", b"POST", 1)
    async with await rawhttp.Client.open(wire.port) as client:
        await client.send(head + b"".join(b"64\r\n" + b" " * 100 + b"\r\n" for _ in range(11)))
        assert (await client.reply()).status == 413
    fits = PING + b" " * (1000 - len(PING))
    reply, _ = await wire.ask("POST", [JSON], fits)
    assert reply.status == 200


def modern_call(name: str, **arguments: Any) -> bytes:
    meta = {VERSION: MODERN, CAPABILITIES: {}}
    params = {"name": name, "arguments": arguments, "_meta": meta}
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()


GOOD = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "region"}
REGION = {**GOOD, "Mcp-Param-Region": "north"}
# Headers, arguments, and whether they agree.
MIRRORED = [
    pytest.param(REGION, {"region": "north"}, True, id="agree"),
    pytest.param({k.lower(): v for k, v in REGION.items()}, {"region": "north"}, True, id="lower-case-names"),
    pytest.param({**REGION, "Mcp-Method": " tools/call\t"}, {"region": "north"}, True, id="white-space"),
    pytest.param({**REGION, "Mcp-Name": "=?base64?cmVnaW9u?="}, {"region": "north"}, True, id="base64-name"),
    pytest.param({**REGION, "Mcp-Param-Region": "=?base64?w7g=?="}, {"region": "ø"}, True, id="base64-param"),
    pytest.param({**GOOD, "Mcp-Param-Region": ""}, {"region": ""}, True, id="empty-param"),
    pytest.param({**REGION, "Mcp-Param-Count": "5"}, {"region": "north", "count": 5}, True, id="integer"),
    pytest.param(
        {**REGION, "Mcp-Param-Count": "5.0"}, {"region": "north", "count": 5}, True, id="integer-dot"
    ),
    pytest.param({**REGION, "Mcp-Param-Other": "x"}, {"region": "north"}, True, id="unknown-param"),
    pytest.param(
        {**REGION, "Mcp-Param-Count": "6"}, {"region": "north", "count": 5}, False, id="integer-other"
    ),
    pytest.param(
        {**REGION, "Mcp-Param-Count": "1_0"}, {"region": "north", "count": 10}, False, id="integer-odd"
    ),
    pytest.param(
        {**REGION, "Mcp-Param-Count": "nan"}, {"region": "north", "count": 5}, False, id="integer-nan"
    ),
    pytest.param({**REGION, "Mcp-Param-Count": "5"}, {"region": "north"}, False, id="param-without-argument"),
    pytest.param(GOOD, {"region": "north"}, False, id="param-missing"),
    pytest.param({**GOOD, "Mcp-Param-Region": "North"}, {"region": "north"}, False, id="param-case"),
    pytest.param({**REGION, "Mcp-Param-Region": "=?base64?w7g?="}, {"region": "ø"}, False, id="bad-padding"),
    pytest.param(
        {**REGION, "Mcp-Param-Region": "=?base64?w7h=?="}, {"region": "ø"}, False, id="not-canonical"
    ),
    pytest.param({**REGION, "Mcp-Param-Region": "ø"}, {"region": "ø"}, False, id="not-ascii"),
    pytest.param({**REGION, "Mcp-Method": "TOOLS/CALL"}, {"region": "north"}, False, id="method-case"),
    pytest.param({**REGION, "Mcp-Method": "tools/list"}, {"region": "north"}, False, id="method-other"),
    pytest.param({**REGION, "Mcp-Name": "echo"}, {"region": "north"}, False, id="name-other"),
    pytest.param({**REGION, "MCP-Protocol-Version": "2025-11-25"}, {"region": "north"}, False, id="version"),
    pytest.param(
        {**REGION, "MCP-Protocol-Version": "v999"}, {"region": "north"}, False, id="version-unknown"
    ),
] + [
    pytest.param({k: v for k, v in REGION.items() if k != gone}, {"region": "north"}, False, id=f"no-{gone}")
    for gone in GOOD
]


@pytest.mark.promise("Transports", "The headers of a modern request must agree with its body.")
@pytest.mark.parametrize(("headers", "arguments", "agree"), MIRRORED)
@only_http
@only_modern
async def test_mirrored_headers_must_agree_with_the_body(
    connect: Connect, headers: dict[str, str], arguments: dict[str, Any], agree: bool
) -> None:
    wire = await http(connect)
    sent = [JSON, ("Accept", BOTH_TYPES), *headers.items()]
    reply, body = await wire.ask("POST", sent, modern_call("region", **arguments))
    answer = json.loads(body)
    if agree:
        assert (reply.status, answer["result"]["isError"]) == (200, False)
    else:
        assert (reply.status, answer["error"]["code"], answer["id"]) == (400, HEADER_MISMATCH, 1)


@pytest.mark.parametrize("twice", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Mcp-Param-Region"])
@only_plain
@only_modern
async def test_a_mirrored_header_stands_once(connect: Connect, twice: str) -> None:
    wire = await http(connect)
    sent = [JSON, *REGION.items(), (twice, REGION[twice])]
    reply, body = await wire.ask("POST", sent, modern_call("region", region="north"))
    assert (reply.status, json.loads(body)["error"]["code"]) == (400, HEADER_MISMATCH)


@only_http
@any_legacy
async def test_mirrored_headers_mean_nothing_to_a_legacy_request(connect: Connect) -> None:
    wire = await http(connect)
    headers = [("Mcp-Method", "nonsense"), ("Mcp-Name", "=?base64?!?="), ("Mcp-Param-Region", "x")]
    assert (await wire.call("region", {"region": "north"}, headers=headers)).text == "north 0"


@only_http
@only_modern
async def test_a_modern_header_over_a_body_without_the_envelope_is_refused(connect: Connect) -> None:
    wire = await http(connect)
    reply, body = await wire.ask("POST", [JSON, ("MCP-Protocol-Version", MODERN)], LIST)
    assert (reply.status, json.loads(body)["error"]["code"]) == (400, -32602)


@only_http
@only_modern
async def test_session_and_event_ids_mean_nothing_to_a_modern_request(connect: Connect) -> None:
    wire = await http(connect)
    headers = [("Mcp-Session-Id", "unknown"), ("Last-Event-ID", "g-1")]
    answer = await wire.request("tools/list", headers=headers)
    assert answer.status == 200
    assert "mcp-session-id" not in answer.post.head.result().headers


OWN = "127.0.0.1:{port}"
# Host, Origin, and the status that every route answers with; None where it passes.
DOORS = [
    pytest.param("127.0.0.1", None, None, id="loopback"),
    pytest.param(OWN, None, None, id="loopback-port"),
    pytest.param("localhost", None, None, id="localhost"),
    pytest.param("LOCALHOST:1", None, None, id="localhost-upper-case"),
    pytest.param("[::1]:80", None, None, id="loopback-6"),
    pytest.param("allowed.example", None, None, id="allowed-host"),
    pytest.param("allowed.example:99", None, None, id="allowed-host-any-port"),
    pytest.param("evil.example", None, 421, id="other-host"),
    pytest.param("localhost.evil.example", None, 421, id="host-that-begins-well"),
    pytest.param("evil.example:80", "http://evil.example:80", 421, id="rebound"),
    pytest.param("[::2]", None, 421, id="other-address"),
    pytest.param("", None, 400, id="empty-host"),
    pytest.param(None, None, 400, id="no-host"),
    pytest.param(OWN, "http://127.0.0.1:{port}", None, id="own-origin"),
    pytest.param(OWN, "https://app.example", None, id="allowed-origin"),
    pytest.param(OWN, "HTTPS://APP.EXAMPLE", None, id="allowed-origin-upper-case"),
    pytest.param(OWN, "http://app.example", 403, id="other-scheme"),
    pytest.param(OWN, "https://app.example:444", 403, id="other-port"),
    pytest.param(OWN, "https://app.example.evil", 403, id="origin-that-begins-well"),
    pytest.param(OWN, "http://127.0.0.1:1", 403, id="other-local-port"),
    pytest.param(OWN, "null", 403, id="null-origin"),
    pytest.param(OWN, "", 403, id="empty-origin"),
    pytest.param(OWN, "http://[", 403, id="broken-origin"),
    pytest.param(OWN, "file://127.0.0.1:{port}", 403, id="file-origin"),
]
GUARD = {"hosts": ["allowed.example"], "origins": ["https://app.example/"]}
UPGRADE = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ("Sec-WebSocket-Protocol", "mcp"),
]
ROUTES = [
    ("POST", "/mcp", PING, 200),
    ("OPTIONS", "/mcp", b"", 204),
    ("GET", "/healthz", b"", 200),
    ("GET", "/metrics", b"", 200),
    ("GET", "/nope", b"", 404),
    ("GET", "/ws", b"", 101),
]


@pytest.fixture(scope="module")
def guarded(zygote: Zygote) -> Any:
    child = zygote.http(guard=GUARD)
    yield child
    child.close()


@pytest.fixture(scope="module")
def locked(zygote: Zygote) -> Any:
    child = zygote.http(guard={**GUARD, "token": "s3cret"}, sessions=True)
    yield child
    child.close()


async def knock(
    child: Child, method: str, path: str, body: bytes, headers: list[tuple[str, str]], host: str | None
) -> rawhttp.Reply:
    """A request's status and headers; for an upgrade that succeeds, too."""
    kind = UPGRADE if path == "/ws" else [JSON, ("Connection", "close")]
    async with await rawhttp.Client.open(child.port) as client:
        await client.send(rawhttp.request_bytes(method, path, [*kind, *headers], body, host=host))
        return await client.reply()


@pytest.mark.promise(
    "Access", "A foreign Host or Origin is refused on every route and on the WebSocket upgrade."
)
@pytest.mark.parametrize(("host", "origin", "status"), DOORS)
async def test_host_and_origin_are_checked_on_every_route(
    guarded: Child, host: str | None, origin: str | None, status: int | None
) -> None:
    headers = [] if origin is None else [("Origin", origin.format(port=guarded.port))]
    where = None if host is None else host.format(port=guarded.port)
    for method, path, body, good in ROUTES:
        reply = await knock(guarded, method, path, body, headers, where)
        assert (path, reply.status) == (path, status or good)
        if path != "/ws":
            # Only a page that may ask may read the answer.
            allowed = reply.headers.get("access-control-allow-origin")
            assert allowed == (dict(headers).get("Origin") if status is None else None)


async def test_two_hosts_are_one_too_many(guarded: Child) -> None:
    reply = await knock(guarded, "POST", "/mcp", PING, [("Host", "127.0.0.1")], "127.0.0.1")
    assert reply.status == 400


TOKENS = [
    pytest.param(None, False, id="none"),
    pytest.param("", False, id="empty"),
    pytest.param("s3cret", False, id="no-scheme"),
    pytest.param("Basic s3cret", False, id="other-scheme"),
    pytest.param("Bearer s3cre", False, id="shorter"),
    pytest.param("Bearer s3crett", False, id="longer"),
    pytest.param("Bearer s3cret", True, id="right"),
]


@pytest.mark.promise(
    "Access", "With a token, only those who send it are served; `/healthz` alone stays open."
)
@pytest.mark.parametrize(("token", "right"), TOKENS)
async def test_the_token_is_asked_for_on_every_route_but_open_ones(
    locked: Child, token: str | None, right: bool
) -> None:
    headers = [] if token is None else [("Authorization", token)]
    for method, path, body, good in ROUTES:
        reply = await knock(locked, method, path, body, headers, "127.0.0.1")
        is_open = method == "OPTIONS" or path == "/healthz"
        assert (path, reply.status) == (path, good if right or is_open else 401)
        if reply.status == 401:
            assert reply.headers["www-authenticate"].startswith("Bearer")


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_a_session_needs_the_token_too(locked: Child, method: str) -> None:
    reply = await knock(locked, method, "/mcp", b"", [("Mcp-Session-Id", "x")], "127.0.0.1")
    assert reply.status == 401


@pytest.mark.promise("Access", "A page of an allowed origin can read why it was refused.")
async def test_an_allowed_page_can_read_that_the_token_is_missing(locked: Child) -> None:
    own = f"http://127.0.0.1:{locked.port}"
    host = f"127.0.0.1:{locked.port}"
    reply = await knock(locked, "POST", "/mcp", PING, [JSON, ("Origin", own)], host)
    assert (reply.status, reply.headers["access-control-allow-origin"]) == (401, own)
    assert "www-authenticate" in reply.headers["access-control-expose-headers"]
    reply = await knock(locked, "POST", "/mcp", PING, [JSON, ("Origin", "https://evil.example")], host)
    assert reply.status == 403
    assert "access-control-allow-origin" not in reply.headers


async def test_a_preflight_allows_what_a_page_must_send(guarded: Child) -> None:
    headers = [
        ("Origin", "https://app.example"),
        ("Access-Control-Request-Method", "POST"),
        ("Access-Control-Request-Headers", "content-type, Mcp-Param-Region, x-other"),
    ]
    reply = await knock(guarded, "OPTIONS", "/mcp", b"", headers, "127.0.0.1")
    assert reply.status == 204
    assert not {"content-length", "transfer-encoding"} & set(reply.headers)
    allowed = reply.headers["access-control-allow-headers"].split(", ")
    assert {"content-type", "authorization", "mcp-session-id", "mcp-method", "mcp-param-region"} <= set(
        allowed
    )
    assert "x-other" not in allowed
    assert "POST" in reply.headers["access-control-allow-methods"]
    assert "mcp-session-id" in reply.headers["access-control-expose-headers"]


@pytest.mark.promise(
    "Transports", "WebSocket speaks MCP at `/ws`, with the subprotocol `mcp` or without one."
)
@pytest.mark.parametrize(
    ("path", "offers", "status"), [("/ws", "mcp", 101), ("/ws", "x, mcp", 101), ("/mcp", "mcp", 404)]
)
async def test_a_websocket_speaks_mcp_at_one_path(
    guarded: Child, path: str, offers: str, status: int
) -> None:
    kind = [pair for pair in UPGRADE if pair[0] != "Sec-WebSocket-Protocol"]
    async with await rawhttp.Client.open(guarded.port) as client:
        heads = [*kind, ("Sec-WebSocket-Protocol", offers)]
        await client.send(rawhttp.request_bytes("GET", path, heads))
        reply = await client.reply()
    assert reply.status == status
    assert reply.headers.get("sec-websocket-protocol") == ("mcp" if status == 101 else None)


@pytest.mark.promise(
    "Transports", "WebSocket speaks MCP at `/ws`, with the subprotocol `mcp` or without one."
)
async def test_a_websocket_without_a_subprotocol_is_welcome(guarded: Child) -> None:
    kind = [pair for pair in UPGRADE if pair[0] != "Sec-WebSocket-Protocol"]
    async with await rawhttp.Client.open(guarded.port) as client:
        await client.send(rawhttp.request_bytes("GET", "/ws", kind))
        reply = await client.reply()
    assert (reply.status, reply.headers.get("sec-websocket-protocol")) == (101, None)
