"""Servers that answer HTTP in odd ways, and the workshop's server, through the real command."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from tests.audit.seeds import workshop
from tests.audit.seeds.dialogue import named
from tests.bridge.cases import failed, good
from tests.bridge.fronts import Stdio, call, opening, request, stdio, without_marks
from tests.bridge.scripts import Http, Saying, Script, compact, serving, text, tool
from tests.bridge.standins import SECONDS, Loop, StandIn, http, standing_in

BUSY = Http(429, b'{"jsonrpc":"2.0","error":{"code":429,"message":"Rate limit exceeded"}}')
READS = [
    tool("reads", annotations={"readOnlyHint": True}),
    tool("idempotent", annotations={"idempotentHint": True}),
    tool("writes"),
]


def busy_once(method: str) -> Script:
    """A server that refuses the first request of a method, or call of a tool."""
    refused: list[str] = []

    def answer(message: Any) -> Saying:
        params = message.get("params") or {}
        if method in (message.get("method"), params.get("name")) and not refused:
            refused.append(method)
            return (BUSY,)
        says = {entry["name"]: [text("ok")] for entry in READS}
        return serving(says, entries=READS)(message)

    return answer


@pytest.mark.promise(
    "Bridge", "Only what is safe to repeat is repeated; another call that is refused fails with the reason."
)
def test_a_call_that_may_write_and_meets_a_rate_limit_is_not_repeated(loop: Loop) -> None:
    with standing_in(loop, http(), busy_once("writes")) as server, stdio(*server.target) as front:
        answer = without_marks(call(front, "writes"))
        assert answer == {"jsonrpc": "2.0", "id": answer["id"], **failed("Rate limit exceeded")}
        assert len(server.calls("writes")) == 1
        assert call(front, "writes")["result"] == good("ok")["result"]


@pytest.mark.parametrize("name", ["reads", "idempotent"])
def test_a_call_that_may_be_repeated_and_meets_a_rate_limit_is_repeated(loop: Loop, name: str) -> None:
    with standing_in(loop, http(), busy_once(name)) as server, stdio(*server.target) as front:
        assert call(front, name)["result"] == good("ok")["result"]
        assert len(server.calls(name)) == 2


NOTICES = {
    "202": Http(202),
    "204": Http(204),
    "200-empty": Http(200),
    "200-body": Http(200, b'{"jsonrpc":"2.0","id":null,"result":{}}'),
    "200-error": Http(200, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}'),
    "400": Http(400, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32601,"message":"no"}}'),
}


@pytest.mark.parametrize("notice", NOTICES)
def test_a_notification_counts_as_delivered_whatever_the_status(loop: Loop, notice: str) -> None:
    script = serving({"answers": [text("ok")]})
    with (
        standing_in(loop, http(notice=NOTICES[notice]), script) as server,
        stdio(*server.target) as front,
    ):
        front.send({"jsonrpc": "2.0", "method": "notifications/odd"})
        server.wait_for(lambda: bool(server.messages("notifications/odd")))
        assert call(front, "answers")["result"] == good("ok")["result"]
        assert [sorted(one) for one in front.messages] == [["id", "jsonrpc", "result"]] * 2
        assert server.methods().count("initialize") == 1


def workshop_script(message: Any) -> Saying:
    reply = workshop.NOW.reply(*named(message), message)
    return (Http(reply.status, reply.body.encode()),)


@pytest.fixture(scope="module")
def workshop_server(loop: Loop) -> Iterator[StandIn]:
    with standing_in(loop, http(path="/message"), workshop_script) as found:
        yield found


@pytest.fixture(scope="module")
def workshop_client(workshop_server: StandIn) -> Iterator[Stdio]:
    with stdio(*workshop_server.target) as front:
        yield front


@pytest.mark.promise("Bridge", "A server without a handshake can be used: the bridge shakes hands for it.")
def test_a_server_without_a_handshake_gets_one(workshop_client: Stdio, workshop_server: StandIn) -> None:
    told = workshop_client.handshake["result"]
    assert told["protocolVersion"] == "2025-06-18"
    # It declares results: a schema that one of them contradicts would leave the list.
    assert told["capabilities"] == {"tools": {"listChanged": True}}
    assert sorted(told["serverInfo"]) == ["name", "version"]
    assert workshop_server.target[0].endswith("/message")


def test_the_lists_and_results_of_the_workshop_lose_their_null_members(
    workshop_client: Stdio, workshop_server: StandIn
) -> None:
    listed = workshop_client.ask("tools/list", {})
    assert sorted(listed) == ["id", "jsonrpc", "result"]
    said = json.loads(workshop.NOW.says["tools/list"].body.replace("$ID", "1"))["result"]
    assert without_marks(listed)["result"] == said
    answer = call(workshop_client, "get_weather_forecast", {"location": "Oslo"})
    assert sorted(answer) == ["id", "jsonrpc", "result"]
    weather = {"degrees": 7}
    assert without_marks(answer)["result"] == good(json.dumps(weather, indent=2), weather)["result"]
    (sent,) = workshop_server.calls("get_weather_forecast")
    assert sent["params"] == {"name": "get_weather_forecast", "arguments": {"location": "Oslo"}}


def test_a_failure_of_the_workshop_says_what_failed(workshop_client: Stdio) -> None:
    answer = without_marks(call(workshop_client, "get_random_fact"))
    assert answer["result"]["isError"] is True
    (block,) = answer["result"]["content"]
    assert "OpenWeather API-nøkkel mangler" in block["text"]


def test_methods_that_the_workshop_does_not_know(workshop_client: Stdio) -> None:
    assert workshop_client.ask("ping")["result"] == {}
    refused = workshop_client.ask("resources/list", {})
    assert refused["error"] == {"code": -32601, "message": "Method not found"}
    unknown = call(workshop_client, "nope")
    assert unknown["error"] == {"code": -32602, "message": "Unknown tool: nope"}


@pytest.mark.promise(
    "Bridge", "A 401 is told with its challenge, the options for a token, and the way to sign in."
)
def test_a_server_that_wants_a_sign_in_is_told_with_the_way_through(loop: Loop) -> None:
    challenge = 'Bearer resource_metadata="http://127.0.0.1/.well-known/oauth-protected-resource"'
    closed = Http(401, b"", {"www-authenticate": challenge})
    with (
        standing_in(loop, http(), lambda message: (closed,)) as server,
        stdio(*server.target, hello=False) as front,
    ):
        front.send(request(1, "initialize", opening()))
        said = front.answer(1)["error"]["message"]
        for part in (server.target[0], "401", challenge, "--server-token-file", "npx mcp-remote"):
            assert part in said
        assert front.process.wait(SECONDS) == 3
        assert len(server.messages("initialize")) == 1


def test_a_handshake_without_members_is_completed(loop: Loop) -> None:
    script = serving({"answers": [text("ok")]}, handshake={"protocolVersion": "2025-06-18"})
    with standing_in(loop, http(), script) as server, stdio(*server.target) as front:
        told = without_marks(front.handshake)["result"]
        assert told["capabilities"] == {"tools": {}}
        assert sorted(told["serverInfo"]) == ["name", "version"]
        assert call(front, "answers")["result"] == good("ok")["result"]


def test_headers_say_the_revision_of_the_connection_behind(loop: Loop) -> None:
    with (
        standing_in(loop, http(), serving({"answers": [text("ok")]})) as server,
        stdio(*server.target, hello=False) as front,
    ):
        front.shake_hands("2026-07-28")
        call(front, "answers")
        (sent,) = (one.headers for one in server.heard if one.method == "tools/call")
        assert sent["mcp-protocol-version"] == "2025-11-25"
        assert sent["accept"] == "application/json, text/event-stream"


def test_a_token_is_not_sent_to_another_host_by_a_redirect(loop: Loop) -> None:
    script = serving({"answers": [text("ok")]})
    with standing_in(loop, http(), script) as elsewhere:
        away = Http(307, b"", {"location": elsewhere.target[0]})
        with (
            standing_in(loop, http(), lambda message: (away,)) as server,
            stdio(
                "--repair",
                "all",
                "--start-timeout",
                "0.5",
                *server.target,
                env={"QORTAL_MCP_SERVER_TOKEN": "a-token-nobody-guesses"},
                hello=False,
            ) as front,
        ):
            refused = front.ask("initialize", opening())
            assert refused["error"]["code"] == -32603
            assert elsewhere.heard == []
            assert "a-token-nobody-guesses" not in compact(refused) + front.err
