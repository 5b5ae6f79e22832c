"""The list of everything that is generated: whole files, and tables inside files that people write."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from release.project import project
from release.registry import server_json

from qortal_mcp.qortal import prompts, resources, tools
from qortal_mcp.qortal.manifest import manifest
from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server

from . import (
    audit_table,
    clients_page,
    connect_page,
    doctor_table,
    endpoints_page,
    limits_tables,
    metrics_tables,
    promises_page,
    questions_page,
    repairs_tables,
    requirements_tables,
    scale_table,
    settings_page,
    tools_page,
)
from .json_lines import lines
from .markers import BrokenMarkers, filled

ROOT = Path(__file__).resolve().parent.parent


def manifest_file() -> str:
    """mcp-manifest.json: what /mcp-manifest.json serves on a default installation."""
    return lines(manifest(make_server(Node.at())), depth=2)


def definitions_file() -> str:
    """What every tool says of itself, so that a server can list its tools before it loads them.

    A line holds one argument, or one field of an answer.
    """
    return lines({tool.name: tool.definition for tool in tools.load(tuple(tools.TOOLSETS))}, depth=4)


def beside_tools_file() -> str:
    """What every resource and prompt says of itself, for the same reason."""
    found = {
        "resources": [r.definition for r in resources.RESOURCES if not r.is_template],
        "resourceTemplates": [r.definition for r in resources.RESOURCES if r.is_template],
        "prompts": [prompt.definition for prompt in prompts.PROMPTS],
    }
    return lines(found, depth=3)


# What the code itself reads, so it must be right before anything else is written.
DEFINITIONS = "src/qortal_mcp/qortal/tools/definitions.json"
BESIDE_TOOLS = "src/qortal_mcp/qortal/beside_tools.json"

FILES: dict[str, Callable[[], str]] = {
    DEFINITIONS: definitions_file,
    BESIDE_TOOLS: beside_tools_file,
    "docs/tools.md": tools_page.page,
    "docs/questions.md": questions_page.page,
    "docs/settings.md": settings_page.page,
    "docs/endpoints.md": endpoints_page.page,
    "docs/clients.md": clients_page.page,
    "docs/connect.md": connect_page.page,
    "docs/promises.md": lambda: promises_page.page(ROOT / "tests"),
    "mcp-manifest.json": manifest_file,
    "server.json": lambda: json.dumps(server_json(project()), indent=2) + "\n",
}

# Tables by the name in their marker, for the documents below.
TABLES: dict[str, Callable[[], str]] = {
    "tools": tools_page.tools_table,
    "connect": connect_page.readme_table,
    "limits": limits_tables.all_limits,
    "audit-codes": audit_table.codes_table,
    "audit-requirements": requirements_tables.requirements_table,
    "audit-departures": requirements_tables.departures_table,
    "doctor-checks": doctor_table.checks_table,
    "repairs": repairs_tables.repairs_tables,
    "bridge-limits": limits_tables.bridge_limits,
    "gathered-limits": limits_tables.gathered_limits,
    "agent-limits": limits_tables.agent_limits,
    "metrics": metrics_tables.all_metrics,
    "scale": scale_table.scale_table,
}
WITH_TABLES = (
    "README.md",
    "DESIGN.md",
    "docs/audit.md",
    "docs/bridge.md",
    "docs/ask.md",
    "docs/doctor.md",
    "docs/scale.md",
    "docs/watching.md",
)


def documents(root: Path = ROOT) -> Iterator[tuple[str, str]]:
    """Every generated document, by its path, as it should be.

    Raises: BrokenMarkers where a document that people write cannot be filled.
    """
    for path, write in FILES.items():
        yield path, write()
    for path in WITH_TABLES:
        try:
            yield path, filled((root / path).read_text(encoding="utf-8"), TABLES)
        except FileNotFoundError:
            raise BrokenMarkers(f"{path} does not exist") from None
        except BrokenMarkers as exc:
            raise BrokenMarkers(f"{path} {exc}") from None
