"""What a release asks of git, and what it records there."""

import subprocess
from pathlib import Path


class GitRefused(Exception):
    """Git did not do what it was asked; the text is its own."""


class Git:
    def __init__(self, root: Path) -> None:
        self._root = root

    def changed(self) -> str:
        """What differs from the commit, new files included; empty for a clean tree."""
        return self._run("status", "--porcelain")

    def has_tag(self, tag: str) -> bool:
        return bool(self._run("tag", "--list", tag))

    def commit(self, message: str) -> None:
        self._run("commit", "--all", "--quiet", "--message", message)

    def tag(self, tag: str, message: str) -> None:
        self._run("tag", "--annotate", tag, "--message", message)

    def _run(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self._root, capture_output=True, text=True)
        if done.returncode:
            raise GitRefused(f"git {words[0]} failed: {done.stderr.strip()}")
        return done.stdout.strip()
