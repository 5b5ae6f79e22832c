"""What the documents say is true: their commands run, their lists are complete."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.door import Door, open_door

from qortal_mcp.protocol.versions import REVISIONS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


@pytest.fixture(scope="module")
def door() -> Iterator[Door]:
    with open_door("--sample") as running:
        yield running


def block(mark: str) -> str:
    """The code block of the README below a mark."""
    found = re.search(rf"<!-- {mark} -->\n```\w+\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no block {mark}"
    return found.group(1)


def run_at(door: Door, command: str) -> str:
    """A curl command of the README, asked of a running server."""
    assert "http://127.0.0.1:8000/mcp" in command
    local = command.replace("http://127.0.0.1:8000/mcp", door.url)
    done = subprocess.run(["sh", "-c", local], capture_output=True, text=True, timeout=20, check=True)
    return done.stdout


def test_the_curl_commands_of_the_readme_give_what_it_shows(door: Door) -> None:
    assert run_at(door, block("curl:validate")) == block("reply:validate").strip()
    initialized = json.loads(run_at(door, block("curl:initialize")))
    assert initialized["result"]["protocolVersion"] == "2025-06-18"
    balance = json.loads(run_at(door, block("curl:call")))["result"]
    assert balance["isError"] is False
    assert re.fullmatch(r"\d+\.\d{8}", balance["structuredContent"]["balance"])


def test_the_curl_script_of_the_audits_passes(door: Door) -> None:
    script = ROOT / "tests" / "curl_checks.sh"
    done = subprocess.run(
        ["sh", str(script), door.url], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") >= 15


def test_the_readme_tells_where_to_look_for_errors() -> None:
    assert "Look at `error`, then at `isError`" in README


def test_the_readme_shows_how_to_set_up_clients() -> None:
    assert all(revision in README for revision in REVISIONS)
    for command in ("codex mcp add", "claude mcp add", "gemini mcp add", '"mcpServers"'):
        assert command in README


def test_the_readme_lists_every_tool(door: Door) -> None:
    table = README.partition("<!-- generated:tools -->")[2].partition("<!-- /generated -->")[0]
    for tool in door.rpc("tools/list")["result"]["tools"]:
        assert f"`{tool['name']}`" in table


def test_the_readme_says_that_there_is_no_rest_door() -> None:
    assert "There are no REST routes" in README
    assert README.index("/mcp") < README.index("REST")


def test_the_readme_explains_the_oauth_404() -> None:
    assert "/.well-known/oauth-authorization-server" in README


def test_the_design_document_covers_the_wire() -> None:
    design = (ROOT / "DESIGN.md").read_text()
    for word in (
        "Handshake",
        "Method names",
        "`call_tool`",
        "Results",
        "`structuredContent`",
        "Errors",
        "isError",
    ):
        assert word in design
    assert "show `structuredContent`" in design


def test_the_change_log_tells_of_the_result_format() -> None:
    assert "Results have the format" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_is_locked_by_hash() -> None:
    lines = (ROOT / "requirements-dev.txt").read_text().replace("\\\n", " ").splitlines()
    pinned = [line for line in lines if line.strip()]
    assert pinned
    assert all("==" in line and "--hash=sha256:" in line for line in pinned)
    assert not any("://" in line for line in pinned)
