"""The same small server on this library and on FastMCP: what both answer, and what each of them takes."""

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from interop.programs import ROOT, Programs
from interop.runner import Failed
from interop.servers import PYTHON
from qortal_mcp.client import Client, Options, connect

HERE = ROOT / "interop" / "library"
OURS, THEIRS = HERE / "shelf.py", HERE / "shelf_on_fastmcp.py"
_ROUNDS = 5
_CALLS = 1000


@dataclass(frozen=True)
class Taken:
    """What a server takes: lines of code, time and CPU until its tools are listed, and CPU of a call."""

    lines: int
    start_ms: float
    start_cpu_ms: float
    call_cpu_us: float

    def __str__(self) -> str:
        return (
            f"{self.lines} lines, {self.start_ms:.0f} ms to tools/list ({self.start_cpu_ms:.0f} ms of CPU), "
            f"{self.call_cpu_us:.0f} µs of CPU per call"
        )


async def run_shelves(programs: Programs) -> str:
    """Both give the same answers; the line says what each takes."""
    ours = await _measured(PYTHON, OURS)
    theirs = await _measured(programs.python_servers, THEIRS)
    return f"here {ours}; FastMCP {theirs}"


async def _measured(python: Path, script: Path) -> Taken:
    command = [str(python), str(script)]
    walls, cpus = [], []
    await _visit(command, 0)  # the first start reads files from disk
    for _ in range(_ROUNDS):
        wall, cpu = await _visit(command, 0)
        walls.append(wall)
        cpus.append(cpu)
    _, cpu = await _visit(command, _CALLS)
    call = (cpu - median(cpus)) / _CALLS
    return Taken(lines_of(script), median(walls) * 1000, median(cpus) * 1000, call * 1e6)


def lines_of(script: Path) -> int:
    """Lines of code, without the empty ones."""
    return sum(bool(line.strip()) for line in script.read_text().splitlines())


async def _visit(command: Sequence[str], calls: int) -> tuple[float, float]:
    """Seconds until the tools were listed, and seconds of CPU of the whole process."""
    before, began = _cpu_of_children(), time.perf_counter()
    async with connect(
        command, revision="2025-11-25", options=Options(on_stderr=lambda data: None)
    ) as client:
        listed = await client.list_tools()
        seconds = time.perf_counter() - began
        if [each.name for each in listed.items] != ["get_book", "list_books"]:
            raise Failed(f"{command[-1]} lists {[each.name for each in listed.items]}")
        for _ in range(calls):
            emma = await client.call_tool("get_book", {"title": "Emma"})
            if emma.structured != {"title": "Emma", "year": 1815}:
                raise Failed(f"{command[-1]} answered {emma.structured}")
        if calls:
            await _judge(command[-1], client)
    return seconds, _cpu_of_children() - before


async def _judge(name: str, client: Client) -> None:
    late = await client.call_tool("list_books", {"after": 1850})
    missing = await client.call_tool("get_book", {"title": "Ulysses"})
    read = await client.read_resource("shelf://books/Emma")
    asked = await client.get_prompt("recommend", {"mood": "sea"})
    seen = (
        late.structured,
        missing.is_error,
        missing.text,
        read.contents[0].text,
        getattr(asked.messages[0].content, "text", ""),
    )
    expected = (
        {"result": [{"title": "Dracula", "year": 1897}]},
        True,
        "Book not found. On the shelf: Emma, Dracula.",
        "1815",
        "Recommend one book of this shelf to somebody in the mood for sea.",
    )
    if seen != expected:
        raise Failed(f"{name} answered {seen}")


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
