"""The real command as a process, in a home of its own, and what its report says."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct
from tests.cli.running import Ended, run

CODES = {"good": 0, "warning": 0, "problem": 1, "unknown": 3}


class Examined(Struct, frozen=True):
    """How the command ended, and its report."""

    ended: Ended

    @property
    def code(self) -> int:
        return self.ended.code

    @property
    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = self.ended.json
        return found

    def section(self, title: str) -> dict[str, Any]:
        """The checks of one section by their code."""
        (found,) = (each for each in self.report["sections"] if each["title"] == title)
        return {check["check"]: check for check in found["checks"]}

    def of(self, code: str) -> list[dict[str, Any]]:
        """Everything that one check says, in all sections."""
        return [
            check
            for section in self.report["sections"]
            for check in section["checks"]
            if check["check"] == code
        ]

    def one(self, code: str) -> dict[str, Any]:
        (found,) = self.of(code)
        return found


def doctor(home: Path, *words: str, env: Mapping[str, str] | None = None) -> Examined:
    """The report as JSON. `home` has no clients unless a test puts them there."""
    return Examined(run("doctor", *words, "--json", env={"HOME": str(home), **(env or {})}))


@contextmanager
def silent() -> Iterator[int]:
    """A port where connections are taken and nothing is ever said."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@contextmanager
def closed() -> Iterator[int]:
    """A port where nobody listens, and which nobody else gets meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]
