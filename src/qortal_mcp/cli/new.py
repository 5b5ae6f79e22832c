"""`new`: a small server to begin with, in a folder of its own: with a test, and an audit on every push."""

import os
import re
import shutil
import tempfile
from pathlib import Path

import click

from ..text import shortened, visible
from .output import terminal
from .running import failures

_STARTER = Path(__file__).with_name("starter")
# Where each file of the starter goes; they are kept as text, so that no tool takes them for part of this program.
_FILES = {
    "server.py": "server.py.txt",
    "test_server.py": "test_server.py.txt",
    "requirements.txt": "requirements.txt.txt",
    "README.md": "README.md.txt",
    ".gitignore": "gitignore.txt",
    ".github/workflows/check.yml": "check.yml.txt",
}
_NAME = re.compile(r"[a-z](?:[a-z0-9-]{0,38}[a-z0-9])?")
# Names that Windows keeps for devices.
_TAKEN = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


@click.command()
@click.argument("name")
def command(name: str) -> None:
    """Write a small MCP server of your own, to begin with.

    Makes the folder NAME with a server, a test, a README, and a workflow for GitHub that runs the test and `qortal-mcp audit`.
    NAME is also what the server calls itself: up to 40 small letters, digits and hyphens.
    """
    if not _NAME.fullmatch(name) or _TAKEN.fullmatch(name):
        raise failures.WrongUsage(
            f"{shortened(visible(name), 60)} cannot be the name of a server. "
            "Give small letters, digits and hyphens, such as my-server."
        )
    target = Path(name)
    if target.exists() or target.is_symlink():
        raise failures.WrongUsage(f"{name} exists already, and nothing is overwritten. Choose another name.")
    _write(target)
    terminal.write(
        f"Wrote {name}/ with {', '.join(_FILES)}.\n"
        f"Next: cd {name} && pip install -r requirements.txt && pytest\n"
        "Then: qortal-mcp serve server.py:server --reload"
    )


def _write(target: Path) -> None:
    """Write the folder next to its place and move it there, so that nobody ever sees half of it.

    Raises: Undetermined.
    """
    made = None
    try:
        made = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir="."))
        for place, source in _FILES.items():
            file = made / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text((_STARTER / source).read_text().replace("{name}", target.name))
        made.chmod(0o777 & ~_umask())  # it was made for its owner alone
        made.rename(target)
    except BaseException as exc:  # an interrupt as well
        if made is not None:
            shutil.rmtree(made, ignore_errors=True)
        if not isinstance(exc, OSError):
            raise
        raise failures.Undetermined(f"Cannot write {target}: {exc.strerror}.") from exc


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
