"""Who can stand between a client and a server on stdio: our bridge and three others, by the name in the tables."""

from dataclasses import dataclass
from pathlib import Path

from bench.contestants import Command, Contestants
from bench.environments import PYTHON, install, install_npm
from bench.wire import LEGACY, MODERN

BRIDGE = "qortal-mcp bridge"
SAFE = f"{BRIDGE}, safe"
ALL = f"{BRIDGE}, all"
_LEVELS = {SAFE: "safe", ALL: "all"}
FASTMCP_PROXY = "FastMCP proxy"
MCP_PROXY_PYTHON = "mcp-proxy (Python)"
MCP_PROXY_NODE = "mcp-proxy (Node)"
STDIO_FRONTS = (SAFE, ALL, FASTMCP_PROXY)
HTTP_FRONTS = (SAFE, ALL, FASTMCP_PROXY, MCP_PROXY_PYTHON, MCP_PROXY_NODE)


@dataclass(frozen=True)
class Proxies:
    """Their commands; `behind` is the command of the server."""

    contestants: Contestants
    mcp_proxy: Path
    node: Path
    packages: Path

    def on_stdio(self, name: str, behind: Command) -> Command:
        if name == FASTMCP_PROXY:
            return [self.contestants.fastmcp, "-m", "bench.servers.fastmcp_proxy", "stdio", *behind]
        return [self.contestants.program, "bridge", "--repair", _LEVELS[name], "--", *behind]

    def on_http(self, name: str, port: int, behind: Command, *, revision: str = "") -> Command:
        """Each in its fastest form: without logs, without stored events, answering JSON if it can.

        `revision` is what the server is spoken to in; our bridge and mcp-proxy for Node can be told.
        """
        address = f"127.0.0.1:{port}"
        bridge: Command = [self.contestants.program, "bridge", "--listen", address]
        bridge += ["--server-revision", revision, "--repair"] if revision else ["--repair"]
        era: dict[str, Command] = {
            "": [],
            LEGACY: ["--upstreamProtocol", "legacy"],
            MODERN: ["--upstreamProtocol", "modern"],
        }
        # The loop that is always available, as the others run on it too.
        ours: Command = [PYTHON, "-m", "bench.servers.without_uvloop", *bridge]
        script = self.packages / "mcp-proxy/dist/bin/mcp-proxy.mjs"
        fronts: dict[str, Command] = {
            SAFE: [*ours, "safe", "--", *behind],
            ALL: [*ours, "all", "--", *behind],
            FASTMCP_PROXY: [
                *(self.contestants.fastmcp, "-m", "bench.servers.fastmcp_proxy", str(port)),
                *behind,
            ],
            MCP_PROXY_PYTHON: [
                *(self.mcp_proxy, "-m", "mcp_proxy", "--log-level", "ERROR", "--port", str(port), "--"),
                *behind,
            ],
            MCP_PROXY_NODE: [
                *(self.node, script, "--server", "stream", "--no-eventStore"),
                *era[revision],
                *("--host", "127.0.0.1", "--port", str(port), "--"),
                *behind,
            ],
        }
        return fronts[name]


def prepare_proxies(contestants: Contestants) -> Proxies:
    """Install what is missing. Raises: Failed."""
    node, packages = install_npm()
    return Proxies(contestants, install("mcp_proxy"), node, packages)
