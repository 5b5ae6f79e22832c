"""A server on the official Python SDK, 2.x: `stdio` or `http`."""

import sys

from mcp.server import MCPServer
from mcp.server.mcpserver import Image
from mcp.types import ToolAnnotations
from offer import PNG, TOOLS, listen

mcp = MCPServer("python-v2", version="1", log_level="WARNING")
read_only = ToolAnnotations(read_only_hint=True)
for function in TOOLS:
    mcp.tool(annotations=read_only)(function)


@mcp.tool(annotations=read_only)
def get_image() -> Image:
    """A picture."""
    return Image(data=PNG, format="png")


if sys.argv[1] == "http":
    listen(mcp.streamable_http_app())
else:
    mcp.run()
