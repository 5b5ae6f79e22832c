"""A tool of our own that takes long says how far it is, on the terminal and nowhere else."""

import asyncio
import sys

import pytest

from qortal_mcp import tool
from qortal_mcp.cli.running.own_server import Own
from qortal_mcp.protocol.versions import REVISIONS
from qortal_mcp.server.context import Context
from qortal_mcp.server.dispatch import Server


@tool
async def scan(ctx: Context) -> str:
    """Reads many blocks."""
    await ctx.progress(1, 2, "1,000 transactions\x1b[2J read")
    return "done"


@pytest.mark.parametrize("revision", [REVISIONS[-1], "2025-11-25"])
@pytest.mark.parametrize("is_terminal", [True, False])
def test_progress_is_shown_to_a_person_while_a_tool_works(
    revision: str, is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    monkeypatch.setenv("TERM", "xterm")
    own = Own(Server("s", tools=[scan]), "sample", revision)
    response = asyncio.run(own.ask("tools/call", {"name": "scan", "arguments": {}}))
    assert b"done" in bytes(response.result)
    shown = capsys.readouterr()
    assert shown.out == ""
    line = "\r\x1b[K1 of 2 1,000 transactions\\u{001B}[2J read\r\x1b[K"
    assert shown.err == (line if is_terminal else "")
