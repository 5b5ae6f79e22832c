"""`bridge --check`: what it shows of broken, good and dead servers, and how it ends. Through the real command."""

import sys
from pathlib import Path

import pytest
from tests.audit.wires import command
from tests.cli.running import Ended, run
from tests.cli.strangers import http_stranger


def check(*words: str) -> Ended:
    return run("bridge", "--check", *words)


def program(tmp_path: Path, text: str) -> tuple[str, ...]:
    file = tmp_path / "server.py"
    file.write_text(text)
    return ("--", sys.executable, str(file))


@pytest.mark.promise(
    "Bridge", "`bridge --check` shows each repair before and after, and the clients that need it."
)
def test_a_broken_answer_is_shown_before_and_after_with_the_clients_that_need_it() -> None:
    ended = check("--", *command("bare-payload"))
    assert ended.code == 1
    assert ended.err == ""
    lines = ended.out.splitlines()
    assert lines[0].startswith("server    stub 1 at ")
    lines = lines[lines.index("tools     2, 2 called: t, ok") :]
    assert lines[:4] == [
        "tools     2, 2 called: t, ok",
        "",
        "NEEDS REPAIR (1 repair at level safe)",
        "",
    ]
    assert lines[4] == "result-bare-payload  The bare value of the tool as the result"
    assert lines[5:8] == [
        "    at        tools/call t: result",
        '    before    {"logs":["x"],"count":50}',
        '    after     {"content":[{"type":"text","text":"{\\"logs\\":[\\"x\\"],\\"count\\":50}"}],"isError":false,'
        '"structuredContent":{"logs":["x"],"count":50}}',
    ]
    assert any(line.startswith("    repair    The value becomes text") for line in lines)
    assert any(line.startswith("    breaks    Codex CLI, ") for line in lines)


def test_a_good_server_needs_nothing() -> None:
    ended = check("--", *command("ok"))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.splitlines()[-3:] == [
        "tools     2, 2 called: t, ok",
        "",
        "NOTHING TO REPAIR (at level safe)",
    ]


@pytest.mark.parametrize(
    ("case", "line"),
    [
        pytest.param("banner-call", "    before    [INFO] calling tool t", id="text-as-it-came"),
        pytest.param("in-notype", "    at        tool t: tools[0].inputSchema.type", id="tool-by-its-name"),
    ],
)
def test_what_was_wrong_is_shown_as_the_server_sent_it(case: str, line: str) -> None:
    assert line in check("--", *command(case)).out.splitlines()


def test_as_json_it_holds_the_values_themselves() -> None:
    ended = check("--json", "--", *command("bare-payload"))
    assert ended.code == 1
    found = ended.json
    assert (found["needsRepair"], found["level"], found["tools"], found["called"]) == (
        True,
        "safe",
        2,
        ["t", "ok"],
    )
    (repair,) = found["repairs"]
    assert (repair["code"], repair["tool"], repair["path"]) == ("result-bare-payload", "t", "result")
    assert repair["before"] == {"logs": ["x"], "count": 50}
    assert repair["after"]["structuredContent"] == {"logs": ["x"], "count": 50}
    assert {"client": "Codex CLI", "outcome": "call fails"} in repair["clients"]


def test_what_another_level_would_repair_is_not_shown() -> None:
    assert check("--repair", "none", "--", *command("bare-payload")).code == 0
    without = check("--json", "--without-repair", "result-bare-payload", "--", *command("bare-payload"))
    assert "result-bare-payload" not in {one["code"] for one in without.json["repairs"]}


_UNDECLARED = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    results = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "w", "version": "1"}},
        "tools/list": {"tools": [{"name": "write", "inputSchema": {"type": "object"}}]},
        "tools/call": {"count": 1, "given": message.get("params", {}).get("arguments")},
    }
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
"""


@pytest.mark.promise("Bridge", "`bridge --check` calls no tool that may change something unless it is named.")
def test_only_named_tools_are_called_if_they_may_change_something(tmp_path: Path) -> None:
    server = program(tmp_path, _UNDECLARED)
    unasked = check(*server)
    assert unasked.code == 0
    assert unasked.out.splitlines()[-2:] == [
        "Not called",
        "    1 of 1 tools: they do not declare readOnlyHint; name them with --call: write",
    ]
    named = check("--call", 'write {"a": 1}', "--json", *server)
    assert named.code == 1
    assert named.json["called"] == ["write"]
    assert named.json["repairs"][0]["before"] == {"count": 1, "given": {"a": 1}}


def test_a_call_without_an_answer_leaves_the_check_incomplete() -> None:
    ended = check("--", *command("call-exit"))
    assert ended.code == 3
    lines = ended.out.splitlines()
    assert "INCOMPLETE (nothing to repair in what was answered, at level safe)" in lines
    assert lines[-1] == "    t: Connection to the server was lost before it answered."


def test_a_protocol_error_is_an_answer() -> None:
    ended = check("--repair", "none", "--", *command("rpc-error"))
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert "NOTHING TO REPAIR (at level none)" in lines
    assert lines[-2:] == ["Answered with a protocol error", "    t: down (-32000)"]
    assert "No answer" not in lines


def test_a_server_whose_list_is_not_an_object_cannot_be_checked(tmp_path: Path) -> None:
    server = _UNDECLARED.replace(
        '{"tools": [{"name": "write", "inputSchema": {"type": "object"}}]}', '"write"'
    )
    ended = check(*program(tmp_path, server))
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == (
        "qortal-mcp: The server's answer cannot be read: the list of tools is not an object.\n"
    )


_REPEATING = """
import json, os, sys
said = os.environ["API_TOKEN"]
for line in sys.stdin:
    message = json.loads(line)
    results = {
        "initialize": {"protocolVersion": said, "capabilities": {"tools": {}},
                       "serverInfo": {"name": said, "version": "1"}},
        "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"},
                                  "annotations": {"readOnlyHint": True}}]},
        "tools/call": {said: [said], "deep": DEEP},
    }
    if "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}), flush=True)
"""


@pytest.mark.parametrize("flags", [(), ("--json",)], ids=["text", "json"])
def test_a_secret_that_the_server_repeats_is_not_shown(tmp_path: Path, flags: tuple[str, ...]) -> None:
    server = program(tmp_path, _REPEATING.replace("DEEP", "1"))
    ended = run(
        "bridge", "--check", *flags, "--env", "API_TOKEN", *server, env={"API_TOKEN": "hush-hush-123"}
    )
    assert ended.code == 1
    assert "hush-hush" not in ended.out + ended.err
    assert '"***"' in ended.out
    assert "protocol-version-unknown" in ended.out


def test_a_value_that_is_too_deep_to_be_shown_does_not_end_the_check(tmp_path: Path) -> None:
    server = program(tmp_path, _REPEATING.replace("DEEP", "json.loads('[' * 900 + ']' * 900)"))
    ended = run("bridge", "--check", "--env", "API_TOKEN", *server, env={"API_TOKEN": "hush-hush-123"})
    assert (ended.code, ended.err) == (1, "")
    assert '    before    "(nested too deeply to be shown)"' in ended.out.splitlines()


def test_a_tool_that_is_not_there_cannot_be_checked() -> None:
    ended = check("--call", "nope", "--", *command("ok"))
    assert ended.code == 3
    assert ended.out.splitlines()[-1] == "    tool nope: it is not in the list of tools"


def test_a_program_that_dies_is_reported_with_its_last_words(tmp_path: Path) -> None:
    words = "import sys\nprint('starting', file=sys.stderr)\nraise SystemExit('no database')\n"
    ended = check(*program(tmp_path, words))
    assert (ended.code, ended.out) == (3, "")
    *tail, last = ended.err.splitlines()
    assert tail == ["  | starting", "  | no database"]
    assert last.startswith("qortal-mcp: Cannot reach ")
    assert last.endswith("the program ended with exit code 1. Its last words on standard error are above.")


def test_a_server_that_is_not_there_cannot_be_checked() -> None:
    ended = check("--start-timeout", "6", "http://127.0.0.1:9/mcp")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err.splitlines()[-1] == (
        "qortal-mcp: Cannot reach http://127.0.0.1:9/mcp: connection refused. Is the server running?"
    )


def test_that_it_waits_is_said_once_where_there_is_no_terminal() -> None:
    ended = check("--start-timeout", "6", "http://127.0.0.1:9/mcp")
    waits, last = ended.err.splitlines()
    # On a busy machine it waits before it has heard why.
    why = " (connection refused)" if "refused" in waits else ""
    assert waits == f"Waiting for http://127.0.0.1:9/mcp{why}, at most 6 s (--start-timeout)."
    assert last.startswith("qortal-mcp: Cannot reach ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(
            ("--", "nosuchprog", "x"), "Cannot run nosuchprog: there is no such program.", id="no-program"
        ),
    ],
)
def test_what_cannot_be_reached_is_one_clear_sentence(words: tuple[str, ...], sentence: str) -> None:
    assert check(*words).err.splitlines()[-1] == f"qortal-mcp: {sentence}"


@pytest.mark.parametrize(
    ("status", "hint"),
    [(404, " Is the path right? MCP servers often use /mcp, /sse or /ws."), (500, "")],
)
def test_a_wrong_status_is_one_sentence_with_a_hint_at_the_path(status: int, hint: str) -> None:
    with http_stranger(lambda *_: (status, {}, b"")) as url:
        ended = check("--start-timeout", "5", url)
    assert ended.err.splitlines()[-1] == (
        f"qortal-mcp: Cannot use {url}: the server answered with HTTP status {status} instead of a result.{hint}"
    )


def test_a_server_that_wants_a_sign_in_names_the_ways_through() -> None:
    challenge = {"www-authenticate": 'Bearer realm="music"'}
    with http_stranger(lambda *_: (401, challenge, b"")) as url:
        ended = check(url)
    assert ended.code == 3
    assert 'HTTP status 401, WWW-Authenticate: Bearer realm="music"' in ended.err
    assert "--header-file" in ended.err
    assert "npx mcp-remote URL" in ended.err


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("--check", "--capture", "x", "http://127.0.0.1:9"), id="capture"),
        pytest.param(("--check", "--listen", "127.0.0.1:0", "http://127.0.0.1:9"), id="listen"),
        pytest.param(("--json", "http://127.0.0.1:9"), id="json-without-check"),
        pytest.param(("--call", "t", "http://127.0.0.1:9"), id="call-without-check"),
        pytest.param(("--token-file", "x", "http://127.0.0.1:9"), id="token-without-listen"),
        pytest.param(("--allow-host", "x", "http://127.0.0.1:9"), id="host-without-listen"),
        pytest.param(("--check", "--call", "{}", "http://127.0.0.1:9"), id="call-without-a-tool"),
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(words: tuple[str, ...]) -> None:
    assert run("bridge", *words).code == 2


def test_an_address_to_listen_on_in_a_variable_does_not_disturb_a_check() -> None:
    ended = run(
        "bridge",
        "--check",
        "--",
        *command("ok"),
        env={"QORTAL_MCP_LISTEN": "127.0.0.1:0", "QORTAL_MCP_TOKEN_FILE": "x"},
    )
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize("source", ["--without-repair", "QORTAL_MCP_WITHOUT_REPAIR"])
def test_an_unknown_repair_names_where_it_was_asked_for_and_a_similar_one(source: str) -> None:
    words = (source, "content-mising") if source.startswith("--") else ()
    env = {} if words else {source: "content-mising"}
    ended = run("bridge", *words, "http://127.0.0.1:9", env=env)
    assert ended.code == 2
    assert ended.err.startswith(
        f"qortal-mcp: {source}: Unknown repair content-mising. Did you mean content-missing"
    )
    assert "docs/bridge.md lists them" in ended.err


def test_a_variable_that_is_not_set_is_named() -> None:
    ended = check("--env", "NOPE_KEY", "--", *command("ok"))
    assert ended.code == 0
    assert "the variable named with --env is not set: NOPE_KEY" in ended.err
