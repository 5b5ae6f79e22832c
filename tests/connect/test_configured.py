"""Which servers are configured, and whether ours answer as their clients would start them."""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.cli.running import listening

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client
from qortal_mcp.connect.configured import Configured, configured, unread
from qortal_mcp.connect.places import Machine
from qortal_mcp.connect.trying import Outcome, surroundings, tried

OURS = {"command": sys.executable, "args": ["-m", "qortal_mcp", "stdio", "--sample"]}
OTHER = {"command": "npx", "args": ["-y", "some-server"], "env": {"API_KEY": "k"}}


def machine(home: Path, **environ: str) -> Machine:
    usual = {"PATH": os.environ["PATH"], "HOME": str(home)}
    return Machine("Linux", {**usual, **environ}, str(home), str(home / "work"))


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def entry(client: Client, raw: Any, home: Path, name: str = "qortal") -> Configured:
    """The entry as it is found in the client's own file."""
    write(home / ".cursor" / "mcp.json", json.dumps({"mcpServers": {name: raw}}))
    (file,) = configured(machine(home), clients=[clients.CURSOR])
    (found,) = file.entries
    return msgspec.structs.replace(found, client=client)


def attempt(
    raw: Any,
    home: Path,
    environ: Mapping[str, str] | None = None,
    client: Client = clients.CURSOR,
    **given: Any,
) -> Outcome:
    return asyncio.run(tried(entry(client, raw, home), machine(home, **(environ or {})), **given))


def test_the_entries_of_every_format_are_found(tmp_path: Path) -> None:
    write(
        tmp_path / ".codex/config.toml",
        '[mcp_servers.a]\ncommand = "/opt/bin/qortal-mcp"\nargs = ["stdio"]\n',
    )
    write(tmp_path / ".gemini/settings.json", '// mine\n{"mcpServers": {"b": {"httpUrl": "http://h/mcp"},}}')
    write(
        tmp_path / ".config/goose/config.yaml",
        "extensions:\n  c:\n    type: stdio\n    cmd: uvx\n    args:\n    - x\n    enabled: false\n",
    )
    write(
        tmp_path / "work/opencode.json",
        '{"mcp": {"d": {"type": "local", "command": ["qortal-mcp", "stdio"]}}}',
    )
    found = {
        (file.client.name, file.level, one.name): (one.command, one.url, one.is_ours, one.is_off)
        for file in configured(machine(tmp_path))
        for one in file.entries
    }
    assert found == {
        ("codex", "user", "a"): (("/opt/bin/qortal-mcp", "stdio"), "", True, False),
        ("gemini-cli", "user", "b"): ((), "http://h/mcp", False, False),
        ("goose", "user", "c"): (("uvx", "x"), "", False, True),
        ("opencode", "project", "d"): (("qortal-mcp", "stdio"), "", True, False),
    }


def test_claude_codes_entries_for_one_folder_are_found_in_its_own_file(tmp_path: Path) -> None:
    project = {str(tmp_path / "work"): {"mcpServers": {"here": OTHER}}, "/else": {"mcpServers": {"x": OTHER}}}
    write(tmp_path / ".claude.json", json.dumps({"mcpServers": {"all": OTHER}, "projects": project}))
    (file,) = configured(machine(tmp_path), clients=[clients.CLAUDE_CODE])
    assert [one.name for one in file.entries] == ["all", "here"]


BROKEN = [
    pytest.param(clients.CURSOR, ".cursor/mcp.json", '{\n  "a": ]', "line 2, column 8", id="json"),
    pytest.param(clients.CODEX, ".codex/config.toml", "a = 1\nb = \n", "line 2, column 5", id="toml"),
    pytest.param(
        clients.CODEX, ".codex/config.toml", f"\na{'.a' * 500_000} = 1\n", "line 2", id="endless-toml"
    ),
    pytest.param(clients.GOOSE, ".config/goose/config.yaml", "a: &x 1\n", "line 1, column 4", id="yaml"),
    pytest.param(clients.CURSOR, ".cursor/mcp.json", "[1]", "line 1, column 1", id="a-list"),
]


@pytest.mark.parametrize(("client", "path", "text", "place"), BROKEN)
def test_a_broken_file_is_named_with_the_place_of_the_mistake(
    tmp_path: Path, client: Client, path: str, text: str, place: str
) -> None:
    write(tmp_path / path, text)
    (file,) = configured(machine(tmp_path), clients=[client])
    assert str(tmp_path / path) in file.problem
    assert place in file.problem
    assert file.entries == ()


def test_a_pipe_and_a_folder_in_place_of_a_file_are_named_and_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / ".cursor" / "mcp.json").mkdir(parents=True)
    (tmp_path / ".codex").mkdir()
    os.mkfifo(tmp_path / ".codex" / "config.toml")
    found = configured(machine(tmp_path))
    assert [file.client.name for file in found if file.problem] == ["codex", "cursor"]


def test_files_with_servers_that_are_never_read_are_named(tmp_path: Path) -> None:
    write(tmp_path / ".claude/settings.json", json.dumps({"mcpServers": {"lost": OTHER}}))
    write(tmp_path / ".gemini/antigravity-cli/mcp_config.json", json.dumps({"mcpServers": {}}))
    (found,) = unread(machine(tmp_path))
    assert (found.client.name, found.names) == ("claude-code", ("lost",))


@pytest.mark.promise("Setting up clients", "Entries of other programs are listed and never started.")
@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"command": "/bin/sh", "args": ["-c", "touch {mark}; qortal-mcp"]}, id="a-shell"),
        pytest.param({"command": "/usr/bin/touch", "args": ["{mark}", "qortal-mcp", "stdio"]}, id="our-name"),
        pytest.param(
            {"command": sys.executable, "args": ["-c", "open('{mark}', 'w')", "-m", "qortal_mcp"]},
            id="python",
        ),
        pytest.param(
            {**OURS, "args": ["-m", "qortal_mcp", "bridge", "--", "/usr/bin/touch", "{mark}"]}, id="a-bridge"
        ),
        pytest.param(
            {**OURS, "args": ["-m", "qortal_mcp", "audit", "--", "/usr/bin/touch", "{mark}"]}, id="audit"
        ),
        pytest.param({**OURS, "disabled": True}, id="switched-off"),
    ],
)
def test_an_entry_of_others_is_never_started(tmp_path: Path, raw: dict[str, Any]) -> None:
    mark = tmp_path / "mark"
    filled = {**raw, "args": [word.replace("{mark}", str(mark)) for word in raw["args"]]}
    outcome = attempt(filled, tmp_path)
    assert (outcome.works, outcome.was_tried) == (False, False)
    assert not mark.exists()


def test_an_address_of_others_is_never_asked(tmp_path: Path) -> None:
    outcome = attempt({"url": "http://127.0.0.1:9/mcp"}, tmp_path)
    assert (outcome.works, outcome.was_tried) == (False, False)
    assert attempt({"url": "http://127.0.0.1:9/mcp"}, tmp_path, is_recorded=True).was_tried


def test_our_entry_answers_and_says_how_many_tools_it_has(tmp_path: Path) -> None:
    outcome = attempt(OURS, tmp_path)
    assert outcome.works, outcome.says
    assert outcome.tools > 10


def test_a_program_that_is_gone_is_said_to_be_gone(tmp_path: Path) -> None:
    outcome = attempt({"command": "/nowhere/qortal-mcp", "args": ["stdio"]}, tmp_path)
    assert not outcome.works
    assert "there is no such program" in outcome.says


def test_the_last_line_of_a_program_that_ends_is_shown(tmp_path: Path) -> None:
    outcome = attempt({**OURS, "args": ["-m", "qortal_mcp", "stdio", "--toolsets", "nonsense"]}, tmp_path)
    assert not outcome.works
    assert "nonsense" in outcome.says


def test_a_bare_name_is_looked_for_on_the_path_that_the_client_has(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "qortal-mcp").write_text(f'#!/bin/sh\nexec {sys.executable} -m qortal_mcp "$@"\n')
    (folder / "qortal-mcp").chmod(0o755)
    raw = {"command": "qortal-mcp", "args": ["stdio", "--sample"]}
    path = f"{folder}:{os.environ['PATH']}"
    assert attempt(raw, tmp_path, {"PATH": path}, clients.CODEX).works
    in_a_window = attempt(raw, tmp_path, {"PATH": path}, clients.CURSOR)
    assert not in_a_window.works


def test_gemini_does_not_hand_on_what_looks_like_a_secret(tmp_path: Path) -> None:
    here = machine(tmp_path, MY_TOKEN="a", api_key="b", CLIENT_SECRET="c", EDITOR="vi")
    assert set(surroundings(clients.GEMINI.surroundings, here)) == {"PATH", "HOME", "EDITOR"}
    assert "EDITOR" not in surroundings(clients.CODEX.surroundings, here)


def test_an_address_of_ours_is_asked_with_the_token_that_its_entry_refers_to(tmp_path: Path) -> None:
    token = "0123456789abcdef"
    raw = {"url": "", "headers": {"Authorization": "Bearer ${env:QORTAL_MCP_TOKEN}"}}
    with listening("serve", "--sample", env={"QORTAL_MCP_TOKEN": token}) as server:
        raw["url"] = server.url
        assert attempt(raw, tmp_path, {"QORTAL_MCP_TOKEN": token}).works
        wrong = attempt(raw, tmp_path, {"QORTAL_MCP_TOKEN": "f" * 16})
        unset = attempt(raw, tmp_path)
    assert "401" in wrong.says
    assert (unset.was_tried, unset.says) == (False, "The variable QORTAL_MCP_TOKEN is not set.")


def test_a_silent_program_is_given_up(tmp_path: Path) -> None:
    script = tmp_path / "qortal-mcp"
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    outcome = attempt({"command": str(script), "args": ["stdio"]}, tmp_path, seconds=0.5)
    assert outcome.says == "It did not answer within 0.5 s."
