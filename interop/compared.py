"""What crosses the bridge and what crosses mcp-proxy, in a table: `python -m interop.compared`.

Both stand in front of a program on stdio and are reached over HTTP, which is what mcp-proxy can do. No part of scripts/interop: it says
nothing about us that the checks do not, and mcp-proxy comes from bench/servers/package.json.
"""

import asyncio
import itertools
import socket
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from pathlib import Path

from bench.environments import install_npm

from interop import eras
from interop.processes import ChildFailed, started
from interop.programs import Programs, install
from interop.runner import Failed
from interop.servers import Target

_START_SECONDS = 20.0
_POLL_SECONDS = 0.05
# Of one library, so that nothing differs but the eras.
_CLIENTS = {eras.LEGACY: "typescript-v2-legacy", eras.MODERN: "typescript-v2-modern"}
_SERVERS = {eras.LEGACY: "typescript-v1", eras.MODERN: "typescript-v2"}

# A proxy in front of a server.
_Proxy = Callable[[Target], AbstractAsyncContextManager[Target]]


def _bridge(behind: Target) -> AbstractAsyncContextManager[Target]:
    return eras.bridged(behind, "http")


def _mcp_proxy(node: Path, packages: Path) -> _Proxy:
    @asynccontextmanager
    async def proxied(behind: Target) -> AsyncIterator[Target]:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        options = ("--upstreamProtocol", "auto", "--host", "127.0.0.1", "--port", str(port))
        script = packages / "mcp-proxy/dist/bin/mcp-proxy.mjs"
        async with started([node, script, *options, "--", *behind.command]):
            await _listens(port)
            yield Target(url=f"http://127.0.0.1:{port}/mcp")

    return proxied


async def _listens(port: int) -> None:
    for _ in range(round(_START_SECONDS / _POLL_SECONDS)):
        with suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(_POLL_SECONDS)
    raise ChildFailed(f"nobody listens on port {port}")


async def _column(proxy: _Proxy, front: str, behind: str, programs: Programs) -> Mapping[str, str]:
    """What is wrong with each step; empty if it crosses."""
    place = eras.Place(_SERVERS[behind], "stdio")
    try:
        async with eras.opened(place, programs) as server, proxy(server) as target:
            seen = await eras.visited(eras.CLIENTS[_CLIENTS[front]], programs, target, eras.STEPS)
    except (Failed, ChildFailed) as exc:
        return dict.fromkeys(eras.STEPS, str(exc))
    return eras.crossed(seen, eras.STEPS)


async def main() -> None:
    """Prints the table, and on standard error why something does not cross."""
    programs = await install()
    proxies = {"bridge": _bridge, "mcp-proxy": _mcp_proxy(programs.node, install_npm()[1])}
    pairs = list(itertools.product(_CLIENTS, _SERVERS))
    columns = {
        (name, front, behind): await _column(proxy, front, behind, programs)
        for front, behind in pairs
        for name, proxy in proxies.items()
    }
    print("| " + " | ".join(["", *(f"{name}: {front} → {behind}" for name, front, behind in columns)]) + " |")
    print("| --- " * (len(columns) + 1) + "|")
    for step in eras.STEPS:
        print(
            f"| {step} | " + " | ".join("no" if found[step] else "yes" for found in columns.values()) + " |"
        )
    for (name, front, behind), found in columns.items():
        for step, problem in found.items():
            if problem:
                print(f"{name}, {front} → {behind}, {step}: {problem}", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
