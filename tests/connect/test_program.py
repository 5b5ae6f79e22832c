"""The command with which a client starts this server."""

import subprocess
import sys
from pathlib import Path

import pytest

from qortal_mcp.connect.program import stdio_command
from qortal_mcp.settings import NodeOptions

OPTIONS = [
    pytest.param(NodeOptions(), [], id="default"),
    pytest.param(NodeOptions(sample=True), ["--sample"], id="sample"),
    pytest.param(
        NodeOptions(node=("http://a.example:12391", "http://b.example:12391"), toolsets="+chat,-raw"),
        ["--node", "http://a.example:12391", "--node", "http://b.example:12391", "--toolsets", "+chat,-raw"],
        id="nodes-and-toolsets",
    ),
    pytest.param(
        NodeOptions(node=("http://a.example:1", "http://b.example:1"), confirm=2),
        ["--node", "http://a.example:1", "--node", "http://b.example:1", "--confirm", "2"],
        id="confirm",
    ),
    pytest.param(NodeOptions(max_tip_age="2h"), ["--max-tip-age", "2h"], id="tip-age"),
]


@pytest.mark.parametrize(("options", "words"), OPTIONS)
def test_a_client_starts_it_with_the_options_of_the_server_that_runs(
    options: NodeOptions, words: list[str]
) -> None:
    command = stdio_command(options)
    assert list(command[command.index("stdio") + 1 :]) == words
    assert Path(command[0]).is_absolute()


def test_the_command_runs() -> None:
    ping = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    command = stdio_command(NodeOptions(sample=True))
    done = subprocess.run(command, input=ping, capture_output=True, timeout=30, check=True)
    assert done.stdout == b'{"jsonrpc":"2.0","id":1,"result":{}}\n'


@pytest.mark.parametrize("name", ["qortal-mcp", "qortal-mcp.exe"])
def test_the_script_beside_the_interpreter_is_used_if_there_is_one(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    command = stdio_command(NodeOptions(), str(tmp_path / "python"))
    assert command == (str(tmp_path / name), "stdio")


def test_otherwise_the_interpreter_runs_the_module(tmp_path: Path) -> None:
    python = str(tmp_path / "python")
    assert stdio_command(NodeOptions(), python) == (python, "-m", "qortal_mcp", "stdio")


def test_the_interpreter_of_a_virtual_environment_is_not_followed_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to(sys.executable)
    assert stdio_command(NodeOptions(), str(tmp_path / "python"))[0] == str(tmp_path / "python")


def test_without_an_interpreter_of_its_own_it_is_found_by_its_name() -> None:
    assert stdio_command(NodeOptions(), "") == ("qortal-mcp", "stdio")
