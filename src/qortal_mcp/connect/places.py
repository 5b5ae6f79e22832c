"""Where the files of the table are on one machine. What a path is follows from the system, the variables and the home alone."""

import glob
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import PurePath, PurePosixPath, PureWindowsPath

from msgspec import Struct

from .client import Client, Level, Place, System, Unread

# What exists of a path, in which a star may stand; nothing, one, or several.
Look = Callable[[str], Sequence[str]]

_VARIABLE = re.compile(r"%([A-Z]+)%")
# Where Windows has these folders if no variable says so.
_USUAL = {"APPDATA": r"~\AppData\Roaming", "LOCALAPPDATA": r"~\AppData\Local"}


class Machine(Struct, frozen=True):
    """What a path depends on."""

    system: System
    environ: Mapping[str, str]
    home: str
    # The folder of the project.
    folder: str

    def path(self, *parts: str) -> str:
        kind: type[PurePath] = PureWindowsPath if self.system == "Windows" else PurePosixPath
        return str(kind(*parts))

    def is_absolute(self, path: str) -> bool:
        kind: type[PurePath] = PureWindowsPath if self.system == "Windows" else PurePosixPath
        return kind(path).is_absolute()


def this_machine(environ: Mapping[str, str], folder: str) -> Machine:
    """The one that this process runs on."""
    systems: dict[str, System] = {"darwin": "macOS", "win32": "Windows"}
    return Machine(systems.get(sys.platform, "Linux"), environ, os.path.expanduser("~"), folder)


def on_disk(path: str) -> Sequence[str]:
    """What exists here."""
    if "*" in path:
        return sorted(glob.glob(path))
    return [path] if os.path.lexists(path) else []


def expanded(path: str, machine: Machine) -> str:
    """A path of the table as one of this machine; one without a beginning is below the project."""
    path = _VARIABLE.sub(lambda match: _folder(match[1], machine), path)
    if path.startswith("~"):
        return machine.path(machine.home, path[1:].lstrip("/\\"))
    return machine.path(machine.folder, path)


def _folder(variable: str, machine: Machine) -> str:
    found = machine.environ.get(variable, "")
    return found if machine.is_absolute(found) else expanded(_USUAL[variable], machine)


def location(place: Place, machine: Machine) -> str:
    """Where a settings file is; a star in it stands for a part that only the disk knows."""
    return _moved(place.path, place.moved_by, machine)


def _moved(path: str, moved_by: tuple[str, str] | None, machine: Machine) -> str:
    if moved_by is not None:
        variable, usual = moved_by
        found = machine.environ.get(variable, "")
        # A relative one would be another folder each time.
        if machine.is_absolute(found) and path.startswith(usual):
            return machine.path(found, path[len(usual) :].lstrip("/\\"))
    return expanded(path, machine)


def file_of(client: Client, level: Level, machine: Machine, look: Look) -> str | None:
    """The settings file that the client reads at this level, whether or not it exists; None if it has none."""
    for place in client.places:
        if place.level != level or machine.system not in place.systems:
            continue
        path = location(place, machine)
        if place.if_missing and look(_moved(place.if_missing, place.moved_by, machine)):
            continue
        if not place.if_there:
            return path
        condition = _moved(place.if_there, place.moved_by, machine)
        if found := look(condition):
            return path.replace(condition, found[0], 1) if "*" in condition else path
    return None


def unread_file(unread: Unread, machine: Machine, look: Look) -> str | None:
    """The path of a file that the client does not read, if it is there."""
    if machine.system not in unread.systems:
        return None
    if unread.if_there and not look(expanded(unread.if_there, machine)):
        return None
    path = expanded(unread.path, machine)
    return path if look(path) else None
