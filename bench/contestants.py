"""Who takes part: the command of every server, by the name it has in the tables."""

import contextlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.environments import PYTHON, install
from bench.lines import Lines, result
from bench.processes import HOME, LOAD_CORE, ROOT, SERVER_CORE, Child, Failed
from bench.wire import MODERN, call

OURS = "qortal-mcp"
BARE = "bare"
SDK = "SDK low-level"
FASTMCP = "FastMCP"
LOCAL_TOOL = "validate_address"
NODE_TOOL = "get_balance"

Command = list[str | Path]


@dataclass(frozen=True)
class Contestants:
    """The commands. `program` is ours, possibly another build; `fixtures` holds what it answered."""

    program: Path
    fixtures: Path
    sdk: Path
    fastmcp: Path

    def stdio(self) -> dict[str, Command]:
        return {
            BARE: [PYTHON, ROOT / "bench/servers/bare_stdio.py", self.fixtures],
            OURS: [self.program, "stdio", "--sample"],
            SDK: [self.sdk, "-m", "bench.servers.sdk", "stdio", self.fixtures],
            FASTMCP: [self.fastmcp, "-m", "bench.servers.fastmcp_server", "stdio", self.fixtures],
        }

    def ours(self, loop: str, *options: str) -> Command:
        """Our HTTP server. It uses uvloop if that is installed, so measuring without it means hiding it."""
        serve: Command = [self.program, "serve", "--listen", "127.0.0.1:0", *options]
        return serve if loop == "uvloop" else [PYTHON, "-m", "bench.servers.without_uvloop", *serve]

    def other(self, name: str, loop: str, *options: str) -> Command:
        """A server that ours is compared with."""
        python, module = {
            BARE: (PYTHON, "bare_http"),
            "bare + aiohttp": (PYTHON, "bare_node"),
            SDK: (self.sdk, "sdk"),
            FASTMCP: (self.fastmcp, "fastmcp_server"),
        }[name]
        return [
            python,
            "-m",
            f"bench.servers.{module}",
            "--loop",
            loop,
            "--fixtures",
            self.fixtures,
            *options,
        ]


def prepare(program: Path) -> Contestants:
    """Install what is missing, and record what our server answers. Raises: Failed."""
    if not program.exists():
        raise Failed(f"{program} does not exist")
    fixtures = HOME / "fixtures"
    fixtures.mkdir(parents=True, exist_ok=True)
    _record(program, fixtures)
    return Contestants(program, fixtures, install("sdk"), install("fastmcp"))


def _record(program: Path, fixtures: Path) -> None:
    with running("recording", [program, "stdio", "--sample"], pipes=True) as child:
        lines = Lines(child)
        replies = {"initialize": lines.greet(), "tools_list": lines.list_tools()}
        replies["tools_call"] = lines.ask(call(LOCAL_TOOL))
        modern = lines.ask(call(LOCAL_TOOL, revision=MODERN))
    if result(replies["tools_call"]).get("structuredContent") != {"isValid": True}:
        raise Failed(f"{LOCAL_TOOL} answered {replies['tools_call']!r}")
    _write(replies, fixtures)
    # The same with the answer of the modern era, which names the server.
    _write(replies | {"tools_call": modern}, fixtures / MODERN)


def _write(replies: dict[str, bytes], folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name, reply in replies.items():
        text = json.dumps(result(reply), separators=(",", ":"), ensure_ascii=False)
        (folder / f"{name}.json").write_text(text)


@contextlib.contextmanager
def running(name: str, command: Command, *, pipes: bool = False) -> Iterator[Child]:
    """A server on its own core, stopped when the block is left."""
    child = Child(name, command, core=SERVER_CORE, pipes=pipes)
    try:
        yield child
    finally:
        child.end()


@contextlib.contextmanager
def stub_node(delay_ms: float = 0) -> Iterator[Child]:
    """The stub node, until the block is left."""
    child = start_stub_node(delay_ms)
    try:
        yield child
    finally:
        child.end()


def start_stub_node(delay_ms: float = 0, port: int = 0) -> Child:
    """The stub node, on the core of the load generator."""
    command: Command = [
        PYTHON,
        "-m",
        "bench.servers.stub_node",
        "--delay-ms",
        str(delay_ms),
        "--port",
        str(port),
    ]
    return Child("stub node", command, core=LOAD_CORE)
