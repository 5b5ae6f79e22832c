"""The locked dependencies of the product: requirements.txt, as `uv pip compile` writes it."""

import re
from pathlib import Path

from msgspec import Struct

from .project import ROOT

LOCK = "requirements.txt"
_PIN = re.compile(r"^(?P<name>[a-z0-9-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>[^\\]+?))? \\?$")
_WANTED_BY = re.compile(r"^    # +(?:via )?(?P<name>[a-z0-9-]+)(?: \(pyproject\.toml\))?$")


class Pin(Struct):
    """One locked dependency, and who wants it."""

    name: str
    version: str
    # On which systems it is needed, in the words of packaging; empty: on all.
    marker: str
    wanted_by: list[str]

    @property
    def requirement(self) -> str:
        pinned = f"{self.name}=={self.version}"
        return f"{pinned} ; {self.marker}" if self.marker else pinned


def pins(root: Path = ROOT) -> list[Pin]:
    """In the order of the file, which is that of their names."""
    found: list[Pin] = []
    for line in (root / LOCK).read_text(encoding="utf-8").splitlines():
        if pin := _PIN.match(line):
            found.append(Pin(pin["name"], pin["version"], pin["marker"] or "", []))
        elif (wanted := _WANTED_BY.match(line)) and wanted["name"] != "via":
            found[-1].wanted_by.append(wanted["name"])
    return found
