"""`install`: a client's file changed by one command, and restored by another."""

import json
import os
import stat
import sys
import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.cli.running import Ended, run
from tests.connect import settings_texts as texts

from qortal_mcp.cli.main import main
from qortal_mcp.connect.settings_files import writing


class Home:
    """A person's home, and the command run in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.project = folder / "work"
        self.project.mkdir(parents=True)
        self.codex = folder / ".codex" / "config.toml"
        self.cursor = folder / ".cursor" / "mcp.json"

    def write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())

    def install(self, *words: str, **env: str) -> Ended:
        own = {
            "HOME": str(self.folder),
            "XDG_STATE_HOME": "",
            "XDG_CONFIG_HOME": "",
            "CODEX_HOME": "",
            "CLAUDE_CONFIG_DIR": "",
        }
        return run("install", *words, env={**own, **env})


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    made = Home(tmp_path)
    monkeypatch.chdir(made.project)
    return made


def backups(path: Path) -> list[Path]:
    return sorted(path.parent.glob(f"{path.name}.*.bak"))


def test_it_shows_the_change_names_the_copy_and_says_how_to_undo(home: Home) -> None:
    home.write(home.codex, texts.CODEX)
    done = home.install("codex", "--sample", "--toolsets", "+chat")
    assert done.code == 0, done.err
    (copy,) = backups(home.codex)
    assert copy.read_bytes() == texts.CODEX.encode()
    assert str(copy) in done.out
    assert "+ [mcp_servers.qortal]" in done.out
    assert "qortal-mcp install codex --undo" in done.out
    entry = tomllib.loads(home.codex.read_text())["mcp_servers"]["qortal"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-4:] == ["stdio", "--sample", "--toolsets", "+chat"]


def test_undo_restores_the_file_and_a_file_of_ours_is_removed(home: Home) -> None:
    home.write(home.codex, texts.CODEX)
    for client, path in (("codex", home.codex), ("cursor", home.cursor)):
        before = path.read_bytes() if path.exists() else None
        assert home.install(client).code == 0
        done = home.install(client, "--undo")
        assert done.code == 0, done.err
        assert (path.read_bytes() if path.exists() else None) == before
        again = home.install(client, "--undo")
        assert (again.code, "Nothing to do" in again.out) == (0, True)


def test_undo_after_replacing_brings_the_former_entry_back(home: Home) -> None:
    former = '{"mcpServers": {"qortal": {"command": "old", "note": "mine"}}}'
    home.write(home.cursor, former)
    refused = home.install("cursor")
    assert (refused.code, "--replace" in refused.err) == (3, True)
    assert '"old"' in refused.out
    assert "qortal-mcp" in refused.out
    assert home.cursor.read_text() == former
    assert home.install("cursor", "--replace").code == 0
    assert home.install("cursor", "--undo").code == 0
    assert home.cursor.read_text() == former


def test_an_entry_that_replaced_one_of_ours_is_undone_step_by_step(home: Home) -> None:
    assert home.install("cursor").code == 0
    first = home.cursor.read_text()
    assert home.install("cursor", "--sample", "--replace").code == 0
    undone = home.install("cursor", "--undo")
    assert (undone.code, home.cursor.read_text()) == (0, first)
    assert "To undo that: qortal-mcp install cursor --undo" in undone.out
    assert home.install("cursor", "--undo").code == 0
    assert not home.cursor.exists()


@pytest.mark.promise("Setting up clients", "Installing a second time changes nothing and says so.")
def test_a_second_run_changes_nothing(home: Home) -> None:
    assert home.install("cursor").code == 0
    stamp = home.cursor.stat()
    done = home.install("cursor")
    assert (done.code, "Nothing to do" in done.out) == (0, True)
    assert home.cursor.stat().st_mtime_ns == stamp.st_mtime_ns
    assert backups(home.cursor) == []


def test_print_writes_nothing(home: Home) -> None:
    home.write(home.codex, texts.CODEX)
    done = home.install("codex", "--print")
    assert (done.code, "Nothing was written." in done.out) == (0, True)
    assert home.codex.read_text() == texts.CODEX
    assert backups(home.codex) == []
    assert home.install("cursor", "--print").code == 0
    assert not home.cursor.parent.exists()


def test_the_change_does_not_show_the_secrets_of_other_entries(home: Home) -> None:
    home.write(home.codex, '[mcp_servers.docs]\ncommand = "x"\nbearer_token = "sk-very-secret"\n')
    assert "sk-very-secret" not in home.install("codex").out
    home.write(home.cursor, '{"mcpServers": {"qortal": {"command": "x", "env": {"A": "sk-very-secret"}}}}')
    assert "sk-very-secret" not in home.install("cursor").out


def test_a_broken_file_is_left_alone_and_what_to_paste_is_shown(home: Home) -> None:
    broken = '{\n  "mcpServers": {\n    "a": {"command": "b"},\n    oops\n  }\n}\n'
    home.write(home.cursor, broken)
    done = home.install("cursor")
    assert done.code == 3
    assert "line 4, column 5" in done.err
    assert '"qortal"' in done.out
    assert home.cursor.read_text() == broken
    assert backups(home.cursor) == []


GOOSE = ".config/goose/config.yaml"
OTHER_FORMS = [
    pytest.param(
        "codex", ".codex/config.toml", 'a = 1\nmcp_servers = {x = {command = "y"}}\n', "line 2", id="inline"
    ),
    pytest.param(
        "codex", ".codex/config.toml", '[[mcp_servers]]\ncommand = "y"\n', "list of tables", id="list"
    ),
    pytest.param(
        "codex",
        ".codex/config.toml",
        '[mcp_servers]\nqortal = {command = "y"}\n',
        "heading",
        id="inline-entry",
    ),
    pytest.param("goose", GOOSE, "extensions: {a: {enabled: true}}\n", "line 1", id="flow"),
    pytest.param("cursor", ".cursor/mcp.json", '{"mcpServers": []}', "line 1, column 16", id="array"),
]


@pytest.mark.parametrize(("client", "file", "text", "reason"), OTHER_FORMS)
def test_where_nothing_can_be_put_beside_what_is_there_it_says_what_to_change_first(
    home: Home, client: str, file: str, text: str, reason: str
) -> None:
    home.write(home.folder / file, text)
    done = home.install(client, "--replace")
    assert done.code == 3
    assert reason in done.err
    assert f"First change {home.folder / file}. " in done.out
    assert "keep what is there" not in done.out
    assert "('" not in done.err
    assert (home.folder / file).read_text() == text


def test_a_table_that_a_file_has_twice_is_named_as_it_is_written(home: Home) -> None:
    home.write(home.codex, "[mcp_servers.a]\n[mcp_servers.a]\n")
    assert "cannot declare mcp_servers.a twice" in home.install("codex").err


@pytest.mark.parametrize(
    "before", ['{"mcpServers": null}', '{\n  "a": 1, // one\n  "mcpServers": null,\n}\n']
)
def test_a_place_for_servers_that_is_null_is_filled_and_null_again_after_undo(
    home: Home, before: str
) -> None:
    home.write(home.cursor, before)
    done = home.install("cursor")
    assert done.code == 0, done.err
    assert '"qortal"' in home.cursor.read_text()
    assert home.install("cursor", "--undo").code == 0
    assert home.cursor.read_text() == before


ODD_FILES = ["folder", "pipe", "unreadable", "too-large", "read-only", "below-a-file"]


@pytest.mark.parametrize("kind", ODD_FILES)
def test_what_cannot_be_read_or_written_is_said_with_its_path(home: Home, kind: str) -> None:
    if kind in ("unreadable", "read-only") and os.geteuid() == 0:
        pytest.skip("the superuser may do it")
    home.cursor.parent.mkdir()
    if kind == "folder":
        home.cursor.mkdir()
    elif kind == "pipe":
        os.mkfifo(home.cursor)
    elif kind == "below-a-file":
        home.cursor.parent.rmdir()
        home.cursor.parent.write_text("")
    else:
        home.cursor.write_text("{}" + " " * (17 * 2**20 if kind == "too-large" else 0))
        home.cursor.chmod({"unreadable": 0o000, "read-only": 0o400}.get(kind, 0o600))
    done = home.install("cursor")
    assert done.code == 3
    assert str(home.cursor) in done.err


def test_the_mode_stays_and_a_link_stays_a_link(home: Home) -> None:
    real = home.folder / "dotfiles" / "mcp.json"
    home.write(real, "{}\n")
    real.chmod(0o640)
    home.cursor.parent.mkdir()
    home.cursor.symlink_to(real)
    assert home.install("cursor").code == 0
    assert home.cursor.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert "qortal" in real.read_text()
    assert stat.S_IMODE(backups(real)[0].stat().st_mode) == 0o640
    assert home.install("cursor", "--undo").code == 0
    assert real.read_text() == "{}\n"


@pytest.mark.promise(
    "Setting up clients", "A file that another program changed meanwhile is not overwritten."
)
@pytest.mark.parametrize("before", ["{}\n", None])
def test_a_file_that_changed_meanwhile_is_not_overwritten(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "mcp.json"
    path.write_text('{"theirs": 1}')
    with pytest.raises(writing.Changed):
        writing.replace(str(path), None if before is None else before.encode(), b"ours")
    assert path.read_text() == '{"theirs": 1}'
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    texts_seen: set[bytes] = set()
    old, new = b"o" * 300_000, b"n" * 300_000
    path.write_bytes(old)
    stop = threading.Event()

    def watch() -> None:
        while not stop.is_set():
            texts_seen.add(path.read_bytes())

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        for before, after in ((old, new), (new, old)) * 5:
            writing.replace(str(path), before, after)
    finally:
        stop.set()
        watcher.join()
    assert texts_seen <= {old, new}


HTTP: list[tuple[str, str, Any]] = [
    (
        "codex",
        ".codex/config.toml",
        {"url": "https://m.example/mcp", "bearer_token_env_var": "QORTAL_MCP_TOKEN"},
    ),
    ("gemini-cli", ".gemini/settings.json", "Bearer ${QORTAL_MCP_TOKEN}"),
    ("cursor", ".cursor/mcp.json", "Bearer ${env:QORTAL_MCP_TOKEN}"),
    ("vscode", ".config/Code/User/mcp.json", "Bearer ${env:QORTAL_MCP_TOKEN}"),
    ("opencode", ".config/opencode/opencode.json", "Bearer {env:QORTAL_MCP_TOKEN}"),
]


@pytest.mark.promise("Setting up clients", "No token is written into a client's file.")
@pytest.mark.parametrize(("client", "file", "wanted"), HTTP, ids=[row[0] for row in HTTP])
def test_over_http_the_entry_names_the_variable_that_holds_the_token(
    home: Home, client: str, file: str, wanted: Any
) -> None:
    done = home.install(client, "--http", "https://m.example/mcp", QORTAL_MCP_TOKEN="0123456789abcdef")
    assert done.code == 0, done.err
    text = (home.folder / file).read_text()
    assert "0123456789abcdef" not in text
    assert "QORTAL_MCP_TOKEN" in done.out
    if client == "codex":
        assert tomllib.loads(text)["mcp_servers"]["qortal"] == wanted
    else:
        assert wanted in text


@pytest.mark.parametrize("client", ["zed", "lm-studio", "antigravity", "claude-desktop", "mcp-json"])
def test_a_client_that_cannot_refer_to_a_token_is_offered_a_bridge(home: Home, client: str) -> None:
    done = home.install(client, "--http", "https://m.example/mcp")
    assert done.code == 3
    assert f"install {client} --name NAME -- bridge https://m.example/mcp" in done.err
    assert [one.name for one in home.folder.rglob("*") if one.is_file()] == []


def test_a_bridge_instead_of_an_address_beyond_loopback_is_offered_with_its_token(home: Home) -> None:
    for client in ("zed", "claude-desktop", "mcp-json"):
        done = home.install(client, "--http", "https://m.example/mcp")
        assert "-- bridge https://m.example/mcp --server-token-file FILE" in done.err
        assert "clients is" not in done.err


def test_an_address_without_a_path_gets_the_usual_one_and_it_is_said(home: Home) -> None:
    done = home.install("cursor", "--http", "http://127.0.0.1:8000")
    assert (done.code, "/mcp is added" in done.err) == (0, True)
    assert json.loads(home.cursor.read_text())["mcpServers"]["qortal"]["url"] == "http://127.0.0.1:8000/mcp"
    done = home.install("cursor", "--http", "http://127.0.0.1:8000/", "--replace")
    assert (done.code, done.err) == (0, "")
    assert json.loads(home.cursor.read_text())["mcpServers"]["qortal"]["url"] == "http://127.0.0.1:8000/"


def test_a_command_without_its_dashes_is_told_of_them(home: Home) -> None:
    done = home.install("codex", "--name", "max", "bridge", "ws://localhost:7400")
    assert (done.code, "Put -- before the command" in done.err) == (2, True)


def test_a_name_without_quotation_marks_is_called_that(home: Home) -> None:
    home.write(home.cursor, "{broken")
    assert "the name of a member must be in quotation marks" in home.install("cursor").err


def test_on_loopback_no_token_is_needed_unless_it_is_asked_for(home: Home) -> None:
    url = "http://127.0.0.1:8000/mcp"
    assert home.install("cursor", "--http", url).code == 0
    assert json.loads(home.cursor.read_text())["mcpServers"]["qortal"] == {"url": url}
    assert home.install("cursor", "--http", url, "--token", "--replace").code == 0
    assert "headers" in json.loads(home.cursor.read_text())["mcpServers"]["qortal"]


def test_a_bridge_to_another_server_is_installed_the_same_way(home: Home) -> None:
    done = home.install("codex", "--name", "max", "--", "bridge", "ws://localhost:7400")
    assert done.code == 0, done.err
    entry = tomllib.loads(home.codex.read_text())["mcp_servers"]["max"]
    assert entry["args"][-2:] == ["bridge", "ws://localhost:7400"]
    assert home.install("codex", "--name", "max", "--undo").code == 0
    assert not home.codex.exists()


PLACED = [
    pytest.param(["stdio", "todo.py:server"], ["stdio", "{here}/todo.py:server"], id="server"),
    pytest.param(["stdio", "./todo.py"], ["stdio", "{here}/todo.py"], id="server-without-a-name"),
    pytest.param(["bridge", "--servers", "s.json"], ["bridge", "--servers", "{here}/s.json"], id="servers"),
    pytest.param(["bridge", "--servers=s.json"], ["bridge", "--servers={here}/s.json"], id="joined"),
    pytest.param(
        ["bridge", "--capture", "c.jsonl", "ws://localhost:7400"],
        ["bridge", "--capture", "{here}/c.jsonl", "ws://localhost:7400"],
        id="file-that-is-made-later",
    ),
    pytest.param(
        ["bridge", "--", "tool", "--servers", "x"], ["bridge", "--", "tool", "--servers", "x"], id="of-others"
    ),
]


@pytest.mark.parametrize(("words", "wanted"), PLACED)
def test_a_file_of_the_command_is_written_with_its_full_path_because_clients_start_it_elsewhere(
    home: Home, words: list[str], wanted: list[str]
) -> None:
    for name in ("todo.py", "s.json"):
        home.write(home.project / name, "")
    done = home.install("codex", "--name", "todo", "--", *words)
    assert done.code == 0, done.err
    entry = tomllib.loads(home.codex.read_text())["mcp_servers"]["todo"]
    assert entry["args"][-len(wanted) :] == [one.format(here=home.project) for one in wanted]


def test_in_the_file_of_a_project_paths_stay_below_the_project(home: Home) -> None:
    home.write(home.project / "todo.py", "")
    assert home.install("codex", "--project", "--name", "todo", "--", "stdio", "todo.py").code == 0
    entry = tomllib.loads((home.project / ".codex" / "config.toml").read_text())["mcp_servers"]["todo"]
    assert entry["args"][-2:] == ["stdio", "todo.py"]


def test_the_files_of_projects_other_folders_and_other_profiles_are_used_when_named(home: Home) -> None:
    assert home.install("vscode", "--project").code == 0
    assert (home.project / ".vscode" / "mcp.json").is_file()
    moved = home.folder / "elsewhere"
    assert home.install("codex", CODEX_HOME=str(moved)).code == 0
    assert (moved / "config.toml").is_file()
    profile = home.folder / "profile" / "mcp.json"
    done = home.install("vscode", "--file", str(profile))
    assert f"--file {profile} --undo" in done.out
    assert home.install("vscode", "--file", str(profile), "--undo").code == 0
    assert not profile.exists()
    assert home.install("mcp.json").code == 0
    assert (home.project / "mcp.json").is_file()
    assert home.install("goose", "--project").code == 3


WRONG = [
    pytest.param([], id="no-client"),
    pytest.param(["emacs"], id="unknown-client"),
    pytest.param(["codex", "--name", "a b"], id="name"),
    pytest.param(["cursor", "--name", "__proto__"], id="name-that-javascript-loses"),
    pytest.param(["codex", "--name", "--x"], id="name-like-an-option"),
    pytest.param(["codex", "--toolsets", "nonsense"], id="toolsets"),
    pytest.param(["codex", "--http", "localhost:8000"], id="address"),
    pytest.param(["codex", "--http", "ws://localhost:8000"], id="websocket"),
    pytest.param(["codex", "--http", "http://localhost:8000/mcp", "--sample"], id="options-of-the-server"),
    pytest.param(["codex", "--token"], id="token-without-http"),
    pytest.param(["codex", "--", "audit", "http://localhost"], id="not-a-server"),
    pytest.param(["codex", "--"], id="nothing-behind-the-dashes"),
    pytest.param(["codex", "--", "bridge", "ws://localhost:1"], id="bridge-without-name"),
    pytest.param(["codex", "--name", "b", "--", "bridge", "--nonsense"], id="option-of-the-bridge"),
    pytest.param(
        ["codex", "--name", "b", "--", "bridge", "--listen", "127.0.0.1:1", "ws://h"], id="listening"
    ),
    pytest.param(["codex", "--name", "b", "--", "bridge", "ws://u:secret@h/"], id="secret"),
    pytest.param(
        ["codex", "--name", "b", "--", "bridge", "--server", "a=npx x --api-key planted012345"],
        id="secret-of-a-server",
    ),
    pytest.param(
        ["codex", "--name", "b", "--", "bridge", "--server=a=env API_KEY=planted012345 npx x"],
        id="variable-of-a-server",
    ),
    pytest.param(["codex", "--name", "b", "--", "bridge", "--", "./server"], id="path-below-this-folder"),
    pytest.param(["codex", "--name", "b", "--", "bridge", "--servers", "s.json"], id="no-such-servers"),
    pytest.param(["codex", "--name", "b", "--", "bridge", "--servers=s.json"], id="no-such-servers-joined"),
    pytest.param(["codex", "--name", "b", "--", "stdio", "todo.py:server"], id="no-such-server"),
    pytest.param(
        ["codex", "--project", "--name", "b", "--", "stdio", "todo.py:server"],
        id="no-such-server-of-a-project",
    ),
    pytest.param(["codex", "--undo", "--replace"], id="undo-and-replace"),
    pytest.param(["codex", "--list"], id="list-of-one"),
    pytest.param(["codex", "--json"], id="json-without-list"),
]


@pytest.mark.parametrize("words", WRONG)
def test_wrong_usage_writes_nothing(
    home: Home, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(home.folder))
    assert main(["install", *words]) == 2
    assert capsys.readouterr().err
    assert [one for one in home.folder.rglob("*") if one.is_file()] == []


def test_undo_leaves_an_entry_alone_that_it_did_not_write(home: Home) -> None:
    text = '{"mcpServers": {"qortal": {"command": "mine"}}}'
    home.write(home.cursor, text)
    done = home.install("cursor", "--undo")
    assert (done.code, home.cursor.read_text()) == (3, text)
    assert "was not written by this command" in done.err


def test_without_a_place_for_its_notes_it_installs_and_says_that_undo_will_not_work(home: Home) -> None:
    blocked = home.folder / "state"
    blocked.write_text("")
    done = home.install("cursor", XDG_STATE_HOME=str(blocked))
    assert done.code == 0
    assert "--undo will not work" in done.err


@pytest.mark.parametrize("what", ["broken", "deep", "pipe", "folder", "endless"])
def test_a_damaged_note_is_as_good_as_none(home: Home, what: str) -> None:
    assert home.install("cursor").code == 0
    (note,) = (home.folder / ".local/state/qortal-mcp/installed").iterdir()
    note.unlink()
    if what == "pipe":
        os.mkfifo(note)
    elif what == "folder":
        note.mkdir()
    elif what == "endless":
        note.symlink_to("/dev/zero")
    else:
        note.write_text("{" if what == "broken" else "[" * 100_000)
    assert home.install("cursor", "--undo").code == 3
    assert home.install("--list").code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere every name is text")
def test_a_file_whose_name_is_not_text_is_changed_and_restored(home: Home) -> None:
    folder = home.folder / os.fsdecode(b"\xff")
    folder.mkdir()
    for words in ((), ("--undo",)):
        done = home.install("cursor", "--file", str(folder / "mcp.json"), *words)
        assert (done.code, done.err) == (0, "")
    assert list(folder.iterdir()) == []


@pytest.mark.promise(
    "Setting up clients",
    "`install --list` starts each entry of this program as its client would, and says whether it answers.",
)
def test_the_list_says_what_is_there_and_what_works(home: Home) -> None:
    home.write(home.codex, texts.CODEX)
    assert home.install("codex", "--sample").code == 0
    good = home.install("--list")
    assert good.code == 0, good.out
    assert "Answers, with" in good.out
    assert "qortal-mcp doctor" in good.out
    assert "sk-1" not in good.out
    home.write(
        home.cursor, json.dumps({"mcpServers": {"old": {"command": "/gone/qortal-mcp", "args": ["stdio"]}}})
    )
    home.write(home.folder / ".claude" / "settings.json", texts.CLAUDE)
    home.write(home.folder / ".config" / "zed" / "settings.json", "{ broken")
    listed = home.install("--list", "--json")
    assert listed.code == 1
    found = {
        (file["client"], entry["name"]): entry["works"]
        for file in listed.json["files"]
        for entry in file["entries"]
    }
    assert found == {("codex", "docs"): None, ("codex", "qortal"): True, ("cursor", "old"): False}
    assert [file["client"] for file in listed.json["files"] if file["problem"]] == ["zed"]
    assert [one["names"] for one in listed.json["unread"]] == [["docs"]]
    people = home.install("--list")
    assert "there is no such program" in people.out
    assert "Claude Code does not read ~/.claude/settings.json" in people.out


def test_of_very_many_entries_only_some_are_tried(home: Home) -> None:
    gone = {"command": "/nowhere/qortal-mcp", "args": ["stdio"]}
    home.write(home.cursor, json.dumps({"mcpServers": {f"q{number}": gone for number in range(40)}}))
    out = home.install("--list").out
    assert (out.count("no such program"), out.count("There are more than 32 entries")) == (32, 8)


def test_hostile_names_in_a_file_are_shown_harmless(home: Home) -> None:
    home.write(home.cursor, json.dumps({"mcpServers": {"\x1b[2Jevil\u202e": {"command": "\x1b]0;x\x07"}}}))
    done = home.install("--list")
    assert "\x1b" not in done.out
    assert "\u202e" not in done.out
    assert "evil" in done.out
    assert "\x1b" not in home.install("cursor").out


def test_the_program_that_is_written_is_the_one_that_runs(home: Home) -> None:
    assert home.install("cursor").code == 0
    entry = json.loads(home.cursor.read_text())["mcpServers"]["qortal"]
    folder = Path(sys.executable).parent
    assert Path(entry["command"]).parent == folder
