"""Clients that are set up well or badly, as `doctor` reports them. Each has its real file in a home of its own."""

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import listening, run
from tests.cli.strangers import Answered, http_stranger
from tests.doctor.examined import CODES, Examined, doctor

from qortal_mcp.connect.program import program

PROGRAM = program()[0]
TOKEN = "planted0123456789abcdef"


def cursor(home: Path, entry: Any, name: str = "qortal") -> Path:
    """Cursor's file with one server."""
    return written(home, ".cursor/mcp.json", json.dumps({"mcpServers": {name: entry}}))


def written(home: Path, path: str, text: str) -> Path:
    file = home / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def script(home: Path, lines: str, name: str = "qortal-mcp") -> str:
    """A program that goes by our name, or another one."""
    file = written(home, f"bin/{name}", f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)
    return str(file)


def examined(home: Path, **env: str) -> Examined:
    return doctor(home, "--sample", "--listen", "127.0.0.1:0", env=env)


@pytest.mark.promise(
    "Doctor",
    "`doctor` starts what clients have for this program, as they would, and says whether it answers.",
)
def test_an_entry_that_works_is_said_to_answer(tmp_path: Path) -> None:
    cursor(tmp_path, {"command": PROGRAM, "args": ["stdio", "--sample"]})
    found = examined(tmp_path)
    assert found.one("client-entry")["says"] == "Cursor, qortal: answers, with 36 tools"
    assert found.code == 0


WRONG: list[Any] = [
    pytest.param(
        lambda home: {"command": "/nowhere/qortal-mcp", "args": ["stdio"]}, "/nowhere", id="no-command"
    ),
    pytest.param(
        lambda home: {"command": PROGRAM, "args": ["stdio", "--nodee", "x"]}, "--nodee", id="wrong-option"
    ),
    pytest.param(
        lambda home: {"command": PROGRAM, "args": ["stdio"], "env": {"QORTAL_MCP_NOODE": "x"}},
        "Did you mean QORTAL_MCP_NODE",
        id="misspelt-variable",
    ),
    pytest.param(
        lambda home: {"command": PROGRAM, "args": ["version"]}, "cannot serve", id="another-command"
    ),
    pytest.param(
        lambda home: {"command": script(home, "echo Welcome!"), "args": ["stdio"]}, "", id="prints-rubbish"
    ),
    pytest.param(
        lambda home: {"command": script(home, "yes Welcome!"), "args": ["stdio"]},
        "",
        id="never-stops-talking",
    ),
    pytest.param(
        lambda home: {"command": script(home, "echo Waiting for a server >&2; sleep 300"), "args": ["stdio"]},
        "within 10 s. Its last line: Waiting for a server",
        id="never-answers",
    ),
]


@pytest.mark.parametrize(("entry", "words"), WRONG)
def test_an_entry_that_does_not_work_is_a_problem_with_its_file(
    tmp_path: Path, entry: Any, words: str
) -> None:
    file = cursor(tmp_path, entry(tmp_path))
    found = examined(tmp_path)
    said = found.one("client-entry")
    assert said["state"] == "problem"
    assert said["says"].startswith("Cursor, qortal: ")
    assert words in said["says"]
    assert str(file) in said["advice"]
    assert "qortal-mcp install cursor" in said["advice"]
    assert found.code == 1


GONE = [
    pytest.param("qortal", ["stdio"], "install cursor --replace", id="ours"),
    pytest.param("q3", ["stdio"], "install cursor --name q3 --replace", id="under-another-name"),
    pytest.param("qortal", ["stdio", "--sample"], "install cursor --replace -- stdio --sample", id="options"),
    pytest.param(
        "max",
        ["bridge", "ws://127.0.0.1:9"],
        "install cursor --name max --replace -- bridge ws://127.0.0.1:9",
        id="bridge",
    ),
]


@pytest.mark.parametrize(("name", "arguments", "command"), GONE)
def test_for_a_program_that_is_gone_the_advice_is_a_command_that_installs_the_same_again(
    tmp_path: Path, name: str, arguments: list[str], command: str
) -> None:
    file = cursor(tmp_path, {"command": "/gone/qortal-mcp", "args": arguments}, name)
    assert examined(tmp_path).one("client-entry")["advice"].startswith(f"Run qortal-mcp {command}, or ")
    done = run(*shlex.split(command), env={"HOME": str(tmp_path)})
    assert done.code == 0, done.err
    entry = json.loads(file.read_text())["mcpServers"][name]
    assert entry["args"][-len(arguments) :] == arguments
    assert "/gone/" not in entry["command"]


NOT_AGAIN = [
    pytest.param("b", ["bridge", "--nonsense"], PROGRAM, id="bridge-told-nonsense"),
    pytest.param("todo", ["stdio", "/gone/todo.py"], PROGRAM, id="server-in-a-file-that-is-gone"),
    pytest.param("a b", ["stdio"], "/gone/qortal-mcp", id="name-that-install-does-not-take"),
    pytest.param("q", ["stdio", "--token=abc"], "/gone/qortal-mcp", id="secret"),
]


@pytest.mark.parametrize(("name", "arguments", "command"), NOT_AGAIN)
def test_where_installing_again_would_not_help_the_advice_is_the_file(
    tmp_path: Path, name: str, arguments: list[str], command: str
) -> None:
    file = cursor(tmp_path, {"command": command, "args": arguments}, name)
    assert examined(tmp_path).one("client-entry")["advice"] == f"Correct {file}."


BROKEN = [
    pytest.param(".cursor/mcp.json", '{"mcpServers": {\n  "qortal": }', "line 2", "Cursor", id="json"),
    pytest.param(".codex/config.toml", "[mcp_servers.qortal\n", "line 1", "Codex", id="toml"),
    pytest.param(".cursor/mcp.json", "\0\0", "mcp.json", "Cursor", id="rubbish"),
]


@pytest.mark.promise(
    "Doctor", "A client's file that cannot be read is a problem that `doctor` names with its line."
)
@pytest.mark.parametrize(("path", "text", "place", "client"), BROKEN)
def test_a_broken_file_is_a_problem_with_its_place(
    tmp_path: Path, path: str, text: str, place: str, client: str
) -> None:
    file = written(tmp_path, path, text)
    found = examined(tmp_path)
    said = found.one("client-files")
    assert said["state"] == "problem"
    assert str(file) in said["says"]
    assert place in said["says"]
    assert client in said["advice"]
    assert found.code == CODES["problem"]


def test_a_broken_file_and_a_hanging_command_do_not_hide_the_client_that_works(tmp_path: Path) -> None:
    written(tmp_path, ".codex/config.toml", "[")
    hanging = {"command": script(tmp_path, "sleep 300"), "args": ["stdio"]}
    works = {"command": PROGRAM, "args": ["stdio", "--sample"]}
    written(tmp_path, ".cursor/mcp.json", json.dumps({"mcpServers": {"slow": hanging, "works": works}}))
    found = examined(tmp_path)
    assert [each["state"] for each in found.of("client-entry")] == ["problem", "good"]
    assert found.one("client-files")["state"] == "problem"


@pytest.mark.promise("Doctor", "`doctor` never starts a server of others.")
def test_servers_of_others_are_never_started(tmp_path: Path) -> None:
    other = script(tmp_path, f"touch {tmp_path}/started", "other-mcp")
    cursor(tmp_path, {"command": other, "args": ["stdio"]}, "qortal")
    assert examined(tmp_path).one("client-entry")["says"].startswith("none of the ")
    assert not (tmp_path / "started").exists()


def project(folder: Path, entry: Any) -> None:
    """The settings of a project, which may have come from anybody."""
    written(folder, ".cursor/mcp.json", json.dumps({"mcpServers": {"qortal": entry}}))


OF_ANYBODY: list[Any] = [
    pytest.param(
        lambda folder: {"command": script(folder, "touch started"), "args": ["stdio"]}, id="by-our-name"
    ),
    pytest.param(
        lambda folder: {"command": PROGRAM, "args": ["stdio"], "env": {"PYTHONPATH": str(folder)}},
        id="variables",
    ),
    pytest.param(
        lambda folder: {"command": PROGRAM, "args": ["bridge", f"http://127.0.0.1:{folder.name}"]},
        id="a-bridge",
    ),
    pytest.param(
        lambda folder: {
            "command": [],
            "cmd": [PROGRAM, "stdio"],
            "args": [script(folder, f"touch {folder}/started", "other")],
        },
        id="two-commands",
    ),
    pytest.param(lambda folder: {"command": linked(folder), "args": ["stdio"]}, id="a-path-below-the-folder"),
    pytest.param(
        lambda folder: {"command": PROGRAM, "args": ["stdio", "--node", "http://${HOME}.example"]},
        id="a-variable",
    ),
]


def linked(folder: Path) -> str:
    """A path that is this program for whoever stands in the project, and another one from the home."""
    (folder / "project" / "bin").mkdir(parents=True)
    (folder / "project" / "bin" / "qortal-mcp").symlink_to(PROGRAM)
    script(folder.parent / "home" / "project", f"touch {folder}/started")
    return "project/bin/qortal-mcp"


@pytest.mark.promise(
    "Doctor", "`doctor` starts nothing that the file of a project names, unless it is this program itself."
)
@pytest.mark.parametrize("entry", OF_ANYBODY)
def test_what_a_project_brings_along_is_not_started(
    tmp_path: Path, entry: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder = tmp_path / "home", tmp_path / "0"
    home.mkdir()
    project(folder, entry(folder))
    written(folder, "sitecustomize.py", f"open({str(folder / 'started')!r}, 'w')")
    monkeypatch.chdir(folder)
    found = examined(home)
    assert found.one("client-entry")["state"] == "unknown"
    assert "may come from anybody" in found.one("client-entry")["says"]
    assert not (folder / "started").exists()
    assert found.code == 3


@pytest.mark.parametrize(
    "more", [{}, {"type": "http", "command": PROGRAM, "args": ["stdio"]}], ids=["plain", "beside-our-command"]
)
def test_the_token_is_not_sent_where_a_project_wants_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    heard: list[str] = []

    def hear(verb: str, headers: Mapping[str, str], body: bytes) -> Answered:
        heard.append(verb)
        return 404, {}, b""

    with http_stranger(hear) as url:
        wanted = {"Authorization": "Bearer ${env:QORTAL_MCP_TOKEN}"}
        project(folder, {"url": url, "headers": wanted, **more})
        monkeypatch.chdir(folder)
        found = examined(home, QORTAL_MCP_TOKEN=TOKEN)
    assert found.one("client-entry")["state"] == "unknown"
    assert heard == []


def test_this_very_program_in_the_file_of_a_project_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, folder = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project(folder, {"command": PROGRAM, "args": ["stdio", "--sample"]})
    monkeypatch.chdir(folder)
    assert "answers" in examined(home).one("client-entry")["says"]


def test_an_entry_with_the_address_of_serve_says_whether_it_runs(tmp_path: Path) -> None:
    with listening("serve", "--sample") as server:
        cursor(tmp_path, {"url": server.url})
        assert "qortal-mcp serve answers at 127.0.0.1:" in examined(tmp_path).one("client-entry")["says"]
    found = examined(tmp_path)
    assert found.one("client-entry")["state"] == "problem"
    assert "Start qortal-mcp serve" in found.one("client-entry")["advice"]


def test_the_address_of_another_server_is_none_of_ours(tmp_path: Path) -> None:
    with http_stranger(lambda verb, headers, body: (404, {}, b"")) as url:
        cursor(tmp_path, {"url": url})
        assert examined(tmp_path).one("client-entry")["says"].startswith("none of the ")


def test_an_entry_that_is_switched_off_is_left_alone(tmp_path: Path) -> None:
    cursor(tmp_path, {"command": "/nowhere/qortal-mcp", "args": ["stdio"], "disabled": True})
    found = examined(tmp_path)
    assert found.one("client-entry")["says"] == "Cursor, qortal: switched off"
    assert found.code == 0


def test_an_entry_with_an_address_is_asked_with_its_token(tmp_path: Path) -> None:
    entry = {"headers": {"Authorization": "Bearer ${env:QORTAL_MCP_TOKEN}"}}
    with listening("serve", "--sample", env={"QORTAL_MCP_TOKEN": TOKEN}) as server:
        cursor(tmp_path, {**entry, "url": server.url})
        found = examined(tmp_path, QORTAL_MCP_TOKEN=TOKEN)
        assert found.one("client-entry")["state"] == "good"
        refused = examined(tmp_path, QORTAL_MCP_TOKEN="another0123456789abcdef")
    assert refused.one("client-entry")["state"] == "problem"
    assert TOKEN not in found.ended.out + refused.ended.out


def test_without_clients_that_is_said_and_nothing_is_wrong(tmp_path: Path) -> None:
    found = examined(tmp_path)
    assert "install" in found.one("client-entry")["says"]
    assert found.code == 0


def test_names_that_strangers_chose_are_shown_without_their_controls(tmp_path: Path) -> None:
    cursor(tmp_path, {"command": PROGRAM, "args": ["stdio", "--sample"]}, "a\x1b[2Jb")
    found = examined(tmp_path)
    assert "\x1b" not in found.ended.out
    assert "a\\u001b[2Jb" in found.ended.out
