"""Offers the signatures on FastMCP, calls each, and prints what came of it as JSON: the structured answer, or an error."""

import asyncio
import json
from typing import Any

from fastmcp import Client, FastMCP

from interop.signatures import SIGNATURES, Signature


async def outcome(signature: Signature) -> dict[str, Any]:
    server = FastMCP("signatures")
    try:
        server.tool(signature.function)
    except Exception as exc:
        return {"refused": f"{type(exc).__name__}: {exc}"}
    async with Client(server) as client:
        answer = await client.call_tool(
            signature.function.__name__, signature.arguments, raise_on_error=False
        )
        return {"failed": answer.is_error, "structured": answer.structured_content}


async def main() -> None:
    print(json.dumps({each.function.__name__: await outcome(each) for each in SIGNATURES}))


asyncio.run(main())
