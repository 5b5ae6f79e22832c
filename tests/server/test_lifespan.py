"""The lifespan of a server: entered once before the first request, left after the last, on every transport."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from qortal_mcp import Context, Limits, Offer, Server, ServerOptions, tool
from qortal_mcp.client import connect
from qortal_mcp.server.life import LifespanFailed
from qortal_mcp.transports.http import HttpApp
from qortal_mcp.transports.memory import MemoryConnection


class Shelf:
    """What a server keeps open while it runs."""

    def __init__(self) -> None:
        self.is_open = True


@tool
def look(shelf: Shelf, ctx: Context) -> str:
    """Looks at the shelf that the lifespan brought."""
    assert ctx.lifespan is shelf
    return "open" if shelf.is_open else "closed"


@tool
async def wait(ctx: Context) -> str:
    """Waits, to show that the shelf is open meanwhile."""
    await asyncio.sleep(0.05)
    return "open" if ctx.lifespan.is_open else "closed"


class Story:
    """A lifespan that remembers what happened."""

    def __init__(self) -> None:
        self.told: list[str] = []

    @asynccontextmanager
    async def lifespan(self, server: Server) -> AsyncIterator[Shelf]:
        self.told.append(f"enter {server.info.name}")
        # Left in the task that entered it: libraries rely on that.
        async with asyncio.timeout(60):
            shelf = Shelf()
            yield shelf
            shelf.is_open = False
        self.told.append("leave")

    def server(self, **limits: Any) -> Server:
        options = ServerOptions(limits=Limits(**limits))
        return Server("story", tools=[look, wait], lifespan=self.lifespan, options=options)


async def test_clients_in_memory_share_one_lifespan() -> None:
    story = Story()
    server = story.server()
    assert story.told == []
    async with connect(server) as one, connect(server) as other:
        assert (await one.call_tool("look")).text == "open"
        assert (await other.call_tool("wait")).text == "open"
        assert story.told == ["enter story"]
    assert story.told == ["enter story", "leave"]
    async with connect(server) as again:
        assert (await again.call_tool("look")).text == "open"
    assert story.told == ["enter story", "leave"] * 2


async def test_a_raw_connection_in_memory_has_it_too() -> None:
    story = Story()
    async with MemoryConnection(story.server()) as connection:
        await connection.send(b'{"jsonrpc":"2.0","id":1,"method":"ping"}')
        await connection.receive()
        assert story.told == ["enter story"]
    assert story.told == ["enter story", "leave"]


async def ask(app: HttpApp) -> Any:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look"}}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", b"127.0.0.1"), (b"content-type", b"application/json")]
    scope = {"type": "http", "path": "/mcp", "method": "POST", "headers": headers, "client": ("127.0.0.1", 1)}
    await app(scope, receive, send)
    return json.loads(sent[-1]["body"])["result"]["content"][0]["text"]


async def test_an_application_whose_server_has_no_lifespan_begins_with_the_first_request() -> None:
    story = Story()
    app = HttpApp(story.server())
    for answer in await asyncio.gather(ask(app), ask(app)):
        assert answer == "open"
    assert story.told == ["enter story"]


async def test_several_objects_are_provided_by_their_classes() -> None:
    class Map:
        """Something else that is provided."""

    @tool
    def both(shelf: Shelf, map: Map, ctx: Context) -> bool:
        """Whether both are there."""
        return bool(ctx.lifespan == (shelf, map))

    both.signature.function.__annotations__["map"] = Map

    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[Any]:
        yield Shelf(), Map()

    async with connect(Server("both", offer=Offer([both]), lifespan=lifespan)) as client:
        assert (await client.call_tool("both")).structured == {"result": True}


def failing(kind: str) -> Server:
    @asynccontextmanager
    async def raises(server: Server) -> AsyncIterator[Any]:
        raise OSError("the shelf is locked")
        yield

    @asynccontextmanager
    async def leaves(server: Server) -> AsyncIterator[Any]:
        raise SystemExit("no shelf")
        yield

    @asynccontextmanager
    async def is_cancelled(server: Server) -> AsyncIterator[Any]:
        raise asyncio.CancelledError
        yield

    @asynccontextmanager
    async def brings_nothing(server: Server) -> AsyncIterator[None]:
        yield

    kinds = {
        "raises": raises,
        "leaves": leaves,
        "is cancelled": is_cancelled,
        "brings nothing": brings_nothing,
    }
    lifespan = kinds[kind]
    return Server("failing", tools=[look], lifespan=lifespan)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("raises", "OSError: the shelf is locked"),
        ("leaves", "SystemExit: no shelf"),
        ("is cancelled", "CancelledError"),
        ("brings nothing", "look needs a Shelf"),
    ],
)
async def test_a_lifespan_that_fails_is_named(kind: str, sentence: str) -> None:
    server = failing(kind)
    with pytest.raises(LifespanFailed, match=f"its lifespan failed: .*{sentence}"):
        async with connect(server):
            pass
    with pytest.raises(LifespanFailed):
        await ask(HttpApp(server))


async def test_one_that_does_not_end_is_left_behind() -> None:
    @asynccontextmanager
    async def lifespan(server: Server) -> AsyncIterator[Shelf]:
        yield Shelf()
        await asyncio.Event().wait()

    options = ServerOptions(limits=Limits(shutdown_seconds=0.05))
    server = Server("endless", tools=[look], lifespan=lifespan, options=options)
    async with asyncio.timeout(10):
        async with connect(server) as client:
            assert (await client.call_tool("look")).text == "open"


PROGRAM = """
import asyncio
import sys
from contextlib import asynccontextmanager
from qortal_mcp import Server, run, tool

class Shelf: pass

@asynccontextmanager
async def lifespan(server):
    if "fail" in NAME:
        raise OSError("the shelf is locked")
    print("entered", file=sys.stderr, flush=True)
    if "waits" in NAME:
        await asyncio.Event().wait()
    yield Shelf()
    print("left", file=sys.stderr, flush=True)

@tool
def look(shelf: Shelf) -> str:
    '''Looks at the shelf.'''
    print("looked", file=sys.stderr, flush=True)
    return "seen"

run(Server(NAME, tools=[look], lifespan=lifespan))
"""
MESSAGES = [
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    },
    {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "look"}},
]


def program(folder: Path, name: str) -> list[str]:
    path = folder / "program.py"
    path.write_text(PROGRAM.replace("NAME", repr(name)))
    return [sys.executable, str(path)]


@pytest.mark.promise(
    "Library", "A lifespan is entered before the first request and left after the last, on stdio as on HTTP."
)
def test_on_stdio_it_lasts_from_the_first_request_to_the_end_of_input(tmp_path: Path) -> None:
    lines = "".join(json.dumps(message) + "\n" for message in MESSAGES)
    done = subprocess.run(program(tmp_path, "shelf"), input=lines, capture_output=True, text=True, timeout=20)
    assert [line for line in done.stderr.split() if line in ("entered", "looked", "left")] == [
        "entered",
        "looked",
        "left",
    ]
    assert "seen" in done.stdout
    assert done.returncode == 0


async def test_on_http_and_websocket_it_lasts_as_long_as_the_server(tmp_path: Path) -> None:
    command = [*program(tmp_path, "shelf"), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:  # noqa: ASYNC220
        assert child.stderr is not None
        assert child.stderr.readline() == "entered\n"
        url = child.stderr.readline().split()[-1]
        for target in (url, url.replace("http", "ws").replace("/mcp", "/ws")):
            async with connect(target) as client:
                assert (await client.call_tool("look")).text == "seen"
        child.send_signal(signal.SIGTERM)
        said = await asyncio.to_thread(child.stderr.read)
        assert child.wait(20) == 0
    assert said == "looked\nlooked\nleft\n"


@pytest.mark.parametrize("options", [[], ["--listen", "127.0.0.1:0"]], ids=["stdio", "http"])
def test_a_server_whose_lifespan_fails_says_so_and_ends(tmp_path: Path, options: list[str]) -> None:
    command = [*program(tmp_path, "fails to start"), *options]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=20)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "fails to start cannot start: its lifespan failed: OSError: the shelf is locked\n"
    )
    assert "Listening" not in done.stderr


def test_a_server_that_waits_for_something_as_it_starts_can_be_stopped(tmp_path: Path) -> None:
    command = [*program(tmp_path, "waits"), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        assert child.stderr.readline() == "entered\n"
        child.send_signal(signal.SIGTERM)
        try:
            assert (child.wait(20), child.stderr.read()) == (0, "")
        finally:
            child.kill()
