"""What `install` wrote where, kept in a folder of this program, so that it can be undone."""

import contextlib
import hashlib
import json
import os
import tempfile
from typing import Any

import msgspec
from msgspec import Struct

from .places import Machine, expanded
from .settings_files import reading
from .settings_files.reading import BrokenFile

_FOLDERS = {
    "Linux": "~/.local/state/qortal-mcp/installed",
    "macOS": "~/Library/Application Support/qortal-mcp/installed",
    "Windows": r"%LOCALAPPDATA%\qortal-mcp\installed",
}


class Record(Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry that was written. Hashes are SHA-256; an empty one means that there was no file."""

    client: str
    file: str
    name: str
    entry: str
    before: str
    after: str
    # Where the text was put in, how long it is, and how much it replaced.
    start: int
    added: int
    removed: int
    backup: str = ""
    # That of the entry which this one took the place of, if `install` wrote that, too.
    former: "Record | None" = None


def folder(machine: Machine) -> str:
    state = machine.environ.get("XDG_STATE_HOME", "")
    if machine.system == "Linux" and machine.is_absolute(state):
        return machine.path(state, "qortal-mcp", "installed")
    return expanded(_FOLDERS[machine.system], machine)


def hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def hash_of(entry: Any) -> str:
    """The same for entries that say the same, however they are written."""
    return hashed(json.dumps(entry, sort_keys=True, default=str).encode())


def read(machine: Machine, file: str, name: str) -> Record | None:
    """None if there is none, or none that can be read."""
    try:
        record = msgspec.convert(json.loads(reading.read(_path(machine, file, name)).data), Record)
    except (OSError, BrokenFile, ValueError, RecursionError):
        return None
    return record if (record.file, record.name) == (file, name) else None


def write(machine: Machine, record: Record) -> None:
    """Raises: OSError."""
    place = folder(machine)
    os.makedirs(place, mode=0o700, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=place)
    try:
        with open(descriptor, "wb") as file:
            # Not with msgspec: the name of a file need not be text, and then it cannot be UTF-8.
            file.write(json.dumps(msgspec.to_builtins(record)).encode())
        os.replace(temporary, _path(machine, record.file, record.name))
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def forget(machine: Machine, file: str, name: str) -> None:
    """Raises nothing: what cannot be removed does no harm."""
    with contextlib.suppress(OSError):
        os.unlink(_path(machine, file, name))


def _path(machine: Machine, file: str, name: str) -> str:
    # A line feed cannot be part of a name, so no two pairs look alike.
    key = f"{name}\n{file}".encode("utf-8", "surrogateescape")
    return os.path.join(folder(machine), f"{hashed(key)[:32]}.json")
