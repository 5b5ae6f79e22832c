"""The table of clients, one record each. Whatever shows or writes a client's settings reads them here."""

from .client import Client
from .desktop_clients import ANTIGRAVITY, CLAUDE_DESKTOP, CURSOR, DEVIN, GOOSE, KIRO, LM_STUDIO, VSCODE, ZED
from .terminal_clients import CLAUDE_CODE, CODEX, COPILOT, GEMINI, MCP_JSON, OPENCODE

__all__ = [
    "ANTIGRAVITY",
    "CLAUDE_CODE",
    "CLAUDE_DESKTOP",
    "CLIENTS",
    "CODEX",
    "COPILOT",
    "CURSOR",
    "DEVIN",
    "GEMINI",
    "GOOSE",
    "KIRO",
    "LM_STUDIO",
    "MCP_JSON",
    "OPENCODE",
    "VSCODE",
    "ZED",
    "client_named",
]

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
    MCP_JSON,
)


def client_named(name: str) -> Client | None:
    """The client with this name, or one that people know it by."""
    asked = name.lower()
    return next((one for one in CLIENTS if asked == one.name or asked in one.aliases), None)
