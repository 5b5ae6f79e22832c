"""`qortal-mcp ask` with the tools of other people's servers: a scripted model calls each, and sees what it returned."""

import json
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aiohttp import web

from interop.agents.model import serving
from interop.foreign import FOREIGN, Foreign
from interop.processes import bare_environment, finished
from interop.programs import Programs
from interop.runner import Failed
from interop.servers import PROGRAM

# Servers that offer the tools of interop/servers/offer.py or offer.mjs.
ASKED: Mapping[str, Foreign] = {
    name: server
    for name, server in FOREIGN.items()
    if name.startswith(("python-", "typescript-", "fastmcp-"))
}
_SECONDS = 60.0
_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {"add": {"numbers": [1, 2]}}
# What a model must find in the result of each tool.
_EXPECTED = {
    "add": '"total":3',
    "get_object": '"b":2',
    "get_list": "two",
    "get_text": "hello",
    "get_number": "5",
}
_FAILS = "fail"
_ANSWER = "`add` says that the total is 3."


async def run_asked(server: Foreign, programs: Programs) -> str:
    """Asks a question of which the answer needs every tool of a server."""
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with (
            server(programs, folder) as visited,
            serving({"POST /v1/chat/completions": _complete}) as origin,
        ):
            target = visited.target.url or shlex.join(visited.target.command)
            env = {
                **bare_environment(folder),
                "OPENAI_BASE_URL": f"{origin}/v1",
                "OPENAI_MODEL": "scripted",
            }
            command: list[str | Path] = [PROGRAM, "ask", "--json", "--server", target, "Call every tool."]
            end = await finished(command, seconds=_SECONDS, env=env, cwd=folder)
    if end.code != 0:
        raise Failed(f"the question was not answered\n{end.tail()}")
    return _judge(json.loads(end.stdout))


async def _complete(request: web.Request) -> web.StreamResponse:
    """The model: calls what it is offered, then answers."""
    body = await request.json()
    given = [message["content"] for message in body["messages"] if message["role"] == "tool"]
    message: dict[str, Any] = {"role": "assistant", "content": _ANSWER if given else ""}
    if not given:
        names = [tool["function"]["name"] for tool in body["tools"]]
        message["tool_calls"] = [
            {
                "id": f"call_{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(_ARGUMENTS.get(name, {}))},
            }
            for number, name in enumerate(names)
        ]
    finish = "stop" if given else "tool_calls"
    return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": finish}]})


def _judge(run: Mapping[str, Any]) -> str:
    calls = {call["tool"]: call for call in run["calls"]}
    problems = [f"not offered: {tool}" for tool in (*_EXPECTED, _FAILS) if tool not in calls]
    for tool, call in calls.items():
        if tool in _EXPECTED and _EXPECTED[tool] not in call["text"]:
            problems.append(f"{tool} gave {call['text'][:200]!r}")
        if call["ok"] == (tool == _FAILS):
            problems.append(f"{tool} is {'ok' if call['ok'] else 'an error'}")
        problems += [f"{tool}: {warning}" for warning in call.get("warnings", ())]
    if run["grounding"]["notFromATool"]:
        problems.append(f"not from a tool: {run['grounding']['notFromATool']}")
    if problems:
        raise Failed("\n".join(problems))
    return f"{len(calls)} tools offered and called"
