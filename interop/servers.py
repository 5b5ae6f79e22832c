"""Our side: the servers that other people's programs connect to."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from interop.processes import started
from interop.programs import ROOT

_BIN = ROOT / ".venv" / "bin"
PYTHON = _BIN / "python"
PROGRAM = _BIN / "qortal-mcp"
_ANY_PORT = "127.0.0.1:0"
# Every tool there is, those that are off by default too.
SAMPLE = ("--sample", "--toolsets", "all")
_LISTENING = "Listening on "
# It takes a tenth of a second, but longer on a busy machine.
_START_SECONDS = 20.0


@dataclass(frozen=True)
class Target:
    """A server as named in a client's configuration: an address, or else a command to talk to over its pipes."""

    url: str = ""
    command: tuple[str, ...] = ()

    @property
    def is_none(self) -> bool:
        """The client is set up by other means."""
        return not self.url and not self.command


@asynccontextmanager
async def everything() -> AsyncIterator[Target]:
    """The example that offers everything the conformance suite can ask for."""
    async with listening(str(PYTHON), "examples/everything.py") as target:
        yield target


@asynccontextmanager
async def sample_over_http() -> AsyncIterator[Target]:
    """The real server on the sample chain, at an address."""
    async with listening(str(PROGRAM), "serve", *SAMPLE) as target:
        yield target


@asynccontextmanager
async def sample_over_websocket() -> AsyncIterator[Target]:
    """The same, at its WebSocket address."""
    async with sample_over_http() as target:
        yield websocket_of(target)


def websocket_of(target: Target) -> Target:
    """The WebSocket address of a program of ours that listens."""
    return Target(url=target.url.replace("http://", "ws://").removesuffix("/mcp") + "/ws")


@asynccontextmanager
async def sample_over_stdio() -> AsyncIterator[Target]:
    """The real server on the sample chain, for the client to start."""
    yield Target(command=(str(PROGRAM), "stdio", *SAMPLE))


@asynccontextmanager
async def listening(*command: str, env: Mapping[str, str] | None = None) -> AsyncIterator[Target]:
    """A command of ours that listens on a free port."""
    async with started([*command, "--listen", _ANY_PORT], env=env, cwd=ROOT) as child:
        yield Target(url=await child.line(_LISTENING, _START_SECONDS))


OpenServer = Callable[[], AbstractAsyncContextManager[Target]]

# How to reach the real server, by the last word of a check's name.
SERVERS: dict[str, OpenServer] = {
    "http": sample_over_http,
    "stdio": sample_over_stdio,
    "websocket": sample_over_websocket,
}
