"""The program that runs: its interpreter, its version, and whether a shell would start the same one."""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ... import __version__
from ...connect.program import program


class ProgramFacts(Struct, frozen=True, kw_only=True):
    python: tuple[int, int, int]
    interpreter: str
    version: str
    # How it is started, word by word.
    command: tuple[str, ...]
    # What a shell starts by our name, if that is another program.
    other_on_path: str | None


def look(environ: Mapping[str, str]) -> ProgramFacts:
    command = program()
    return ProgramFacts(
        python=sys.version_info[:3],
        interpreter=sys.executable,
        version=__version__,
        command=command,
        other_on_path=_other(command, shutil.which("qortal-mcp", path=environ.get("PATH", os.defpath))),
    )


def _other(command: tuple[str, ...], found: str | None) -> str | None:
    if found is None or len(command) > 1 or Path(found).resolve() == Path(command[0]).resolve():
        return None
    return found
