"""Driver for the official Python SDK, 2.x, in the mode asked for: lists all tools, calls each, prints one line of JSON."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


def target(order):
    if order["url"]:
        return order["url"]
    command, *args = order["command"]
    return StdioServerParameters(command=command, args=args)


async def list_tools(client):
    names, cursor = [], None
    while True:
        page = await client.list_tools(cursor=cursor)
        names += [tool.name for tool in page.tools]
        cursor = page.next_cursor
        if cursor is None:
            return names


async def call(client, tool, arguments):
    try:
        result = await client.call_tool(tool, arguments)
    except Exception as exc:
        return {"tool": tool, "exception": f"{type(exc).__name__}: {exc}"}
    return {
        "tool": tool,
        "isError": result.is_error,
        "content": [block.model_dump(mode="json", by_alias=True) for block in result.content],
        "structuredContent": result.structured_content,
    }


async def main():
    order = json.loads(sys.argv[1])
    async with Client(target(order), mode=order["mode"]) as client:
        tools = await list_tools(client)
        seen = {
            "protocolVersion": client.protocol_version,
            "tools": tools,
            "calls": [await call(client, tool, order["arguments"].get(tool, {})) for tool in tools],
            "bad": await call(client, order["bad"]["tool"], order["bad"]["arguments"]),
        }
    print(json.dumps(seen))


asyncio.run(main())
