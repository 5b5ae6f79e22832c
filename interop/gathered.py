"""Three servers behind one bridge: our own as a program, one on an official SDK of the other era over HTTP, and a broken one on a WebSocket.

Real agents call a tool of each. Official clients try everything that the SDK's server can do while it works.
"""

import json
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from interop import eras
from interop.agents import AGENTS, Run, codex, object_in, run_agent
from interop.agents.model import Call
from interop.bridged import STAND_INS
from interop.calls import ARGUMENTS, SAMPLE_HEIGHT
from interop.foreign import LISTENING, SCRIPTS, START_SECONDS
from interop.processes import started
from interop.programs import Programs
from interop.runner import Failed
from interop.servers import PROGRAM, PYTHON, SAMPLE, Target

_BROKEN = STAND_INS["maxmcp-g0"]
_STATUS = Call("call_status", "chain__get_node_status", {})
_SDK_NAME = "notes"
_GREETING = Call("call_greeting", f"{_SDK_NAME}__greet", {"name": "Ada"})
_PATCHES = Call("call_patches", f"music__{_BROKEN.good.tool}", _BROKEN.good.arguments)


@dataclass(frozen=True)
class Visit:
    """Who comes, over which transport, and the SDK server behind."""

    who: str
    front: str
    sdk: str = "typescript-v2"


# By default Codex begins without the tools of a server that needs more than about a second, which three together may on a busy machine.
_AGENTS = {
    "codex": replace(AGENTS["codex"], prepare=partial(codex.prepare, waits=True)),
    "codex-modern": replace(AGENTS["codex-modern"], prepare=partial(codex.prepare_modern, waits=True)),
    "claude": AGENTS["claude"],
}
AGENT_VISITS = (
    Visit("codex", "stdio"),
    Visit("codex-modern", "stdio", sdk="typescript-v1"),
    Visit("claude", "stdio"),
    Visit("claude", "http"),
)
CLIENT_VISITS = (
    Visit("python-v1", "stdio"),
    Visit("typescript-v1", "http"),
    Visit("python-v2-modern", "http", sdk="typescript-v1"),
    Visit("typescript-v2-modern", "stdio", sdk="typescript-v1"),
)


async def run_agent_visit(visit: Visit, programs: Programs) -> str:
    """Lets an agent call one tool of each server."""
    async with _gathered(visit, programs) as target:
        run = await run_agent(_AGENTS[visit.who], programs, target, (_STATUS, _GREETING, _PATCHES))
    return _judge(run)


async def run_client_visit(visit: Visit, programs: Programs) -> str:
    """Lets an official client try everything that the SDK's server can do."""
    client = eras.CLIENTS[visit.who]
    async with _gathered(visit, programs) as target:
        seen = await eras.visited(client, programs, target, eras.STEPS, name=_SDK_NAME)
    if problems := eras.problems_of(client, seen, eras.STEPS):
        raise Failed("\n".join(problems))
    return f"{client.revision}, {visit.sdk} behind: {', '.join(eras.STEPS)}"


@asynccontextmanager
async def _gathered(visit: Visit, programs: Programs) -> AsyncIterator[Target]:
    place = eras.Place(visit.sdk, "http")
    name, *arguments = _BROKEN.script
    with tempfile.TemporaryDirectory(prefix="interop-") as folder:
        file = Path(folder) / "servers.json"
        async with (
            started([PYTHON, SCRIPTS / name, *arguments]) as broken,
            eras.opened(place, programs) as sdk,
        ):
            servers = {
                "chain": {"command": str(PROGRAM), "args": ["stdio", *SAMPLE]},
                _SDK_NAME: {"type": "http", "url": sdk.url},
                "music": {"type": "ws", "url": await broken.line(LISTENING, START_SECONDS)},
            }
            file.write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
            async with eras.front(("--servers", str(file)), visit.front) as target:
                yield target


def _judge(run: Run) -> str:
    offered = run.transcript.offered
    problems = run.problems(
        [
            *(f"chain__{tool}" for tool in ARGUMENTS),
            *(f"{_SDK_NAME}__{tool}" for tool in eras.EXPECTED["list"]),
        ]
    )
    music = [tool for tool in offered if tool.startswith("music__")]
    if len(music) != _BROKEN.tools:
        problems.append(f"{len(music)} tools of music offered, expected {_BROKEN.tools}")
    if object_in(run.output(_STATUS)).get("height") != SAMPLE_HEIGHT:
        problems.append(f"no height {SAMPLE_HEIGHT} in {run.output(_STATUS)!r}")
    if "Hello, Ada!" not in run.output(_GREETING):
        problems.append(f"no greeting in {run.output(_GREETING)!r}")
    if object_in(run.output(_PATCHES)) != _BROKEN.value:
        problems.append(f"no {_BROKEN.value} in {run.output(_PATCHES)!r}")
    return run.judged(problems)
