"""Official clients at servers of the other era, through `qortal-mcp bridge`: everything that a server can do while it works.

The servers are small ones on the official SDKs: those of 1.x have a handshake, those of 2.x are made to refuse it. Each client also
visits the servers of its own era without a bridge, which proves that the steps themselves are right.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from interop.foreign import LISTENING, SCRIPTS, START_SECONDS
from interop.processes import finished, started
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import PROGRAM, Target

_DRIVERS = ROOT / "interop" / "clients"
LEGACY = "2025-11-25"
MODERN = "2026-07-28"
# Each step takes milliseconds; a lost message is noticed after this.
_STEP_SECONDS = 8.0
_DRIVER_SECONDS = 100.0

# What a client sees in each step, whoever the server is.
EXPECTED: Mapping[str, Any] = {
    "list": ["ask_model", "ask_name", "ask_roots", "count", "fail", "greet", "log", "wait", "was_cancelled"],
    "call": "Hello, Bob!",
    "error": "failed",
    "progress": ["1/2 1 of 2", "2/2 2 of 2", "counted"],
    "cancel": "cancelled",
    "log": "warning: be careful",
    "read": ["first note"],
    "subscribe": "note://one",
    "elicit": "Hello, Ada!",
    "sample": "The model says forty-two",
    "roots": "file:///srv/notes",
}
STEPS = tuple(EXPECTED)


@dataclass(frozen=True)
class Client:
    """An official client: the command of its driver, the mode of those that have several, and the revision it speaks."""

    driver: Callable[[Programs], list[Path]]
    revision: str
    mode: str = ""


@dataclass(frozen=True)
class Server:
    """A server on an official SDK: its command without the transport, the revision it speaks, and what it can do."""

    command: Callable[[Programs], list[Path]]
    revision: str
    steps: tuple[str, ...] = STEPS


@dataclass(frozen=True)
class Place:
    """A server, and how it is reached: `stdio` or `http`. In front of it may be a bridge, and `front` says how that is reached."""

    server: str
    way: str
    front: str = ""

    def __str__(self) -> str:
        return f"{self.server} on {self.way}" + (f" behind {self.front}" if self.front else "")


def _python_v1(programs: Programs) -> list[Path]:
    return [programs.python_v1, _DRIVERS / "talking.py"]


def _python_v2(programs: Programs) -> list[Path]:
    return [programs.python_v2, _DRIVERS / "talking.py"]


def _typescript(programs: Programs) -> list[Path]:
    return [programs.node, _DRIVERS / "talking.mjs"]


CLIENTS = {
    "python-v1": Client(_python_v1, LEGACY),
    "python-v2-legacy": Client(_python_v2, LEGACY, mode="legacy"),
    "python-v2-modern": Client(_python_v2, MODERN, mode=MODERN),
    "typescript-v1": Client(_typescript, LEGACY),
    "typescript-v2-legacy": Client(_typescript, LEGACY, mode="legacy"),
    "typescript-v2-modern": Client(_typescript, MODERN, mode="modern"),
}
SERVERS = {
    "python-v1": Server(
        lambda programs: [programs.python_v1, SCRIPTS / "talks_v1.py"],
        LEGACY,
        # This SDK declares that resources cannot be subscribed to, whatever the server does.
        steps=tuple(step for step in STEPS if step != "subscribe"),
    ),
    "python-v2": Server(lambda programs: [programs.python_v2, SCRIPTS / "talks_v2.py"], MODERN),
    "typescript-v1": Server(
        lambda programs: [programs.node, SCRIPTS / "talks_v1.mjs", programs.packages], LEGACY
    ),
    "typescript-v2": Server(
        lambda programs: [programs.node, SCRIPTS / "talks_v2.mjs", programs.packages], MODERN
    ),
}


class Seen(Struct, frozen=True, rename="camel"):
    """What a driver prints: the revision that was negotiated, what each step gave, and why others gave nothing."""

    protocol_version: str
    seen: dict[str, Any]
    problems: dict[str, str]


_SEEN = msgspec.json.Decoder(Seen)


def own_places(client: Client) -> list[Place]:
    """The servers of a client's own era, one on each transport, without a bridge."""
    python, typescript = (name for name, server in SERVERS.items() if server.revision == client.revision)
    return [Place(python, "stdio"), Place(typescript, "http")]


def other_places(client: Client) -> list[Place]:
    """The servers of the other era behind bridges: each on both transports, and behind both."""
    python, typescript = (name for name, server in SERVERS.items() if server.revision != client.revision)
    return [
        Place(python, "stdio", front="stdio"),
        Place(python, "http", front="http"),
        Place(typescript, "stdio", front="http"),
        Place(typescript, "http", front="stdio"),
    ]


async def run_visits(client: Client, places: Sequence[Place], programs: Programs) -> str:
    """Lets a client visit servers, all at the same time."""

    async def visit(place: Place) -> Seen:
        async with opened(place, programs) as target:
            return await visited(client, programs, target, SERVERS[place.server].steps)

    problems = []
    for place, seen in zip(places, await asyncio.gather(*map(visit, places)), strict=True):
        found = problems_of(client, seen, SERVERS[place.server].steps)
        problems += [f"{place}: {problem}" for problem in found]
    if problems:
        raise Failed("\n".join(problems))
    return f"{client.revision} at " + ", ".join(map(str, places))


@asynccontextmanager
async def opened(place: Place, programs: Programs) -> AsyncIterator[Target]:
    """A server that listens, or its command; or the bridge in front of it."""
    async with _server(place, programs) as server:
        if not place.front:
            yield server
            return
        async with bridged(server, place.front) as target:
            yield target


@asynccontextmanager
async def _server(place: Place, programs: Programs) -> AsyncIterator[Target]:
    command: list[str | Path] = [*SERVERS[place.server].command(programs), place.way]
    if place.way == "stdio":
        yield Target(command=tuple(map(str, command)))
        return
    async with started(command) as child:
        yield Target(url=await child.line(LISTENING, START_SECONDS))


@asynccontextmanager
async def bridged(behind: Target, way: str) -> AsyncIterator[Target]:
    """A bridge in front of a server, for the client to start or to connect to."""
    server = (behind.url,) if behind.url else ("--", *behind.command)
    async with front(server, way) as target:
        yield target


@asynccontextmanager
async def front(servers: Sequence[str], way: str) -> AsyncIterator[Target]:
    """A bridge, given the words that name what is behind it."""
    bridge = (str(PROGRAM), "bridge")
    if way == "stdio":
        yield Target(command=(*bridge, *servers))
        return
    async with started([*bridge, "--listen", "127.0.0.1:0", *servers]) as child:
        yield Target(url=await child.line(LISTENING, START_SECONDS))


async def visited(
    client: Client, programs: Programs, target: Target, steps: Sequence[str], name: str = ""
) -> Seen:
    """What a client's driver sees of a server, which has a name if it is one of several behind a bridge."""
    order = {
        "toolPrefix": f"{name}__" if name else "",
        "uriPrefix": f"{name}+" if name else "",
        "url": target.url,
        "command": target.command,
        "mode": client.mode,
        "packages": str(programs.packages),
        "startSeconds": START_SECONDS,
        "seconds": _STEP_SECONDS,
        "steps": steps,
    }
    end = await finished([*client.driver(programs), json.dumps(order)], seconds=_DRIVER_SECONDS)
    lines = end.stdout.splitlines()
    if end.code != 0 or not lines:
        raise Failed(f"the client failed\n{end.tail()}")
    return _SEEN.decode(lines[-1])


def crossed(seen: Seen, steps: Iterable[str]) -> dict[str, str]:
    """What is wrong with each step; empty if it is right."""
    return {step: _problem(seen, step) for step in steps}


def _problem(seen: Seen, step: str) -> str:
    if problem := seen.problems.get("connect") or seen.problems.get(step):
        return problem
    value = seen.seen.get(step)
    if step == "list":
        # A server that can be subscribed to has one tool more.
        value = [name for name in value or [] if name != "touch"]
    return "" if value == EXPECTED[step] else f"expected {EXPECTED[step]!r}, got {value!r}"


def problems_of(client: Client, seen: Seen, steps: Iterable[str]) -> list[str]:
    """What is wrong with a visit."""
    if problem := seen.problems.get("connect"):
        return [f"not connected: {problem}"]
    problems = [f"{step}: {problem}" for step, problem in crossed(seen, steps).items() if problem]
    if seen.protocol_version != client.revision:
        problems.append(f"negotiated {seen.protocol_version}, expected {client.revision}")
    return problems
