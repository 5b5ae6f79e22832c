"""The built files, made once for all tests that look at them, and programs started from them."""

import json
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from release.build import build
from release.project import ROOT
from tests.cli.running import environment

SECONDS = 60
_INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
# What a client writes to a server on stdio: one message a line.
HANDSHAKE = json.dumps(_INITIALIZE) + "\n"
LISTING = (
    HANDSHAKE
    + json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})
    + "\n"
    + json.dumps({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
    + "\n"
)


class Built:
    """What `scripts/build` makes, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {file.name: file for file in build(ROOT, folder)}

    def the(self, ending: str) -> Path:
        (found,) = (file for name, file in self.files.items() if name.endswith(ending))
        return found


def installed(wheel: Path, home: Path) -> Path:
    """A virtual environment with the wheel and nothing else of the project; returns its program.

    The dependencies come from the environment of the tests: a path in a .pth file brings its packages, but not what their
    own .pth files would add, and so not the tree.
    """
    run([sys.executable, "-m", "venv", "--without-pip", str(home)])
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    run(
        [
            sys.executable,
            "-m",
            "pip",
            "--python",
            str(python),
            "install",
            "--no-deps",
            "--no-index",
            str(wheel),
        ]
    )
    (packages,) = [*home.glob("lib/python*/site-packages"), *home.glob("Lib/site-packages")]
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python.with_name("qortal-mcp")


def listed(told: str) -> list[str]:
    """The names of the tools in what a server wrote after `LISTING`."""
    replies = {reply["id"]: reply for reply in map(json.loads, told.splitlines())}
    return [tool["name"] for tool in replies[2]["result"]["tools"]]


def run(
    command: list[str], *, stdin: str = "", cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> str:
    """Standard output of a program that must succeed. What it runs is a copy of the product, which is no part of the coverage."""
    variables = {name: value for name, value in environment(env).items() if not name.startswith("COVERAGE_")}
    done = subprocess.run(
        command, input=stdin, capture_output=True, text=True, timeout=SECONDS, cwd=cwd, env=variables
    )
    assert done.returncode == 0, f"{command[0]} ended with {done.returncode}: {done.stderr}"
    return done.stdout
