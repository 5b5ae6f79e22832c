"""Where the programs are: ours in .venv, the others in their own environments under .bench/, all with bytecode.

The pins come from `uv pip compile --universal --generate-hashes`. FastMCP is the newest version that its own pins allow.
`package-lock.json` comes from `npm install --package-lock-only --omit-lockfile-registry-resolved`, without its
`funding` entries.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bench.processes import HOME, ROOT, Failed, environment

_PINS = ROOT / "bench" / "servers"
_STAMP = ".installed"
_INSTALL_SECONDS = 900.0
PYTHON = Path(sys.executable)


def install(name: str) -> Path:
    """The interpreter of an environment with exactly the pinned versions. Created once, and again when the pins change."""
    pins, home = _PINS / f"{name}.txt", HOME / name
    python = home / "bin" / "python"
    if not _is_installed(home, pins):
        _say_installing(home)
        _step([PYTHON, "-m", "venv", "--clear", home])
        _step(
            [
                python,
                "-m",
                "pip",
                "install",
                "-q",
                "--disable-pip-version-check",
                "--require-hashes",
                "-r",
                pins,
            ]
        )
        shutil.copyfile(pins, home / _STAMP)
    return python


def install_npm() -> tuple[Path, Path]:
    """Node, and the folder with exactly the pinned packages. Raises: Failed."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Failed("Node with npm is not on the PATH")
    lock, home = _PINS / "package-lock.json", HOME / "npm"
    if not _is_installed(home, lock):
        _say_installing(home)
        home.mkdir(parents=True, exist_ok=True)
        shutil.copy(_PINS / "package.json", home)
        shutil.copy(lock, home)
        # Without install scripts: only what is asked for runs here.
        command: list[str | Path] = [
            npm,
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
            "--loglevel=error",
        ]
        _step(command, cwd=home)
        shutil.copyfile(lock, home / _STAMP)
    return Path(node), home / "node_modules"


def _is_installed(home: Path, pins: Path) -> bool:
    stamp = home / _STAMP
    return stamp.exists() and stamp.read_bytes() == pins.read_bytes()


def _say_installing(home: Path) -> None:
    print(f"Setting up {home.relative_to(ROOT)} ...", file=sys.stderr, flush=True)


def compile_bytecode() -> None:
    """Without it every start would compile what it imports, which takes longer than everything else combined."""
    site = next((ROOT / ".venv" / "lib").glob("python*/site-packages"))
    for folder in (ROOT / "src", ROOT / "bench", site, *HOME.glob("*/lib/python*/site-packages")):
        command: list[str | Path] = [PYTHON, "-m", "compileall", "-q", "-j", "0", folder]
        subprocess.run(
            command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, timeout=300, check=False
        )


def _step(command: list[str | Path], cwd: Path = ROOT) -> None:
    done = subprocess.run(command, cwd=cwd, env=environment(), capture_output=True, timeout=_INSTALL_SECONDS)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr.decode()[-1500:]}")
