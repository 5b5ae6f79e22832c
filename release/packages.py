"""The sdist and the wheel, built by flit_core from a copy of the tree. The wheel is made of the sdist, so they agree."""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from .moment import VARIABLE
from .project import Project
from .readme import released

# What tools leave in a tree; nothing of it is committed.
_LEFT_BEHIND = (
    ".git",
    ".venv",
    ".interop",
    ".bench",
    ".browser",
    "dist",
    "build",
    "node_modules",
    "__pycache__",
    "*.pyc",
    ".coverage*",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".hypothesis",
    "uv.lock",
)
_BUILD = "import sys; from flit_core import buildapi; print(getattr(buildapi, sys.argv[1])(sys.argv[2]))"


def build_packages(root: Path, project: Project, into: Path, moment: int) -> tuple[Path, Path]:
    """Builds both and returns where they are: the sdist, the wheel."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        shutil.copytree(root, tree, ignore=shutil.ignore_patterns(*_LEFT_BEHIND))
        readme = tree / "README.md"
        readme.write_text(released(readme.read_text(encoding="utf-8"), project), encoding="utf-8")
        sdist = built("build_sdist", tree, into, moment)
        return sdist, wheel_from(sdist, into, moment)


def wheel_from(sdist: Path, into: Path, moment: int) -> Path:
    """The wheel that anybody gets who builds this sdist."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        return built("build_wheel", unpacked, into, moment)


def built(hook: str, tree: Path, into: Path, moment: int) -> Path:
    """Runs one hook of the build backend in a tree, in a process of its own: hooks work in the current folder."""
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, hook, str(into.resolve())],
        cwd=tree,
        env={**os.environ, VARIABLE: str(moment)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{hook} failed:\n{done.stderr}")
    return into / done.stdout.strip()
