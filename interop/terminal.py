"""`qortal-mcp tools`, `call`, `read`, `prompt` and `complete` with other people's servers, as a person types them."""

import json
import shlex
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from interop.foreign import FOREIGN, Visited
from interop.processes import Finished, finished
from interop.programs import Programs
from interop.runner import Failed
from interop.servers import PROGRAM

_SECONDS = 60.0


@dataclass(frozen=True)
class Typed:
    """One command line without the server, and what has to be seen then."""

    words: Sequence[str]
    shows: str
    code: int = 0


@dataclass(frozen=True)
class Visit:
    """What is asked of a server besides its tools. A call without words is the first of those that the server has."""

    server: str
    shows: str
    more: Sequence[Typed] = ()


_OFFER = Typed(("call", "fail"), "", 1)
VISITS: Mapping[str, Visit] = {
    "everything": Visit(
        "reference-everything-stdio",
        "Echo: hello",
        (
            Typed(("call", "get-sum", "a=1", "b=2"), "3"),
            Typed(("call", "get-structured-content", "location=Chicago"), "temperature"),
            Typed(("call", "get-tiny-image"), "image/png, "),
            Typed(("read",), "demo://resource/dynamic/text/{resourceId}"),
            Typed(("read", "demo://resource/dynamic/text/1"), "Resource 1"),
            Typed(("read", "demo://resource/dynamic/blob/1"), " bytes; --output FILE saves it"),
            Typed(("prompt",), "simple-prompt"),
            Typed(("prompt", "args-prompt", "city=Oslo"), "Oslo"),
            Typed(("complete", "prompt", "completable-prompt", "department", "E"), "Engineering"),
            Typed(("read", "demo://none"), "", 1),
        ),
    ),
    "everything-http": Visit(
        "reference-everything-http", "Echo: hello", (Typed(("prompt", "simple-prompt"), "user"),)
    ),
    "memory": Visit("reference-memory", "Ada", (Typed(("prompt",), "offers no prompts"),)),
    "filesystem": Visit("reference-filesystem", "one", (Typed(("read",), "offers no resources"),)),
    "sequential-thinking": Visit("reference-sequential-thinking", "thoughtNumber"),
    "time": Visit("reference-time", "Europe/Berlin"),
    "git": Visit("reference-git", "On branch main"),
    "fetch": Visit("reference-fetch", '"a": 1', (Typed(("prompt",), "fetch url"),)),
    "fastmcp": Visit("fastmcp-stdio", "", (_OFFER, Typed(("call", "add", "numbers=[1,2]"), "3"))),
    "python-v1": Visit("python-v1-http", "", (_OFFER, Typed(("call", "add", "numbers=[1,2]"), "3"))),
    "python-v2": Visit("python-v2-stdio", "", (_OFFER, Typed(("call", "get_text"), "hello"))),
    "typescript-v1": Visit("typescript-v1-stdio", "", (_OFFER, Typed(("call", "get_list"), "two"))),
    "typescript-v2": Visit("typescript-v2-http", "", (_OFFER, Typed(("call", "get_object"), "b"))),
}


async def run_terminal(visit: Visit, programs: Programs) -> str:
    """Every command of a visit, each in a process of its own, and with a new one of the server's."""
    with tempfile.TemporaryDirectory(prefix="interop-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        async with FOREIGN[visit.server](programs, folder) as visited:
            person = _Person(visited, folder)
            tools = json.loads((await person.types(Typed(("tools", "--json"), '"tools"'))).stdout)["tools"]
            await person.types(Typed(("tools",), f"({len(tools)} tool"))
            await person.types(Typed(("tools", "--tokens"), f"total of {len(tools)}"))
            for tool in tools:
                await person.types(Typed(("tools", tool["name"]), tool["name"]))
            for call, arguments in visited.calls[:1]:
                await person.types(Typed(("call", call, *_words(arguments)), visit.shows))
            for typed in visit.more:
                await person.types(typed)
    return f"{len(tools)} tools shown, {person.commands} commands typed"


def _words(arguments: Mapping[str, Any]) -> list[str]:
    return [
        f"{name}={value if isinstance(value, str) else json.dumps(value)}"
        for name, value in arguments.items()
    ]


class _Person:
    def __init__(self, visited: Visited, folder: Path) -> None:
        self._target = visited.target.url or shlex.join(visited.target.command)
        self._env = {**visited.env, "PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
        self._passed = [word for name in visited.env for word in ("--env", name)]
        self._folder = folder
        self.commands = 0

    async def types(self, typed: Typed) -> Finished:
        command: list[str | Path] = [PROGRAM, *typed.words, *self._passed, "--server", self._target]
        end = await finished(command, seconds=_SECONDS, env=self._env, cwd=self._folder)
        self.commands += 1
        line = shlex.join(typed.words)
        if end.code != typed.code or typed.shows not in end.stdout or "Traceback" in end.stderr:
            raise Failed(f"`{line}` does not show {typed.shows!r} with exit code {typed.code}\n{end.tail()}")
        if typed.code and not end.stderr.startswith("qortal-mcp: "):
            raise Failed(f"`{line}` fails without a line of ours\n{end.tail()}")
        return end
