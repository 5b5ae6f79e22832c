"""Handshake, versions, ping and what is asked too early."""

import json
from typing import Any

import pytest
from tests.matrix.conftest import Connect
from tests.matrix.wires import CAPABILITIES, CLIENT_INFO, LEGACY, MODERN, VERSION, HttpWire, SessionWire, Wire

METHOD_NOT_FOUND, INVALID_PARAMS, INVALID_REQUEST, UNSUPPORTED = -32601, -32602, -32600, -32022


def expected_status(wire: Wire, code: int) -> int | None:
    """The HTTP status that an error of a well-formed request travels with."""
    if wire.lasting:
        return None
    if not wire.modern:
        return 400 if code == INVALID_REQUEST else 200
    return {METHOD_NOT_FOUND: 404, -32603: 200}.get(code, 400)


def handshake(version: Any) -> dict[str, Any]:
    return {"protocolVersion": version, "capabilities": {}, "clientInfo": CLIENT_INFO}


@pytest.mark.promise("Handshake", "A supported version is answered with itself.")
@pytest.mark.promise("Transports", "All five revisions are served on stdio, HTTP and WebSocket.")
async def test_a_handshake_answers_the_version_it_was_asked_for(connect: Connect) -> None:
    wire = await connect(shake=False)
    if wire.modern:
        answer = await wire.request("server/discover")
        assert answer.result["supportedVersions"] == [MODERN]
        assert answer.result["resultType"] == "complete"
        assert answer.result["instructions"] == "Ask away."
        info = answer.result["_meta"]["io.modelcontextprotocol/serverInfo"]
    else:
        answer = await wire.shake_hands()
        assert answer.result["protocolVersion"] == wire.revision
        assert answer.result["instructions"] == "Ask away."
        info = answer.result["serverInfo"]
    assert info == {"name": "subject", "version": "1.0", "title": "Subject"}


@pytest.mark.promise("Handshake", "A capability is advertised only if its methods work.")
async def test_capabilities_are_those_that_the_revision_and_the_wire_can_keep(connect: Connect) -> None:
    wire = await connect()
    if wire.modern:
        found = (await wire.request("server/discover")).result["capabilities"]
    else:
        found = wire.initialized["capabilities"]
    # Without a session nobody can be told of a change later on.
    tells = wire.transport != "http" or wire.modern
    expected: dict[str, Any] = {
        "tools": {"listChanged": tells},
        "prompts": {"listChanged": tells},
        "resources": {"listChanged": tells, **({"subscribe": True} if tells else {})},
    }
    if tells:
        expected["logging"] = {}
    if wire.revision >= "2025-03-26":
        expected["completions"] = {}
    assert found == expected


@pytest.mark.promise(
    "Handshake",
    "Any other version in `initialize` is answered with 2025-11-25, the newest version that has a handshake.",
)
@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "", "latest", "2025-11-25 "])
@pytest.mark.parametrize("revision", ["2025-11-25"])
async def test_an_unknown_version_is_answered_with_the_newest_handshake(
    connect: Connect, version: str
) -> None:
    wire = await connect(shake=False)
    answer = await wire.request("initialize", handshake(version))
    assert (answer.result["protocolVersion"], answer.status) == ("2025-11-25", None if wire.lasting else 200)


@pytest.mark.promise("Handshake", "`initialize` without a version is malformed (-32602).")
@pytest.mark.parametrize("params", [None, {}, {"protocolVersion": 5}, {"protocolVersion": None}])
@pytest.mark.parametrize("revision", ["2025-06-18"])
async def test_a_handshake_without_a_version_is_refused(connect: Connect, params: Any) -> None:
    wire = await connect(shake=False)
    answer = await wire.request("initialize", params)
    assert (answer.code, answer.status) == (INVALID_PARAMS, None if wire.lasting else 200)
    if isinstance(wire, SessionWire):
        assert "mcp-session-id" not in answer.post.head.result().headers


@pytest.mark.promise(
    "Handshake",
    "A modern request with an unknown version gets error -32022 with HTTP status 400, and a list of the versions that exist.",
)
@pytest.mark.parametrize("version", ["1999-01-01", "2025-11-25", ""])
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_modern_request_of_an_unknown_version_hears_which_are_known(
    connect: Connect, version: str
) -> None:
    wire = await connect()
    message = wire.message("tools/list")
    message["params"]["_meta"][VERSION] = version
    headers = [("MCP-Protocol-Version", version), ("Mcp-Method", "tools/list")]
    wire.remember(message)
    post = await wire.raw(json.dumps(message).encode(), headers)
    reply = await wire.reply_to(message["id"])
    assert reply["error"]["code"] == UNSUPPORTED
    assert reply["error"]["data"] == {"supported": [MODERN], "requested": version}
    assert await post.status() == (None if wire.lasting else 400)


BAD_META = [
    pytest.param({VERSION: MODERN}, id="no-capabilities"),
    pytest.param({VERSION: MODERN, CAPABILITIES: []}, id="capabilities-array"),
    pytest.param({VERSION: 5, CAPABILITIES: {}}, id="version-number"),
    pytest.param({VERSION: None, CAPABILITIES: {}}, id="version-null"),
    pytest.param({VERSION: MODERN, CAPABILITIES: {}, "progressToken": 1.5}, id="token-fraction"),
    pytest.param({VERSION: MODERN, CAPABILITIES: {}, "progressToken": True}, id="token-bool"),
    pytest.param(
        {VERSION: MODERN, CAPABILITIES: {}, "io.modelcontextprotocol/logLevel": "loud"}, id="log-level"
    ),
]


@pytest.mark.parametrize("meta", BAD_META)
@pytest.mark.parametrize("revision", [MODERN])
async def test_a_modern_request_with_a_broken_envelope_is_refused(
    connect: Connect, meta: dict[str, Any]
) -> None:
    wire = await connect()
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    answer = await wire.answer(message)
    assert (answer.code, answer.status) == (INVALID_PARAMS, None if wire.lasting else 400)


@pytest.mark.promise(
    "Handshake",
    "Unknown members, missing capabilities or a missing client name never make `initialize` fail.",
)
async def test_a_client_need_not_say_who_it_is(connect: Connect) -> None:
    wire = await connect(shake=False)
    if wire.modern:
        assert "tools" in (await wire.request("tools/list")).result
    else:
        params = {"protocolVersion": wire.revision, "capabilities": {}}
        assert (await wire.request("initialize", params)).result["protocolVersion"] == wire.revision


@pytest.mark.promise("Messages", "`ping` is answered with an empty object.")
async def test_a_ping_is_answered_with_exactly_nothing(connect: Connect) -> None:
    wire = await connect(shake=False)
    if wire.modern:
        answer = await wire.request("ping")
        assert (answer.code, answer.status) == (METHOD_NOT_FOUND, None if wire.lasting else 404)
        return
    assert (await wire.request("ping")).result == {}  # before the handshake
    await wire.shake_hands()
    assert (await wire.request("ping")).result == {}
    assert (await wire.request("ping", {"_meta": {"note": 1}})).result == {}


REMOVED = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"]
ADDED = ["server/discover", "subscriptions/listen"]
UNKNOWN = ["nope", "", "tools/List", "tools/list ", "notifications/initialized", "tasks/get", "rpc.discover"]


@pytest.mark.promise("Errors", "An unknown method is error -32601.")
async def test_a_method_of_no_or_another_revision_is_not_found(connect: Connect) -> None:
    wire = await connect()
    for method in (REMOVED if wire.modern else ADDED) + UNKNOWN:
        if not wire.lasting and wire.modern and method != method.strip():
            continue  # a header cannot say it: white space around its value does not count
        answer = await wire.request(method)
        assert (method, answer.code) == (method, METHOD_NOT_FOUND)
        assert answer.status == expected_status(wire, METHOD_NOT_FOUND)
        assert set(answer.error) == {"code", "message"}


@pytest.mark.promise(
    "Handshake", "A legacy call before `initialize` is refused on connections that last: stdio and WebSocket."
)
async def test_what_is_asked_before_the_handshake_is_refused_where_a_connection_lasts(
    connect: Connect,
) -> None:
    wire = await connect(shake=False)
    if wire.modern:
        assert (await wire.request("tools/list")).result["tools"]  # every request stands alone
        return
    early = await wire.request("tools/list")
    unknown = await wire.request("nope")
    assert unknown.code == METHOD_NOT_FOUND
    if wire.lasting:
        assert early.code == INVALID_PARAMS
        assert (await wire.request("server/discover")).code == METHOD_NOT_FOUND
    else:
        assert early.result["tools"]
    assert (await wire.request("ping")).result == {}
    await wire.shake_hands()
    assert (await wire.request("tools/list")).result["tools"]


@pytest.mark.promise("Handshake", "A client need not wait between `initialize` and its first requests.")
async def test_requests_may_follow_the_handshake_without_waiting_for_the_notification(
    connect: Connect,
) -> None:
    wire = await connect(shake=False)
    if not wire.modern:
        await wire.request("initialize", handshake(wire.revision))
        if isinstance(wire, SessionWire):
            return  # the session's id is in the answer, so nothing can overtake it
    assert (await wire.call("echo", {"text": "early"})).text == "early"


@pytest.mark.promise("Handshake", "A second `initialize` on the same connection or session is refused.")
async def test_a_second_handshake_is_refused_on_the_same_connection_or_session(connect: Connect) -> None:
    wire = await connect()
    answer = await wire.request("initialize", handshake(wire.revision))
    if wire.modern:
        assert (answer.code, answer.status) == (METHOD_NOT_FOUND, None if wire.lasting else 404)
    elif wire.transport == "http":
        assert answer.result["protocolVersion"] == wire.revision  # every request stands alone
    else:
        assert (answer.code, answer.status) == (INVALID_REQUEST, None if wire.lasting else 400)
        assert (await wire.call("echo", {"text": "still here"})).text == "still here"


@pytest.mark.promise("Transports", "Both eras of MCP can share one connection.")
async def test_both_eras_can_share_a_wire(connect: Connect) -> None:
    wire = await connect()
    if wire.modern:
        if wire.lasting:
            params = handshake("2025-06-18")
            wire.revision, wire.modern = "2025-06-18", False
            assert (await wire.request("initialize", params)).result["protocolVersion"] == "2025-06-18"
            assert "resultType" not in (await wire.request("tools/list")).result
        return
    legacy = wire.revision
    wire.revision, wire.modern = MODERN, True
    if isinstance(wire, HttpWire):
        answer = await wire.request("tools/list")  # with the session's id: it does not count here
        assert "mcp-session-id" not in answer.post.head.result().headers
    else:
        answer = await wire.request("tools/list")
    assert answer.result["resultType"] == "complete"
    wire.revision, wire.modern = legacy, False
    assert "resultType" not in (await wire.request("tools/list")).result


@pytest.mark.parametrize("transport", ["http", "sessions"])
async def test_the_first_answer_decides_nothing_about_a_legacy_request_without_a_header(
    connect: Connect, revision: str
) -> None:
    """Without header and session a request counts as 2025-03-26, whatever another one said."""
    wire = await connect()
    assert isinstance(wire, HttpWire)
    body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"gives_link"}}'
    reply, data = await wire.ask("POST", [("Content-Type", "application/json")], body)
    assert (reply.status, reply.media_type) == (200, "application/json")
    assert b'"text":"Fixed note: note://fixed"' in data


@pytest.mark.promise("Transports", "An unsupported version in the HTTP header is answered with status 400.")
@pytest.mark.parametrize("transport", ["http", "sessions"])
@pytest.mark.parametrize("version", ["2025-1-1", "2024-10-07", "draft", ""])
@pytest.mark.parametrize("revision", ["2025-06-18"])
async def test_an_unknown_version_header_is_a_bad_request(connect: Connect, version: str) -> None:
    wire = await connect()
    assert isinstance(wire, HttpWire)
    headers = [("Content-Type", "application/json"), ("MCP-Protocol-Version", version)]
    if wire.session_id is not None:
        headers.append(("Mcp-Session-Id", wire.session_id))
    for body in (
        b'{"jsonrpc":"2.0","id":1,"method":"ping"}',
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
    ):
        reply, _ = await wire.ask("POST", headers, body)
        assert reply.status == 400


@pytest.mark.parametrize("revision", LEGACY)
async def test_a_version_header_does_not_matter_to_a_handshake(connect: Connect) -> None:
    wire = await connect(shake=False)
    for version in ("2025-11-25", MODERN, "nonsense"):
        if isinstance(wire, HttpWire):
            answer = await wire.request(
                "initialize", handshake(wire.revision), headers=[("MCP-Protocol-Version", version)]
            )
            assert answer.result["protocolVersion"] == wire.revision
