"""Three servers behind one front, of which one dies every second: the other two lose nothing."""

import asyncio
import itertools
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.bridge.behind import Noting
from tests.cli.running import listening

Json = dict[str, Any]
CALLS = 10_000
AT_ONCE = 32
# The server of `noting.py`, for a second.
DYING = """
import os, runpy, sys, threading
timer = threading.Timer(1.0, lambda: os._exit(7))
timer.daemon = True
timer.start()
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "crowd", "version": "0"}}


class Caller:
    """One client on a WebSocket."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._socket = socket
        self._waiting: dict[int, asyncio.Future[Json]] = {}
        self._ids = itertools.count(1)
        self.strays: list[Json] = []
        self.reader = asyncio.get_running_loop().create_task(self._read())

    async def ask(self, method: str, params: Json) -> Json:
        id_ = next(self._ids)
        reply: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[id_] = reply
        await self._socket.send_json({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        return await reply

    async def _read(self) -> None:
        async for frame in self._socket:
            message = frame.json()
            if "id" in message:
                waiting = self._waiting.pop(message["id"], None)
                if waiting is None:
                    self.strays.append(message)
                else:
                    waiting.set_result(message)


@pytest.mark.promise(
    "Bridge",
    "With three servers behind one front, of which one dies every second, the other two lose none of 10,000 calls.",
)
async def test_a_server_that_keeps_dying_costs_the_others_nothing(tmp_path: Path) -> None:
    ann, bob, dies = (Noting(tmp_path / f"{name}.log") for name in ("ann", "bob", "dies"))
    (tmp_path / "dying.py").write_text(DYING)
    mortal = [sys.executable, str(tmp_path / "dying.py"), *dies.command[1:]]
    entries = {
        name: {"command": command[0], "args": command[1:]}
        for name, command in (("ann", ann.command), ("dies", mortal), ("bob", bob.command))
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": entries}))
    with listening("bridge", "--servers", str(tmp_path / "mcp.json"), "--log-level", "error") as front:
        url = front.url.replace("http://", "ws://").removesuffix("/mcp") + "/ws"
        async with asyncio.timeout(100), aiohttp.ClientSession() as http, http.ws_connect(url) as socket:
            client = Caller(socket)
            await client.ask("initialize", HELLO)
            numbers = iter(range(CALLS))
            wrong: list[Json] = []
            lost = Counter[bool]()
            is_over = asyncio.Event()

            async def call_the_living() -> None:
                for number in numbers:
                    name = ("ann", "bob")[number % 2]
                    params = {"name": f"{name}__note", "arguments": {"n": number}}
                    answer = await client.ask("tools/call", params)
                    if answer.get("result") != {"content": [{"type": "text", "text": str(number)}]}:
                        wrong.append(answer)

            async def call_the_mortal() -> None:
                while not is_over.is_set():
                    answer = await client.ask(
                        "tools/call", {"name": "dies__late", "arguments": {"seconds": 0.05}}
                    )
                    lost[answer["result"].get("isError", False)] += 1

            others = [asyncio.create_task(call_the_mortal()) for _ in range(2)]
            await asyncio.gather(*(call_the_living() for _ in range(AT_ONCE)))
            # It died, and came back, at least twice.
            while len(dies.pids()) < 3:  # noqa: ASYNC110
                await asyncio.sleep(0.1)
            is_over.set()
            await asyncio.gather(*others)
            client.reader.cancel()
        assert wrong == []
        assert client.strays == []
        assert lost[False] > 0
    for server, rest in ((ann, 0), (bob, 1)):
        received = [one["params"]["arguments"]["n"] for one in server.messages("tools/call")]
        assert sorted(received) == list(range(rest, CALLS, 2))
        # One connection before any client came, and the client's own: neither was opened again.
        assert len(server.pids()) == 2
