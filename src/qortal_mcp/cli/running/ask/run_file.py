"""The file of `ask --save`: private, written whole after each answer; and reading one again."""

from ....agent import saved
from ....agent.events import Event
from ...input import files
from .. import failures

# A first line that is longer is not that of a saved run.
_TITLE_BYTES = 4096


def check(path: str) -> None:
    """A file that is there is replaced only if it is a saved run, or empty. Raises: Undetermined."""
    files.check_private(path, "run")
    try:
        with open(path, "rb") as file:
            first = file.readline(_TITLE_BYTES)
    except FileNotFoundError:
        return
    except OSError as exc:
        raise failures.Undetermined(f"Cannot write the run {path}: {exc.strerror}.") from None
    if first and not saved.is_run(first):
        raise failures.Undetermined(
            f"Cannot write the run {path}: the file is there and is not a saved run; choose another name."
        )


def write(path: str, events: list[Event]) -> None:
    """Raises: Undetermined."""
    files.write(path, saved.write(events), "run", is_private=True)


def read(path: str) -> list[Event]:
    """Raises: WrongUsage."""
    try:
        return saved.read(files.read(path, "run"))
    except saved.NotARun as exc:
        raise failures.WrongUsage(f"{path} is not a saved run: {exc}.") from None
