"""Files that a person names on the command line: read with a limit, written whole or not at all."""

import os
import tempfile
from pathlib import Path

from . import failures

# Larger files are other files.
_LARGEST_BYTES = 256 * 1024 * 1024


def read(path: str, what: str) -> bytes:
    """Raises: WrongUsage where there is no such file to read."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_BYTES + 1)
    except OSError as exc:
        raise failures.WrongUsage(f"Cannot read the {what} {path}: {exc.strerror}.") from exc
    if len(data) > _LARGEST_BYTES:
        raise failures.WrongUsage(f"The {what} {path} is larger than {_LARGEST_BYTES // 2**20} MiB.")
    return data


def check_writable(path: str, what: str) -> None:
    """Say before the work what would fail after it.

    Raises: CouldNotFindOut.
    """
    folder = Path(path).absolute().parent
    if not folder.is_dir() or not os.access(folder, os.W_OK) or Path(path).is_dir():
        raise failures.CouldNotFindOut(
            f"Cannot write the {what} {path}: its folder is not there or not writable"
        )


def write(path: str, data: bytes, what: str) -> None:
    """Write beside the place and move it there, so that nobody ever sees half a file.

    Raises: CouldNotFindOut.
    """
    target = Path(path)
    if target.exists() and not target.is_file():  # /dev/stdout, a pipe
        _write_through(target, data, what)
        return
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            dir=target.absolute().parent, prefix=f".{target.name}.", delete=False
        ) as file:
            name = file.name
            file.write(data)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, target)
    except OSError as exc:
        if name:
            Path(name).unlink(missing_ok=True)
        raise failures.CouldNotFindOut(f"Cannot write the {what} {path}: {exc.strerror}") from exc


def _write_through(target: Path, data: bytes, what: str) -> None:
    try:
        target.write_bytes(data)
    except OSError as exc:
        raise failures.CouldNotFindOut(f"Cannot write the {what} {target}: {exc.strerror}") from exc


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
