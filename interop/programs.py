"""Other people's programs: installed once under .interop/, in exactly the versions that the files next to this one pin.

`package-lock.json` comes from `npm install --package-lock-only --omit-lockfile-registry-resolved`, without its
`funding` entries; `python_v1.txt`, `python_v2.txt` and `python_servers.txt` come from
`uv pip compile --universal --generate-hashes`.
"""

import asyncio
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from interop.processes import finished

ROOT = Path(__file__).resolve().parent.parent
_PINS = ROOT / "interop"
_HOME = ROOT / ".interop"
# Agents of 900 MB over a slow connection.
_INSTALL_SECONDS = 900.0


class CannotInstall(Exception):
    """A program could not be installed; the text says which and why."""


@dataclass(frozen=True)
class Programs:
    """Where the installed programs are. Each command is a list to which arguments are added."""

    packages: Path
    node: Path
    python_v1: Path
    python_v2: Path
    # FastMCP and the reference servers in Python.
    python_servers: Path

    @property
    def conformance(self) -> list[Path]:
        return [self.node, self.packages / "@modelcontextprotocol/conformance/dist/index.js"]

    @property
    def codex(self) -> list[Path]:
        return [self.node, self.packages / "@openai/codex/bin/codex.js"]

    @property
    def claude(self) -> list[Path]:
        return [self.node, self.packages / "@anthropic-ai/claude-code/cli-wrapper.cjs"]

    @property
    def gemini(self) -> list[Path]:
        return [self.node, self.packages / "@google/gemini-cli/bundle/gemini.js"]


async def install() -> Programs:
    """Installs what is missing or pinned differently, and returns where everything is."""
    packages, python_v1, python_v2, python_servers = await asyncio.gather(
        _install_npm(),
        _install_python("python_v1"),
        _install_python("python_v2"),
        _install_python("python_servers"),
    )
    # One of the optional packages of Node 22, the one for this platform. The suite does not start on an older Node.
    node = next(packages.glob("node-*/bin/node"), None) or shutil.which("node")
    if node is None:
        raise CannotInstall("no Node 22 package for this platform, and no `node` on the PATH")
    return Programs(
        packages=packages,
        node=Path(node),
        python_v1=python_v1,
        python_v2=python_v2,
        python_servers=python_servers,
    )


async def _install_npm() -> Path:
    home = _HOME / "npm"
    lock = _PINS / "package-lock.json"
    if not _is_installed(home, lock):
        _say_installing(home)
        if (npm := shutil.which("npm")) is None:
            raise CannotInstall("scripts/interop needs Node with npm on the PATH")
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(_PINS / "package.json", home)
        shutil.copy(lock, home)
        # Without install scripts: only what is asked for runs here, and the binaries are found without them.
        await _step([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=home)
        _mark_installed(home, lock)
    return home / "node_modules"


async def _install_python(name: str) -> Path:
    home = _HOME / name
    pins = _PINS / f"{name}.txt"
    python = home / "bin" / "python"
    if not _is_installed(home, pins):
        _say_installing(home)
        await _step([sys.executable, "-m", "venv", "--clear", home], cwd=ROOT)
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r")
        await _step([python, *pip, pins], cwd=ROOT)
        _mark_installed(home, pins)
    return python


def _is_installed(home: Path, pins: Path) -> bool:
    stamp = home / ".installed"
    return stamp.exists() and stamp.read_bytes() == pins.read_bytes()


def _say_installing(home: Path) -> None:
    print(f"Setting up {home.relative_to(ROOT)} ...", file=sys.stderr, flush=True)


def _mark_installed(home: Path, pins: Path) -> None:
    shutil.copyfile(pins, home / ".installed")


async def _step(command: Sequence[str | Path], *, cwd: Path) -> None:
    end = await finished(command, seconds=_INSTALL_SECONDS, cwd=cwd, env=dict(os.environ))
    if end.code != 0:
        raise CannotInstall(f"{' '.join(map(str, command))}\n{end.tail()}")
