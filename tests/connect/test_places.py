"""Where each client's file is, on each system, whatever system the tests run on."""

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch

import pytest
from tests.connect.targets import named

from qortal_mcp.connect import clients
from qortal_mcp.connect.client import Client, System
from qortal_mcp.connect.clients import CLIENTS, client_named
from qortal_mcp.connect.places import Look, Machine, file_of, unread_file

HOMES: dict[System, str] = {"macOS": "/Users/ann", "Linux": "/home/ann", "Windows": r"C:\Users\Ann"}
FOLDERS: dict[System, str] = {
    "macOS": "/Users/ann/project",
    "Linux": "/home/ann/project",
    "Windows": r"D:\work",
}


def machine(system: System, environ: Mapping[str, str] | None = None) -> Machine:
    return Machine(system, environ or {}, HOMES[system], FOLDERS[system])


def having(*paths: str) -> Look:
    def look(path: str) -> Sequence[str]:
        return [one for one in paths if fnmatch(one, path.replace("[", "[[]"))]

    return look


def user_file(client: Client, system: System, *there: str, **environ: str) -> str | None:
    return file_of(client, "user", machine(system, environ), having(*there))


APPLICATIONS = "/Users/ann/Library/Application Support"
ROAMING = r"C:\Users\Ann\AppData\Roaming"
# The user's file of each client on macOS, Linux and Windows, on a machine where nothing is yet.
USUAL: list[tuple[Client, str, str, str]] = [
    (clients.CODEX, "~/.codex/config.toml", "~/.codex/config.toml", r"~\.codex\config.toml"),
    (clients.CLAUDE_CODE, "~/.claude.json", "~/.claude.json", r"~\.claude.json"),
    (clients.GEMINI, "~/.gemini/settings.json", "~/.gemini/settings.json", r"~\.gemini\settings.json"),
    (clients.CURSOR, "~/.cursor/mcp.json", "~/.cursor/mcp.json", r"~\.cursor\mcp.json"),
    (
        clients.VSCODE,
        f"{APPLICATIONS}/Code/User/mcp.json",
        "~/.config/Code/User/mcp.json",
        rf"{ROAMING}\Code\User\mcp.json",
    ),
    (
        clients.CLAUDE_DESKTOP,
        f"{APPLICATIONS}/Claude/claude_desktop_config.json",
        "~/.config/Claude/claude_desktop_config.json",
        rf"{ROAMING}\Claude\claude_desktop_config.json",
    ),
    (
        clients.COPILOT,
        "~/.copilot/mcp-config.json",
        "~/.copilot/mcp-config.json",
        r"~\.copilot\mcp-config.json",
    ),
    (
        clients.OPENCODE,
        "~/.config/opencode/opencode.json",
        "~/.config/opencode/opencode.json",
        r"~\.config\opencode\opencode.json",
    ),
    (
        clients.ANTIGRAVITY,
        "~/.gemini/config/mcp_config.json",
        "~/.gemini/config/mcp_config.json",
        r"~\.gemini\config\mcp_config.json",
    ),
    (
        clients.DEVIN,
        "~/.codeium/windsurf/mcp_config.json",
        "~/.codeium/windsurf/mcp_config.json",
        r"~\.codeium\windsurf\mcp_config.json",
    ),
    (
        clients.ZED,
        "~/.config/zed/settings.json",
        "~/.config/zed/settings.json",
        rf"{ROAMING}\Zed\settings.json",
    ),
    (
        clients.GOOSE,
        "~/.config/goose/config.yaml",
        "~/.config/goose/config.yaml",
        rf"{ROAMING}\Block\goose\config\config.yaml",
    ),
    (clients.LM_STUDIO, "~/.lmstudio/mcp.json", "~/.lmstudio/mcp.json", r"~\.lmstudio\mcp.json"),
    (
        clients.KIRO,
        "~/.kiro/settings/mcp.json",
        "~/.kiro/settings/mcp.json",
        r"~\.kiro\settings\mcp.json",
    ),
]


@pytest.mark.parametrize(("client", "macos", "linux", "windows"), USUAL, ids=[row[0].name for row in USUAL])
def test_the_file_of_a_new_user_is_where_the_client_looks_for_it(
    client: Client, macos: str, linux: str, windows: str
) -> None:
    wanted: dict[System, str] = {"macOS": macos, "Linux": linux, "Windows": windows}
    for system, path in wanted.items():
        assert user_file(client, system) == path.replace("~", HOMES[system], 1)


def test_every_client_has_its_row_here() -> None:
    assert [row[0] for row in USUAL] == [one for one in CLIENTS if one is not clients.MCP_JSON]


MOVED = [
    pytest.param(clients.CODEX, "Linux", {"CODEX_HOME": "/srv/codex"}, "/srv/codex/config.toml", id="codex"),
    pytest.param(
        clients.CODEX, "Windows", {"CODEX_HOME": r"E:\c"}, r"E:\c\config.toml", id="codex-on-windows"
    ),
    pytest.param(
        clients.CLAUDE_CODE, "macOS", {"CLAUDE_CONFIG_DIR": "/srv/c"}, "/srv/c/.claude.json", id="claude-code"
    ),
    pytest.param(
        clients.GOOSE, "Linux", {"XDG_CONFIG_HOME": "/x"}, "/x/goose/config.yaml", id="goose-by-xdg"
    ),
    pytest.param(clients.ZED, "Linux", {"XDG_CONFIG_HOME": "/x"}, "/x/zed/settings.json", id="zed-by-xdg"),
    pytest.param(
        clients.ZED,
        "macOS",
        {"XDG_CONFIG_HOME": "/x"},
        "/Users/ann/.config/zed/settings.json",
        id="zed-on-macos-ignores-xdg",
    ),
    pytest.param(
        clients.OPENCODE, "Linux", {"XDG_CONFIG_HOME": "/x"}, "/x/opencode/opencode.json", id="opencode"
    ),
    pytest.param(
        clients.VSCODE, "Linux", {"XDG_CONFIG_HOME": "/x"}, "/x/Code/User/mcp.json", id="vscode-by-xdg"
    ),
    pytest.param(
        clients.VSCODE, "Windows", {"APPDATA": r"E:\r"}, r"E:\r\Code\User\mcp.json", id="vscode-by-appdata"
    ),
    pytest.param(
        clients.CODEX, "Linux", {"CODEX_HOME": "here"}, "/home/ann/.codex/config.toml", id="relative"
    ),
    pytest.param(clients.CODEX, "Linux", {"CODEX_HOME": ""}, "/home/ann/.codex/config.toml", id="empty"),
]


@pytest.mark.parametrize(("client", "system", "environ", "wanted"), MOVED)
def test_a_variable_of_the_client_moves_its_file(
    client: Client, system: System, environ: dict[str, str], wanted: str
) -> None:
    assert user_file(client, system, **environ) == wanted


PACKAGE = r"C:\Users\Ann\AppData\Local\Packages\Claude_pzs8sxrjxfjjc"
BY_WHAT_IS_THERE = [
    pytest.param(
        clients.CLAUDE_DESKTOP,
        "Windows",
        [PACKAGE],
        PACKAGE + r"\LocalCache\Roaming\Claude\claude_desktop_config.json",
        id="claude-desktop-as-a-package",
    ),
    pytest.param(
        clients.LM_STUDIO,
        "Linux",
        ["/home/ann/.cache/lm-studio/mcp.json"],
        "/home/ann/.cache/lm-studio/mcp.json",
        id="lm-studio-of-old",
    ),
    pytest.param(
        clients.LM_STUDIO,
        "Linux",
        ["/home/ann/.cache/lm-studio/mcp.json", "/home/ann/.lmstudio/mcp.json"],
        "/home/ann/.lmstudio/mcp.json",
        id="lm-studio-moved",
    ),
    pytest.param(
        clients.ANTIGRAVITY,
        "macOS",
        ["/Users/ann/.gemini/antigravity"],
        "/Users/ann/.gemini/antigravity/mcp_config.json",
        id="antigravity-before-2",
    ),
    pytest.param(
        clients.ANTIGRAVITY,
        "macOS",
        ["/Users/ann/.gemini/antigravity", "/Users/ann/.gemini/config/.migrated"],
        "/Users/ann/.gemini/config/mcp_config.json",
        id="antigravity-migrated",
    ),
    pytest.param(
        clients.OPENCODE,
        "Linux",
        ["/home/ann/.config/opencode/opencode.jsonc"],
        "/home/ann/.config/opencode/opencode.jsonc",
        id="opencode-with-comments",
    ),
    pytest.param(
        clients.ZED,
        "Linux",
        ["/home/ann/.var/app/dev.zed.Zed/config/zed"],
        "/home/ann/.var/app/dev.zed.Zed/config/zed/settings.json",
        id="zed-in-a-flatpak",
    ),
]


@pytest.mark.parametrize(("client", "system", "there", "wanted"), BY_WHAT_IS_THERE)
def test_what_is_installed_decides_between_two_files(
    client: Client, system: System, there: Iterable[str], wanted: str
) -> None:
    assert user_file(client, system, *there) == wanted


def test_opencode_with_comments_is_found_in_the_folder_that_a_variable_names() -> None:
    found = user_file(clients.OPENCODE, "Linux", "/x/opencode/opencode.jsonc", XDG_CONFIG_HOME="/x")
    assert found == "/x/opencode/opencode.jsonc"


def test_the_file_of_a_project_is_below_its_folder() -> None:
    assert (
        file_of(clients.CODEX, "project", machine("Linux"), having())
        == "/home/ann/project/.codex/config.toml"
    )
    assert file_of(clients.VSCODE, "project", machine("Windows"), having()) == r"D:\work\.vscode\mcp.json"
    assert file_of(clients.GOOSE, "project", machine("Linux"), having()) is None


# Files that other installers write, or that early guides name, and that nobody reads.
UNREAD: list[tuple[Client, System, list[str]]] = [
    (clients.ZED, "macOS", [f"{APPLICATIONS}/Zed/settings.json"]),
    (clients.ZED, "Windows", [r"C:\Users\Ann\.config\zed\settings.json"]),
    (clients.GOOSE, "Windows", [r"C:\Users\Ann\.config\goose\config.yaml"]),
    (clients.CLAUDE_CODE, "Linux", ["/home/ann/.claude/settings.json"]),
    (clients.CLAUDE_DESKTOP, "Linux", ["/home/ann/.config/claude/claude_desktop_config.json"]),
    (clients.CLAUDE_DESKTOP, "Windows", [rf"{ROAMING}\Claude\claude_desktop_config.json", PACKAGE]),
    (clients.ANTIGRAVITY, "Linux", ["/home/ann/.gemini/antigravity-cli/mcp_config.json"]),
]


@pytest.mark.parametrize(
    ("client", "system", "there"), UNREAD, ids=[f"{row[0].name}-{row[1]}" for row in UNREAD]
)
def test_a_file_that_is_never_read_is_known_and_never_chosen(
    client: Client, system: System, there: list[str]
) -> None:
    here = machine(system)
    found = [unread_file(one, here, having(*there)) for one in client.unread]
    assert there[0] in found
    assert user_file(client, system, *there) != there[0]
    assert {unread_file(one, here, having()) for one in client.unread} == {None}


@pytest.mark.parametrize("client", CLIENTS, ids=named)
def test_a_client_is_found_by_each_of_its_names(client: Client) -> None:
    assert client_named(client.name) is client
    assert all(client_named(alias.upper()) is client for alias in client.aliases)


def test_the_former_name_of_devin_still_works() -> None:
    assert client_named("windsurf") is clients.DEVIN
    assert client_named("mcp.json") is clients.MCP_JSON
    assert client_named("emacs") is None
