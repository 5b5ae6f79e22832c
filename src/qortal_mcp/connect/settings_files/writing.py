"""A settings file written whole or not at all: a copy of what was there, then a file beside it that takes its place."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from .reading import BrokenFile, read

_MOST_COPIES = 100


class Changed(Exception):
    """Somebody else wrote the file meanwhile; it was left as it is. The text is a sentence."""


def replace(path: str, before: bytes | None, after: bytes) -> str:
    """Writes `after` in the place of `before` (None: there was no file), and returns where the copy of it is.

    A link stays a link, and the file keeps its mode and owner. Raises: Changed, BrokenFile.
    """
    target = os.path.realpath(path)
    with _told(path):
        if before is None:
            os.makedirs(os.path.dirname(target), exist_ok=True)
            with _beside(target, after, None) as temporary:
                _create(path, temporary, target)
            return ""
        kept = os.stat(target)
        if not os.access(target, os.W_OK):
            raise BrokenFile(f"Cannot write the settings file {path}: it is read-only.")
        copy = _copy(target, before, kept)
        try:
            with _beside(target, after, kept) as temporary:
                _same_as(path, before)
                os.replace(temporary, target)
        except BaseException:  # nothing was written, so there is nothing to go back to
            os.unlink(copy)
            raise
        _settle(os.path.dirname(target))
        return copy


def remove(path: str, before: bytes) -> None:
    """Removes a file that holds exactly this. Raises: Changed, BrokenFile."""
    with _told(path):
        _same_as(path, before)
        os.unlink(os.path.realpath(path))


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise BrokenFile(f"Cannot write the settings file {path}: {exc.strerror}.") from None


def _create(path: str, temporary: str, target: str) -> None:
    try:
        os.link(temporary, target)  # unlike a rename, it fails if there is a file now
    except FileExistsError:
        raise Changed(_MEANWHILE.format(path=path)) from None
    except OSError:  # a file system without links
        if os.path.lexists(target):
            raise Changed(_MEANWHILE.format(path=path)) from None
        os.replace(temporary, target)


_MEANWHILE = (
    "The settings file {path} was changed by another program meanwhile, so nothing was written. "
    "Quit that program, or run this command again."
)


def _same_as(path: str, before: bytes) -> None:
    try:
        is_same = read(path).data == before
    except FileNotFoundError:
        is_same = False
    if not is_same:
        raise Changed(_MEANWHILE.format(path=path))


@contextmanager
def _beside(target: str, data: bytes, kept: os.stat_result | None) -> Iterator[str]:
    """A complete file in the same folder, which is gone afterwards unless it was moved."""
    folder, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{name}.")
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _like(temporary, kept)
        yield temporary
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _like(path: str, kept: os.stat_result | None) -> None:
    """Mode and owner of the file that it replaces; a new one is as any other new file."""
    if kept is None:
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(path, 0o666 & ~mask)
        return
    made = os.stat(path)
    if hasattr(os, "chown") and (made.st_uid, made.st_gid) != (kept.st_uid, kept.st_gid):
        os.chown(path, kept.st_uid, kept.st_gid)
    os.chmod(path, kept.st_mode & 0o7777)


def _copy(target: str, data: bytes, kept: os.stat_result) -> str:
    """A copy beside the file, named after the time."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    for number in range(_MOST_COPIES):
        path = f"{target}.{stamp}{f'-{number}' if number else ''}.bak"
        try:
            descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
            )
        except FileExistsError:
            continue
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _like(path, kept)
        return path
    raise BrokenFile(f"There are {_MOST_COPIES} copies of {target} from this second already.")


def _settle(folder: str) -> None:
    """Make the new name last, where folders can be synchronised."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
