"""Clients with windows: they are started from a menu, and do not have the PATH of a shell."""

from ..settings import TOKEN_VARIABLE
from .client import Client, Evidence, Part, Place, Setup, Surroundings, Token, Unread
from .token_references import ENV_STYLE, IN_FILE, INPUT, SHELL_STYLE, headers

_PROGRAM = {"command": Part.PROGRAM, "args": Part.ARGUMENTS}
_URL = {"url": Part.URL}
_XDG = ("XDG_CONFIG_HOME", "~/.config")
# What the official library for clients hands on if nothing else is said; the second line is for Windows.
_SDK_PASSES_ON = (
    *("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"),
    *(
        "APPDATA",
        "HOMEDRIVE",
        "HOMEPATH",
        "LOCALAPPDATA",
        "SYSTEMDRIVE",
        "SYSTEMROOT",
        "TEMP",
        "USERNAME",
        "USERPROFILE",
    ),
)

_CURSOR_LINK = "cursor://anysphere.cursor-deeplink/mcp/install?name={name}&config={base64}"
_CURSOR_WEB_LINK = "https://cursor.com/en/install-mcp?name={name}&config={base64}"
CURSOR = Client(
    name="cursor",
    title="Cursor",
    places=(Place("user", "~/.cursor/mcp.json"), Place("project", ".cursor/mcp.json")),
    form="json",
    stdio=Setup(entry=_PROGRAM, link=_CURSOR_LINK, web_link=_CURSOR_WEB_LINK),
    http=Setup(entry=_URL, link=_CURSOR_LINK, web_link=_CURSOR_WEB_LINK),
    token=Token(source="variable", members=headers(ENV_STYLE)),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its documentation"),
)

_VSCODE_WEB_LINK = "https://insiders.vscode.dev/redirect/mcp/install?name={name}&config={json}"
VSCODE = Client(
    name="vscode",
    title="VS Code",
    places=(
        Place("user", "~/Library/Application Support/Code/User/mcp.json", ("macOS",)),
        Place("user", "~/.config/Code/User/mcp.json", ("Linux",), moved_by=_XDG),
        Place("user", r"%APPDATA%\Code\User\mcp.json", ("Windows",)),
        Place("project", ".vscode/mcp.json"),
    ),
    form="jsonc",
    aliases=("vs-code", "code"),
    key=("servers",),
    stdio=Setup(
        entry={"type": "stdio", **_PROGRAM},
        command=("code", "--add-mcp", Part.NAMED_ENTRY),
        link="vscode:mcp/install?{named_json}",
        web_link=_VSCODE_WEB_LINK,
    ),
    http=Setup(
        entry={"type": "http", **_URL},
        command=("code", "--add-mcp", Part.NAMED_ENTRY),
        link="vscode:mcp/install?{named_json}",
        web_link=_VSCODE_WEB_LINK,
    ),
    token=Token(
        source="prompt",
        members=headers(f"${{input:{INPUT}}}"),
        alone=headers(ENV_STYLE),
        beside={
            "inputs": [
                {
                    "type": "promptString",
                    "id": INPUT,
                    "description": "Token of the Qortal MCP server",
                    "password": True,
                }
            ]
        },
    ),
    remarks=("Profiles other than the default one have an mcp.json of their own.",),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its documentation, the reference of mcp.json"),
)

# Where Windows keeps what the packaged program writes: it does not see the usual folder.
_CLAUDE_PACKAGE = r"%LOCALAPPDATA%\Packages\Claude_*"
CLAUDE_DESKTOP = Client(
    name="claude-desktop",
    title="Claude Desktop",
    places=(
        Place("user", "~/Library/Application Support/Claude/claude_desktop_config.json", ("macOS",)),
        Place("user", "~/.config/Claude/claude_desktop_config.json", ("Linux",), moved_by=_XDG),
        Place(
            "user",
            _CLAUDE_PACKAGE + r"\LocalCache\Roaming\Claude\claude_desktop_config.json",
            ("Windows",),
            if_there=_CLAUDE_PACKAGE,
        ),
        Place("user", r"%APPDATA%\Claude\claude_desktop_config.json", ("Windows",)),
    ),
    form="json",
    unread=(
        Unread(path="~/.config/claude/claude_desktop_config.json", key=("mcpServers",), systems=("Linux",)),
        Unread(
            path=r"%APPDATA%\Claude\claude_desktop_config.json",
            key=("mcpServers",),
            systems=("Windows",),
            if_there=_CLAUDE_PACKAGE,
        ),
    ),
    stdio=Setup(entry=_PROGRAM),
    http=None,
    remarks=(
        "Its file takes only programs that it starts. Servers over HTTP are added under Settings, Connectors, and must be public with https.",
        "On Windows the first file counts if its folder exists, otherwise the second.",
    ),
    must_restart=True,
    surroundings=Surroundings(is_desktop=True, inherits=_SDK_PASSES_ON),
    evidence=Evidence("read", "2026-11-16", source="its documentation and reports of its users"),
)

ANTIGRAVITY = Client(
    name="antigravity",
    title="Antigravity",
    places=(
        Place(
            "user",
            "~/.gemini/antigravity/mcp_config.json",
            if_there="~/.gemini/antigravity",
            if_missing="~/.gemini/config/.migrated",
        ),
        Place("user", "~/.gemini/config/mcp_config.json"),
        Place("project", ".agents/mcp_config.json"),
    ),
    form="json",
    aliases=("agy",),
    unread=(Unread(path="~/.gemini/antigravity-cli/mcp_config.json", key=("mcpServers",)),),
    stdio=Setup(entry=_PROGRAM),
    http=Setup(
        entry={"serverUrl": Part.URL},
        command=("agy", "mcp", "add", Part.TOKEN, Part.NAME, Part.URL),
    ),
    token=IN_FILE,
    remarks=(
        "The IDE and its command line agy read the same file. Before version 2.0 it was ~/.gemini/antigravity/mcp_config.json, which counts until ~/.gemini/config/.migrated is there.",
        "An entry with url is accepted silently and fails at the first call: it must be serverUrl.",
    ),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its documentation and reports of its users"),
)

DEVIN = Client(
    name="devin",
    title="Devin Desktop",
    places=(Place("user", "~/.codeium/windsurf/mcp_config.json"),),
    form="json",
    aliases=("windsurf", "devin-desktop"),
    stdio=Setup(entry=_PROGRAM),
    http=Setup(entry={"serverUrl": Part.URL}),
    token=Token(source="variable", members=headers(ENV_STYLE)),
    remarks=(
        "It was called Windsurf until June 2026.",
        "Its plugin for JetBrains reads ~/.codeium/mcp_config.json.",
        "It takes at most 100 tools from all servers together.",
    ),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its documentation"),
)

ZED = Client(
    name="zed",
    title="Zed",
    places=(
        Place(
            "user",
            "~/.var/app/dev.zed.Zed/config/zed/settings.json",
            ("Linux",),
            if_there="~/.var/app/dev.zed.Zed/config/zed",
        ),
        Place("user", "~/.config/zed/settings.json", ("macOS",)),
        Place("user", "~/.config/zed/settings.json", ("Linux",), moved_by=_XDG),
        Place("user", r"%APPDATA%\Zed\settings.json", ("Windows",)),
        Place("project", ".zed/settings.json"),
    ),
    form="jsonc",
    unread=(
        Unread(
            path="~/Library/Application Support/Zed/settings.json",
            key=("context_servers",),
            form="jsonc",
            systems=("macOS",),
        ),
        Unread(
            path=r"~\.config\zed\settings.json", key=("context_servers",), form="jsonc", systems=("Windows",)
        ),
    ),
    key=("context_servers",),
    stdio=Setup(entry=_PROGRAM),
    http=Setup(entry=_URL),
    token=IN_FILE,
    remarks=("Without an Authorization header it tries OAuth first, which this server does not have.",),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its source, crates/settings_content and crates/paths"),
)

_GOOSE_LINK = "extension?type=streamable_http&url={url}&id={name}&name={name}&description={description}"
_GOOSE = {"name": Part.NAME, "description": Part.DESCRIPTION, "enabled": True, "timeout": 300}
GOOSE = Client(
    name="goose",
    title="Goose",
    places=(
        Place("user", "~/.config/goose/config.yaml", ("macOS", "Linux"), moved_by=_XDG),
        Place("user", r"%APPDATA%\Block\goose\config\config.yaml", ("Windows",)),
    ),
    form="yaml",
    unread=(
        Unread(path=r"~\.config\goose\config.yaml", key=("extensions",), form="yaml", systems=("Windows",)),
    ),
    key=("extensions",),
    stdio=Setup(entry={**_GOOSE, "type": "stdio", "cmd": Part.PROGRAM, "args": Part.ARGUMENTS}),
    http=Setup(
        entry={**_GOOSE, "type": "streamable_http", "uri": Part.URL},
        link=f"goose://{_GOOSE_LINK}",
        web_link=f"https://goose-docs.ai/{_GOOSE_LINK}",
    ),
    token=Token(
        source="variable",
        members={"env_keys": [TOKEN_VARIABLE], **headers(SHELL_STYLE)},
    ),
    remarks=("There is no link for a program with a full path: Goose allows only a few launchers in links.",),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its source, crates/goose/src/agents/extension.rs"),
)

_LM_STUDIO_LINK = "lmstudio://add_mcp?name={name}&config={base64}"
_LM_STUDIO_WEB_LINK = "https://lmstudio.ai/install-mcp?name={name}&config={base64}"
LM_STUDIO = Client(
    name="lm-studio",
    title="LM Studio",
    places=(
        Place(
            "user",
            "~/.cache/lm-studio/mcp.json",
            if_there="~/.cache/lm-studio/mcp.json",
            if_missing="~/.lmstudio/mcp.json",
        ),
        Place("user", "~/.lmstudio/mcp.json"),
    ),
    form="json",
    aliases=("lmstudio",),
    stdio=Setup(entry=_PROGRAM, link=_LM_STUDIO_LINK, web_link=_LM_STUDIO_WEB_LINK),
    http=Setup(entry=_URL, link=_LM_STUDIO_LINK, web_link=_LM_STUDIO_WEB_LINK),
    token=IN_FILE,
    remarks=("Older installations use ~/.cache/lm-studio/mcp.json: change the file that exists.",),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its documentation"),
)

_KIRO_LINK = "https://kiro.dev/launch/mcp/add?name={name}&config={json}"
KIRO = Client(
    name="kiro",
    title="Kiro",
    places=(Place("user", "~/.kiro/settings/mcp.json"), Place("project", ".kiro/settings/mcp.json")),
    form="json",
    stdio=Setup(entry=_PROGRAM, link=_KIRO_LINK, web_link=_KIRO_LINK),
    http=Setup(entry=_URL, link=_KIRO_LINK, web_link=_KIRO_LINK),
    token=Token(source="variable", members=headers(SHELL_STYLE)),
    remarks=("The link opens a page of kiro.dev, which sees the entry and passes it on to Kiro.",),
    surroundings=Surroundings(is_desktop=True),
    evidence=Evidence("read", "2026-11-16", source="its documentation"),
)
