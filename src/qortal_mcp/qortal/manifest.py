"""What the server says about itself outside the protocol: the manifest and llms.txt. Pure, from the server at hand."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..protocol.versions import NEWEST_HANDSHAKE, REVISIONS
from ..server.dispatch import Server
from ..server.offers.catalogue import Kind, capabilities_in

ENDPOINT = "/mcp"
WEBSOCKET = "/ws"

_TRANSPORTS = (
    {"type": "streamable-http", "path": ENDPOINT},
    {"type": "websocket", "path": WEBSOCKET, "subprotocol": "mcp"},
    {"type": "stdio", "command": "qortal-mcp", "args": ["stdio"]},
)
_DOCUMENTATION = {
    "readme": "README.md",
    "design": "DESIGN.md",
    "tools": "docs/tools.md",
    "settings": "docs/settings.md",
    "forModels": "/llms.txt",
}
_KINDS: tuple[Kind, ...] = ("tools", "resources", "resourceTemplates", "prompts")
# What the manifest tells of each. Arguments and schemas come with the lists of the protocol.
_SHORT = ("uri", "uriTemplate", "name", "title", "description")


def manifest(server: Server, *, needs_token: bool = False) -> dict[str, Any]:
    """Name, version, how to connect, and in short everything that is listed."""
    offers = server.catalogue.capabilities(server.options.client_logging, server.options.announces_changes)
    return {
        "name": server.info.name,
        "version": server.info.version,
        "protocolVersions": list(REVISIONS),
        "endpoint": ENDPOINT,
        "transports": list(_TRANSPORTS),
        "authentication": {"type": "bearer" if needs_token else "none", "oauth": False},
        "capabilities": capabilities_in(NEWEST_HANDSHAKE, offers, subscribe=server.options.resource_updates),
        "documentation": _DOCUMENTATION,
        **{kind: [_in_short(one) for one in listed(server, kind)] for kind in _KINDS},
    }


def _in_short(one: Mapping[str, Any]) -> dict[str, Any]:
    return {member: one[member] for member in _SHORT if member in one}


def listed(server: Server, kind: Kind) -> list[dict[str, Any]]:
    """The definitions as clients of the newest handshake get them."""
    page: dict[str, list[dict[str, Any]]] = msgspec.json.decode(
        server.catalogue.page(kind, NEWEST_HANDSHAKE, None)
    )
    return page[kind]


def llms_txt(server: Server, *, needs_token: bool = False) -> str:
    """A page for models that come by HTTP: what this is, how to connect, which tools there are."""
    lines = [
        f"# {server.info.name} {server.info.version}",
        "",
        "> Reads the Qortal blockchain over the Model Context Protocol (MCP), and nothing but reads it.",
        "",
        "## Connect",
        "",
        f"- Streamable HTTP: POST JSON-RPC messages to {ENDPOINT} on this host.",
        f"- WebSocket: {WEBSOCKET} on this host, subprotocol mcp, one message per text frame.",
        "- stdio: start `qortal-mcp stdio`.",
        f"- Revisions: {', '.join(REVISIONS)}.",
        "- Authentication: "
        + ("send `Authorization: Bearer TOKEN`." if needs_token else "none.")
        + " There is no OAuth.",
        "- Look at `error` first, then at `isError`; the value is in `structuredContent`, and the same as text.",
        "",
        "## Tools",
        "",
        *(_line(tool["name"], tool) for tool in listed(server, "tools")),
        "",
        "## Resources",
        "",
        *(_line(one["uri"], one) for one in listed(server, "resources")),
        *(_line(one["uriTemplate"], one) for one in listed(server, "resourceTemplates")),
        "",
        "## Prompts",
        "",
        *(_line(_with_arguments(prompt), prompt) for prompt in listed(server, "prompts")),
    ]
    if server.instructions:
        lines += ["", "## Instructions", "", server.instructions]
    return "\n".join(lines) + "\n"


def _line(name: str, one: Mapping[str, Any]) -> str:
    return f"- {name}: {' '.join(one['description'].split())}"


def _with_arguments(prompt: Mapping[str, Any]) -> str:
    names = [argument["name"] for argument in prompt.get("arguments", ())]
    return f"{prompt['name']}({', '.join(names)})"
