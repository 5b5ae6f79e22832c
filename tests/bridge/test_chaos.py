"""The server behind is killed, stalled and started again under load: no call is lost, doubled or crossed."""

import asyncio
import itertools
import signal
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.bridge.behind import Noting, bridging, resident_bytes, until
from tests.cli.running import Listening

Json = dict[str, Any]
Ask = Callable[[Json], Awaitable[Json]]
CLIENTS = 8
# Calls of one client at a time.
AT_ONCE = 5
# What happens to the server while they are at work; a long stall lasts longer than a call may.
TROUBLE = ("kill", "stall", "kill", "long stall", "kill", "stall", "kill", "long stall", "kill")
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "crowd", "version": "0"},
}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
MEGABYTE = 1024 * 1024


class WebClient:
    """Calls over HTTP, in a session or each for itself."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url
        self._session: dict[str, str] = {}

    async def open(self) -> None:
        hello = {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO}
        async with self._http.post(self._url, json=hello, headers=HEADERS) as reply:
            assert "result" in await reply.json()
            self._session = {"mcp-session-id": reply.headers["mcp-session-id"]}

    async def ask(self, message: Json) -> Json:
        async with self._http.post(self._url, json=message, headers={**HEADERS, **self._session}) as reply:
            assert reply.status == 200
            answer: Json = await reply.json()
            return answer


class SocketClient:
    """Calls over one WebSocket; an answer that nobody waits for fails the test."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse[bool]) -> None:
        self._socket = socket
        self._waiting: dict[Any, asyncio.Future[Json]] = {}
        self.strays: list[Json] = []
        self.reader = asyncio.get_running_loop().create_task(self._read())

    async def open(self) -> None:
        await self.ask({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO})

    async def ask(self, message: Json) -> Json:
        reply: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[message["id"]] = reply
        await self._socket.send_json(message)
        answer: Json = await reply
        return answer

    async def _read(self) -> None:
        async for frame in self._socket:
            message = frame.json()
            if "id" in message:
                waiting = self._waiting.pop(message["id"], None)
                if waiting is None:
                    self.strays.append(message)
                else:
                    waiting.set_result(message)


class Tally:
    """What became of the calls."""

    def __init__(self) -> None:
        self.numbers = itertools.count(1)
        self.answered: dict[int, str] = {}
        self.safe: set[int] = set()
        self.failures: Counter[str] = Counter()
        self.crossed: list[Json] = []

    async def call(self, ask: Ask, id_: int) -> None:
        """One call. Clients use the same ids, and each call has a number of its own."""
        number = next(self.numbers)
        is_safe = number % 3 == 0
        if is_safe:
            self.safe.add(number)
        params = {"name": "look" if is_safe else "note", "arguments": {"n": number}}
        answer = await ask({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params})
        assert number not in self.answered
        result = answer["result"]
        text = result["content"][0]["text"]
        if result.get("isError"):
            self.failures[text.splitlines()[0]] += 1
            self.answered[number] = "failed"
        else:
            self.answered[number] = "done"
            if text != str(number) or answer["id"] != id_:
                self.crossed.append(answer)


async def _trouble(server: Noting, tally: Tally, calls: int) -> None:
    """Kill, stall and restart, each time that another part of the calls is answered."""
    for part, what in enumerate(TROUBLE, 1):
        await until(lambda part=part: len(tally.answered) > part * calls / (len(TROUBLE) + 1), 60)
        if what == "kill":
            server.kill()
            await asyncio.sleep(0.1)
            await server.start()
        else:
            server.signal(signal.SIGSTOP)
            await asyncio.sleep(0.2 if what == "stall" else 1.5)
            server.signal(signal.SIGCONT)


async def _crowd(bridge: Listening, server: Noting, tally: Tally, calls: int) -> tuple[list[int], list[Json]]:
    """All clients at work, in trouble: the bridge's memory on the way, and answers to nothing."""
    url, over = bridge.url, asyncio.Event()
    base = url.rpartition("/")[0] if url.endswith("/mcp") else url
    sizes: list[int] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        sockets = [SocketClient(await http.ws_connect(f"{base}/ws")) for _ in range(3)]
        sessions = [WebClient(http, f"{base}/mcp") for _ in range(3)]
        loners = [WebClient(http, f"{base}/mcp") for _ in range(2)]
        asking: list[Ask] = [*(one.ask for one in sockets), *(one.ask for one in (*sessions, *loners))]
        await asyncio.gather(*(one.open() for one in sockets), *(one.open() for one in sessions))

        async def work(ask: Ask) -> None:
            ids = itertools.count(1)

            async def one_by_one() -> None:
                for _ in range(calls // CLIENTS // AT_ONCE):
                    await tally.call(ask, next(ids))

            await asyncio.gather(*(one_by_one() for _ in range(AT_ONCE)))

        async def watch() -> None:
            while not over.is_set():
                sizes.append(resident_bytes(bridge.pid))
                await asyncio.sleep(0.2)

        trouble = asyncio.get_running_loop().create_task(_trouble(server, tally, calls))
        watching = asyncio.get_running_loop().create_task(watch())
        await asyncio.gather(*map(work, asking))
        for socket in sockets:  # whatever is still on its way comes before the answer to this
            await socket.ask({"jsonrpc": "2.0", "id": "last", "method": "ping"})
        over.set()
        await watching
        await trouble
        for socket in sockets:
            socket.reader.cancel()
        return sizes, [stray for socket in sockets for stray in socket.strays]


@pytest.mark.parametrize(("kind", "calls"), [("ws", 10_000), ("http", 2_000)])
async def test_no_call_is_lost_doubled_or_crossed_while_the_server_dies_and_stalls(
    tmp_path: Path, kind: str, calls: int
) -> None:
    async with Noting(tmp_path / "log", kind).running() as server:
        with bridging("--timeout", "1", server=server) as bridge:
            tally = Tally()
            async with asyncio.timeout(120):
                sizes, strays = await _crowd(bridge, server, tally, calls)
    assert len(tally.answered) == calls
    assert not tally.crossed
    assert not strays
    ran = Counter(
        message["params"]["arguments"]["n"]
        for message in server.messages("tools/call")
        if message["params"]["name"] == "note"
    )
    assert max(ran.values()) == 1, "a call that may not be repeated was sent twice"
    done = {number for number, outcome in tally.answered.items() if outcome == "done"}
    assert done - tally.safe <= set(ran)
    assert len(done) > 0.8 * calls
    assert max(sizes) - sizes[0] < 64 * MEGABYTE
