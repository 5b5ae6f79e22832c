"""Any MCP server from the terminal: every wire, every revision, what is repaired, and how it ends. Through the real command."""

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bridge.scripts import result, serving, text, tool
from tests.bridge.standins import Loop, Serve, http, http_sse, program, websocket
from tests.bridge.stories import music_tool
from tests.cli.others import COMMAND_LINES, EACH_COMMAND, EVERYTHING, OURS, ROOT, noting, offering, other
from tests.cli.running import COMMAND, environment, run
from tests.cli.terminals import terminal

from qortal_mcp.cli.main import main
from qortal_mcp.protocol.versions import LEGACY, REVISIONS

WIRES: dict[str, Serve] = {
    "stdio": program,
    "http": http(),
    "websocket": websocket(),
    "http-sse": http_sse,
}


@pytest.mark.promise(
    "Command line", "`tools`, `call`, `read`, `prompt` and `complete` work with any MCP server (`--server`)."
)
@pytest.mark.parametrize("wire", WIRES)
def test_each_command_asks_a_server_on_every_wire(wire: str, loop: Loop) -> None:
    with other(loop, WIRES[wire], offering()) as (target, _):
        seen = [run(*words, "--server", target) for words in COMMAND_LINES]
    assert [(ended.code, ended.err) for ended in seen] == [(0, "")] * 5
    tools, called, read, prompt, completed = (ended.out for ended in seen)
    assert tools.startswith("stand-in 1 (1 tool)\n  greet name [times]\n      (read-only) Greets somebody.\n")
    assert (called, read, prompt, completed) == ("Hello.\n", "remember\n", "user\n  Who?\n", "Ada\nBob\n")


def test_the_examples_of_the_page_run_against_our_own_server_as_a_stranger() -> None:
    assert "get_block" in run("tools", "--server", OURS).out
    assert "height" in run("call", "get_block", "height=298", "--server", OURS).out
    assert run("read", "qortal://guide", "--server", OURS).out.startswith("# How to read Qortal")
    assert "Bob" in run("prompt", "name_report", "name=Bob", "--server", OURS).out
    assert run("complete", "prompt", "fee_check", "type", "REG", "--server", OURS).out == "REGISTER_NAME\n"


PAGE = (ROOT / "docs" / "bridge.md").read_text()
SESSIONS = re.findall(r"<!-- terminal:(\w+) -->\n```sh\n(.*?)\n```\n```text\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.promise("Command line", "The terminal sessions of docs/bridge.md are what the commands show.")
@pytest.mark.parametrize(("name", "typed", "shown"), SESSIONS, ids=[name for name, *_ in SESSIONS])
def test_the_sessions_of_the_page_are_what_the_commands_show(name: str, typed: str, shown: str) -> None:
    with music_tool("G0") as url:
        real = {"ws://127.0.0.1:7400": url, "python examples/everything.py": EVERYTHING}
        ended = [
            run(*(real.get(word, word) for word in shlex.split(line)[1:])) for line in typed.splitlines()
        ]
    assert "".join(one.err + one.out for one in ended) == shown


def test_the_page_has_a_session_for_each_command() -> None:
    typed = {line.split()[1] for _, lines, _ in SESSIONS for line in lines.splitlines()}
    assert typed == {"tools", "call", "read", "prompt", "complete"}


@pytest.mark.parametrize("name", ["tools", "call", "read", "prompt", "complete"])
def test_the_examples_in_the_help_run(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([name, "--help"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    examples = [shlex.split(line)[1:] for line in lines if line.startswith(f"qortal-mcp {name}")]
    assert len(examples) >= 2
    for words in examples:
        # The program may not be on the PATH of the tests.
        assert main([OURS if word == "qortal-mcp stdio --sample" else word for word in words]) == 0


@pytest.mark.parametrize("revision", LEGACY)
def test_a_server_is_spoken_to_in_the_revision_that_was_asked_for(revision: str, loop: Loop) -> None:
    with other(loop, program, offering()) as (target, server):
        assert run("call", "greet", "name=Ada", "--revision", revision, "--server", target).out == "Hello.\n"
        (hello,) = server.messages("initialize")
    assert hello["params"]["protocolVersion"] == revision


@pytest.mark.parametrize("revision", REVISIONS)
def test_everything_is_reached_in_each_revision(revision: str) -> None:
    spoken = ("--revision", revision, "--server", EVERYTHING)
    assert run("call", "test_simple_text", *spoken).out == "This is a simple text response for testing.\n"
    assert run("read", "test://static-text", *spoken).out.startswith("This is the content")
    assert run("prompt", "test_simple_prompt", *spoken).out.startswith("user\n")
    assert "test_image_content" in run("tools", *spoken).out


@pytest.mark.promise(
    "Command line", "What was repaired in another server's answers is said on standard error."
)
def test_a_repair_is_said_and_can_be_switched_off(loop: Loop) -> None:
    with other(loop, websocket(), serving({"look": [result({"count": 1})]})) as (target, _):
        ended = run("call", "look", "--server", target)
        assert (ended.code, ended.out) == (0, "count  1\n")
        assert ended.err == "Repaired: result-bare-payload (docs/bridge.md).\n"
        bare = run("call", "look", "--raw", "--repair", "none", "--server", target)
        assert (bare.json, bare.err) == ({"count": 1}, "")
        off = run(*("call", "look", "--raw", "--without-repair", "result-bare-payload", "--server", target))
        assert "result-bare-payload" not in off.err
        raw = run("call", "look", "--raw", "--server", target).json
        assert raw["structuredContent"] == {"count": 1}
        assert raw["_meta"] == {"qortal-mcp/repairs": ["result-bare-payload"]}


def test_what_is_wrong_with_the_list_is_said_by_those_who_show_it(loop: Loop) -> None:
    untyped = tool("look", inputSchema={"properties": {}})
    with other(loop, program, serving({"look": [text("seen")]}, entries=[untyped])) as (target, _):
        assert "Repaired: " in run("tools", "--server", target).err
        assert run("call", "look", "--server", target).err == ""


def test_a_server_that_asks_back_is_refused_and_the_tool_says_so(tmp_path: Path) -> None:
    ended = run("call", "ask", "--server", noting(tmp_path))
    assert ended.code == 0
    assert '"error"' in ended.out
    ended = run("call", "test_elicitation", "message=x", "--server", EVERYTHING)
    assert (ended.code, ended.out) == (1, "")
    assert "elicitation" in ended.err


def test_a_program_sees_only_the_variables_that_are_named(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(
        "import json, os, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    if 'id' not in m: continue\n"
        "    v = {'initialize': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}},\n"
        "         'serverInfo': {'name': 'x', 'version': '1'}}, 'tools/list': {'tools': [{'name': 'see',\n"
        "         'inputSchema': {'type': 'object'}}]}}.get(m['method']) or {'content': [{'type': 'text',\n"
        "         'text': f\"{os.environ.get('ONE')} {os.environ.get('TWO')}\"}]}\n"
        "    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': v}), flush=True)\n"
    )
    target = shlex.join([sys.executable, str(tmp_path / "s.py")])
    ended = run("call", "see", "--env", "ONE", "--server", target, env={"ONE": "yes", "TWO": "no"})
    assert ended.out == "yes None\n"


TODO = """
from dataclasses import dataclass, field
from qortal_mcp import Server, run

@dataclass
class Todo:
    title: str
    tags: list[str] = field(default_factory=list)

server = Server("todo")

@server.tool
def add(todo: Todo, more: list[Todo] | None = None) -> list[Todo]:
    \"\"\"Adds something to do.\"\"\"
    return [todo]

run(server)
"""


def test_the_fields_of_objects_are_shown_for_arguments_as_for_answers(tmp_path: Path) -> None:
    (tmp_path / "todo.py").write_text(TODO)
    shown = run("tools", "add", "--server", shlex.join([sys.executable, str(tmp_path / "todo.py")])).out
    arguments, answer = shown.split("Answer")
    for line in ("todo  object; required", "todo.title  text", "todo.tags  list of text, optional"):
        assert f"  {line}\n" in arguments
    for line in ("more[].title  text", "more[].tags  list of text, optional"):
        assert f"  {line}\n" in arguments
    assert "  result[].tags  list of text, optional\n" in answer


def test_a_command_is_split_without_a_shell(tmp_path: Path) -> None:
    planted = tmp_path / "planted"
    ended = run("tools", "--server", f"true; touch {planted}", "--start-timeout", "1")
    assert ended.code == 3
    assert not planted.exists()


WRONG = [
    pytest.param(["--server", "x", "--sample"], "--sample is for Qortal's own tools", id="sample"),
    pytest.param(["--server", "x", "--node", "http://n"], "--node is for Qortal's own tools", id="node"),
    pytest.param(["--server", "x", "--toolsets", "all"], "--toolsets is for Qortal's", id="toolsets"),
    pytest.param(["--timeout", "5"], "--timeout belongs to --server", id="timeout"),
    pytest.param(["--repair", "all"], "--repair belongs to --server", id="repair"),
    pytest.param(["--header-file", "f"], "--header-file belongs to --server", id="headers"),
    pytest.param(["--server", ""], "there is no command", id="nothing"),
    pytest.param(
        ["--server", "todo.py:server"],
        "did you mean 'qortal-mcp stdio todo.py:server'?",
        id="object in a file",
    ),
    pytest.param(["--server", "todo.py"], "did you mean 'qortal-mcp stdio todo.py'?", id="file"),
    pytest.param(["--server", "a 'b"], "cannot be read", id="quotes"),
    pytest.param(["--server", "ftp://x"], "An address begins with http://", id="address"),
    pytest.param(["--server", "http://"], "The address has no host", id="no-host"),
    pytest.param(["--server", "x", "--revision", "2020-01-01"], "2020-01-01", id="revision"),
    pytest.param(
        ["--server", "x", "--without-repair", "content-mising"], "content-missing", id="repair-code"
    ),
    pytest.param(["--server", "x", "--header-file", "/none"], "Cannot read the header file", id="no-file"),
]


@pytest.mark.parametrize("words", EACH_COMMAND)
@pytest.mark.parametrize(("options", "reason"), WRONG)
def test_options_that_make_no_sense_are_one_line_and_exit_code_2(
    words: list[str], options: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, *options]) == 2
    shown = capsys.readouterr()
    assert (shown.out, len(shown.err.splitlines())) == ("", 1)
    assert reason in shown.err


def test_variables_for_our_own_tools_do_not_get_in_the_way(loop: Loop) -> None:
    env = {"QORTAL_MCP_SAMPLE": "1", "QORTAL_MCP_TIMEOUT": "20", "QORTAL_MCP_SERVER": "not this one"}
    with other(loop, program, offering()) as (target, _):
        assert run("call", "greet", "name=x", "--server", target, env=env).out == "Hello.\n"
    assert run("read", "qortal://guide", env=env).code == 0


@pytest.mark.parametrize("words", [["tools", "--json"], ["read"], ["prompt"]], ids=" ".join)
def test_a_reader_that_has_seen_enough_causes_no_traceback(words: list[str]) -> None:
    process = subprocess.Popen(
        [*COMMAND, *words, "--server", EVERYTHING],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()
    assert process.wait(30) == 0
    assert b"Traceback" not in said


def test_no_process_is_left_behind(loop: Loop) -> None:
    with other(loop, program, offering()) as (target, server):
        assert run("call", "greet", "name=x", "--server", target).code == 0
        # The connection of a program ends with its process.
        server.wait_for(lambda: len(server.pids) == len(server.closed) == 1)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_server_as_well(number: signal.Signals, code: int, tmp_path: Path) -> None:
    file = tmp_path / "pid"
    target = f"sh -c 'echo $$ > {file}.new; mv {file}.new {file}; exec sleep 60'"
    with terminal("tools", "--server", target) as shown:
        shown.until("Waiting for sh -c")
        pid = int(file.read_text())
        shown.process.send_signal(number)
        assert shown.ended() == code
        assert b"Traceback" not in shown.raw
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_progress_is_one_line_on_a_terminal_and_gone_in_the_end() -> None:
    with terminal("call", "test_tool_with_progress", "--server", EVERYTHING) as shown:
        shown.until("50 of 100 Completed step 50 of 100")
        assert shown.ended() == 0
        assert [line for line in shown.screen if line] == ["Tool with progress executed successfully"]


def test_a_slow_server_is_waited_for_with_a_word(loop: Loop) -> None:
    with (
        other(loop, http(), offering(tools__call=[])) as (target, _),
        terminal("call", "greet", "name=x", "--timeout", "2", "--server", target) as shown,
    ):
        shown.until(f"Waiting for {target} …")
        assert shown.ended() == 3
    with terminal("tools", "--start-timeout", "2", "--server", "http://127.0.0.1:9/mcp") as shown:
        shown.until("Waiting for http://127.0.0.1:9/mcp (")
        shown.until("at most 2 s")
        shown.until("(--start-timeout).")
        assert shown.ended() == 3


def test_the_shell_is_not_kept_waiting_for_another_server() -> None:
    env = {
        "_QORTAL_MCP_COMPLETE": "bash_complete",
        "COMP_WORDS": "qortal-mcp call --server 'sleep 60' get_b",
        "COMP_CWORD": "4",
    }
    assert run(env=env).out.split() == []
