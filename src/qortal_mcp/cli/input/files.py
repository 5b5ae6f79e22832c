"""Files that a person names on the command line: read with a limit, written whole or not at all."""

import os
import tempfile
from pathlib import Path

from ..running import failures

# A larger file is the wrong file.
_LARGEST_BYTES = 256 * 1024 * 1024


def read(path: str, what: str) -> bytes:
    """Raises: WrongUsage if the file cannot be read."""
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST_BYTES + 1)
    except OSError as exc:
        raise failures.WrongUsage(f"Cannot read the {what} {path}: {exc.strerror}.") from exc
    if len(data) > _LARGEST_BYTES:
        raise failures.WrongUsage(f"The {what} {path} is larger than {_LARGEST_BYTES // 2**20} MiB.")
    return data


def check_writable(path: str, what: str) -> None:
    """Report before the work what would fail after it.

    Raises: Undetermined.
    """
    target = Path(path)
    folder = target.absolute().parent
    if _is_written_through(target) or target.is_dir():
        is_good = not target.is_dir() and (os.access(target, os.W_OK) or not target.exists())
    else:
        is_good = folder.is_dir() and os.access(folder, os.W_OK)
    if not is_good:
        raise failures.Undetermined(f"Cannot write the {what} {path}: {_why_not(target)}")


def _why_not(target: Path) -> str:
    if target.is_dir():
        return "it is a folder"
    return "its folder is not writable" if target.absolute().parent.is_dir() else "its folder does not exist"


def check_private(path: str, what: str) -> None:
    """The same for a file that nobody else may read: it is never written through a link or into a device.

    Raises: Undetermined.
    """
    if _is_written_through(Path(path)) and not Path(path).is_dir():
        raise failures.Undetermined(f"Cannot write the {what} {path}: it is a link or a device, not a file.")
    check_writable(path, what)


def write(path: str, data: bytes, what: str, *, is_private: bool = False, replaces: bool = True) -> None:
    """Write next to the target and move it there, so that nobody ever sees half a file. Without `replaces` a file that
    has come there meanwhile stays.

    Raises: Undetermined.
    """
    target = Path(path)
    if not is_private and _is_written_through(target):
        _write_through(target, data, what)
        return
    name = ""
    try:
        with tempfile.NamedTemporaryFile(
            dir=target.absolute().parent, prefix=f".{target.name}.", delete=False
        ) as file:
            name = file.name
            file.write(data)
        if not is_private:  # it is made for its owner alone
            os.chmod(name, 0o666 & ~_umask())
        if replaces:
            os.replace(name, target)
        else:
            os.link(name, target)
            os.unlink(name)
    except BaseException as exc:  # an interrupt as well
        if name:
            Path(name).unlink(missing_ok=True)
        if not isinstance(exc, OSError):
            raise
        raise failures.Undetermined(f"Cannot write the {what} {path}: {exc.strerror}") from exc


def _is_written_through(target: Path) -> bool:
    """A pipe or device; or a link such as /dev/stdout, which must stay a link whatever it points to."""
    return target.is_symlink() or (target.exists() and not target.is_file())


def _write_through(target: Path, data: bytes, what: str) -> None:
    try:
        target.write_bytes(data)
    except OSError as exc:
        raise failures.Undetermined(f"Cannot write the {what} {target}: {exc.strerror}") from exc


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
