"""Servers that have the same names for different things, and clients of both eras in front of several of them."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Annotated, Any, cast

from msgspec import Meta
from tests.bridge.talking import Talker

from qortal_mcp import Context, Offer, Server, ServerOptions, completer, elicit, prompt, resource, tool
from qortal_mcp.bridge.bridge import Bridge
from qortal_mcp.bridge.gathered.gathering import Gathering
from qortal_mcp.bridge.gathered.limits import GatheredLimits
from qortal_mcp.bridge.gathered.member import Source
from qortal_mcp.protocol.messages import (
    Content,
    EmbeddedResource,
    PromptMessage,
    ResourceContents,
    ResourceLink,
    TextContent,
)
from qortal_mcp.server import READ_ONLY

Json = dict[str, Any]
MODERN: Json = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    "io.modelcontextprotocol/clientInfo": {"name": "talker", "version": "0"},
}
# Nothing is slow here but what is meant to be.
QUICK = GatheredLimits(
    handshake_seconds=0.3,
    list_seconds=0.3,
    notice_seconds=0.05,
    first_retry_seconds=0.05,
    longest_retry_seconds=0.2,
)
_OPTIONS = ServerOptions(client_logging=True, announces_changes=True, resource_updates=True)
_FORM = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
_Word = Annotated[str, Meta(description="Any word.")]


class Shelf(Server):
    """A server that says everywhere who it is."""

    def __init__(self, name: str, **more: Any) -> None:
        self.release = asyncio.Event()
        self.held = asyncio.Event()
        self.cancelled = 0

        @tool("Look", annotations=READ_ONLY)
        def look(word: _Word = "") -> str:
            """Looks at the shelf. Changes nothing."""
            return f"{name} looks at {word}"

        @tool("Write")
        def write(word: _Word) -> str:
            """Writes a word on the shelf."""
            return f"{name} wrote {word}"

        @tool("Hold")
        async def hold() -> str:
            """Waits until it is released."""
            self.held.set()
            try:
                await self.release.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
            return f"{name} let go"

        @tool("Report")
        async def report(ctx: Context) -> str:
            """Tells how far it is."""
            await ctx.progress(1, 2, name)
            await ctx.log("warning", f"{name} is half way", "shelf")
            await ctx.log("warning", f"{name} is done")
            return name

        @tool("Ask")
        async def ask(ctx: Context) -> str:
            """Asks the person."""
            answer = (await ctx.ask({"q": elicit(f"What does {name} need?", _FORM)}))["q"]
            return f"{name} got {answer.content['answer']}"

        @tool("Links")
        def links() -> list[Content]:
            """Shows links."""
            return [
                TextContent(text='a "resource" in a text: note://a'),
                ResourceLink(uri="note://a", name="a"),
                EmbeddedResource(resource=ResourceContents(uri="note://a", text=name)),
            ]

        @prompt("Greeting")
        def greet(who: _Word) -> list[PromptMessage]:
            """Greets somebody."""
            return [
                PromptMessage(role="user", content=TextContent(text=f"{name} greets {who}")),
                PromptMessage(
                    role="user",
                    content=EmbeddedResource(resource=ResourceContents(uri="note://a", text=name)),
                ),
            ]

        @resource("note://a", "Note")
        def note() -> str:
            """A note."""
            return f"note of {name}"

        @resource("note://b/{word}", "Notes")
        def notes(word: str) -> str:
            """A note for each word."""
            return f"{name} on {word}"

        @completer("greet", "who")
        def who(typed: str, chosen: Mapping[str, str]) -> list[str]:
            return [f"{name}-{typed}"]

        super().__init__(
            name,
            "1",
            instructions=f"This is {name}.",
            offer=Offer(
                tools=[look, write, hold, report, ask, links],
                prompts=[greet],
                resources=[note, notes],
                completers=[who],
            ),
            options=_OPTIONS,
            **more,
        )


def gathering(servers: Mapping[str, Source], **more: Any) -> Gathering:
    return Gathering(servers, ServerOptions(), **{"bounds": QUICK, **more})


class Client(Talker):
    """A legacy client; with `is_modern` one that shakes no hands."""

    def __init__(self, front: Gathering, *, is_modern: bool = False) -> None:
        super().__init__(cast(Bridge, front))
        self.is_modern = is_modern

    async def start(self, method: str, params: Json | None = None, id_: Any = None) -> asyncio.Future[Json]:
        if self.is_modern:
            params = {**(params or {}), "_meta": {**MODERN, **(params or {}).get("_meta", {})}}
        return await super().start(method, params, id_)

    async def names(self, method: str, member: str, of: str = "name") -> list[str]:
        return [item[of] for item in (await self.ask(method))["result"][member]]


@contextlib.asynccontextmanager
async def fronted(
    front: Gathering,
    *,
    is_modern: bool = False,
    capabilities: Json | None = None,
    revision: str = "2025-06-18",
) -> AsyncIterator[Client]:
    """A client of a front. It has shaken hands if its era does."""
    client = Client(front, is_modern=is_modern)
    try:
        if not is_modern:
            answer = await client.open(
                {"elicitation": {}} if capabilities is None else capabilities, revision
            )
            assert "result" in answer, answer
        yield client
    finally:
        await client.close()
        await front.shut()
