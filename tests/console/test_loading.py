"""What the page costs those who do not use it, and that it is in what people install."""

import subprocess
import sys
import zipfile
from pathlib import Path

from tests.cli.running import COMMAND, INITIALIZE, environment, message
from tests.door import open_program

from qortal_mcp.console.files import STATIC

ROOT = Path(__file__).resolve().parents[2]
LIST = message(2, "tools/list")
TIMED = (COMMAND[0], "-X", "importtime", *COMMAND[1:])


def loaded(lines: list[str], *parts: str) -> set[str]:
    """The modules of some parts of this package in a list of imports. Their limits are tables, which settings refer to."""
    names = (line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:"))
    found = {name.removeprefix("qortal_mcp.") for name in names}
    return {
        name
        for name in found
        if name.partition(".")[0] in parts and name not in {*parts, f"{name.partition('.')[0]}.limits"}
    }


def test_stdio_loads_nothing_of_the_page() -> None:
    done = subprocess.run(
        [*TIMED, "stdio", "--sample"],
        input=INITIALIZE + LIST,
        capture_output=True,
        timeout=30,
        env=environment(),
    )
    assert b'"tools":[' in done.stdout
    lines = done.stderr.decode().splitlines()
    assert loaded(lines, "server")
    assert not loaded(lines, "console", "agent", "audit")


def test_a_server_starts_without_loading_the_agent_or_the_audit() -> None:
    with open_program([*TIMED, "serve", "--sample", "--listen", "127.0.0.1:0"]) as door:
        assert door.get("/").status == 200
        assert door.get("/console/main.js").status == 200
        lines = list(door.log)
    assert loaded(lines, "console")
    assert not loaded(lines, "agent", "audit")


def test_the_files_are_in_the_package_that_people_install(tmp_path: Path) -> None:
    build = "import sys; from flit_core.buildapi import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    packed = set(zipfile.ZipFile(wheel).namelist())
    files = {path.relative_to(STATIC.parents[2]).as_posix() for path in STATIC.rglob("*") if path.is_file()}
    assert files <= packed, files - packed
    assert not {name for name in packed if "node_modules" in name or "playwright" in name}
