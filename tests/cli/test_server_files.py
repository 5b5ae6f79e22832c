"""`serve FILE.py:NAME` and `stdio FILE.py:NAME`: a server of one's own, with the options of `serve`, and again after each change."""

import json
import os
import signal
from pathlib import Path

import pytest
from tests.cli.running import INITIALIZE, Listening, listening, message, run

SERVER = """
from qortal_mcp import Server
from words import GREETING

print("this is not for the wire")
server = Server("greeter")


@server.tool
def greet(name: str) -> str:
    \"\"\"Greets somebody.\"\"\"
    return f"{GREETING} {name}!"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "words.py").write_text('GREETING = "Hello"\n')
    return tmp_path


CALL = {"name": "greet", "arguments": {"name": "Ann"}}
GREET = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": CALL}


def greeting(server: Listening) -> str:
    status, body = server.ask("/mcp", GREET)
    assert status == 200, body
    return str(json.loads(body)["result"]["content"][0]["text"])


def test_it_serves_the_server_of_a_file_with_the_options_of_serve(folder: Path) -> None:
    env = {"QORTAL_MCP_TOKEN": "one-long-random-word"}
    with listening(
        "serve", str(folder / "server.py:server"), "--allow-host", "greeter.example", env=env
    ) as server:
        assert server.ask("/mcp", GREET)[0] == 401
        allowed = {"Authorization": "Bearer one-long-random-word"}
        assert b"Hello Ann!" in server.ask("/mcp", GREET, allowed)[1]
        assert server.ask("/mcp", GREET, {**allowed, "Host": "greeter.example"})[0] == 200
        assert server.ask("/mcp", GREET, {**allowed, "Host": "other.example"})[0] in (403, 421)
        assert server.ask("/healthz")[0] == 200
        assert server.ask("/readyz", headers=allowed)[0] == 200
        assert server.ask("/mcp-manifest.json", headers=allowed)[0] == 404
        assert server.stop() == 0


def test_the_only_server_of_a_file_needs_no_name(folder: Path) -> None:
    with listening("serve", str(folder / "server.py")) as server:
        assert greeting(server) == "Hello Ann!"


def test_sessions_are_given_if_they_are_wanted(folder: Path) -> None:
    with listening("serve", str(folder / "server.py"), "--sessions") as server:
        assert server.ask("/mcp", method="DELETE")[0] != 405
    with listening("serve", str(folder / "server.py")) as server:
        assert server.ask("/mcp", method="DELETE")[0] == 405


def test_on_stdio_what_the_file_prints_does_not_reach_the_client(folder: Path) -> None:
    done = run("stdio", str(folder / "server.py:server"), stdin=INITIALIZE + message(2, "tools/call", CALL))
    assert done.code == 0
    first, second = map(json.loads, done.out.splitlines())
    assert first["result"]["serverInfo"]["name"] == "greeter"
    assert second["result"]["content"][0]["text"] == "Hello Ann!"
    assert "this is not for the wire" in done.err


NOT_A_SERVER = [
    pytest.param("server", "is not a server. Give a Python file", id="no-file"),
    pytest.param("other.py:server", "There is no file", id="missing"),
    pytest.param("server.py:a b", "is not a server. Give a Python file", id="no-name"),
]
BROKEN = [
    pytest.param("server.py:nothing", SERVER, "nothing in server.py does not exist: choose server.py:server", id="no-such-name"),
    pytest.param("server.py:GREETING", SERVER, "GREETING in server.py is not a server", id="another-thing"),
    pytest.param("server.py", "x = 1", "server.py has no server: there must be one", id="none"),
    pytest.param("server.py", f"{SERVER}\nother = Server('b')", "several servers: choose server.py:server or server.py:other", id="two"),
    pytest.param("server.py", "def f(:\n  pass", "server.py, line 1: SyntaxError: invalid syntax", id="syntax"),
    pytest.param("server.py", "\n\n1 / 0", "server.py, line 3: ZeroDivisionError: division by zero", id="error"),
    pytest.param("server.py", "import json\njson.loads('')", "server.py, line 2: JSONDecodeError", id="error-deeper"),
    pytest.param("server.py", "import sys; sys.exit('enough \x1b[31m')", "SystemExit: enough \\u{001B}[31m", id="exit"),
]  # fmt: skip


@pytest.mark.parametrize("command", ["serve", "stdio"])
@pytest.mark.parametrize(("target", "sentence"), NOT_A_SERVER)
def test_what_names_no_file_is_wrong_usage(folder: Path, command: str, target: str, sentence: str) -> None:
    done = run(command, str(folder / target))
    assert done.code == 2
    assert sentence in done.err


@pytest.mark.parametrize("command", ["serve", "stdio"])
@pytest.mark.parametrize(("target", "code", "sentence"), BROKEN)
def test_what_is_wrong_with_a_file_is_said_with_its_line(
    folder: Path, command: str, target: str, code: str, sentence: str
) -> None:
    (folder / "server.py").write_text(code)
    done = run(command, str(folder / target))
    assert done.code == 1
    assert sentence in done.err
    assert command == "serve" or done.out == ""


WRONG = [
    pytest.param(["serve", "FILE", "--sample"], "--sample is for the Qortal server", id="sample"),
    pytest.param(["serve", "FILE", "--model", "x"], "--model is for the Qortal server", id="model"),
    pytest.param(["stdio", "FILE", "--toolsets", "all"], "--toolsets is for the Qortal server", id="stdio"),
    pytest.param(["serve", "--reload"], "--reload and --sessions are for a server in a file", id="reload"),
    pytest.param(
        ["serve", "--sessions"], "--reload and --sessions are for a server in a file", id="sessions"
    ),
    pytest.param(["serve", "FILE", "--listen", "0.0.0.0:0"], "beyond loopback needs a token", id="token"),
]


@pytest.mark.parametrize(("words", "sentence"), WRONG)
def test_options_that_do_not_fit_are_wrong_usage(folder: Path, words: list[str], sentence: str) -> None:
    done = run(*(word.replace("FILE", str(folder / "server.py")) for word in words))
    assert done.code == 2
    assert sentence in done.err


FAILING = """
from contextlib import asynccontextmanager
from qortal_mcp import Server

@asynccontextmanager
async def lifespan(server):
    raise OSError("no shelf")
    yield

server = Server("failing", lifespan=lifespan)
"""


@pytest.mark.parametrize("command", [["serve", "--listen", "127.0.0.1:0"], ["stdio"]])
def test_a_lifespan_that_fails_ends_the_command(folder: Path, command: list[str]) -> None:
    (folder / "server.py").write_text(FAILING)
    done = run(*command, str(folder / "server.py"))
    assert done.code == 1
    assert "failing cannot start: its lifespan failed: OSError: no shelf." in done.err


@pytest.mark.promise(
    "Command line",
    "`serve FILE.py:NAME --reload` serves any server of this library, and again after each change of its files; mistakes are shown with their line.",
)
def test_it_is_served_again_after_each_change(folder: Path) -> None:
    with listening("serve", str(folder / "server.py:server"), "--reload") as server:
        assert greeting(server) == "Hello Ann!"
        (folder / "words.py").write_text('GREETING = "Hallo"\n')
        server.wait_for(lambda said: said.count("Reloaded server.py.") == 1)
        assert greeting(server) == "Hallo Ann!"
        (folder / "words.py").write_text("GREETING = \n")
        server.wait_for(
            lambda said: "words.py, line 1: SyntaxError" in said and "Waiting for a change." in said
        )
        (folder / "words.py").unlink()
        (folder / "words.py").write_text('GREETING = "Salut"\n')
        server.wait_for(lambda said: said.count("Reloaded server.py.") == 2)
        assert greeting(server) == "Salut Ann!"
        (folder / "server.py").write_text(SERVER.replace("!", "?"))
        server.wait_for(lambda said: said.count("Reloaded server.py.") == 3)
        assert greeting(server) == "Salut Ann?"
        (folder / "server.py").write_text(FAILING)
        server.wait_for(lambda said: said.count("Waiting for a change.") == 2)
        assert "failing cannot start" in server.err
        assert server.stop() == 0


BROKEN = [
    pytest.param("def broken(:\n", "server.py, line 1: SyntaxError: invalid syntax", id="does not load"),
    pytest.param(
        FAILING, "failing cannot start: its lifespan failed: OSError: no shelf\\u{202E}", id="does not start"
    ),
]


@pytest.mark.parametrize(("text", "sentence"), BROKEN)
@pytest.mark.promise(
    "Command line",
    "While a file under `--reload` has a mistake, requests are not held up: they get status 503 and the sentence that says where it is.",
)
def test_requests_are_told_at_once_what_is_wrong_with_the_file(
    folder: Path, text: str, sentence: str
) -> None:
    env = {"QORTAL_MCP_TOKEN": "one-long-random-word"}
    allowed = {"Authorization": "Bearer one-long-random-word"}
    with listening("serve", str(folder / "server.py"), "--reload", env=env) as server:
        (folder / "server.py").write_text(text.replace("no shelf", "no shelf\u202e"))
        server.wait_for(lambda said: "Waiting for a change." in said)
        for path, body in (("/mcp", GREET), ("/ws", None), ("/readyz", None)):
            status, answer = server.ask(path, body, allowed)
            assert (status, answer.decode().strip()) == (503, sentence)
        status, answer = server.ask("/mcp", GREET)
        assert status == 401
        assert "server.py" not in answer.decode(), "a stranger is not told"
        (folder / "server.py").write_text(SERVER)
        server.wait_for(lambda said: "Reloaded server.py." in said)
        assert b"Hello Ann!" in server.ask("/mcp", GREET, allowed)[1]


def test_a_lifespan_that_fails_is_told_once(folder: Path) -> None:
    with listening("serve", str(folder / "server.py"), "--reload") as server:
        (folder / "server.py").write_text(FAILING)
        server.wait_for(lambda said: "Waiting for a change." in said)
        assert server.stop() == 0
        logged = [json.loads(line) for line in server.err.splitlines() if line.startswith("{")]
        assert [line["event"] for line in logged if "no shelf" in str(line)] == ["the lifespan failed"]
        assert server.err.count("failing cannot start") == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_properly_while_it_waits_for_a_change(folder: Path, number: signal.Signals) -> None:
    with listening("serve", str(folder / "server.py"), "--reload") as server:
        (folder / "server.py").write_text("import nothing_of_that_name")
        server.wait_for(lambda said: "Waiting for a change." in said)
        assert "No module named 'nothing_of_that_name'" in server.err
        assert server.stop(number) == 0


def test_a_module_that_was_missing_may_come(folder: Path) -> None:
    with listening("serve", str(folder / "server.py"), "--reload") as server:
        (folder / "server.py").write_text(SERVER.replace("words", "more_words"))
        server.wait_for(lambda said: "No module named 'more_words'" in said and "Waiting" in said)
        (folder / "more_words.py").write_text('GREETING = "Hi"\n')
        server.wait_for(lambda said: "Reloaded server.py." in said)
        assert greeting(server) == "Hi Ann!"


WHO = """
from qortal_mcp import Server
import os

server = Server("who")


@server.tool
def greet(name: str) -> int:
    \"\"\"The process that serves.\"\"\"
    return os.getpid()
"""


def test_no_process_is_left_behind(folder: Path) -> None:
    (folder / "server.py").write_text(WHO)
    with listening("serve", str(folder / "server.py"), "--reload") as server:
        child = int(greeting(server))
        assert child != server.pid
        assert server.stop() == 0
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
