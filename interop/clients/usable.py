"""Driver for the official Python SDKs: tries many programs as servers, several at a time, and prints what each gave.

For each it lists the tools, once, and calls the one that is not named `ok`. Printed is one line of JSON.
"""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from datetime import timedelta

from mcp import StdioServerParameters, stdio_client


@asynccontextmanager
async def connected_v1(wire, seconds, mode):
    from mcp import ClientSession

    async with wire as (read, write), ClientSession(read, write, timedelta(seconds=seconds)) as session:
        await session.initialize()
        yield session


@asynccontextmanager
async def connected_v2(wire, seconds, mode):
    from mcp import Client

    async with Client(wire, mode=mode, read_timeout_seconds=seconds) as client:
        yield client


async def tried(session, seen):
    seen["tools"] = [tool.name for tool in (await session.list_tools()).tools]
    tool = next((name for name in seen["tools"] if name != "ok"), "ok")
    result = await session.call_tool(tool, {})
    seen["answer"] = result.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    order = json.loads(sys.argv[1])
    connected = connected_v2 if order["mode"] else connected_v1
    places = asyncio.Semaphore(order["parallel"])

    async def one(name, program, *arguments):
        seen = {}
        wire = stdio_client(StdioServerParameters(command=program, args=arguments), errlog=quiet)
        try:
            async with places, connected(wire, order["seconds"], order["mode"]) as session:
                await tried(session, seen)
        except Exception as exc:
            while isinstance(exc, ExceptionGroup):
                exc = exc.exceptions[0]
            seen["exception"] = f"{type(exc).__name__}: {exc}"[:300]
        return name, seen

    quiet = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    print(json.dumps(dict(await asyncio.gather(*(one(*words) for words in order["servers"])))))


asyncio.run(main())
