"""docs/doctor.md shows what the command shows."""

import re
from pathlib import Path

from tests.cli.running import listening, run
from tests.cli.strangers import http_node
from tests.doctor.test_doctor_nodes import HOUR, node

from qortal_mcp.connect.program import program

PAGE = Path(__file__).resolve().parents[2] / "docs" / "doctor.md"
SHOWN = re.compile(r"```text\n(.*?)```", re.DOTALL)


def without_particulars(text: str) -> list[str]:
    """The words alone: paths and numbers differ from machine to machine."""
    return re.sub(r"[0-9]+(?:\.[0-9]+)*", "N", re.sub(r"at /\S+", "at PATH", text)).split()


def test_the_page_shows_what_the_command_shows(tmp_path: Path) -> None:
    shown = SHOWN.search(PAGE.read_text())
    assert shown is not None
    codex = f"[mcp_servers.qortal]\ncommand = '{program()[0]}'\nargs = ['stdio']\n"
    (tmp_path / ".codex").mkdir()
    (tmp_path / ".codex" / "config.toml").write_text(codex)
    stale = node(age=23 * HOUR, status={"numberOfConnections": 14})
    with http_node(stale) as url, listening("serve", "--sample") as server:
        listen = server.url.removeprefix("http://").removesuffix("/mcp")
        env = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
        ended = run("doctor", "--node", url, "--listen", listen, env=env)
    assert without_particulars(ended.out) == without_particulars(shown[1])
