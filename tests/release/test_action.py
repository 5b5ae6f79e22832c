"""The action that audits a server in a workflow, and our own workflow: their steps run here, in a shell."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec import Struct
from release.project import ROOT, project
from tests.cli.running import environment, listening

ABOUT = project()
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS = ACTION["runs"]["steps"]
WORKFLOW = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
SERVER = f"{sys.executable} -m qortal_mcp stdio --sample"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="runs the steps in bash")


class Ran(Struct, frozen=True):
    code: int
    out: str
    outputs: dict[str, str]
    summary: str


def audited(tmp_path: Path, server: str, options: str = "") -> Ran:
    """The step that audits, as a runner runs it after the step that installs."""
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    program = home / "bin/qortal-mcp"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m qortal_mcp "$@"\n')
    program.chmod(0o755)
    outputs, summary = tmp_path / "outputs", tmp_path / "summary"
    outputs.touch()
    summary.touch()
    told = {
        "SERVER": server,
        "OPTIONS": options,
        "HOME_OF_AUDIT": str(home),
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    (step,) = (one for one in STEPS if one.get("id") == "audit")
    assert set(step["env"]) | {"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"} == set(told)
    # As a runner does for `shell: bash`.
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        env=environment(told),
        capture_output=True,
        text=True,
        timeout=120,
    )
    pairs = dict(line.split("=", 1) for line in outputs.read_text().splitlines())
    return Ran(done.returncode, done.stdout + done.stderr, pairs, summary.read_text())


@pytest.mark.promise(
    "Audit", "The action audits a server in a workflow and gives its results to code scanning."
)
def test_a_server_that_is_started_is_audited(tmp_path: Path) -> None:
    ran = audited(tmp_path, SERVER, "--revision 2025-11-25")
    assert ran.code == 0, ran.out
    results = json.loads(Path(ran.outputs["sarif"]).read_text())
    assert results["version"] == "2.1.0"
    assert ran.summary


def test_a_server_at_an_address_is_audited(tmp_path: Path) -> None:
    with listening("serve", "--sample") as server:
        ran = audited(tmp_path, server.url, "--revision 2025-11-25")
    assert ran.code == 0, ran.out
    assert "sarif" in ran.outputs


def test_a_server_that_breaks_a_rule_fails_the_step_and_leaves_its_results(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text(
        'import sys\nprint("Starting!", flush=True)\nfor line in sys.stdin:\n    print("{}", flush=True)\n'
    )
    ran = audited(tmp_path, f"{sys.executable} {broken}", "--revision 2025-11-25 --timeout 2")
    assert ran.code in (1, 3)
    assert json.loads(Path(ran.outputs["sarif"]).read_text())["runs"][0]["results"]


@pytest.mark.parametrize("server", [f"FOO=1 {SERVER}", f"cd / && {SERVER}"], ids=["variable", "folder"])
def test_a_server_is_started_by_any_command_of_bash(tmp_path: Path, server: str) -> None:
    ran = audited(tmp_path, server, "--revision 2025-11-25")
    assert ran.code == 0, ran.out


def test_options_may_stand_on_several_lines(tmp_path: Path) -> None:
    written = tmp_path / "audit.xml"
    ran = audited(tmp_path, SERVER, f"--revision 2025-11-25\n--junit {written}\n")
    assert ran.code == 0, ran.out
    assert written.read_text().startswith("<?xml")


def test_wrong_usage_fails_the_step(tmp_path: Path) -> None:
    ran = audited(tmp_path, SERVER, "--no-such-option")
    assert (ran.code, ran.outputs) == (2, {})


def runs(steps: list[dict[str, Any]]) -> list[str]:
    return [step["run"] for step in steps if "run" in step]


def test_no_input_is_written_into_a_script() -> None:
    """It would be run: whoever writes the name of a branch or a title could write a command."""
    assert runs(STEPS)
    assert not [script for script in runs(STEPS) if "${{" in script]
    for job in WORKFLOW["jobs"].values():
        for script in runs(job["steps"]):
            assert set(re.findall(r"\$\{\{ *(.*?) *\}\}", script)) <= {"matrix.tests"}


def test_the_lines_to_copy_name_this_release_and_an_input_that_exists() -> None:
    page = (ROOT / "docs/audit.md").read_text()
    (block,) = re.findall(r"<!-- action -->\n```yaml\n(.*?)```", page, re.DOTALL)
    told = yaml.safe_load(block)
    (job,) = told["jobs"].values()
    checkout, *_, step = job["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert step["uses"] == f"{ABOUT.repository.partition('.com/')[2]}@{ABOUT.tag}"
    assert set(step["with"]) <= set(ACTION["inputs"])
    assert told["permissions"]["security-events"] == "write"


def test_the_workflow_runs_on_every_system_and_python_that_is_promised() -> None:
    matrix = WORKFLOW["jobs"]["systems"]["strategy"]["matrix"]
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    classifiers = (ROOT / "pyproject.toml").read_text()
    assert matrix["python"] == re.findall(r'"Programming Language :: Python :: (3\.\d+)"', classifiers)
    for words in (one["tests"] for one in matrix["include"]):
        assert all((ROOT / word).exists() for word in words.split())
    assert (ROOT / ".ci/run").exists()
    assert WORKFLOW["permissions"] == {"contents": "read"}
