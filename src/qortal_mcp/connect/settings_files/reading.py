"""The bytes of a settings file, and what tells whether it has changed since."""

import os
import stat

from msgspec import Struct

# Such a file has a few kilobytes; Claude Code keeps its whole state in one.
LARGEST_BYTES = 16 * 1024 * 1024


class BrokenFile(Exception):
    """The file cannot be used. The text is a sentence."""


class Stamp(Struct, frozen=True):
    """What changes when a file is written or replaced."""

    modified_ns: int
    size: int
    inode: int


class Content(Struct, frozen=True):
    """What was in a file, and its stamp then."""

    data: bytes
    stamp: Stamp


def read(path: str, what: str = "settings file") -> Content:
    """Raises: FileNotFoundError, BrokenFile."""
    try:
        # A pipe in its place would be waited for; nobody writes settings into one.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise BrokenFile(f"Cannot read the {what} {path}: it is not a file.")
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        raise
    except OSError as exc:
        raise BrokenFile(f"Cannot read the {what} {path}: {exc.strerror}.") from None
    if len(data) > LARGEST_BYTES:
        raise BrokenFile(f"The {what} {path} is larger than {LARGEST_BYTES // 2**20} MiB.")
    return Content(data, stamp_of(found))


def stamp_of(found: os.stat_result) -> Stamp:
    return Stamp(found.st_mtime_ns, found.st_size, found.st_ino)


def stamp(path: str) -> Stamp | None:
    """None if the file is not there."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None
