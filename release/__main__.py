"""`scripts/release X.Y.Z`: everything that a release takes, up to the upload.

Checks the tree, sets the version and the day, writes what is made from them, checks, builds, tests the built files, commits and
tags. It uploads nothing and pushes nothing: the last lines say how.
"""

import argparse
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from .build import build
from .changelog import WrongChangeLog, dated
from .git import Git, GitRefused
from .licences import UnknownLicence
from .project import ROOT, VERSION_FILE, project, with_version

# Files that name the version and are written by hand, and what stands before it there.
NAMED_IN = {
    "deploy/compose.yaml": "image: qortal-mcp:",
    "deploy/kubernetes.yaml": "image: qortal-mcp:",
    "docs/audit.md": "uses: qortal-mcp/qortal-mcp@v",
}
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
CHECKS: tuple[tuple[str, ...], ...] = (("scripts/check",), ("scripts/test", "tests/release"))

Run = Callable[[Sequence[str]], None]


class NotReleased(Exception):
    """Why there is no release; the text says what to do."""


def planned(root: Path, version: str, day: str) -> dict[str, str]:
    """The files of a release that are written by hand, as they must be: a version, a day.

    Raises: NotReleased.
    """
    if not _VERSION.fullmatch(version):
        raise NotReleased(f"{version} is not a version: three numbers, such as 1.2.3")
    now = project(root).version
    if _numbers(version) < _numbers(now):
        raise NotReleased(f"{version} is older than {now}")

    def read(path: str) -> str:
        return (root / path).read_text(encoding="utf-8")

    try:
        changes = dated(read("CHANGELOG.md"), version, day)
    except WrongChangeLog as exc:
        raise NotReleased(str(exc)) from None
    return {
        VERSION_FILE: with_version(read(VERSION_FILE), version),
        "CHANGELOG.md": changes,
        **{
            path: read(path).replace(f"{before}{now}", f"{before}{version}")
            for path, before in NAMED_IN.items()
        },
    }


def release(root: Path, version: str, run: Run, say: Callable[[str], None], *, dry: bool) -> None:
    """Raises: NotReleased, GitRefused, UnknownLicence, CalledProcessError; what was written stays to be looked at."""
    git, tag = Git(root), f"v{version}"
    if changed := git.changed():
        raise NotReleased(f"the tree is not clean; commit or put aside:\n{changed}")
    if git.has_tag(tag):
        raise NotReleased(f"the tag {tag} exists already")
    files = planned(root, version, datetime.now(UTC).strftime("%Y-%m-%d"))
    steps = [f"write {', '.join(files)}", "scripts/fix", *(" ".join(one) for one in CHECKS)]
    if dry:
        steps += [f"commit and tag {tag}", "build into dist/"]
        say("Would, in this order:\n" + "".join(f"  {step}\n" for step in steps) + "Nothing was changed.")
        return
    for path, text in files.items():
        (root / path).write_text(text, encoding="utf-8")
    for words in (("scripts/fix",), *CHECKS):
        run(words)
    if git.changed():  # nothing, if the version was set before
        git.commit(f"Release {version}")
    git.tag(tag, f"qortal-mcp {version}")
    built = build(root, root / "dist")
    say("".join(f"  {file.relative_to(root)}\n" for file in built))
    say(
        f"{version} is committed, tagged and built. What is left, in this order:\n"
        f"  git push --follow-tags\n"
        f"  upload the wheel and the sdist to the package index\n"
        f"  a release on the page of the repository for {tag}, with every file of dist/\n"
        f"  publish dist/server.json to the registry of MCP servers, once both are there"
    )


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    parser = argparse.ArgumentParser(prog="scripts/release", description=__doc__)
    parser.add_argument("version", metavar="X.Y.Z")
    parser.add_argument("--dry-run", action="store_true", help="check, and say what would be done")
    options = parser.parse_args(arguments)

    def run(words: Sequence[str]) -> None:
        subprocess.run(words, cwd=root, check=True)

    try:
        release(root, options.version, run, print, dry=options.dry_run)
    except (NotReleased, GitRefused, UnknownLicence) as exc:
        print(f"scripts/release: {exc}.", file=sys.stderr)
        return 1
    except subprocess.CalledProcessError as exc:
        print(
            f"scripts/release: {' '.join(exc.cmd)} failed. Nothing is committed; `git diff` shows what was written.",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
