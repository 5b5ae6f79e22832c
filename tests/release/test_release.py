"""`scripts/release`, on a copy of the tree with a history of its own: what it refuses, what it records, what it leaves."""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from release.__main__ import NAMED_IN, NotReleased, main, planned, release
from release.changelog import section
from release.project import ROOT, VERSION_FILE, project, with_version

NOW = project().version
NEXT = "7.8.9"
# What is built, and what a release reads or writes.
COPIED = ("src", "release", "deploy", "docs")


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=Test", "-c", "user.email=test@localhost")
    done = subprocess.run(["git", *who, *words], cwd=root, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The project with a change log that is ready, committed."""
    root = tmp_path / "tree"
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (*ROOT.glob("*.md"), *ROOT.glob("*.txt"), *ROOT.glob("*.json"), *ROOT.glob(".git?*")):
        if file.is_file():
            shutil.copy(file, root)
    for name in ("pyproject.toml", "LICENSE", "Dockerfile"):
        shutil.copy(ROOT / name, root)
    changes = (root / "CHANGELOG.md").read_text()
    written = f"## {NEXT} (unreleased)\n\n- Something new.\n\n## {NOW}"
    (root / "CHANGELOG.md").write_text(changes.replace(f"## {NOW}", written, 1))
    git(root, "init", "--quiet")
    git(root, "config", "user.name", "Test")
    git(root, "config", "user.email", "test@localhost")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Begin")
    return root


class Steps:
    """Takes the place of the scripts, which need an environment: notes what was run, and when."""

    def __init__(self, root: Path, fails: str = "") -> None:
        self.root, self.fails = root, fails
        self.ran: list[str] = []
        self.versions: list[str] = []
        self.said: list[str] = []

    def run(self, words: Sequence[str]) -> None:
        self.ran.append(" ".join(words))
        self.versions.append(project(self.root).version)
        if words[0] == self.fails:
            raise subprocess.CalledProcessError(1, list(words))


@pytest.mark.promise(
    "Release", "A release is checked and its built files are tried before it is tagged; nothing is uploaded."
)
def test_a_release_is_checked_committed_tagged_and_built(tree: Path) -> None:
    steps = Steps(tree)
    release(tree, NEXT, steps.run, steps.said.append, dry=False)
    assert steps.ran == ["scripts/fix", "scripts/check", "scripts/test tests/release"]
    assert set(steps.versions) == {NEXT}
    assert git(tree, "describe", "--exact-match") == f"v{NEXT}"
    assert git(tree, "log", "-1", "--format=%s") == f"Release {NEXT}"
    assert git(tree, "status", "--porcelain") == ""
    assert f"qortal_mcp-{NEXT}-py3-none-any.whl" in {file.name for file in (tree / "dist").iterdir()}
    assert section((tree / "CHANGELOG.md").read_text(), NEXT) == "- Something new.\n"
    assert "(unreleased)" not in (tree / "CHANGELOG.md").read_text().partition(f"## {NOW}")[0]
    for path, before in NAMED_IN.items():
        assert (tree / path).read_text().count(f"{before}{NEXT}") == 1
    assert "git push --follow-tags" in steps.said[-1]


def test_a_dry_run_says_what_it_would_do_and_changes_nothing(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = git(tree, "rev-parse", "HEAD")
    assert main([NEXT, "--dry-run"], tree) == 0
    assert f"commit and tag v{NEXT}" in capsys.readouterr().out
    assert git(tree, "rev-parse", "HEAD") == before
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "tag") == ""
    assert not (tree / "dist").exists()


@pytest.mark.parametrize("step", ["scripts/fix", "scripts/check", "scripts/test"])
def test_a_step_that_fails_leaves_no_commit_and_no_tag(tree: Path, step: str) -> None:
    before = git(tree, "rev-parse", "HEAD")
    with pytest.raises(subprocess.CalledProcessError):
        release(tree, NEXT, Steps(tree, fails=step).run, print, dry=False)
    assert git(tree, "rev-parse", "HEAD") == before
    assert git(tree, "tag") == ""
    assert not (tree / "dist").exists()


WRONG = [
    pytest.param("1.2", "is not a version", id="two-numbers"),
    pytest.param("v1.2.3", "is not a version", id="letter"),
    pytest.param("1.02.3", "is not a version", id="leading-zero"),
    pytest.param("0.0.1", f"is older than {NOW}", id="older"),
    pytest.param("9.9.9", "the newest section of CHANGELOG.md is not 9.9.9", id="no-section"),
]


@pytest.mark.parametrize(("version", "why"), WRONG)
def test_a_version_that_cannot_be_released_is_refused_in_a_sentence(
    tree: Path, capsys: pytest.CaptureFixture[str], version: str, why: str
) -> None:
    assert main([version], tree) == 1
    assert why in capsys.readouterr().err
    assert git(tree, "status", "--porcelain") == ""


def test_a_tree_with_changes_or_an_old_tag_is_refused(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(tree, "tag", f"v{NEXT}")
    assert main([NEXT], tree) == 1
    assert f"the tag v{NEXT} exists already" in capsys.readouterr().err
    (tree / "new.txt").write_text("x")
    assert main([NEXT], tree) == 1
    assert "the tree is not clean" in capsys.readouterr().err


CHANGES = [
    pytest.param("## 7.8.9 (2026-01-01)\n\n- x\n", "is not marked", id="dated"),
    pytest.param("## 7.8.9 (unreleased)\n\n## 7.8.8 (2026-01-01)\n\n- x\n", "is empty", id="empty"),
    pytest.param("nothing\n", "write what changed there", id="no-sections"),
]


@pytest.mark.parametrize(("text", "why"), CHANGES)
def test_a_change_log_that_is_not_ready_is_refused(tree: Path, text: str, why: str) -> None:
    (tree / "CHANGELOG.md").write_text(text)
    with pytest.raises(NotReleased, match=why):
        planned(tree, NEXT, "2026-01-02")


def test_only_the_version_of_the_package_is_replaced() -> None:
    before = (ROOT / VERSION_FILE).read_text()
    after = with_version(before, NEXT)
    assert [line for line in after.splitlines() if line not in before.splitlines()] == [
        f'__version__ = "{NEXT}"'
    ]
