"""Settings files as people have them: comments, other servers, odd indentation, other line ends."""

CODEX = """\
# Codex, by hand
model = "gpt-5"
notify = [
  "say",   # [not a heading]
  "done",
]

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs-server"]
env = { API_KEY = "sk-1" }

[mcp_servers.docs.tools]  # sub-table
fetch = true

# about my project
[projects."/home/ann/project"]
trust_level = "trusted"
notes = '''
[mcp_servers.qortal]
command = "not a table"
'''
"""

CLAUDE = """\
{
  "numStartups": 12,
  "tipsHistory": {"a": 1.0, "b": 12345678901234567890},
  "mcpServers": {
    "docs": {
      "type": "stdio",
      "command": "npx",
      "args": ["-y", "docs-server"],
      "env": {"API_KEY": "sk-1"}
    }
  },
  "projects": {
    "/home/ann/project": {"mcpServers": {}}
  }
}
"""

ZED = """\
// Zed settings
{
    "theme": "One Dark", // my favourite
    /* servers
       of all kinds */
    "context_servers": {
        "docs": { "command": "npx", "args": ["-y"], }, // the first { of many }
        // "old": {"command": "x"},
    },
    "tab_size": 4,
}
"""

VSCODE = """\
{
\t"inputs": [],
\t"servers": {
\t\t"docs": {"type": "http", "url": "https://docs.example/mcp"}
\t}
}"""

GOOSE = """\
GOOSE_PROVIDER: openai
GOOSE_MODEL: gpt-5  # the large one
instructions: |-
  Answer: in short.
    # this is text

extensions:
  # built in
  developer:
    bundled: true
    display_name: 'It''s the developer'
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  docs:
    args:
    - -y
    - docs-server
    cmd: npx
    env_keys: []
    envs: {API_KEY: sk-1}
    type: stdio

GOOSE_MODE: smart_approve
"""

OPENCODE = '{"$schema": "https://opencode.ai/config.json", "mcp": {"docs": {"type": "remote", "url": "https://d.example"}}}'

EMPTY_OBJECT = "{}\n"
WINDOWS = CLAUDE.replace("\n", "\r\n")
MARKED = "\ufeff" + CLAUDE
NO_FINAL_LINE_END = CODEX.rstrip("\n")
