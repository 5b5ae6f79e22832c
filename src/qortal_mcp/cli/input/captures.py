"""Captures that a person names on the command line."""

from pathlib import Path

from ...audit.evidence import begins_capture
from ..running import failures

# A first line that is longer is not that of a capture.
_TITLE_BYTES = 1024 * 1024


def check_replaceable(path: str) -> None:
    """A file that is there is replaced only if it is a capture, or empty. Raises: Undetermined."""
    if not Path(path).is_file():
        return  # nothing is replaced: a new file, or a pipe
    try:
        with open(path, "rb") as file:
            first = file.readline(_TITLE_BYTES)
    except OSError as exc:
        raise failures.Undetermined(f"Cannot write the capture {path}: {exc.strerror}.") from None
    if first and not begins_capture(first):
        raise failures.Undetermined(
            f"Cannot write the capture {path}: the file is there and is not a capture; choose another name."
        )
