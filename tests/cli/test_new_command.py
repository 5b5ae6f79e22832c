"""`new`: what it writes works as it is, and it never writes over anything."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import COMMAND, environment

SECONDS = 60


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=folder, capture_output=True, text=True, timeout=SECONDS, env=environment()
    )


def new(folder: Path, name: str) -> subprocess.CompletedProcess[str]:
    return run_in(folder, *COMMAND, "new", name)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("work")
    done = new(folder, "my-server")
    assert done.returncode == 0, done.stderr
    assert "Wrote my-server/" in done.stdout
    assert [path.name for path in folder.iterdir()] == ["my-server"]
    return folder / "my-server"


@pytest.mark.promise("Command line", "What `new` writes passes its own test, and our audit finds nothing.")
def test_what_it_writes_passes_its_own_test(project: Path) -> None:
    done = run_in(project, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


def commands_of(project: Path) -> list[str]:
    """The commands of the workflow, one per line."""
    text = (project / ".github" / "workflows" / "check.yml").read_text()
    return re.findall(r"^ +(?:- run: )?((?:pip|python|qortal-mcp) .*)$", text, re.MULTILINE)


def test_the_audit_of_its_workflow_finds_nothing(project: Path) -> None:
    install, tests, audit = commands_of(project)
    assert install == "pip install -r requirements.txt"
    assert tests == "python -m pytest"
    words = [sys.executable if word == "python" else word for word in shlex.split(audit)[1:]]
    done = run_in(project, *COMMAND, words[0], "--json", *words[1:])
    assert done.returncode == 0, done.stdout
    report = json.loads(done.stdout)
    assert report["verdict"] == "conforms"
    assert report["findings"] == []
    assert audit in (project / "README.md").read_text()


def test_its_code_is_formatted_and_clean(project: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    for words in (["check", "--select", "E,F,I,B,UP,SIM"], ["format", "--check"]):
        done = run_in(project, *ruff, *words, "--isolated", "--line-length", "110", ".")
        assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "",
        "Shelf",
        "my_server",
        "a b",
        "../shelf",
        "/tmp/shelf",
        "-x",
        "9lives",
        "a-",
        "con",
        "a" * 41,
        "ä",
        "a\nb",
    ],
)
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: str) -> None:
    done = run_in(tmp_path, *COMMAND, "new", "--", name)
    assert done.returncode == 2
    assert "cannot be the name of a server" in done.stderr
    assert list(tmp_path.iterdir()) == []


def make_file(path: Path) -> None:
    path.write_text("mine")


def make_dangling_link(path: Path) -> None:
    path.symlink_to("nowhere")


@pytest.mark.parametrize("make", [make_file, Path.mkdir, make_dangling_link])
def test_nothing_is_overwritten(tmp_path: Path, make: object) -> None:
    assert callable(make)
    make(tmp_path / "shelf")
    before = (tmp_path / "shelf").lstat()
    done = new(tmp_path, "shelf")
    assert done.returncode == 2
    assert "shelf exists already, and nothing is overwritten." in done.stderr
    assert (tmp_path / "shelf").lstat().st_ino == before.st_ino
    assert len(list(tmp_path.iterdir())) == 1


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from qortal_mcp.cli.main import main; sys.exit(main(['new', 'shelf']))"
    done = run_in(gone, sys.executable, "-c", script)
    assert done.returncode == 3
    assert "Cannot write shelf" in done.stderr
