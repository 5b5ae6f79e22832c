"""A server on FastMCP: `stdio` or `http`."""

import sys

from fastmcp import FastMCP
from fastmcp.utilities.types import Image
from offer import PNG, TOOLS, listen

mcp = FastMCP("fastmcp", version="1")
read_only = {"readOnlyHint": True}
for function in TOOLS:
    mcp.tool(function, annotations=read_only)


@mcp.tool(annotations=read_only)
def get_image() -> Image:
    """A picture."""
    return Image(data=PNG, format="png")


if sys.argv[1] == "http":
    listen(mcp.http_app())
else:
    mcp.run(show_banner=False)
