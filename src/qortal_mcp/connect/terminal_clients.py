"""Clients of the terminal: they have the PATH of the shell in which they were started."""

from ..settings import TOKEN_VARIABLE
from .client import Client, Evidence, Part, Place, Setup, Surroundings, Token, Unread
from .token_references import CURLY_STYLE, IN_FILE, SHELL_STYLE, bearer, headers

_PROGRAM = {"command": Part.PROGRAM, "args": Part.ARGUMENTS}
_URL = {"url": Part.URL}
_XDG = ("XDG_CONFIG_HOME", "~/.config")
# What Codex hands on; the second line is for Windows.
_CODEX_PASSES_ON = (
    *(
        "HOME",
        "LOGNAME",
        "PATH",
        "SHELL",
        "USER",
        "__CF_USER_TEXT_ENCODING",
        "LANG",
        "LC_ALL",
        "TERM",
        "TMPDIR",
        "TZ",
    ),
    *(
        "PATHEXT",
        "COMSPEC",
        "SYSTEMROOT",
        "SYSTEMDRIVE",
        "USERNAME",
        "USERPROFILE",
        "APPDATA",
        "LOCALAPPDATA",
        "TEMP",
        "TMP",
    ),
)
# Parts of the names of variables that Gemini CLI keeps for itself.
_GEMINI_REMOVES = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "KEY",
    "AUTH",
    "CREDENTIAL",
    "CREDS",
    "PRIVATE",
    "CERT",
)

CODEX = Client(
    name="codex",
    title="Codex",
    places=(
        Place("user", "~/.codex/config.toml", moved_by=("CODEX_HOME", "~/.codex")),
        Place("project", ".codex/config.toml"),
    ),
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
    surroundings=Surroundings(inherits=_CODEX_PASSES_ON),
    evidence=Evidence("run", "2026-11-17", "0.166.0", source="its source, codex-rs/config"),
)

CLAUDE_CODE = Client(
    name="claude-code",
    title="Claude Code",
    places=(
        Place("user", "~/.claude.json", moved_by=("CLAUDE_CONFIG_DIR", "~")),
        Place("project", ".mcp.json"),
    ),
    form="json",
    aliases=("claude",),
    other_keys=(("projects", "{project}", "mcpServers"),),
    unread=(
        Unread(path="~/.claude/settings.json", key=("mcpServers",)),
        Unread(path="~/.claude/.mcp.json", key=("mcpServers",)),
    ),
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
        members=headers(SHELL_STYLE),
        words=("--header", f"Authorization: {bearer(SHELL_STYLE)}"),
    ),
    remarks=(
        "Claude Code keeps its own state in ~/.claude.json and rewrites it while it runs: quit it before you change the file by hand.",
        "If CLAUDE_CONFIG_DIR is set, .claude.json is in that folder.",
        "Entries in ~/.claude/settings.json are never read.",
    ),
    evidence=Evidence("run", "2026-11-17", "2.1.197", source="its documentation"),
)

GEMINI = Client(
    name="gemini-cli",
    title="Gemini CLI",
    places=(Place("user", "~/.gemini/settings.json"), Place("project", ".gemini/settings.json")),
    form="jsonc",
    aliases=("gemini",),
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
        members=headers(SHELL_STYLE),
        words=("--header", f"Authorization: {bearer(SHELL_STYLE)}"),
    ),
    remarks=(
        "In its file, url alone means the old SSE transport; this server needs httpUrl.",
        "A program that it starts does not inherit variables with TOKEN, KEY or SECRET in their names; name them in env if one is needed.",
    ),
    surroundings=Surroundings(drops=_GEMINI_REMOVES),
    evidence=Evidence("run", "2026-11-17", "0.61.0", source="its source, docs/tools/mcp-server.md"),
)

COPILOT = Client(
    name="copilot-cli",
    title="Copilot CLI",
    places=(Place("user", "~/.copilot/mcp-config.json"), Place("project", ".mcp.json")),
    form="json",
    aliases=("copilot",),
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
        members=headers(SHELL_STYLE),
        words=("--header", f"Authorization: {bearer(SHELL_STYLE)}"),
    ),
    evidence=Evidence("run", "2026-11-17", "1.0.102", source="its documentation"),
)

OPENCODE = Client(
    name="opencode",
    title="opencode",
    places=(
        Place(
            "user",
            "~/.config/opencode/opencode.jsonc",
            moved_by=_XDG,
            if_there="~/.config/opencode/opencode.jsonc",
        ),
        Place("user", "~/.config/opencode/opencode.json", moved_by=_XDG),
        Place("project", "opencode.jsonc", if_there="opencode.jsonc"),
        Place("project", "opencode.json"),
    ),
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
        members=headers(CURLY_STYLE),
        words=("--header", f"Authorization={bearer(CURLY_STYLE)}"),
    ),
    remarks=("An opencode.jsonc counts before an opencode.json: its own command writes there.",),
    evidence=Evidence("run", "2026-11-17", "1.18.33", source="its documentation"),
)

MCP_JSON = Client(
    name="mcp-json",
    title="Other clients",
    places=(Place("project", "mcp.json"),),
    form="json",
    aliases=("mcp.json",),
    stdio=Setup(entry=_PROGRAM),
    http=Setup(entry={"type": "http", **_URL}),
    token=IN_FILE,
    remarks=(
        "Many clients that are not listed here read a file of this form; their documentation says where it must be.",
    ),
    evidence=Evidence("read", "2026-11-16", source="what the documentation of several clients has in common"),
)
