"""How many broken servers an official client can use: directly, and through `qortal-mcp bridge --repair all`.

The servers are those of tests/audit/cases.py that have a repair; `broken_servers.toml` says what each must give.
Usable means that the tools can be listed and that a call gives the tool's answer, or isError if there is none.
"""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from interop.processes import finished
from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import PROGRAM, PYTHON

_DRIVERS = ROOT / "interop" / "clients"
_CHILD = ROOT / "tests" / "audit" / "child.py"
_ALL_SECONDS = 300.0
# A server that never answers is given up after this: directly by the client, else by the bridge. Others need less,
# but one of them starts only after three seconds.
_CALL_SECONDS = 5.0
_PATIENT_SECONDS = 30.0
# Each bridge is a process that takes a third of a second to start; the servers themselves cost little.
_BRIDGES_AT_ONCE = 6
_SERVERS_AT_ONCE = 12


@dataclass(frozen=True)
class Expected:
    """What a call must give: a part of the answer, and whether it is a failure."""

    part: str
    fails: bool


# The broken servers by name.
Broken = Mapping[str, Expected]


class Seen(Struct, frozen=True):
    """What the client got from one server."""

    tools: list[str] = []
    answer: dict[str, Any] | None = None
    exception: str = ""


def broken_servers() -> Broken:
    """Reads `broken_servers.toml`."""
    rows = tomllib.loads((ROOT / "interop" / "broken_servers.toml").read_text(encoding="utf-8"))
    return {
        name: Expected(part, fails)
        for table, fails in (("answers", False), ("failures", True))
        for part, names in rows[table].items()
        for name in names
    }


@dataclass(frozen=True)
class Client:
    """An official client: the command of its driver, and the mode of those that have several."""

    driver: Callable[[Programs], list[Path]]
    mode: str = ""


CLIENTS = {
    "python-v1": Client(lambda programs: [programs.python_v1, _DRIVERS / "usable.py"]),
    # Its default: it asks for 2026-07-28 first, and gets it from the bridge.
    "python-v2": Client(lambda programs: [programs.python_v2, _DRIVERS / "usable.py"], mode="auto"),
    "typescript": Client(lambda programs: [programs.node, _DRIVERS / "usable.mjs"]),
}


async def run_usable(client: Client, programs: Programs) -> str:
    """Lets one client try all servers in both ways. It fails if one is not usable through the bridge."""
    broken = broken_servers()
    command = client.driver(programs)
    order = {"mode": client.mode, "packages": str(programs.packages)}
    direct = {name: (PYTHON, _CHILD, name) for name in broken}
    bridge = (PROGRAM, "bridge", "--repair", "all", "--timeout", _CALL_SECONDS, "--")
    bridged = {name: (*bridge, *words) for name, words in direct.items()}
    return judge(
        broken,
        await _tried(command, {**order, "parallel": _SERVERS_AT_ONCE, "seconds": _CALL_SECONDS}, direct),
        await _tried(command, {**order, "parallel": _BRIDGES_AT_ONCE, "seconds": _PATIENT_SECONDS}, bridged),
    )


async def _tried(
    command: Sequence[Path], order: Mapping[str, Any], servers: Mapping[str, Sequence[Any]]
) -> dict[str, Seen]:
    rows = [[name, *map(str, words)] for name, words in servers.items()]
    end = await finished([*command, json.dumps({**order, "servers": rows})], seconds=_ALL_SECONDS)
    lines = end.stdout.splitlines()
    if end.code != 0 or not lines:
        raise Failed(f"the client failed\n{end.tail()}")
    # Not msgspec: what a client got directly may hold half a surrogate pair.
    return msgspec.convert(json.loads(lines[-1]), dict[str, Seen])


def judge(broken: Broken, direct: Mapping[str, Seen], bridged: Mapping[str, Seen]) -> str:
    """Both numbers, if all servers are usable through the bridge.

    Raises:
        Failed: otherwise.
    """
    directly = [name for name, expected in broken.items() if not problem_of(direct[name], expected)]
    problems = [
        f"{name}: {problem}"
        for name, expected in broken.items()
        if (problem := problem_of(bridged[name], expected))
    ]
    usable = len(broken) - len(problems)
    seen = f"{len(directly)} of {len(broken)} usable directly, {usable} through the bridge"
    if problems:
        raise Failed("\n".join([seen, *problems]))
    return seen


def problem_of(seen: Seen, expected: Expected) -> str:
    """Why a server is not usable; empty if it is."""
    if seen.answer is None:
        return seen.exception or "no answer"
    shown = {name: part for name, part in seen.answer.items() if name != "_meta"}
    # Quotes inside a text are escaped once more than the same ones in structured content.
    text = json.dumps(shown, separators=(",", ":")).replace("\\", "")
    if expected.part not in text:
        return f"no {expected.part!r} in {text[:300]}"
    if seen.answer.get("isError", False) is not expected.fails:
        return f"isError should be {str(expected.fails).lower()}: {text[:300]}"
    return ""
