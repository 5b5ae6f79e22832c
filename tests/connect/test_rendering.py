"""The texts a person copies: they parse in their format, survive odd paths, and hold no secret."""

import base64
import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
from tests.connect.targets import ODD, PLAIN, SETUPS, URL, WITH_TOKEN, named

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client, Setup, Target
from qortal_mcp.connect.clients import CLIENTS
from qortal_mcp.connect.rendering import document, entry, link, shell_command, snippet, web_link

TARGETS = [pytest.param(PLAIN, id="plain"), pytest.param(WITH_TOKEN, id="token"), pytest.param(ODD, id="odd")]


def yaml(text: str) -> Any:
    """Reads what we write of YAML: nested mappings, and values that are JSON but for its long escapes."""
    root: dict[str, Any] = {}
    open_mappings = [root]
    for line in text.splitlines():
        found = re.fullmatch(r"((?:  )*)(\w+):(?: (.+))?", line)
        assert found, line
        depth = len(found[1]) // 2
        del open_mappings[depth + 1 :]
        if found[3] is None:
            inner: dict[str, Any] = {}
            open_mappings[-1][found[2]] = inner
            open_mappings.append(inner)
        else:
            value = re.sub(r"\\U0000(?=[0-9A-F]{4})", r"\\u", found[3])
            open_mappings[-1][found[2]] = json.loads(value)
    return root


READERS: dict[str, Callable[[str], Any]] = {
    "json": json.loads,
    "jsonc": json.loads,
    "toml": tomllib.loads,
    "yaml": yaml,
}


@pytest.mark.promise("Console", "What the console offers to copy parses in the format of the client's file.")
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("client", "setup"), SETUPS)
def test_a_piece_of_a_settings_file_parses_to_what_was_meant(
    client: Client, setup: Setup, target: Target
) -> None:
    assert READERS[client.form](snippet(client, setup, target)) == document(client, setup, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("client", "setup"), SETUPS)
def test_a_command_is_taken_apart_by_a_shell_into_the_words_that_were_meant(
    client: Client, setup: Setup, target: Target
) -> None:
    command = shell_command(client, setup, target)
    if not command:
        return
    words = shlex.split(command)
    done = subprocess.run(
        ["sh", "-c", f"printf '%s\\0' {command}"], capture_output=True, text=True, check=True
    )
    assert done.stdout.split("\0")[:-1] == words
    if setup is client.http:
        assert any(target.url in word for word in words)
    elif "--add-mcp" not in words:
        assert [word for word in words if word in target.command] == list(target.command)


COMMANDS = {
    "codex": "codex mcp add qortal --url {url} --bearer-token-env-var QORTAL_MCP_TOKEN",
    "claude-code": "claude mcp add --scope user --transport http qortal {url} --header 'Authorization: Bearer ${{QORTAL_MCP_TOKEN}}'",
    "gemini-cli": "gemini mcp add --scope user --transport http qortal {url} --header 'Authorization: Bearer ${{QORTAL_MCP_TOKEN}}'",
    "copilot-cli": "copilot mcp add --transport http --header 'Authorization: Bearer ${{QORTAL_MCP_TOKEN}}' qortal {url}",
    "opencode": "opencode mcp add qortal --url {url} --header 'Authorization=Bearer {{env:QORTAL_MCP_TOKEN}}'",
}


@pytest.mark.parametrize("client", CLIENTS, ids=named)
def test_the_command_for_a_server_with_a_token_names_the_variable_and_leaves_it_to_the_client(
    client: Client,
) -> None:
    if client.http is not None and client is not clients.VSCODE:
        wanted = COMMANDS.get(client.name, "").format(url=URL)
        assert shell_command(client, client.http, WITH_TOKEN) == wanted


def test_the_command_of_vscode_is_the_entry_with_its_name_and_the_question_for_the_token() -> None:
    assert clients.VSCODE.http is not None
    program, option, given = shlex.split(shell_command(clients.VSCODE, clients.VSCODE.http, WITH_TOKEN))
    assert (program, option) == ("code", "--add-mcp")
    wanted = document(clients.VSCODE, clients.VSCODE.http, WITH_TOKEN)
    assert json.loads(given) == {"name": "qortal", **wanted["servers"]["qortal"], "inputs": wanted["inputs"]}


def test_gemini_gets_the_arguments_after_two_dashes_so_that_it_does_not_read_them_as_its_own() -> None:
    command = shell_command(clients.GEMINI, clients.GEMINI.stdio, PLAIN)
    assert command.endswith("qortal /opt/qortal/bin/qortal-mcp -- stdio --sample")


# Addresses that the makers of these clients publish, and the entries they are made of.
PUBLISHED = [
    pytest.param(
        clients.CURSOR,
        {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://localhost/mydb"],
        },
        "eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIkBtb2RlbGNvbnRleHRwcm90b2NvbC9zZXJ2ZXItcG9zdGdyZXMiLCJwb3N0Z3Jlc3FsOi8vbG9jYWxob3N0L215ZGIiXX0%3D",
        id="cursor",
    ),
    pytest.param(
        clients.LM_STUDIO,
        {
            "url": "https://huggingface.co/mcp",
            "headers": {"Authorization": "Bearer <YOUR_HF_TOKEN>"},
        },
        "eyJ1cmwiOiJodHRwczovL2h1Z2dpbmdmYWNlLmNvL21jcCIsImhlYWRlcnMiOnsiQXV0aG9yaXphdGlvbiI6IkJlYXJlciA8WU9VUl9IRl9UT0tFTj4ifX0%3D",
        id="lm-studio",
    ),
]


@pytest.mark.parametrize(("client", "members", "config"), PUBLISHED)
def test_a_link_is_made_as_the_published_ones_are(
    client: Client, members: dict[str, Any], config: str
) -> None:
    setup = msgspec.structs.replace(client.stdio, entry=members)
    address = link(client, setup, PLAIN)
    assert address.endswith(f"?name=qortal&config={config}")


# The addresses of the web, for pages on which links to programs do not work.
WEB: dict[str, str] = {
    "cursor": "https://cursor.com/en/install-mcp?name=qortal&config=eyJ1cmwiOiJodHRwOi8vMTI3LjAuMC4xOjgwMDAvbWNwIn0%3D",
    "vscode": "https://insiders.vscode.dev/redirect/mcp/install?name=qortal&config=%7B%22type%22%3A%22http%22%2C%22url%22%3A%22http%3A%2F%2F127.0.0.1%3A8000%2Fmcp%22%7D",
    "goose": "https://goose-docs.ai/extension?type=streamable_http&url=http%3A%2F%2F127.0.0.1%3A8000%2Fmcp&id=qortal&name=qortal&description=Reads%20the%20Qortal%20blockchain",
    "lm-studio": "https://lmstudio.ai/install-mcp?name=qortal&config=eyJ1cmwiOiJodHRwOi8vMTI3LjAuMC4xOjgwMDAvbWNwIn0%3D",
    "kiro": "https://kiro.dev/launch/mcp/add?name=qortal&config=%7B%22url%22%3A%22http%3A%2F%2F127.0.0.1%3A8000%2Fmcp%22%7D",
}


def test_the_links_of_the_web_hold_the_same_entry_and_stand_in_the_readme() -> None:
    found = {
        client.name: address
        for client in CLIENTS
        if client.http is not None and (address := web_link(client, client.http, PLAIN))
    }
    assert found == WEB
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    assert all(f"]({address})" in readme for address in found.values())


BEGINNINGS = {
    "cursor": "cursor://anysphere.cursor-deeplink/mcp/install?name=qortal&config=",
    "vscode": "vscode:mcp/install?%7B",
    "lm-studio": "lmstudio://add_mcp?name=qortal&config=",
    "kiro": "https://kiro.dev/launch/mcp/add?name=qortal&config=%7B",
}


def decoded(client: Client, address: str) -> Any:
    """What a client reads from a link."""
    query = urlsplit(address).query
    if client is clients.VSCODE:
        return json.loads(unquote(query))
    (config,) = parse_qs(query)["config"]
    return json.loads(config if client is clients.KIRO else base64.b64decode(config, validate=True))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("client", "setup"), SETUPS)
def test_a_link_holds_the_entry(client: Client, setup: Setup, target: Target) -> None:
    address = link(client, setup, target)
    if not address or client is clients.GOOSE:
        return
    assert address.startswith(BEGINNINGS[client.name])
    assert re.fullmatch(r"[A-Za-z0-9%&=?:/._~-]+", address)
    wanted = entry(client, setup, target)
    if client is clients.VSCODE:
        read = decoded(client, address)
        assert read.pop("name") == "qortal"
        assert {name: read[name] for name in wanted} == wanted
    else:
        assert decoded(client, address) == wanted


def test_goose_has_a_link_for_an_address_but_none_for_a_program_or_a_token() -> None:
    assert clients.GOOSE.http is not None
    query = parse_qs(urlsplit(link(clients.GOOSE, clients.GOOSE.http, PLAIN)).query)
    assert (query["type"], query["url"], query["id"]) == (["streamable_http"], [URL], ["qortal"])
    assert link(clients.GOOSE, clients.GOOSE.http, WITH_TOKEN) == ""
    assert link(clients.GOOSE, clients.GOOSE.stdio, PLAIN) == ""


@pytest.mark.parametrize("client", [clients.LM_STUDIO, clients.ANTIGRAVITY, clients.ZED], ids=named)
def test_a_client_that_must_have_the_token_written_down_gets_neither_link_nor_command_for_it(
    client: Client,
) -> None:
    assert client.http is not None
    assert link(client, client.http, WITH_TOKEN) == ""
    assert shell_command(client, client.http, WITH_TOKEN) == ""


@pytest.mark.parametrize(("client", "setup"), SETUPS)
def test_a_program_gets_nothing_about_the_token(client: Client, setup: Setup) -> None:
    if setup is client.stdio:
        assert snippet(client, setup, WITH_TOKEN) == snippet(client, setup, PLAIN)
