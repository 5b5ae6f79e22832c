"""Real agents with a scripted model: how they are run, and what they showed the model."""

import json
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from interop.agents import claude, codex, gemini
from interop.agents.model import LAST_WORDS, Call, Handler, Transcript, serving
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
    # The level of repairs that it needs of a bridge.
    repair: str = "safe"
    # What is checked in its home once it has ended; raises Failed.
    after: Callable[[Path, Mapping[str, str]], None] | None = None


_CODEX = Agent(lambda programs: programs.codex, codex.command, codex.prepare, codex.routes)
AGENTS = {
    "codex": _CODEX,
    # Only results of 2026-07-28 carry the server's name, so the mark proves which revision was used.
    "codex-modern": replace(_CODEX, prepare=codex.prepare_modern, mark="io.modelcontextprotocol/serverInfo"),
    "claude": Agent(lambda programs: programs.claude, claude.command, claude.prepare, claude.routes),
    "gemini": Agent(
        lambda programs: programs.gemini,
        gemini.command,
        gemini.prepare,
        gemini.routes,
        # It reads the text of a failure as structured content if it is JSON, which is then held against the schema.
        repair="all",
    ),
}


@dataclass(frozen=True)
class Run:
    """What an agent showed its model, and how it ended."""

    transcript: Transcript
    end: Finished
    mark: str = ""

    def problems(self, tools: Iterable[str]) -> list[str]:
        """What is wrong whatever the script was: these tools are not all offered, or the agent did not end well."""
        problems = [
            f"{tool}: not offered to the model" for tool in tools if tool not in self.transcript.offered
        ]
        if self.end.code != 0:
            problems.append("the agent failed")
        wanted = (LAST_WORDS, self.mark)
        return [
            *problems,
            *(
                f"the agent's report does not contain {words!r}"
                for words in wanted
                if words not in self.end.stdout
            ),
        ]

    def output(self, call: Call) -> str:
        """What the model was shown as the output of a call."""
        return self.transcript.outputs.get(call.id, "")

    def judged(self, problems: Iterable[str]) -> str:
        """A summary, if there are no problems.

        Raises:
            Failed: otherwise.
        """
        if problems := list(problems):
            raise Failed("\n".join([*problems, self.end.tail()]))
        return f"{len(self.transcript.offered)} tools offered, {len(self.transcript.script)} calls answered"


async def run_agent(agent: Agent, programs: Programs, target: Target, script: Sequence[Call]) -> Run:
    """Lets an agent follow a script with this server, in a fresh home."""
    transcript = Transcript(script)
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        async with serving(agent.routes(transcript)) as model:
            variables = agent.prepare(home, model, target)
            env = {**bare_environment(home), **_NO_WAY_OUT, **variables}
            command = [*agent.program(programs), *agent.command(home)]
            end = await finished(command, seconds=_AGENT_SECONDS, env=env, cwd=home)
        if agent.after is not None:
            agent.after(home, env)
    return Run(transcript, end, agent.mark)


def object_in(output: str) -> dict[str, Any]:
    """The first object in an output; an agent may put its own line before it."""
    try:
        value, _ = json.JSONDecoder().raw_decode(output, output.index("{"))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
