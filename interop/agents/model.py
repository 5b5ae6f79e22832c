"""The scripted model: a server on loopback that plays the model provider for a real agent.

All it does: ask once for every call of the script, then close with a text. What the agent sends back as the output
of the calls is the evidence. The format that each agent uses is in its own file (codex.py, claude.py, gemini.py).
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

# The server's name in the agent's configuration.
SERVER_NAME = "qortal"
PROMPT = "Look at the chain."
LAST_WORDS = "The script ends here."


@dataclass(frozen=True)
class Call:
    """One call the model asks for. The id identifies its output."""

    id: str
    tool: str
    arguments: Mapping[str, Any]


@dataclass
class Transcript:
    """What an agent showed its model: the server's tools it offered, and the output of each call by its id."""

    script: Sequence[Call]
    offered: set[str] = field(default_factory=set)
    outputs: dict[str, str] = field(default_factory=dict)
    is_asked: bool = False

    def may_ask(self) -> bool:
        """True once: the script is run a single time, however the agent answers."""
        first, self.is_asked = not self.is_asked, True
        return first


def text_of(output: Any) -> str:
    """The output of a call as one text, whether it came as a text or as blocks."""
    if isinstance(output, str):
        return output
    return "\n".join(block.get("text", json.dumps(block)) for block in output)


def event_stream(events: Iterable[Mapping[str, Any]]) -> bytes:
    """Server-Sent Events, each named by its `type`."""
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events)


Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(routes: Mapping[str, Handler]) -> AsyncIterator[str]:
    """Serves the model's routes, each `"METHOD /path"`, on a free loopback port. Yields the origin."""
    app = web.Application(client_max_size=64 * 1024 * 1024)
    for route, handler in routes.items():
        method, path = route.split(" ")
        app.router.add_route(method, path, handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0, shutdown_timeout=1)
        await site.start()
        port = runner.addresses[0][1]
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()
