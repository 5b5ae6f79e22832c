"""The table of clients, one record each. Whatever shows or writes a client's settings reads them here."""

from typing import Any

from ..settings import TOKEN_VARIABLE
from .client import Client, Evidence, Part, Place, Setup, Token

_PROGRAM = {"command": Part.PROGRAM, "args": Part.ARGUMENTS}
_URL = {"url": Part.URL}
# What stands for the token where a client cannot read a variable.
PLACEHOLDER = "TOKEN"


def _bearer(reference: str) -> str:
    return f"Bearer {reference}"


def _headers(reference: str) -> dict[str, Any]:
    return {"headers": {"Authorization": _bearer(reference)}}


_IN_FILE = Token(source="file", members=_headers(PLACEHOLDER))
_SHELL_STYLE = f"${{{TOKEN_VARIABLE}}}"
_ENV_STYLE = f"${{env:{TOKEN_VARIABLE}}}"
_CURLY_STYLE = f"{{env:{TOKEN_VARIABLE}}}"
_VSCODE_INPUT = "qortal-mcp-token"

CODEX = Client(
    name="codex",
    title="Codex",
    places=(Place("user", "~/.codex/config.toml"), Place("project", ".codex/config.toml")),
    form="toml",
    key=("mcp_servers",),
    stdio=Setup(entry=_PROGRAM, command=("codex", "mcp", "add", Part.NAME, "--", Part.COMMAND)),
    http=Setup(entry=_URL, command=("codex", "mcp", "add", Part.NAME, "--url", Part.URL, Part.TOKEN)),
    token=Token(
        source="variable",
        members={"bearer_token_env_var": TOKEN_VARIABLE},
        words=("--bearer-token-env-var", TOKEN_VARIABLE),
    ),
    remarks=(
        "If CODEX_HOME is set, the file is in that folder.",
        "A project's file counts only after you have trusted the project.",
    ),
    evidence=Evidence("run", "2026-11-17", "0.166.0"),
)

CLAUDE_CODE = Client(
    name="claude-code",
    title="Claude Code",
    places=(Place("user", "~/.claude.json"), Place("project", ".mcp.json")),
    form="json",
    stdio=Setup(
        entry={"type": "stdio", **_PROGRAM},
        command=("claude", "mcp", "add", "--scope", "user", Part.NAME, "--", Part.COMMAND),
    ),
    http=Setup(
        entry={"type": "http", **_URL},
        command=(
            *("claude", "mcp", "add", "--scope", "user", "--transport", "http"),
            *(Part.NAME, Part.URL, Part.TOKEN),
        ),
    ),
    token=Token(
        source="variable",
        members=_headers(_SHELL_STYLE),
        words=("--header", f"Authorization: {_bearer(_SHELL_STYLE)}"),
    ),
    remarks=(
        "Claude Code keeps its own state in ~/.claude.json and rewrites it while it runs: prefer the command.",
        "Entries in ~/.claude/settings.json are never read.",
    ),
    evidence=Evidence("run", "2026-11-17", "2.1.197"),
)

GEMINI = Client(
    name="gemini-cli",
    title="Gemini CLI",
    places=(Place("user", "~/.gemini/settings.json"), Place("project", ".gemini/settings.json")),
    form="jsonc",
    stdio=Setup(
        entry=_PROGRAM,
        command=("gemini", "mcp", "add", "--scope", "user", Part.NAME, Part.PROGRAM, "--", Part.ARGUMENTS),
    ),
    http=Setup(
        entry={"httpUrl": Part.URL},
        command=(
            *("gemini", "mcp", "add", "--scope", "user", "--transport", "http"),
            *(Part.NAME, Part.URL, Part.TOKEN),
        ),
    ),
    token=Token(
        source="variable",
        members=_headers(_SHELL_STYLE),
        words=("--header", f"Authorization: {_bearer(_SHELL_STYLE)}"),
    ),
    remarks=(
        "In its file, url alone means the old SSE transport; this server needs httpUrl.",
        "A program that it starts does not inherit variables with TOKEN, KEY or SECRET in their names; name them in env if one is needed.",
    ),
    evidence=Evidence("run", "2026-11-17", "0.61.0"),
)

CURSOR = Client(
    name="cursor",
    title="Cursor",
    places=(Place("user", "~/.cursor/mcp.json"), Place("project", ".cursor/mcp.json")),
    form="json",
    stdio=Setup(
        entry=_PROGRAM, link="cursor://anysphere.cursor-deeplink/mcp/install?name={name}&config={base64}"
    ),
    http=Setup(entry=_URL, link="cursor://anysphere.cursor-deeplink/mcp/install?name={name}&config={base64}"),
    token=Token(source="variable", members=_headers(_ENV_STYLE)),
    evidence=Evidence("read", "2026-11-16"),
)

VSCODE = Client(
    name="vscode",
    title="VS Code",
    places=(
        Place("user", "~/Library/Application Support/Code/User/mcp.json", ("macOS",)),
        Place("user", "~/.config/Code/User/mcp.json", ("Linux",)),
        Place("user", r"%APPDATA%\Code\User\mcp.json", ("Windows",)),
        Place("project", ".vscode/mcp.json"),
    ),
    form="jsonc",
    key=("servers",),
    stdio=Setup(
        entry={"type": "stdio", **_PROGRAM},
        command=("code", "--add-mcp", Part.NAMED_ENTRY),
        link="vscode:mcp/install?{named_json}",
    ),
    http=Setup(
        entry={"type": "http", **_URL},
        command=("code", "--add-mcp", Part.NAMED_ENTRY),
        link="vscode:mcp/install?{named_json}",
    ),
    token=Token(
        source="prompt",
        members=_headers(f"${{input:{_VSCODE_INPUT}}}"),
        beside={
            "inputs": [
                {
                    "type": "promptString",
                    "id": _VSCODE_INPUT,
                    "description": "Token of the Qortal MCP server",
                    "password": True,
                }
            ]
        },
    ),
    remarks=("Profiles other than the default one have an mcp.json of their own.",),
    evidence=Evidence("read", "2026-11-16"),
)

CLAUDE_DESKTOP = Client(
    name="claude-desktop",
    title="Claude Desktop",
    places=(
        Place("user", "~/Library/Application Support/Claude/claude_desktop_config.json", ("macOS",)),
        Place("user", "~/.config/Claude/claude_desktop_config.json", ("Linux",)),
        Place(
            "user",
            r"%LOCALAPPDATA%\Packages\Claude_*\LocalCache\Roaming\Claude\claude_desktop_config.json",
            ("Windows",),
        ),
        Place("user", r"%APPDATA%\Claude\claude_desktop_config.json", ("Windows",)),
    ),
    form="json",
    stdio=Setup(entry=_PROGRAM),
    http=None,
    remarks=(
        "Its file takes only programs that it starts. Servers over HTTP are added under Settings, Connectors, and must be public with https.",
        "On Windows the first file counts if its folder exists, otherwise the second.",
    ),
    must_restart=True,
    evidence=Evidence("read", "2026-11-16"),
)

COPILOT = Client(
    name="copilot-cli",
    title="Copilot CLI",
    places=(Place("user", "~/.copilot/mcp-config.json"), Place("project", ".mcp.json")),
    form="json",
    stdio=Setup(
        entry={"type": "local", **_PROGRAM, "tools": ["*"]},
        command=("copilot", "mcp", "add", Part.NAME, "--", Part.COMMAND),
    ),
    http=Setup(
        entry={"type": "http", **_URL, "tools": ["*"]},
        command=("copilot", "mcp", "add", "--transport", "http", Part.TOKEN, Part.NAME, Part.URL),
    ),
    token=Token(
        source="variable",
        members=_headers(_SHELL_STYLE),
        words=("--header", f"Authorization: {_bearer(_SHELL_STYLE)}"),
    ),
    evidence=Evidence("run", "2026-11-17", "1.0.102"),
)

OPENCODE = Client(
    name="opencode",
    title="opencode",
    places=(Place("user", "~/.config/opencode/opencode.json"), Place("project", "opencode.json")),
    form="jsonc",
    key=("mcp",),
    stdio=Setup(
        entry={"type": "local", "command": Part.COMMAND},
        command=("opencode", "mcp", "add", Part.NAME, "--", Part.COMMAND),
    ),
    http=Setup(
        entry={"type": "remote", **_URL},
        command=("opencode", "mcp", "add", Part.NAME, "--url", Part.URL, Part.TOKEN),
    ),
    token=Token(
        source="variable",
        members=_headers(_CURLY_STYLE),
        words=("--header", f"Authorization={_bearer(_CURLY_STYLE)}"),
    ),
    remarks=("If there is an opencode.jsonc, use that file: its own command writes there.",),
    evidence=Evidence("run", "2026-11-17", "1.18.33"),
)

ANTIGRAVITY = Client(
    name="antigravity",
    title="Antigravity",
    places=(Place("user", "~/.gemini/config/mcp_config.json"), Place("project", ".agents/mcp_config.json")),
    form="json",
    stdio=Setup(entry=_PROGRAM),
    http=Setup(
        entry={"serverUrl": Part.URL},
        command=("agy", "mcp", "add", Part.TOKEN, Part.NAME, Part.URL),
    ),
    token=_IN_FILE,
    remarks=(
        "The IDE and its command line agy read the same file. Before version 2.0 it was ~/.gemini/antigravity/mcp_config.json.",
        "An entry with url is accepted silently and fails at the first call: it must be serverUrl.",
    ),
    evidence=Evidence("read", "2026-11-16"),
)

DEVIN = Client(
    name="devin",
    title="Devin Desktop",
    places=(Place("user", "~/.codeium/windsurf/mcp_config.json"),),
    form="json",
    stdio=Setup(entry=_PROGRAM),
    http=Setup(entry={"serverUrl": Part.URL}),
    token=Token(source="variable", members=_headers(_ENV_STYLE)),
    remarks=(
        "It was called Windsurf until June 2026.",
        "Its plugin for JetBrains reads ~/.codeium/mcp_config.json.",
        "It takes at most 100 tools from all servers together.",
    ),
    evidence=Evidence("read", "2026-11-16"),
)

ZED = Client(
    name="zed",
    title="Zed",
    places=(
        Place("user", "~/.config/zed/settings.json", ("macOS", "Linux")),
        Place("user", r"%APPDATA%\Zed\settings.json", ("Windows",)),
        Place("project", ".zed/settings.json"),
    ),
    form="jsonc",
    key=("context_servers",),
    stdio=Setup(entry=_PROGRAM),
    http=Setup(entry=_URL),
    token=_IN_FILE,
    remarks=("Without an Authorization header it tries OAuth first, which this server does not have.",),
    evidence=Evidence("read", "2026-11-16"),
)

_GOOSE = {"name": "qortal", "description": "Reads the Qortal blockchain", "enabled": True, "timeout": 300}
GOOSE = Client(
    name="goose",
    title="Goose",
    places=(
        Place("user", "~/.config/goose/config.yaml", ("macOS", "Linux")),
        Place("user", r"%APPDATA%\Block\goose\config\config.yaml", ("Windows",)),
    ),
    form="yaml",
    key=("extensions",),
    stdio=Setup(entry={**_GOOSE, "type": "stdio", "cmd": Part.PROGRAM, "args": Part.ARGUMENTS}),
    http=Setup(
        entry={**_GOOSE, "type": "streamable_http", "uri": Part.URL},
        link="goose://extension?type=streamable_http&url={url}&id={name}&name=Qortal&description=Reads%20the%20Qortal%20blockchain",
    ),
    token=Token(
        source="variable",
        members={"env_keys": [TOKEN_VARIABLE], **_headers(_SHELL_STYLE)},
    ),
    remarks=("There is no link for a program with a full path: Goose allows only a few launchers in links.",),
    evidence=Evidence("read", "2026-11-16"),
)

LM_STUDIO = Client(
    name="lm-studio",
    title="LM Studio",
    places=(Place("user", "~/.lmstudio/mcp.json"),),
    form="json",
    stdio=Setup(entry=_PROGRAM, link="lmstudio://add_mcp?name={name}&config={base64}"),
    http=Setup(entry=_URL, link="lmstudio://add_mcp?name={name}&config={base64}"),
    token=_IN_FILE,
    remarks=("Older installations use ~/.cache/lm-studio/mcp.json: change the file that exists.",),
    evidence=Evidence("read", "2026-11-16"),
)

KIRO = Client(
    name="kiro",
    title="Kiro",
    places=(Place("user", "~/.kiro/settings/mcp.json"), Place("project", ".kiro/settings/mcp.json")),
    form="json",
    stdio=Setup(entry=_PROGRAM, link="https://kiro.dev/launch/mcp/add?name={name}&config={json}"),
    http=Setup(entry=_URL, link="https://kiro.dev/launch/mcp/add?name={name}&config={json}"),
    token=Token(source="variable", members=_headers(_SHELL_STYLE)),
    remarks=("The link opens a page of kiro.dev, which sees the entry and passes it on to Kiro.",),
    evidence=Evidence("read", "2026-11-16"),
)

CLIENTS: tuple[Client, ...] = (
    CODEX,
    CLAUDE_CODE,
    GEMINI,
    CURSOR,
    VSCODE,
    CLAUDE_DESKTOP,
    COPILOT,
    OPENCODE,
    ANTIGRAVITY,
    DEVIN,
    ZED,
    GOOSE,
    LM_STUDIO,
    KIRO,
)
