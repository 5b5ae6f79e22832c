"""A client in front of a bridge in this process: asks, answers what it is asked, and keeps what it is told."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from qortal_mcp.bridge.bridge import Bridge
from qortal_mcp.bridge.limits import BridgeLimits
from qortal_mcp.bridge.way import Way
from qortal_mcp.client.limits import ClientLimits
from qortal_mcp.client.options import Options
from qortal_mcp.limits import DEFAULT
from qortal_mcp.repairs.chosen import Repairs
from qortal_mcp.server.options import ServerOptions
from qortal_mcp.transports.memory import MemoryConnection

Json = dict[str, Any]
# Short waits, so that nothing takes longer than it must.
QUICK = BridgeLimits(
    reconnect_seconds=3, waited_pause_seconds=0.2, first_pause_seconds=0.02, list_seconds=1e-9
)
CLIENT = Options(
    limits=ClientLimits(exit_seconds=0.3, goodbye_seconds=0.3, linger_seconds=0.1, send_seconds=2)
)


def way_to(target: str | Sequence[str], level: str = "safe", **more: Any) -> Way:
    """A way with short waits."""
    defaults = {
        "repairs": Repairs(level),
        "limits": QUICK,
        "client": CLIENT,
        "timeout": 5.0,
        "start_timeout": 5.0,
    }
    return Way(target=target, name="the server", **{**defaults, **more})


@contextlib.asynccontextmanager
async def bridged(way: Way) -> AsyncIterator[Bridge]:
    bridge = Bridge(way, ServerOptions(limits=replace(DEFAULT, call_seconds=60)))
    try:
        yield bridge
    finally:
        await bridge.shut()


class Talker:
    """One client on a connection of its own."""

    def __init__(self, bridge: Bridge) -> None:
        self._connection = MemoryConnection(bridge)
        self._waiting: dict[Any, asyncio.Future[Json]] = {}
        self._ids = iter(range(1, 10**9))
        self.told: list[Json] = []
        self.asked: list[Json] = []
        self.extra: list[Json] = []
        # Makes the answer to a request of the server.
        self.answers: Callable[[Json], Json] = lambda message: {"result": {"model": "m", "role": "assistant"}}
        self._reader = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        while True:
            message = _read(await self._connection.receive())
            if "method" not in message:
                waiting = self._waiting.pop(message["id"], None)
                if waiting is None:
                    self.extra.append(message)
                else:
                    waiting.set_result(message)
            elif "id" in message:
                self.asked.append(message)
                reply = {"jsonrpc": "2.0", "id": message["id"], **self.answers(message)}
                await self._connection.send(json.dumps(reply).encode())
            else:
                self.told.append(message)

    def methods_told(self) -> list[str]:
        return [message["method"] for message in self.told]

    async def start(self, method: str, params: Json | None = None, id_: Any = None) -> asyncio.Future[Json]:
        """Send a request; the future is its answer."""
        id_ = next(self._ids) if id_ is None else id_
        reply = self._waiting[id_] = asyncio.get_running_loop().create_future()
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params or {}}
        await self._connection.send(json.dumps(message).encode())
        return reply

    async def ask(self, method: str, params: Json | None = None, id_: Any = None) -> Json:
        async with asyncio.timeout(20):
            return await (await self.start(method, params, id_))

    async def notify(self, method: str, params: Json | None = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        await self._connection.send(json.dumps(message).encode())

    async def call(self, tool: str, /, *, meta: Json | None = None, **arguments: Any) -> Json:
        """The result of a tool."""
        params: Json = {"name": tool, "arguments": arguments}
        if meta is not None:
            params["_meta"] = meta
        answer = await self.ask("tools/call", params)
        result: Json = answer["result"]
        return result

    async def tools(self) -> list[str]:
        return [tool["name"] for tool in (await self.ask("tools/list"))["result"]["tools"]]

    async def open(self, capabilities: Json | None = None, revision: str = "2025-06-18") -> Json:
        hello = {
            "protocolVersion": revision,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "talker", "version": "0"},
        }
        answer = await self.ask("initialize", hello)
        await self.notify("notifications/initialized")
        return answer

    async def close(self) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self._connection.close()


@contextlib.asynccontextmanager
async def talking(bridge: Bridge, capabilities: Json | None = None) -> AsyncIterator[Talker]:
    talker = Talker(bridge)
    try:
        assert "result" in await talker.open(capabilities)
        yield talker
    finally:
        await talker.close()


def _read(data: bytes) -> Json:
    """A message; a result that nobody can read, or that takes long, is kept as bytes."""
    try:
        if len(data) > 2_000_000:
            raise ValueError("too long")
        message: Json = json.loads(data)
    except (ValueError, RecursionError):
        parts = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        message = {"id": json.loads(bytes(parts["id"])), "result": bytes(parts["result"])}
    return message


def text_of(result: Json) -> str:
    text: str = result["content"][0]["text"]
    return text
