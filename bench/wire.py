"""The messages that are sent, the same to every server."""

import json
from typing import Any

from bench.addresses import addresses
from bench.load.job import VARYING

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
ADDRESS = next(addresses(seed=1))

_CLIENT = {"name": "bench", "version": "1"}


def message(method: str, params: dict[str, Any] | None = None, id_: int | None = 1) -> str:
    """One JSON-RPC message; without an id, a notification."""
    found: dict[str, Any] = {"jsonrpc": "2.0"}
    if id_ is not None:
        found["id"] = id_
    found["method"] = method
    if params is not None:
        found["params"] = params
    return json.dumps(found, separators=(",", ":"))


INITIALIZE = message(
    "initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": _CLIENT}, id_=0
)
INITIALIZED = message("notifications/initialized", id_=None)
LIST_TOOLS = message("tools/list", {}, id_=2)


def call(tool: str, *, revision: str = LEGACY, address: str = ADDRESS) -> str:
    params: dict[str, Any] = {"name": tool, "arguments": {"address": address}}
    if revision == MODERN:
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": _CLIENT,
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return message("tools/call", params, id_=7)


def call_varying(tool: str) -> str:
    """A call whose address is filled in by the load generator."""
    return call(tool, address=VARYING)


def headers(tool: str, *, revision: str = LEGACY) -> dict[str, str]:
    found = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision,
    }
    if revision == MODERN:
        found |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    return found
