"""What the project says of itself in pyproject.toml and in its package: name, version, address."""

import re
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

ROOT = Path(__file__).resolve().parent.parent
VERSION_FILE = "src/qortal_mcp/__init__.py"
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)


class Project(Struct, frozen=True):
    """The facts that several files repeat. Each of those is made or checked from here."""

    name: str
    version: str
    description: str
    licence: str
    requires_python: str
    repository: str
    dependencies: tuple[str, ...]

    @property
    def registry_name(self) -> str:
        """The name in the registry of MCP servers: whoever owns the repository may use its namespace."""
        owner, _, name = urlsplit(self.repository).path.strip("/").partition("/")
        return f"io.github.{owner}/{name}"

    @property
    def tag(self) -> str:
        return f"v{self.version}"

    def download(self, file: str) -> str:
        """Where a file of this release can be fetched."""
        return f"{self.repository}/releases/download/{self.tag}/{file}"


def project(root: Path = ROOT) -> Project:
    told = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return Project(
        name=told["name"],
        version=version_in((root / VERSION_FILE).read_text(encoding="utf-8")),
        description=told["description"],
        licence=told["license"],
        requires_python=told["requires-python"],
        repository=told["urls"]["Repository"],
        dependencies=tuple(told["dependencies"]),
    )


def version_in(module: str) -> str:
    found = _VERSION.search(module)
    assert found, f"{VERSION_FILE} has a line with __version__"
    return found.group(1)


def with_version(module: str, version: str) -> str:
    """The text of the module, with another version."""
    return _VERSION.sub(f'__version__ = "{version}"', module, count=1)
