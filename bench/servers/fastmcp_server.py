# mypy: ignore-errors
"""FastMCP with the tools that our server lists: stdio, or HTTP with --loop. Stateless and answering JSON, its fastest form.

`validate_address` is written as its users write tools; the others, which are only listed, take our schemas.
"""

import json
import sys
from pathlib import Path

from fastmcp import FastMCP
from fastmcp.tools import Tool

from bench.addresses import is_address


class Listed(Tool):
    async def run(self, arguments):
        raise NotImplementedError


def make(fixtures):
    server = FastMCP("fastmcp", version="1")

    @server.tool
    def validate_address(address: str) -> dict[str, bool]:
        """Whether a text is a Qortal address."""
        return {"isValid": is_address(address)}

    for tool in json.loads((Path(fixtures) / "tools_list.json").read_text())["tools"]:
        if tool["name"] != "validate_address":
            server.add_tool(
                Listed(
                    name=tool["name"],
                    description=tool.get("description"),
                    parameters=tool["inputSchema"],
                    output_schema=tool.get("outputSchema"),
                )
            )
    return server


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        make(sys.argv[2]).run(transport="stdio", show_banner=False)
    else:
        from bench.servers.web_server import serve

        serve(lambda options: make(options.fixtures).http_app(json_response=True, stateless_http=True))
