"""Servers with tools that a test can change while they run, over HTTP, for tests of what a model is offered."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec.structs import replace
from tests.client import fakes
from tests.client.fakes import HttpScript, Json, result, web_server

from qortal_mcp.agent.limits import AgentLimits
from qortal_mcp.agent.tools.server import ToolServer
from qortal_mcp.agent.tools.toolbox import Toolbox
from qortal_mcp.client import ClientLimits, Options, Record

OPTIONS = Options(
    limits=ClientLimits(
        probe_seconds=1, goodbye_seconds=0.3, linger_seconds=0.1, resume_seconds=0.01, exit_seconds=0.5
    )
)
LIMITS = AgentLimits(call_seconds=5, start_seconds=10, connect_seconds=5)
NO_ARGUMENTS: Json = {"type": "object", "properties": {}}
Era = Callable[[fakes.Script], fakes.Script]


def tool(name: str, **members: Any) -> Json:
    return {"name": name, "description": f"Does {name}.", "inputSchema": NO_ARGUMENTS, **members}


class Shop:
    """A script for `fakes`: lists its tools and answers calls with their name and arguments, or as a test says."""

    def __init__(self, *names: str) -> None:
        self.tools: list[Json] = [tool(name) for name in names]
        self.calls: list[Json] = []
        self.listed = 0
        # Takes a message of tools/call and returns the bytes of the reply.
        self.answer: Callable[[Json], bytes] = self.echo

    def __call__(self, message: Json) -> list[bytes]:
        if message["method"] == "tools/list":
            self.listed += 1
            return [result(message, {"resultType": "complete", "tools": self.tools})]
        if message["method"] == "tools/call":
            self.calls.append(message["params"])
            return [self.answer(message)]
        return [fakes.error(message, -32601)]

    def echo(self, message: Json) -> bytes:
        params = message["params"]
        if params["name"] not in [one["name"] for one in self.tools]:
            return fakes.error(message, -32602, f"Unknown tool: {params['name']}")
        text = f"{params['name']} {json.dumps(params['arguments'])}"
        return result(message, {"resultType": "complete", "content": [{"type": "text", "text": text}]})


@asynccontextmanager
async def over_http(script: fakes.Script) -> AsyncIterator[str]:
    async with web_server(HttpScript(script)) as url:
        yield f"{url}/mcp"


@asynccontextmanager
async def on_port(port: int, script: fakes.Script) -> AsyncIterator[None]:
    """A server at a known port: one that comes back."""
    app = web.Application()
    answer = HttpScript(script)

    async def handle(request: web.Request) -> web.StreamResponse:
        return await answer(request)

    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port, reuse_address=True).start()
        yield
    finally:
        await runner.cleanup()


@asynccontextmanager
async def toolbox(*servers: ToolServer | Any, limits: AgentLimits = LIMITS) -> AsyncIterator[Toolbox]:
    """An open toolbox of servers, or of targets."""
    made = [one if isinstance(one, ToolServer) else ToolServer(one, options=OPTIONS) for one in servers]
    box = Toolbox(made, limits)
    try:
        async with asyncio.timeout(20):
            await box.open()
        yield box
    finally:
        async with asyncio.timeout(30):
            await box.close()


class Lists:
    """Counts how often a client lists tools."""

    def __init__(self) -> None:
        self.count = 0
        # The last message that came.
        self.last = b""

    def __call__(self, record: Record) -> None:
        if record.direction == "received":
            self.last = record.data
        self.count += record.direction == "sent" and b'"tools/list"' in record.data

    @property
    def options(self) -> Options:
        return replace(OPTIONS, observer=self)
