"""The MCPB bundle: a zip file that a desktop client installs with a click. The client's own uv installs the dependencies."""

import json
import zipfile
from pathlib import Path
from typing import Any

from qortal_mcp.qortal.manifest import manifest
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.settings import NodeOptions, options_of

from .lock import pins
from .moment import zip_date
from .project import Project
from .registry import OFFERED, TITLE

PACKAGE = "src/qortal_mcp"
ENTRY = "server/main.py"
# The newest that everything was tested with. A host that has another one gets this one from uv.
PYTHON = "3.13"
_TITLES = {"node": "Qortal node", "toolsets": "Toolsets"}
_START = """\
import sys

from qortal_mcp.cli.main import main

sys.exit(main())
"""


def build_bundle(root: Path, project: Project, into: Path, moment: int) -> Path:
    """Writes the bundle and returns where it is. The same tree and moment give the same bytes."""
    target = into / f"{project.name}-{project.version}.mcpb"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(_contents(root, project).items()):
            entry = zipfile.ZipInfo(name, zip_date(moment))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # else the bytes would tell which system built it
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return target


def _contents(root: Path, project: Project) -> dict[str, bytes]:
    package = root / PACKAGE
    files = {
        f"server/qortal_mcp/{file.relative_to(package).as_posix()}": file.read_bytes()
        for file in package.rglob("*")
        if file.is_file() and file.suffix != ".pyc"
    }
    return {
        **files,
        "manifest.json": (json.dumps(bundle_manifest(project), indent=1, ensure_ascii=False) + "\n").encode(),
        "pyproject.toml": _dependencies(root, project).encode(),
        ".python-version": f"{PYTHON}\n".encode(),
        ENTRY: _START.encode(),
        "LICENSE": (root / "LICENSE").read_bytes(),
    }


def bundle_manifest(project: Project) -> dict[str, Any]:
    options = {option.field: option for option in options_of(NodeOptions) if option.field in OFFERED}
    return {
        "manifest_version": "0.4",
        "name": project.name,
        "display_name": TITLE,
        "version": project.version,
        "description": project.description,
        "author": {"name": f"The {project.name} contributors", "url": project.repository},
        "repository": {"type": "git", "url": project.repository},
        "homepage": project.repository,
        "documentation": f"{project.repository}/blob/{project.tag}/README.md",
        "support": f"{project.repository}/issues",
        "license": project.licence,
        "server": {
            "type": "uv",
            "entry_point": ENTRY,
            "mcp_config": {
                "command": "uv",
                # The host has installed the dependencies; to look for them again could outlast its patience for a start.
                "args": ["run", "--no-sync", "--directory", "${__dirname}", ENTRY, "stdio"],
                "env": {option.variable: f"${{user_config.{field}}}" for field, option in options.items()},
            },
        },
        "user_config": {
            field: {
                "type": "string",
                "title": _TITLES[field],
                "description": option.description,
                "default": option.default_text,
                "required": False,
            }
            for field, option in options.items()
        },
        "tools": [
            {"name": tool["name"], "description": tool["description"]}
            for tool in manifest(make_server(Node.at()))["tools"]
        ],
        "tools_generated": False,
        "prompts_generated": True,
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"python": project.requires_python},
        },
    }


def _dependencies(root: Path, project: Project) -> str:
    """What uv installs beside the files of the bundle: the locked versions, and nothing that must be built."""
    listed = "".join(f"  {json.dumps(pin.requirement)},\n" for pin in pins(root))
    return (
        f'[project]\nname = "{project.name}-bundle"\nversion = "{project.version}"\n'
        f'requires-python = "{project.requires_python}"\ndependencies = [\n{listed}]\n\n[tool.uv]\npackage = false\n'
    )
