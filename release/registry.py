"""server.json: what the registry of MCP servers is told.

The file in the tree names the package alone. The bundle is added with its hash once it is built, and an image by whoever
pushes one: its name holds the host of a registry, which is theirs to choose.
"""

from pathlib import Path
from typing import Any

from qortal_mcp.settings import NodeOptions, options_of

from .project import Project

SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
TITLE = "Qortal"
_STDIO = {"type": "stdio"}
# Settings that a person may want to change before the first start.
OFFERED = ("node", "toolsets")


def server_json(project: Project) -> dict[str, Any]:
    """What is known before anything is built."""
    return {
        "$schema": SCHEMA,
        "name": project.registry_name,
        "title": TITLE,
        "description": project.description,
        "version": project.version,
        "websiteUrl": project.repository,
        "repository": {"url": project.repository, "source": "github"},
        "packages": [
            {
                "registryType": "pypi",
                "identifier": project.name,
                "version": project.version,
                "runtimeHint": "uvx",
                "transport": _STDIO,
                "packageArguments": [{"type": "positional", "value": "stdio"}],
                "environmentVariables": _variables(),
            }
        ],
    }


def released_server_json(project: Project, bundle: Path, sha256: str, image: str | None) -> dict[str, Any]:
    """The same with everything that was built; `image` is the full name of one that was pushed."""
    told = server_json(project)
    told["packages"].append(
        {
            "registryType": "mcpb",
            "identifier": project.download(bundle.name),
            "version": project.version,
            "fileSha256": sha256,
            "transport": _STDIO,
        }
    )
    if image is not None:
        told["packages"].append(
            {
                "registryType": "oci",
                "identifier": image,
                "runtimeHint": "docker",
                "transport": _STDIO,
                "packageArguments": [{"type": "positional", "value": "stdio"}],
                "environmentVariables": _variables(),
            }
        )
    return told


def _variables() -> list[dict[str, Any]]:
    return [
        {
            "name": option.variable,
            "description": option.description,
            "default": option.default_text,
            "isRequired": False,
        }
        for option in options_of(NodeOptions)
        if option.field in OFFERED
    ]
