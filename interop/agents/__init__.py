"""Real agents with a scripted model: how they are run, and how what they sent to the model is judged."""

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interop.agents import claude, codex
from interop.agents.model import LAST_WORDS, NAMED, OTHERS, SCRIPT, Handler, Transcript, serving
from interop.calls import ARGUMENTS, BAD_ANSWER, SAMPLE_HEIGHT
from interop.processes import Finished, bare_environment, finished
from interop.programs import Programs
from interop.runner import Failed
from interop.servers import Target

_AGENT_SECONDS = 90.0
# Agents like to call home. What honours these variables finds a closed port instead; loopback stays open.
_NO_WAY_OUT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9"),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
}


@dataclass(frozen=True)
class Agent:
    """How one agent is started, configured and answered."""

    program: Callable[[Programs], list[Path]]
    command: Callable[[Path], list[str | Path]]
    prepare: Callable[[Path, str, Target], dict[str, str]]
    routes: Callable[[Transcript], Mapping[str, Handler]]
    # What its report has to contain besides the model's last words.
    mark: str = ""
    ways: tuple[str, ...] = ("http", "stdio")


_CODEX = Agent(lambda programs: programs.codex, codex.command, codex.prepare, codex.routes)
AGENTS = {
    "codex": _CODEX,
    # Only results of 2026-07-28 carry the server's name, so the mark proves which revision was used.
    "codex-modern": replace(_CODEX, prepare=codex.prepare_modern, mark="io.modelcontextprotocol/serverInfo"),
    "claude": Agent(lambda programs: programs.claude, claude.command, claude.prepare, claude.routes),
}


async def run_agent(agent: Agent, programs: Programs, target: Target) -> str:
    """Lets an agent follow the script with this server, in a fresh home, and judges the outcome."""
    transcript = Transcript()
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        async with serving(agent.routes(transcript)) as model:
            variables = agent.prepare(home, model, target)
            env = {**bare_environment(home), **_NO_WAY_OUT, **variables}
            command = [*agent.program(programs), *agent.command(home)]
            end = await finished(command, seconds=_AGENT_SECONDS, env=env, cwd=home)
    return judge(transcript, end, agent.mark)


def judge(transcript: Transcript, end: Finished, mark: str) -> str:
    """A summary, if the model was shown every tool and every answer as the server gave it.

    Raises:
        Failed: otherwise.
    """
    problems = [f"{tool}: not offered to the model" for tool in ARGUMENTS if tool not in transcript.offered]
    if end.code != 0:
        problems.append("the agent failed")
    problems += [
        f"the agent's report does not contain {words!r}"
        for words in (LAST_WORDS, mark)
        if words not in end.stdout
    ]
    status, offers, error, validity = (transcript.outputs.get(call.id, "") for call in NAMED)
    if _object_in(status).get("height") != SAMPLE_HEIGHT:
        problems.append(f"no height {SAMPLE_HEIGHT} in {status!r}")
    listed = _object_in(offers).get("offers")
    if not isinstance(listed, list) or not listed or not all(offer.get("tradeAddress") for offer in listed):
        problems.append(f"no offers with a tradeAddress in {offers!r}")
    if BAD_ANSWER not in error:
        problems.append(f"no {BAD_ANSWER!r} in {error!r}")
    if _object_in(validity) != {"isValid": True}:
        problems.append(f"no isValid in {validity!r}")
    for call in OTHERS:
        if "asOf" not in _object_in(transcript.outputs.get(call.id, "")):
            problems.append(f"{call.tool}: {transcript.outputs.get(call.id, '')[:300]!r}")
    if problems:
        raise Failed("\n".join([*problems, end.tail()]))
    return f"{len(transcript.offered)} tools offered, {len(SCRIPT)} calls answered"


def _object_in(output: str) -> dict[str, Any]:
    # An agent may put its own line before the answer.
    try:
        value, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
