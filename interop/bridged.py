"""Servers that no client can use as they are, behind `qortal-mcp bridge`, and what clients must see of them there."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from interop.agents import Run, object_in
from interop.agents.model import Call
from interop.foreign import LISTENING, SCRIPTS, START_SECONDS
from interop.libraries import Answer, Seen
from interop.processes import started
from interop.programs import ROOT
from interop.runner import Failed
from interop.servers import PROGRAM, PYTHON, Target, listening, websocket_of


@dataclass(frozen=True)
class StandIn:
    """A program that answers as a server does that cannot run here, and one call of each kind."""

    # The script and its arguments.
    script: tuple[str, ...]
    tools: int
    good: Call
    # What the good call gives.
    value: Mapping[str, Any]
    bad: Call
    # Part of what the bad call says.
    words: str
    # Options of the bridge that one would give for this server.
    options: tuple[str, ...] = ()


def _maxmcp(generation: str) -> StandIn:
    return StandIn(
        script=("maxmcp.py", generation),
        tools=30,
        good=Call("call_patches", "list_active_patches", {}),
        value={"count": 2, "patches": ["drums", "synth"]},
        bad=Call("call_missing", "get_patch_info", {"patch_id": "x"}),
        words="Patch not found: x",
        options=("--request-bytes", "4096"),
    )


STAND_INS = {
    **{f"maxmcp-{generation}": _maxmcp(generation) for generation in ("g0", "g1", "g2")},
    "workshop": StandIn(
        script=("workshop.py",),
        tools=2,
        good=Call("call_weather", "get_weather_forecast", {"location": "Oslo"}),
        value={"location": "Oslo", "degrees": 7, "wind": "svak bris"},
        bad=Call("call_fact", "get_random_fact", {}),
        words="API-nøkkel mangler",
    ),
}


@asynccontextmanager
async def bridged(stand_in: StandIn, way: str, repair: str = "safe") -> AsyncIterator[Target]:
    """A stand-in behind a bridge, for the client to start or to connect to."""
    name, *arguments = stand_in.script
    async with started([PYTHON, SCRIPTS / name, *arguments], cwd=ROOT) as child:
        url = await child.line(LISTENING, START_SECONDS)
        command = (str(PROGRAM), "bridge", "--repair", repair, *stand_in.options, url)
        if way == "stdio":
            yield Target(command=command)
            return
        async with listening(*command) as target:
            yield websocket_of(target) if way == "websocket" else target


def judge_library(stand_in: StandIn, seen: Seen, revision: str) -> str:
    """A summary, if a client library could list all tools and no call raised an exception.

    Raises:
        Failed: otherwise.
    """
    problems = [f"{call.tool}: {call.exception}" for call in (*seen.calls, seen.bad) if call.exception]
    if seen.protocol_version != revision:
        problems.append(f"negotiated {seen.protocol_version}, expected {revision}")
    if len(seen.tools) != stand_in.tools:
        problems.append(f"{len(seen.tools)} tools listed, expected {stand_in.tools}")
    good = next((call for call in seen.calls if call.tool == stand_in.good.tool), Answer(tool=""))
    if good.is_error is not False or object_in(_text(good)) != stand_in.value:
        problems.append(f"{stand_in.good.tool}: isError is {good.is_error}, {_text(good)!r}")
    if seen.bad.is_error is not True or stand_in.words not in _text(seen.bad):
        problems.append(f"{stand_in.bad.tool}: isError is {seen.bad.is_error}, {_text(seen.bad)!r}")
    if problems:
        raise Failed("\n".join(problems))
    return f"{revision}, {len(seen.tools)} tools listed and called, one failed as it should"


def _text(call: Answer) -> str:
    return "\n".join(block.get("text", json.dumps(block)) for block in call.content)


def judge_agent(stand_in: StandIn, run: Run) -> str:
    """A summary, if an agent showed its model the tools, the value of the good call and the words of the bad one.

    Raises:
        Failed: otherwise.
    """
    problems = run.problems((stand_in.good.tool, stand_in.bad.tool))
    if len(run.transcript.offered) != stand_in.tools:
        problems.append(f"{len(run.transcript.offered)} tools offered, expected {stand_in.tools}")
    good, bad = run.output(stand_in.good), run.output(stand_in.bad)
    if object_in(good) != stand_in.value:
        problems.append(f"{stand_in.good.tool}: no {stand_in.value} in {good!r}")
    if stand_in.words not in bad:
        problems.append(f"{stand_in.bad.tool}: no {stand_in.words!r} in {bad!r}")
    return run.judged(problems)
