"""The table of clients: what each one's file must look like, and the mistakes that others have made with it."""

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from tests.connect.targets import COMMAND, PLAIN, URL, WITH_TOKEN

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client
from qortal_mcp.connect.clients import CLIENTS
from qortal_mcp.connect.rendering import document, entry
from qortal_mcp.settings import TOKEN_VARIABLE

PROGRAM, *ARGUMENTS = COMMAND
STARTED = {"command": PROGRAM, "args": ARGUMENTS}
GOOSE = {"name": "qortal", "description": "Reads the Qortal blockchain", "enabled": True, "timeout": 300}

# Where the entry of each client is, what it holds for a program, and for a server over HTTP.
SHAPES: list[tuple[Client, str, dict[str, Any], dict[str, Any] | None]] = [
    (clients.CODEX, "mcp_servers", STARTED, {"url": URL}),
    (clients.CLAUDE_CODE, "mcpServers", {"type": "stdio", **STARTED}, {"type": "http", "url": URL}),
    (clients.GEMINI, "mcpServers", STARTED, {"httpUrl": URL}),
    (clients.CURSOR, "mcpServers", STARTED, {"url": URL}),
    (clients.VSCODE, "servers", {"type": "stdio", **STARTED}, {"type": "http", "url": URL}),
    (clients.CLAUDE_DESKTOP, "mcpServers", STARTED, None),
    (
        clients.COPILOT,
        "mcpServers",
        {"type": "local", **STARTED, "tools": ["*"]},
        {"type": "http", "url": URL, "tools": ["*"]},
    ),
    (clients.OPENCODE, "mcp", {"type": "local", "command": list(COMMAND)}, {"type": "remote", "url": URL}),
    (clients.ANTIGRAVITY, "mcpServers", STARTED, {"serverUrl": URL}),
    (clients.DEVIN, "mcpServers", STARTED, {"serverUrl": URL}),
    (clients.ZED, "context_servers", STARTED, {"url": URL}),
    (
        clients.GOOSE,
        "extensions",
        {**GOOSE, "type": "stdio", "cmd": PROGRAM, "args": ARGUMENTS},
        {**GOOSE, "type": "streamable_http", "uri": URL},
    ),
    (clients.LM_STUDIO, "mcpServers", STARTED, {"url": URL}),
    (clients.KIRO, "mcpServers", STARTED, {"url": URL}),
    (clients.MCP_JSON, "mcpServers", STARTED, {"type": "http", "url": URL}),
]


@pytest.mark.parametrize(("client", "key", "started", "asked"), SHAPES, ids=[row[0].name for row in SHAPES])
def test_an_entry_has_the_members_that_its_client_reads(
    client: Client, key: str, started: dict[str, Any], asked: dict[str, Any] | None
) -> None:
    assert document(client, client.stdio, PLAIN) == {key: {"qortal": started}}
    assert (client.http and document(client, client.http, PLAIN)) == (asked and {key: {"qortal": asked}})


def test_every_client_of_the_table_is_checked_here() -> None:
    assert tuple(row[0] for row in SHAPES) == CLIENTS


def test_names_are_unique_and_can_be_part_of_an_address() -> None:
    names = [client.name for client in CLIENTS]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[a-z-]+", name) for name in names)


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_every_system_has_a_file_and_every_row_says_how_sure_it_is(client: Client) -> None:
    level = "project" if client is clients.MCP_JSON else "user"
    covered = {system for place in client.places if place.level == level for system in place.systems}
    assert covered == {"macOS", "Linux", "Windows"}
    assert client.evidence.source
    assert date.fromisoformat(client.evidence.on)
    assert (client.evidence.kind == "run") == bool(client.evidence.version)
    assert client.evidence.on in client.evidence.in_words()
    assert not any(str(Path.home()) in place.path for place in client.places)


def path_of(client: Client, system: str) -> list[str]:
    return [p.path for p in client.places if p.level == "user" and system in p.systems]


def test_zed_on_macos_reads_the_same_folder_as_on_linux() -> None:
    assert path_of(clients.ZED, "macOS") == ["~/.config/zed/settings.json"]
    assert path_of(clients.ZED, "Linux")[-1] == "~/.config/zed/settings.json"
    assert path_of(clients.ZED, "Windows") == [r"%APPDATA%\Zed\settings.json"]


def test_zed_gets_neither_a_type_nor_a_source() -> None:
    for setup in (clients.ZED.stdio, clients.ZED.http):
        assert setup is not None
        assert not {"type", "source"} & set(entry(clients.ZED, setup, WITH_TOKEN))


def test_codex_gets_no_type_and_no_token_in_its_file() -> None:
    assert clients.CODEX.http is not None
    found = entry(clients.CODEX, clients.CODEX.http, WITH_TOKEN)
    assert found == {"url": URL, "bearer_token_env_var": TOKEN_VARIABLE}


def test_claude_desktop_is_written_with_a_capital_on_linux_and_looked_for_in_its_package_on_windows() -> None:
    assert path_of(clients.CLAUDE_DESKTOP, "Linux") == ["~/.config/Claude/claude_desktop_config.json"]
    first, second = path_of(clients.CLAUDE_DESKTOP, "Windows")
    assert first.startswith(r"%LOCALAPPDATA%\Packages\Claude_*")
    assert second.startswith(r"%APPDATA%\Claude")


def test_goose_on_windows_is_not_below_dot_config() -> None:
    assert path_of(clients.GOOSE, "Windows") == [r"%APPDATA%\Block\goose\config\config.yaml"]


def test_claude_code_is_not_sent_to_the_file_that_it_never_reads() -> None:
    assert [place.path for place in clients.CLAUDE_CODE.places] == ["~/.claude.json", ".mcp.json"]


HOW_TOKENS_ARE_NAMED = {
    "claude-code": "Bearer ${QORTAL_MCP_TOKEN}",
    "gemini-cli": "Bearer ${QORTAL_MCP_TOKEN}",
    "cursor": "Bearer ${env:QORTAL_MCP_TOKEN}",
    "vscode": "Bearer ${input:qortal-mcp-token}",
    "copilot-cli": "Bearer ${QORTAL_MCP_TOKEN}",
    "opencode": "Bearer {env:QORTAL_MCP_TOKEN}",
    "antigravity": "Bearer TOKEN",
    "devin": "Bearer ${env:QORTAL_MCP_TOKEN}",
    "zed": "Bearer TOKEN",
    "goose": "Bearer ${QORTAL_MCP_TOKEN}",
    "lm-studio": "Bearer TOKEN",
    "kiro": "Bearer ${QORTAL_MCP_TOKEN}",
    "mcp-json": "Bearer TOKEN",
}


def test_the_token_is_named_in_the_way_of_each_client() -> None:
    found = {
        client.name: members["headers"]["Authorization"]
        for client in CLIENTS
        if client.http is not None and "headers" in (members := entry(client, client.http, WITH_TOKEN))
    }
    assert found == HOW_TOKENS_ARE_NAMED


def test_vscode_asks_for_the_token_that_its_entry_refers_to() -> None:
    assert clients.VSCODE.http is not None
    found = document(clients.VSCODE, clients.VSCODE.http, WITH_TOKEN)
    (asked,) = found["inputs"]
    assert f"${{input:{asked['id']}}}" in found["servers"]["qortal"]["headers"]["Authorization"]
    assert asked["password"] is True


def test_goose_is_told_to_keep_the_variable_that_its_header_refers_to() -> None:
    assert clients.GOOSE.http is not None
    assert entry(clients.GOOSE, clients.GOOSE.http, WITH_TOKEN)["env_keys"] == [TOKEN_VARIABLE]
