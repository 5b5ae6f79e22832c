"""Where the programs are: ours in .venv, the others in their own environments under .bench/, all with bytecode.

The pins come from `uv pip compile --universal --generate-hashes`. FastMCP is the newest version that its own pins allow.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from bench.processes import HOME, ROOT, Failed, environment

_PINS = ROOT / "bench" / "servers"
_INSTALL_SECONDS = 900.0
PYTHON = Path(sys.executable)


def install(name: str) -> Path:
    """The interpreter of an environment with exactly the pinned versions. Created once, and again when the pins change."""
    pins, home = _PINS / f"{name}.txt", HOME / name
    python, stamp = home / "bin" / "python", home / ".installed"
    if not (stamp.exists() and stamp.read_bytes() == pins.read_bytes()):
        print(f"Setting up {home.relative_to(ROOT)} ...", file=sys.stderr, flush=True)
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
        shutil.copyfile(pins, stamp)
    return python


def compile_bytecode() -> None:
    """Without it every start would compile what it imports, which takes longer than everything else combined."""
    site = next((ROOT / ".venv" / "lib").glob("python*/site-packages"))
    for folder in (ROOT / "src", ROOT / "bench", site, *HOME.glob("*/lib/python*/site-packages")):
        command: list[str | Path] = [PYTHON, "-m", "compileall", "-q", "-j", "0", folder]
        subprocess.run(
            command, cwd=ROOT, env=environment(), stdout=subprocess.DEVNULL, timeout=300, check=False
        )


def _step(command: list[str | Path]) -> None:
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, timeout=_INSTALL_SECONDS)
    if done.returncode:
        raise Failed(f"{' '.join(map(str, command))}\n{done.stderr.decode()[-1500:]}")
