"""`stdio`: starts fast, answers on standard output alone, ends with its input."""

import json
import os
import signal
import subprocess
import sys

import pytest
from tests.cli.running import ALICE, COMMAND, INITIALIZE, environment, message, run

from qortal_mcp.cli.input.options import SettingsCommand
from qortal_mcp.cli.running import stdio_without_click as short_way
from qortal_mcp.cli.stdio import command
from qortal_mcp.settings import ConfigOptions

LIST = message(2, "tools/list")
CALL = message(3, "tools/call", {"name": "get_balance", "arguments": {"address": ALICE}})


@pytest.mark.promise(
    "Transports", "On stdio every request is answered, and the end of the input ends the server."
)
def test_it_answers_and_ends_with_its_input() -> None:
    ended = run("stdio", "--sample", stdin=INITIALIZE + LIST + CALL)
    assert ended.code == 0
    replies = {reply["id"]: reply["result"] for reply in map(json.loads, ended.out.splitlines())}
    assert replies[1]["serverInfo"]["name"] == "qortal-mcp-server"
    assert replies[2]["tools"]
    assert replies[3]["structuredContent"]["balance"] == "1001427.50833805"


def test_empty_input_is_a_clean_end() -> None:
    ended = run("stdio", "--sample")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


@pytest.mark.promise("Operations", "A signal ends the server with exit code 0.")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_is_a_clean_end(number: signal.Signals) -> None:
    with subprocess.Popen(
        [*COMMAND, "stdio", "--sample"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(INITIALIZE)
        process.stdin.flush()
        assert b"serverInfo" in process.stdout.readline()
        process.send_signal(number)
        assert process.wait(30) == 0
        assert b"Traceback" not in process.stderr.read()


HEAVY = (
    "aiohttp",
    "uvicorn",
    "rich",
    "jsonschema_rs",
    "click",
    "websockets",
    "httptools",
    "uvloop",
    "_hashlib",
)


@pytest.mark.promise("Command line", "`stdio` loads nothing heavy before `tools/list` is answered.")
@pytest.mark.parametrize("chain", [(), ("--sample",)])
def test_nothing_heavy_is_loaded_before_tools_list_is_answered(chain: tuple[str, ...]) -> None:
    # The report is written when the input ends, right after the answers and before the node is warmed up.
    code = (
        "import sys; before = set(sys.modules); from qortal_mcp.cli.main import main; code = main(sys.argv[1:])\n"
        f"print(code, *(m for m in {HEAVY!r} if m in set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "stdio", "--log-level", "warning", *chain],
        input=INITIALIZE + LIST,
        capture_output=True,
        timeout=30,
        env=environment(),
    )
    assert b'"tools":[' in done.stdout
    assert done.stderr == b"0\n"


def test_once_the_client_is_quiet_what_the_first_call_needs_is_loaded() -> None:
    code = (
        "import sys, threading, time\n"
        "def watch():\n"
        "    while 'httptools' not in sys.modules: time.sleep(0.01)\n"
        "    print('loaded', file=sys.stderr, flush=True)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
        "from qortal_mcp.cli.main import main; sys.exit(main(['stdio', '--log-level', 'warning']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        # A list of tools that nobody reads would hold up the end.
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(INITIALIZE + LIST)
        process.stdin.flush()
        assert process.stderr.readline() == b"loaded\n"
        process.stdin.close()
        assert process.wait(30) == 0
        # An open session at the end would be complained about here.
        assert process.stderr.read() == b""


def test_a_call_to_a_node_leaves_nothing_open() -> None:
    ended = run("stdio", "--node", "http://127.0.0.1:9", stdin=INITIALIZE + CALL)
    assert ended.code == 0
    assert "Unclosed" not in ended.err
    assert "Node unreachable." in ended.out


FLAGS = [
    [],
    ["--sample"],
    ["--node", "http://a:1"],
    ["--node=http://a:1", "--node", "http://b"],
    ["--toolsets", "-node", "--log-level", "debug"],
    ["--toolsets=+chat,-raw", "--log-format=json"],
    ["--log-level", "info", "--log-level", "error"],
    ["--node=http://a/?x=y"],
]


@pytest.mark.parametrize("words", FLAGS, ids=" ".join)
def test_the_short_way_reads_flags_as_click_does(words: list[str]) -> None:
    assert isinstance(command, SettingsCommand)
    context = command.make_context("stdio", list(words))
    by_click = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in context.params.items()
        if value not in (None, (), False)
    }
    assert short_way.read_flags(words) == by_click


LEFT_TO_CLICK = [["--help"], ["-h"], ["x"], ["--nodes", "a"], ["--node"], ["--sample=1"], ["--"], ["--log"]]


@pytest.mark.parametrize("words", LEFT_TO_CLICK, ids=" ".join)
def test_whatever_else_is_written_the_short_way_leaves_to_click(words: list[str]) -> None:
    assert short_way.read_flags(words) is None


def test_the_short_way_takes_the_same_settings_as_the_command() -> None:
    assert isinstance(command, SettingsCommand)
    # A settings file takes the long way.
    assert tuple(group for group in command.groups if group is not ConfigOptions) == short_way.GROUPS


def test_an_unwritable_standard_output_ends_it() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    process = subprocess.Popen(
        [*COMMAND, "stdio", "--sample"],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    os.close(write_end)
    assert process.stdin is not None
    assert process.stderr is not None
    process.stdin.write(INITIALIZE)
    process.stdin.flush()
    assert process.wait(30) == 0
    assert b"Traceback" not in process.stderr.read()
    process.stdin.close()
    process.stderr.close()


@pytest.mark.promise("Command line", "`stdio` in a terminal says what it waits for and how to stop it.")
@pytest.mark.parametrize("words", [("stdio", "--sample"), ("stdio", "--sample", "--log-level", "Info")])
def test_in_a_terminal_it_says_what_it_waits_for_and_how_to_stop(words: tuple[str, ...]) -> None:
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [*COMMAND, *words], stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        os.close(theirs)
        assert process.stderr is not None
        assert process.stdout is not None
        said = process.stderr.readline().decode()
        os.write(ours, b"\x04")
        assert process.wait(30) == 0
        assert process.stdout.read() == b""
    os.close(ours)
    assert said.startswith("Waiting for MCP messages on standard input")
    assert said.endswith("Stop with Ctrl-D or Ctrl-C.\n")
