"""Driver for the official Python SDK, 1.x: lists all tools, calls each, prints one line of JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def connect(order):
    if order["url"]:
        return streamable_http_client(order["url"])
    command, *args = order["command"]
    return stdio_client(StdioServerParameters(command=command, args=args))


async def list_tools(session):
    names, cursor = [], None
    while True:
        page = await session.list_tools(cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.nextCursor
        if cursor is None:
            return names


async def call(session, tool, arguments):
    try:
        result = await session.call_tool(tool, arguments)
    except Exception as exc:
        return {"tool": tool, "exception": f"{type(exc).__name__}: {exc}"}
    return {
        "tool": tool,
        "isError": result.isError,
        "content": [block.model_dump(mode="json", by_alias=True) for block in result.content],
        "structuredContent": result.structuredContent,
    }


async def main():
    order = json.loads(sys.argv[1])
    async with connect(order) as (read, write, *_), ClientSession(read, write) as session:
        welcome = await session.initialize()
        tools = await list_tools(session)
        seen = {
            "protocolVersion": welcome.protocolVersion,
            "tools": tools,
            "calls": [await call(session, tool, order["arguments"].get(tool, {})) for tool in tools],
            "bad": await call(session, order["bad"]["tool"], order["bad"]["arguments"]),
        }
    print(json.dumps(seen))


asyncio.run(main())
