"""How a bridge meets its client and its server, and how it leaves them. Through the real command."""

import contextlib
import json
import os
import socket
import time
from pathlib import Path

import pytest
from tests.bridge.cases import CALLS, CASES, good
from tests.bridge.fronts import Stateless, call, dropped, opening, request, stdio, without_marks
from tests.bridge.scripts import HANDSHAKE, Json, result, serving, text, tool
from tests.bridge.standins import SECONDS, Loop, StandIn, program, standing_in, websocket
from tests.cli.running import listening, run

from qortal_mcp.limits import DEFAULT

OK = serving({"answers": [text("ok")], "hangs": ()})
TOKEN = "a-token-nobody-guesses"
PASSWORD = "a-password-nobody-guesses"


@pytest.fixture
def server(loop: Loop) -> contextlib.AbstractContextManager[StandIn]:
    return standing_in(loop, websocket(), OK)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.mark.promise(
    "Bridge", "The client gets its own revision or 2025-11-25, never what a server makes up."
)
@pytest.mark.parametrize(
    ("asked", "behind", "answered"),
    [
        pytest.param("2026-07-28", "2025-11-25", "2025-11-25", id="modern"),
        pytest.param("banana", "2025-11-25", "2025-11-25", id="unknown"),
        pytest.param("2025-03-26", "2025-03-26", "2025-03-26", id="2025-03-26"),
        pytest.param("2024-11-05", "2024-11-05", "2024-11-05", id="2024-11-05"),
    ],
)
def test_the_client_gets_a_revision_that_it_can_use(
    server: contextlib.AbstractContextManager[StandIn], asked: str, behind: str, answered: str
) -> None:
    with server as stand_in, stdio(*stand_in.target, hello=False) as front:
        answer = front.ask("initialize", opening(asked, {"roots": {}}))
        told = {**HANDSHAKE, "protocolVersion": answered}
        assert answer == {"jsonrpc": "2.0", "id": answer["id"], "result": told}
        (sent,) = stand_in.messages("initialize")
        assert sent["params"] == opening(behind, {"roots": {}})


@pytest.mark.parametrize("made_up", ["banana", "1999-01-01", "2026-07-28"])
def test_a_revision_that_the_server_makes_up_is_not_passed_on(loop: Loop, made_up: str) -> None:
    script = serving({"answers": [text("ok")]}, handshake={**HANDSHAKE, "protocolVersion": made_up})
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        assert front.handshake["result"]["protocolVersion"] == "2025-06-18"
        assert call(front, "answers")["result"] == good("ok")["result"]


MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "c", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.mark.promise("Bridge", "A client of 2026-07-28 can use a server that only knows the handshake.")
def test_a_modern_client_can_use_an_older_server(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), serving(CALLS)) as server,
        stdio(*server.target, hello=False) as front,
    ):

        def ask(method: str, params: Json) -> Json:
            answer: Json = front.ask(method, {**params, "_meta": MODERN})["result"]
            meta = answer.pop("_meta")
            assert meta["io.modelcontextprotocol/serverInfo"] == HANDSHAKE["serverInfo"]
            return answer

        found = ask("server/discover", {})
        assert found == {
            "supportedVersions": ["2026-07-28"],
            "capabilities": HANDSHAKE["capabilities"],
            "resultType": "complete",
            "ttlMs": 0,
            "cacheScope": "private",
        }
        listed = ask("tools/list", {})
        assert [one["name"] for one in listed["tools"]] == list(CALLS)
        assert (listed["resultType"], listed["ttlMs"], listed["cacheScope"]) == ("complete", 0, "private")
        called = ask("tools/call", {"name": "bare-result", "arguments": {"lines": 1}})
        assert called == {
            **good('{"count":1,"logs":["a"]}', {"count": 1, "logs": ["a"]})["result"],
            "resultType": "complete",
        }
        kept = ask("tools/call", {"name": "list-as-structured-content", "arguments": {}})
        assert kept == {
            "content": [{"type": "text", "text": "[1,2]"}],
            "structuredContent": [1, 2],
            "resultType": "complete",
        }
        assert len(server.messages("initialize")) == 1
        (sent,) = server.calls("bare-result")
        assert sent["params"] == {"name": "bare-result", "arguments": {"lines": 1}}


def test_a_modern_client_over_http_can_use_an_older_server(loop: Loop) -> None:
    with (
        standing_in(loop, websocket(), serving(CALLS)) as server,
        listening("bridge", *server.target) as bridge,
        contextlib.closing(Stateless(bridge.url)) as front,
    ):
        for name in ("bare-result", "failure-as-protocol-error"):
            front.headers = {
                "MCP-Protocol-Version": "2026-07-28",
                "Mcp-Method": "tools/call",
                "Mcp-Name": name,
            }
            answer = front.ask("tools/call", {"name": name, "arguments": {}, "_meta": MODERN})
            assert answer["result"].pop("resultType") == "complete"
            answer["result"]["_meta"].pop("io.modelcontextprotocol/serverInfo")
            assert without_marks(answer) == {"jsonrpc": "2.0", "id": answer["id"], **CASES[name].safe}
            (sent,) = server.calls(name)
            assert sent["params"] == {"name": name, "arguments": {}}
        assert len(server.messages("initialize")) == 1


@pytest.mark.promise("Bridge", "A server that starts after the bridge is waited for.")
def test_a_server_that_starts_late_is_waited_for(loop: Loop) -> None:
    port = free_port()
    with stdio(f"ws://127.0.0.1:{port}/", hello=False) as front:
        front.send(request(1, "initialize", opening()), request(2, "tools/call", {"name": "answers"}))
        front.wait_for(lambda: "cannot reach the server" in front.err)
        assert front.lines == []
        with standing_in(loop, websocket(port=port), OK):
            assert front.answer(1)["result"] == {**HANDSHAKE, "protocolVersion": "2025-06-18"}
            assert front.answer(2)["result"] == good("ok")["result"]


@pytest.mark.promise(
    "Bridge",
    "A server that is not there within `--start-timeout` is an error that names it, and exit code 3.",
)
def test_a_server_that_never_comes_is_an_error_and_the_process_ends() -> None:
    target = f"ws://127.0.0.1:{free_port()}/"
    with stdio("--start-timeout", "0.3", target, hello=False) as front:
        front.send(request(1, "initialize", opening()))
        error = front.answer(1)["error"]
        assert (error["code"], error["message"]) == (-32603, f"cannot reach {target}")
        assert front.process.wait(SECONDS) == 3


@pytest.mark.promise("Bridge", "When stdin ends the bridge closes its connection and exits with 0.")
def test_the_end_of_stdin_ends_the_bridge(
    server: contextlib.AbstractContextManager[StandIn],
) -> None:
    with server as stand_in, stdio(*stand_in.target) as front:
        call(front, "answers")
        started = time.monotonic()
        assert front.end() == 0
        assert time.monotonic() - started < DEFAULT.shutdown_seconds
        stand_in.wait_for(lambda: stand_in.closed == [1000])


@pytest.mark.parametrize("busy", [False, True], ids=["idle", "busy"])
def test_the_end_of_stdin_ends_the_program_behind(loop: Loop, busy: bool) -> None:
    with standing_in(loop, program, OK) as server, stdio(*server.target) as front:
        if busy:
            front.send(request("b", "tools/call", {"name": "hangs"}))
            server.wait_for(lambda: bool(server.calls("hangs")))
        assert front.end() == 0
        (pid,) = server.pids
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


@pytest.mark.promise("Bridge", "The server's token comes from a variable or a file, and is never shown.")
@pytest.mark.parametrize("source", ["variable", "file"])
def test_a_token_is_sent_and_never_shown(loop: Loop, tmp_path: Path, source: str) -> None:
    file = tmp_path / "token"
    file.write_text(TOKEN)
    file.chmod(0o600)
    words = () if source == "variable" else ("--server-token-file", str(file))
    env = {"QORTAL_MCP_SERVER_TOKEN": TOKEN} if source == "variable" else {}
    with (
        standing_in(loop, websocket(), OK) as server,
        stdio("--log-level", "debug", *words, *server.target, env=env) as front,
    ):
        call(front, "answers")
        server.say(b"oops")
        call(front, "nope")
        assert front.end() == 0
        (opened,) = server.opened
        assert opened["authorization"] == f"Bearer {TOKEN}"
        assert TOKEN not in front.err + b"".join(front.lines).decode()
        assert not any(TOKEN in one.data.decode() for one in server.heard)


@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize("source", ["token", "header"])
def test_a_password_in_the_address_and_a_token_are_wrong_usage(
    tmp_path: Path, scheme: str, source: str
) -> None:
    file = tmp_path / "headers"
    file.write_text(f"Authorization: Bearer {TOKEN}")
    words = () if source == "token" else ("--header-file", str(file))
    env = {"QORTAL_MCP_SERVER_TOKEN": TOKEN} if source == "token" else {}
    ended = run("bridge", *words, f"{scheme}://me:{PASSWORD}@127.0.0.1:9/mcp", env=env)
    assert (ended.code, ended.out) == (2, "")
    assert (
        "The address has a user name or password, and there is a token or an Authorization header as well"
        in ended.err
    )
    assert TOKEN not in ended.err
    assert PASSWORD not in ended.err


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_upgrade_is_told_and_not_tried_for_ever(loop: Loop, status: int) -> None:
    env = {"QORTAL_MCP_SERVER_TOKEN": TOKEN}
    with (
        standing_in(loop, websocket(refuses=status), OK) as server,
        stdio(*server.target, env=env, hello=False) as front,
    ):
        front.send(request(1, "initialize", opening()))
        error = front.answer(1)["error"]
        assert error["code"] == -32603
        assert str(status) in error["message"]
        assert server.target[0] in error["message"]
        assert front.process.wait(SECONDS) == 3
        assert len(server.opened) <= 2
        assert TOKEN not in front.err + json.dumps(error)


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        pytest.param((), "mcp", id="usual"),
        pytest.param(("--subprotocol", "mcp.v2"), "mcp.v2", id="chosen"),
        pytest.param(("--subprotocol", ""), None, id="none"),
    ],
)
def test_the_subprotocol_is_offered_and_need_not_be_taken(
    loop: Loop, words: tuple[str, ...], offered: str | None
) -> None:
    with (
        standing_in(loop, websocket(protocols=()), OK) as server,
        stdio(*words, *server.target) as front,
    ):
        assert call(front, "answers")["result"] == good("ok")["result"]
        assert server.opened[0].get("sec-websocket-protocol") == offered
        assert "origin" not in server.opened[0]


LIST_CHANGED = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


@pytest.mark.promise("Bridge", "Clients hear of a changed list only if they were told that it may change.")
@pytest.mark.parametrize("announced", [True, False])
def test_a_changed_list_is_read_again_and_told_only_if_announced(loop: Loop, announced: bool) -> None:
    handshake = {**HANDSHAKE, "capabilities": {"tools": {"listChanged": True} if announced else {}}}
    with (
        standing_in(loop, websocket(), serving({"old": [text("ok")]}, handshake=handshake)) as server,
        stdio(*server.target) as front,
    ):
        assert front.handshake["result"]["capabilities"] == handshake["capabilities"]
        assert [one["name"] for one in front.ask("tools/list", {})["result"]["tools"]] == ["old"]
        server.script = serving({"new": [text("ok")]}, handshake=handshake)
        lists = len(server.messages("tools/list"))
        server.say(LIST_CHANGED)
        server.wait_for(lambda: len(server.messages("tools/list")) > lists)
        assert [one["name"] for one in front.ask("tools/list", {})["result"]["tools"]] == ["new"]
        assert call(front, "new")["result"] == good("ok")["result"]
        if announced:
            front.wait_for(lambda: bool(front.said("notifications/tools/list_changed")))
        assert len(front.said("notifications/tools/list_changed")) == announced


@pytest.mark.promise(
    "Bridge",
    "The first result that contradicts its schema takes that schema off the list, and clients are told.",
)
def test_a_schema_that_a_result_contradicts_leaves_the_list(loop: Loop) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    wrong = {"content": [{"type": "text", "text": "{}"}], "structuredContent": {"n": "x"}, "isError": False}
    handshake = {**HANDSHAKE, "capabilities": {"tools": {}}}
    script = serving(
        {"wrong": [result(wrong)]}, entries=[tool("wrong", outputSchema=schema)], handshake=handshake
    )
    with standing_in(loop, websocket(), script) as server, stdio(*server.target) as front:
        assert front.handshake["result"]["capabilities"]["tools"] == {"listChanged": True}
        (listed,) = front.ask("tools/list", {})["result"]["tools"]
        assert listed["outputSchema"] == schema
        first = call(front, "wrong")
        assert without_marks(first)["result"] == good("{}")["result"]
        assert dropped(first) == {"structuredContent": {"n": "x"}}
        front.wait_for(lambda: bool(front.said("notifications/tools/list_changed")))
        (listed,) = front.ask("tools/list", {})["result"]["tools"]
        assert "outputSchema" not in listed
        assert call(front, "wrong")["result"] == wrong
        assert len(front.said("notifications/tools/list_changed")) == 1


def test_a_second_handshake_is_refused_and_nothing_is_sent_behind(
    server: contextlib.AbstractContextManager[StandIn],
) -> None:
    with server as stand_in, stdio(*stand_in.target) as front:
        assert front.ask("initialize", opening())["error"]["code"] == -32600
        assert len(stand_in.messages("initialize")) == 1


def test_what_comes_before_the_handshake_is_refused(
    server: contextlib.AbstractContextManager[StandIn],
) -> None:
    with server as stand_in, stdio(*stand_in.target, hello=False) as front:
        assert "error" in front.ask("tools/list", {})
        front.shake_hands()
        assert call(front, "answers")["result"] == good("ok")["result"]
