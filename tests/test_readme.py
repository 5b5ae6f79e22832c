"""What the documents say is true: their commands run, their lists are complete."""

import json
import re
import shutil
import subprocess
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.agent.scripted_endpoint import calls, says
from tests.agent.sessions import sessions_of
from tests.door import Door, clean_environment, open_door

from qortal_mcp.cli.program import COMMANDS
from qortal_mcp.protocol.versions import REVISIONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DESIGN = (ROOT / "DESIGN.md").read_text()


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample") as running:
        yield running


def block(mark: str, page: str = README) -> str:
    """The code block of a document below a mark."""
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", page, re.DOTALL)
    assert found, f"there is no block {mark}"
    return found.group(1)


def run_at(door: Door, command: str) -> str:
    """A curl command of a document, asked of a running server."""
    assert "http://127.0.0.1:8000/mcp" in command
    local = command.replace("http://127.0.0.1:8000/mcp", door.url)
    done = subprocess.run(["sh", "-c", local], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout


@pytest.mark.promise("Documents", "The `curl` commands of the README give what it shows.")
def test_the_curl_commands_of_the_readme_give_what_it_shows(door: Door) -> None:
    # The line ends, so that the next prompt of the shell does not stick to it.
    assert run_at(door, block("curl:validate")) == block("reply:validate")
    balance = json.loads(run_at(door, block("curl:call")))["result"]
    assert balance["isError"] is False
    assert re.fullmatch(r"\d+\.\d{8}", balance["structuredContent"]["balance"])


def test_the_curl_commands_of_the_design_document_do_what_it_says(door: Door) -> None:
    initialized = json.loads(run_at(door, block("curl:initialize", DESIGN)))
    assert initialized["result"]["protocolVersion"] == "2025-06-18"
    modern = json.loads(run_at(door, block("curl:modern", DESIGN)))["result"]
    assert (modern["structuredContent"], modern["resultType"]) == ({"isValid": True}, "complete")


BOB = "QixPbJUwsaHsVEofJdozU9zgVqkK6aYhrK"
ASKED = [
    calls(("get_name", {"name": "Bob"})),
    calls(("get_balance", {"address": BOB})),
    says(f"Bob belongs to {BOB}, which holds 499,790.72 QORT, worth about $2,500."),
]


@pytest.mark.promise("Documents", "The terminal session of the README is what the command shows.")
def test_the_session_of_the_readme_is_what_the_command_shows(tmp_path: Path) -> None:
    sessions = sessions_of(README)
    assert list(sessions) == ["ask"]
    shown, told = sessions["ask"].shows(ASKED, tmp_path)
    assert shown == told


@pytest.mark.parametrize("page", [README, DESIGN], ids=["README", "DESIGN"])
def test_every_curl_command_ends_its_line(page: str) -> None:
    commands = re.findall(r"^curl -s .*?(?=^```|^curl)", page, re.DOTALL | re.MULTILINE)
    assert commands
    assert all(command.rstrip().endswith("; echo") for command in commands)


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


def test_the_readme_tells_operators_what_they_need() -> None:
    for word in ("--token-file", "--allow-host", "QORTAL_MCP_TOKEN", "qortal_mcp.asgi:app", "--sample"):
        assert word in README
    for route in ("/healthz", "/readyz", "/metrics", "/mcp-manifest.json", "/llms.txt"):
        assert f"`{route}`" in README


PROSE = [
    "README.md",
    "DESIGN.md",
    "AGENTS.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs/why.md",
    "docs/library.md",
    "docs/from-fastmcp.md",
    "docs/audit.md",
    "docs/ask.md",
    "docs/operate.md",
    "docs/upgrading.md",
]
# `shelf.py` is what a reader of the library page calls their own file.
NOT_OURS = {"shelf.py", "mcp_audit.sh", "test_mcp_audit.py", "server.py", "a.png"}


@pytest.mark.parametrize("name", PROSE)
def test_every_path_that_a_document_names_exists(name: str) -> None:
    text = (ROOT / name).read_text()
    quoted = re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md|sh|toml|json|txt)|(?:[\w.-]+/)+)`", text)
    scripts = re.findall(r"`((?:scripts|\.ci)/\w+)", text)
    routes = {"mcp-manifest.json", "llms.txt"}
    for path in {*quoted, *scripts} - NOT_OURS - routes:
        roots = (ROOT, ROOT / "src" / "qortal_mcp")
        assert any((root / path).exists() for root in roots), f"{name} names {path}, which does not exist"
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert ((ROOT / name).parent / link).exists(), f"{name} links to {link}, which does not exist"


LIBRARY = (ROOT / "docs" / "library.md").read_text()
PYTHON_BLOCKS = re.findall(r"^```python\n(.*?)^```", LIBRARY, re.DOTALL | re.MULTILINE)
SHELL_LINES = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```", LIBRARY, re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
]


@pytest.mark.promise("Documents", "Every block of code on the library page runs.")
def test_every_block_of_the_library_page_runs() -> None:
    assert len(PYTHON_BLOCKS) == LIBRARY.count("```python")
    program = types.ModuleType("library")
    for number, code in enumerate(PYTHON_BLOCKS, 1):
        exec(compile(code, f"docs/library.md, block {number}", "exec"), vars(program))
    assert vars(program)["BOOKS"] == {}, "the test at the end of the page has run"


def test_the_library_page_names_commands_that_exist() -> None:
    named = [line.split()[1] for line in SHELL_LINES if line.startswith("qortal-mcp ")]
    assert named == ["new", "serve"]
    assert set(named) <= COMMANDS.keys()


def test_the_servers_that_the_library_page_compares_are_those_that_are_measured() -> None:
    here, there = re.findall(r"^```py\n(.*?)^```", LIBRARY, re.DOTALL | re.MULTILINE)
    folder = ROOT / "interop" / "library"
    assert here == (folder / "shelf.py").read_text()
    assert there == (folder / "shelf_on_fastmcp.py").read_text()
    lines = [sum(bool(line.strip()) for line in code.splitlines()) for code in (here, there)]
    assert f"| lines of code | {lines[0]} | {lines[1]} |" in LIBRARY


@pytest.fixture
def shelf(tmp_path: Path) -> Path:
    """The program of the library page up to where it runs."""
    until = next(at for at, code in enumerate(PYTHON_BLOCKS) if "run(server)" in code)
    file = tmp_path / "shelf.py"
    file.write_text("\n\n".join(PYTHON_BLOCKS[: until + 1]))
    return file


def test_the_commands_of_the_library_page_start_its_server(shelf: Path) -> None:
    on_stdio, on_http = (line for line in SHELL_LINES if line.startswith("python "))
    assert on_stdio == "python shelf.py"
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run([sys.executable, shelf], input=ping, capture_output=True, timeout=30, check=True)
    assert json.loads(done.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    words = [word.replace(":8000", ":0") for word in on_http.split()[2:]]
    with subprocess.Popen([sys.executable, shelf, *words], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("Listening on http://127.0.0.1:")
        process.terminate()
        assert process.wait(30) == 0


DEMO = [
    pytest.param([], {}, "http://127.0.0.1:8000/mcp", "--listen 127.0.0.1:PORT", id="default"),
    pytest.param(
        ["--listen", "127.0.0.1:8123"],
        {},
        "http://127.0.0.1:8123/mcp",
        "--listen 127.0.0.1:PORT",
        id="option",
    ),
    pytest.param(
        ["--listen=[::1]:8001"], {}, "http://[::1]:8001/mcp", "--listen 127.0.0.1:PORT", id="in-one-word"
    ),
    pytest.param(
        ["--listen", "0.0.0.0:80"], {}, "http://127.0.0.1:80/mcp", "--listen 127.0.0.1:PORT", id="everywhere"
    ),
    pytest.param(
        [],
        {"QORTAL_MCP_LISTEN": "127.0.0.1:7"},
        "http://127.0.0.1:7/mcp",
        "--listen 127.0.0.1:PORT",
        id="variable",
    ),
    pytest.param(["--listen", "127.0.0.1:0"], {}, "ADDRESS/mcp", 'the line "Listening on"', id="any-port"),
]


@pytest.mark.parametrize(("words", "variables", "address", "hint"), DEMO)
def test_the_demo_shows_the_command_that_reaches_it(
    tmp_path: Path, words: list[str], variables: dict[str, str], address: str, hint: str
) -> None:
    """With stand-ins for the set-up and the server, which have tests of their own."""
    for path, script in (("scripts/setup", ":"), (".venv/bin/qortal-mcp", 'echo "$@"')):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"#!/bin/sh\n{script}\n")
        file.chmod(0o755)
    demo = shutil.copy(ROOT / "scripts" / "demo", tmp_path / "scripts" / "demo")
    done = subprocess.run(
        [demo, *words],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
        env=clean_environment(**variables),
    )
    assert done.stdout.split() == ["serve", "--sample", *words]
    first, curl, last = done.stderr.splitlines()
    assert "sample chain" in first
    assert f"open {address.removesuffix('mcp')} in a browser" in first
    assert curl.startswith(f"  curl -s '{address}' ")
    assert curl.endswith("; echo")
    assert hint in last


@pytest.mark.promise(
    "Documents", "A script of `curl` commands against a running server is shipped and passes."
)
def test_the_curl_script_of_the_audits_passes(door: Door) -> None:
    script = ROOT / "tests" / "curl_checks.sh"
    done = subprocess.run(
        ["sh", str(script), door.url], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") >= 15


@pytest.mark.promise("Documents", "The README says that clients look at `error` first, then at `isError`.")
def test_the_readme_tells_where_to_look_for_errors() -> None:
    assert "Look at `error`, then at `isError`" in README


@pytest.mark.promise("Documents", "The README shows how to set up clients, and which revisions are served.")
def test_the_readme_shows_how_to_set_up_clients() -> None:
    assert all(revision in README for revision in REVISIONS)
    for command in ("qortal-mcp install codex", "codex mcp add", "claude mcp add", "gemini mcp add"):
        assert command in README


@pytest.mark.promise("Documents", "The README lists every tool.")
def test_the_readme_lists_every_tool(door: Door) -> None:
    table = README.partition("<!-- generated:tools -->")[2].partition("<!-- /generated -->")[0]
    for tool in door.rpc("tools/list")["result"]["tools"]:
        assert f"`{tool['name']}`" in table


@pytest.mark.promise(
    "Documents", "The README says that MCP is the only interface, and why 404 on the OAuth path is fine."
)
def test_the_readme_says_that_there_is_no_rest_door() -> None:
    assert "There are no REST routes" in README
    assert README.index("/mcp") < README.index("REST")


@pytest.mark.promise(
    "Documents", "The README says that MCP is the only interface, and why 404 on the OAuth path is fine."
)
def test_the_readme_explains_the_oauth_404() -> None:
    assert "/.well-known/oauth-authorization-server" in README


@pytest.mark.promise(
    "Documents", "`DESIGN.md` explains the handshake, the methods with their old names, results and errors."
)
def test_the_design_document_covers_the_wire() -> None:
    for word in (
        "Handshake",
        "Method names",
        "`call_tool`",
        "Results",
        "`structuredContent`",
        "Errors",
        "isError",
    ):
        assert word in DESIGN
    assert "show `structuredContent`" in DESIGN


@pytest.mark.promise("Documents", "The change log explains the format of results.")
def test_the_change_log_tells_of_the_result_format() -> None:
    assert "Results have the format" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.promise("Documents", "Every dependency is locked by its hash.")
def test_every_dependency_is_locked_by_hash() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text().replace("\\\n", " ").splitlines()
    pinned = [line for line in lines if line.strip()]
    assert pinned
    assert all("==" in line and "--hash=sha256:" in line for line in pinned)
    assert not any("://" in line for line in pinned)
