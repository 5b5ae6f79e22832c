# mypy: ignore-errors
"""The official SDK's low-level server with the tools that our server lists: stdio, or HTTP with --loop.

Stateless and answering JSON, its fastest form; Host and Origin are checked by its own middleware.
"""

import asyncio
import json
import sys
from pathlib import Path

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from bench.addresses import is_address


def make(fixtures):
    listed = json.loads((Path(fixtures) / "tools_list.json").read_text())
    tools = [types.Tool.model_validate(tool) for tool in listed["tools"]]

    async def list_tools(context, params):
        return types.ListToolsResult(tools=tools)

    async def call_tool(context, params):
        assert params.name == "validate_address"
        value = {"isValid": is_address(params.arguments["address"])}
        text = types.TextContent(type="text", text=json.dumps(value, separators=(",", ":")))
        return types.CallToolResult(content=[text], structured_content=value)

    return Server("sdk", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def run_stdio(server):
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        asyncio.run(run_stdio(make(sys.argv[2])))
    else:
        from bench.servers.web_server import serve

        serve(
            lambda options: make(options.fixtures).streamable_http_app(
                json_response=True, stateless_http=True
            )
        )
