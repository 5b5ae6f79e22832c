"""The official client libraries: a small driver in each lists and calls all tools, and one function judges what it saw."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from interop.calls import ARGUMENTS, BAD_ANSWER, BAD_ARGUMENTS, BAD_TOOL
from interop.processes import finished
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import Target

_DRIVERS = ROOT / "interop" / "clients"
_DRIVER_SECONDS = 90.0
_HANDSHAKE = "2025-11-25"
_STATELESS = "2026-07-28"


@dataclass(frozen=True)
class Library:
    """A client library: the command of its driver, and the revision that it must negotiate with the server."""

    driver: Callable[[Programs], list[Path]]
    revision: str
    mode: str = ""
    ways: tuple[str, ...] = ("http", "stdio")


def _python_v1(programs: Programs) -> list[Path]:
    return [programs.python_v1, _DRIVERS / "python_v1.py"]


def _python_v2(programs: Programs) -> list[Path]:
    return [programs.python_v2, _DRIVERS / "python_v2.py"]


def _typescript(programs: Programs) -> list[Path]:
    return [programs.node, _DRIVERS / "typescript.mjs"]


LIBRARIES = {
    "python-v1": Library(_python_v1, _HANDSHAKE),
    "python-v2-modern": Library(_python_v2, _STATELESS, mode="auto"),
    "python-v2-legacy": Library(_python_v2, _HANDSHAKE, mode="legacy"),
    "typescript": Library(_typescript, _HANDSHAKE, ways=("http", "stdio", "websocket")),
}


class Answer(Struct, frozen=True, rename="camel"):
    """What the library made of one call: a result, or the exception it raised."""

    tool: str
    exception: str = ""
    is_error: bool | None = None
    content: list[dict[str, Any]] = []
    structured_content: Any = None


class Seen(Struct, frozen=True, rename="camel"):
    """What a driver prints: the tools in order, the answer of each, and the answer to the bad call."""

    protocol_version: str
    tools: list[str]
    calls: list[Answer]
    bad: Answer


_SEEN = msgspec.json.Decoder(Seen)


async def run_library(library: Library, programs: Programs, target: Target) -> str:
    """Lets a library's driver list and call all tools, and judges what it saw."""
    bad = {"tool": BAD_TOOL, "arguments": BAD_ARGUMENTS}
    return judge(await seen_by(library, programs, target, ARGUMENTS, bad), library.revision)


async def seen_by(
    library: Library,
    programs: Programs,
    target: Target,
    arguments: Mapping[str, Mapping[str, Any]],
    bad: Mapping[str, Any],
) -> Seen:
    """What a library's driver sees that calls every tool: with these arguments, or else with none."""
    order = {
        "url": target.url,
        "command": target.command,
        "mode": library.mode,
        "packages": str(programs.packages),
        "arguments": arguments,
        "bad": bad,
    }
    end = await finished([*library.driver(programs), json.dumps(order)], seconds=_DRIVER_SECONDS)
    lines = end.stdout.splitlines()
    if end.code != 0 or not lines:
        raise Failed(f"the client failed\n{end.tail()}")
    return _SEEN.decode(lines[-1])


def judge(seen: Seen, revision: str) -> str:
    """A summary, if every tool answered as it should.

    Raises:
        Failed: otherwise.
    """
    problems = [f"{tool}: listed on one side only" for tool in {*ARGUMENTS} ^ {*seen.tools}]
    if seen.protocol_version != revision:
        problems.append(f"negotiated {seen.protocol_version}, expected {revision}")
    for call in seen.calls:
        if problem := _problem_of(call):
            problems.append(f"{call.tool}: {problem}")
    if problem := _problem_of_bad(seen.bad):
        problems.append(f"{BAD_TOOL} with a bad address: {problem}")
    if problems:
        raise Failed("\n".join(problems))
    return f"{revision}, {len(seen.tools)} tools listed and called"


def _problem_of(call: Answer) -> str:
    if call.exception:
        return call.exception
    if call.is_error is not False:
        return f"isError is {call.is_error}: {_shown(call.content)}"
    if [block.get("type") for block in call.content] != ["text"]:
        return f"content is not one text block: {_shown(call.content)}"
    try:
        value = json.loads(call.content[0]["text"])
    except ValueError:
        return f"the text is not JSON: {_shown(call.content)}"
    if not isinstance(value, dict) or value != call.structured_content:
        return f"text {_shown(value)} differs from structuredContent {_shown(call.structured_content)}"
    return ""


def _problem_of_bad(call: Answer) -> str:
    if call.exception:
        return call.exception
    texts = [block.get("text", "") for block in call.content]
    if call.is_error is not True or len(texts) != 1 or not texts[0].startswith(BAD_ANSWER):
        return f"isError is {call.is_error}, expected {BAD_ANSWER!r}, got {_shown(call.content)}"
    return ""


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:400]}…"
