"""The files in which clients keep their servers: what is understood, what is refused, and with which words."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qortal_mcp.connect.entries import server_entries, server_files
from qortal_mcp.connect.entries.server_entries import BadEntry, Entry
from qortal_mcp.connect.settings_files import relaxed_json
from qortal_mcp.connect.settings_files.reading import BrokenFile

Json = dict[str, Any]
ENVIRON = {"TOKEN": "s3cret-token", "HOST": "example.org", "EMPTY": ""}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("mcp.json", '{"mcpServers": {"a": {"command": "x"}}}', id="claude-cursor-gemini"),
        pytest.param(
            "mcp.json", '{"servers": {"a": {"type": "stdio", "command": "x"}}, "inputs": []}', id="vscode"
        ),
        pytest.param("config.toml", 'model = "m"\n[mcp_servers.a]\ncommand = "x"\n', id="codex"),
        pytest.param(
            "mcp.json", '\ufeff// one\n{"mcpServers": {/* two */ "a": {"command": "x",},},}\n', id="comments"
        ),
        pytest.param(
            "mcp.json", '{"mcpServers": {"a": {"command": "x"}}, "u": "http://x/*,]//"}', id="no-comments"
        ),
    ],
)
def test_the_files_of_all_clients_are_read(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert server_files.read(str(tmp_path / name))["a"]["command"] == "x"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        pytest.param("a.json", '{\n  "mcpServers": {\n    "a" {}\n  }\n}', "line 3, column 9", id="json"),
        pytest.param("a.json", '{"mcpServers": {', "line 1, column", id="cut"),
        pytest.param("a.json", '{"mcpServers": /* {', "line 1, column 16", id="open-comment"),
        pytest.param("a.toml", "[mcp_servers.a\n", "line 1, column 15", id="toml"),
        pytest.param("a.json", "[" * 100_000, "nested too deeply", id="deep"),
        pytest.param("a.json", '\\"' * 1_000_000, "line 1, column 1", id="quotes-without-end"),
        pytest.param("a.json", "/* " * 1_000_000, "line 1, column 1", id="comments-without-end"),
        pytest.param("a.toml", "a = " + "1" * 5000, "not valid", id="long-number"),
        pytest.param("a.json", '{"other": 1}', "names no servers", id="no-key"),
        pytest.param("a.json", "5", "names no servers", id="number"),
        pytest.param("a.json", '{"mcpServers": []}', "not an object", id="list"),
    ],
)
def test_a_broken_file_is_refused_with_the_place(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BrokenFile, match=words):
        server_files.read(str(tmp_path / name))


def test_a_pipe_in_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "mcp.json")
    with pytest.raises(BrokenFile, match="it is not a file"):
        server_files.read(str(tmp_path / "mcp.json"))


def test_a_file_that_is_not_there_or_not_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokenFile, match="No such file"):
        server_files.read(str(tmp_path / "none"))
    (tmp_path / "bytes").write_bytes(b'{"mcpServers": {"\xff": 1}}')
    with pytest.raises(BrokenFile, match="not UTF-8"):
        server_files.read(str(tmp_path / "bytes"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_plain_json_means_the_same_with_and_without_relaxation(value: Any) -> None:
    assert relaxed_json.read(json.dumps(value, indent=1).encode()) == value


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    try:
        found = relaxed_json.read(b'{"a":' + data)
    except relaxed_json.NotJson:
        return
    assert "a" in found


def entry(raw: Any) -> Entry:
    return server_entries.read(raw, ENVIRON)


def test_variables_are_filled_in_everywhere() -> None:
    found = entry(
        {
            "command": "${TOKEN}-program",
            "args": ["--host", "${env:HOST}", "${NOT_SET:-other} ${EMPTY:-}", "${HOST:-x}", 5],
            "env": {"A": "${TOKEN}", "B": None},
            "cwd": "/srv/${HOST}",
        }
    )
    assert found.target == ("s3cret-token-program", "--host", "example.org", "other ", "example.org", "5")
    assert (found.env, found.cwd) == ({"A": "s3cret-token"}, "/srv/example.org")
    assert found.used == {"TOKEN": "s3cret-token", "HOST": "example.org", "NOT_SET": "other", "EMPTY": ""}
    remote = entry({"url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}})
    assert (remote.target, remote.headers) == (
        "https://example.org/mcp",
        (("authorization", "Bearer s3cret-token"),),
    )


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({"url": "http://h/mcp"}, id="url"),
        pytest.param({"httpUrl": "http://h/mcp"}, id="gemini"),
        pytest.param({"serverUrl": "http://h/mcp"}, id="windsurf"),
        pytest.param({"type": "streamable-http", "url": "http://h/mcp", "command": "x"}, id="type-decides"),
        pytest.param(
            {"type": "sse", "url": "http://h/mcp", "timeout": 5, "trust": True}, id="unknown-fields"
        ),
    ],
)
def test_an_address_is_found_wherever_clients_write_it(raw: Any) -> None:
    assert entry(raw).target == "http://h/mcp"


def test_codex_names_variables_for_headers_and_programs() -> None:
    found = entry(
        {"url": "http://h/", "bearer_token_env_var": "TOKEN", "env_http_headers": {"X-Host": "HOST"}}
    )
    assert dict(found.headers) == {"authorization": "Bearer s3cret-token", "x-host": "example.org"}
    assert entry({"command": "x", "env_vars": ["TOKEN"]}).env == {"TOKEN": "s3cret-token"}


def test_tools_that_a_client_hides_are_hidden() -> None:
    assert entry({"command": "x", "excludeTools": ["a"], "disabledTools": ["b", 5]}).hidden == {"a", "b"}


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        pytest.param({"command": "${NOPE}"}, "The variable NOPE is not set.", id="unset"),
        pytest.param({"command": "x", "args": ["${EMPTY}"]}, "The variable EMPTY is not set.", id="empty"),
        pytest.param({"url": "http://h/${input:key}"}, "can only be filled in by the client", id="input"),
        pytest.param(
            {"command": "x", "args": ["${NOPE:-${TOKEN}}"]}, "another one inside its default", id="nested"
        ),
        pytest.param({}, "neither a command nor a url", id="nothing"),
        pytest.param({"command": 5}, "no command", id="number"),
        pytest.param({"command": "x", "args": "y"}, "args is not a list", id="args"),
        pytest.param({"command": "x", "args": [{}]}, "not a text", id="argument"),
        pytest.param({"command": "x", "args": ["a\0b"]}, "null character", id="null"),
        pytest.param({"command": "x", "args": ["a" * 200_000]}, "longer than 100,000", id="long"),
        pytest.param({"command": "x", "env": []}, "env is not an object", id="env"),
        pytest.param({"type": "carrier-pigeon", "url": "http://h"}, "type is not", id="type"),
        pytest.param({"type": "http", "command": "x"}, "neither", id="http-without-url"),
        pytest.param({"url": "ftp://h"}, "does not begin with", id="scheme"),
        pytest.param({"url": "http://h", "headers": {"a b": "c"}}, "cannot be sent", id="header-name"),
        pytest.param({"url": "http://h", "headers": {"a": "c\nd: e"}}, "cannot be sent", id="header-value"),
        pytest.param("x", "not an object", id="text"),
        pytest.param(
            {"command": "qortal-mcp", "args": ["bridge", "--servers", "f"]}, "start itself", id="self"
        ),
        pytest.param(
            {"command": "uvx", "args": ["qortal-mcp", "bridge", "--servers=f"]},
            "start itself",
            id="self-by-runner",
        ),
        pytest.param(
            {
                "command": "/x/python",
                "args": ["-m", "qortal_mcp", "bridge"],
                "env": {"QORTAL_MCP_SERVERS": "f"},
            },
            "start itself",
            id="self-by-variable",
        ),
    ],
)
def test_a_broken_entry_is_one_sentence(raw: Any, words: str) -> None:
    with pytest.raises(BadEntry, match=words):
        entry(raw)


def test_our_own_server_and_a_bridge_to_one_server_are_entries_like_any_other() -> None:
    for args in (["stdio"], ["bridge", "http://127.0.0.1:9000/mcp"]):
        assert entry({"command": "qortal-mcp", "args": args}).target == ("qortal-mcp", *args)


@pytest.mark.parametrize(
    ("text", "name", "target"),
    [
        pytest.param(
            "http://127.0.0.1:9000/mcp", "127_0_0_1_9000", "http://127.0.0.1:9000/mcp", id="address"
        ),
        pytest.param(
            "https://mcp.example.org/a?b=c", "mcp_example_org", "https://mcp.example.org/a?b=c", id="host"
        ),
        pytest.param("max=ws://h/ws", "max", "ws://h/ws", id="named-address"),
        pytest.param(
            "npx -y @scope/notes-server@1.2 --a=b 'c d'",
            "notes-server",
            ("npx", "-y", "@scope/notes-server@1.2", "--a=b", "c d"),
            id="runner",
        ),
        pytest.param("n=./server.py $HOME;ls", "n", ("./server.py", "$HOME;ls"), id="no-shell"),
        pytest.param("/opt/bin/thing.exe", "thing", ("/opt/bin/thing.exe",), id="program"),
        pytest.param("python -m some.module", "some_module", ("python", "-m", "some.module"), id="module"),
    ],
)
def test_a_server_on_the_command_line_gets_a_name(text: str, name: str, target: Any) -> None:
    found, entry = server_entries.read_option(text)
    assert (found, entry.target) == (name, target)


@pytest.mark.parametrize("text", ["", "a=", "x 'y", "ftp://h/x", "qortal-mcp bridge --servers f"])
def test_a_server_on_the_command_line_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadEntry):
        server_entries.read_option(text)


@pytest.mark.parametrize(
    ("entry", "chosen"),
    [
        pytest.param({"includeTools": ["a", "b"]}, {"a", "b"}, id="gemini"),
        pytest.param({"enabled_tools": ["a"]}, {"a"}, id="codex"),
        pytest.param({"tools": ["*"]}, None, id="copilot-all"),
        pytest.param({"tools": []}, set(), id="none"),
        pytest.param({}, None, id="not-limited"),
    ],
)
def test_an_entry_that_is_limited_to_some_tools_stays_so(entry: Json, chosen: set[str] | None) -> None:
    assert server_entries.read({"command": "x", **entry}, {}).chosen == chosen


def test_what_only_an_editor_knows_is_said_to_be_so() -> None:
    for variable in ("${workspaceFolder}", "${input:key}", "${fileBasename}"):
        with pytest.raises(BadEntry, match="can only be filled in by the client whose file this is"):
            server_entries.read({"command": "x", "args": [variable]}, {})
    found = server_entries.read({"command": "${userHome}/x"}, {})
    assert found.target == (f"{Path.home()}/x",)
