"""A server that speaks one revision only, with something of everything that can cross a bridge."""

import asyncio
import json
import sys
from collections.abc import Mapping
from typing import Any

from qortal_mcp.limits import Limits
from qortal_mcp.protocol import errors, headers
from qortal_mcp.protocol.messages import (
    PROTOCOL_VERSION,
    AudioContent,
    ResourceLink,
    SamplingMessage,
    SamplingParams,
    TextContent,
)
from qortal_mcp.protocol.versions import MODERN
from qortal_mcp.server import (
    READ_ONLY,
    Context,
    Offer,
    Server,
    ServerOptions,
    ToolError,
    completer,
    elicit,
    prompt,
    resource,
    roots,
    tool,
)
from qortal_mcp.server import sample as ask_model
from qortal_mcp.server.batch import Batch
from qortal_mcp.server.peer import Peer
from qortal_mcp.server.reply import Reply, refusal
from qortal_mcp.server.work import Work

FORM = {"type": "object", "properties": {"value": {"type": "string"}}}


class Waiting:
    """How many calls of `wait` are running, and how often somebody asked."""

    def __init__(self) -> None:
        self.running = 0
        self.began = asyncio.Event()
        self.ended = asyncio.Event()


@tool("Add", annotations=READ_ONLY)
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@tool("Fail")
def fail() -> str:
    """Always fails."""
    raise ToolError("NOT_FOUND", "Nothing there.")


@tool("Count")
async def count(to: int, context: Context) -> int:
    """Counts and reports progress."""
    for number in range(1, to + 1):
        await context.progress(number, to, f"at {number}")
    return to


@tool("Wait")
async def wait(waiting: Waiting, context: Context) -> str:
    """Waits until it is cancelled."""
    waiting.running += 1
    waiting.began.set()
    try:
        await context.progress(1)
        await asyncio.Event().wait()
    finally:
        waiting.running -= 1
        waiting.ended.set()
    return "never"


@tool("Running")
def running(waiting: Waiting) -> int:
    """How many calls are waiting."""
    return waiting.running


@tool("Talk")
async def talk(context: Context) -> str:
    """Writes to the log."""
    await context.log("debug", "details")
    await context.log("warning", {"text": "careful"}, "talker")
    return "said"


@tool("Ask")
async def ask_name(context: Context) -> str:
    """Asks for a name, then for a colour."""
    name = await context.ask({"name": elicit("Your name?", FORM)})
    await context.progress(1)
    colour = await context.ask({"colour": elicit("Your colour?", FORM)})
    return f"{name['name'].content} {colour['colour'].content}"


@tool("Think")
async def think(context: Context) -> str:
    """Asks the client's model and its folders at once."""
    said = SamplingMessage(role="user", content=TextContent(text="hello"))
    answers = await context.ask(
        {"model": ask_model(SamplingParams(messages=[said], maxTokens=10)), "folders": roots()}
    )
    return f"{answers['model'].content['text']} in {answers['folders'].roots[0].uri}"


@tool("Touch")
def touch(context: Context) -> str:
    """Changes the note and the lists."""
    for kind in ("tools", "prompts", "resources"):
        context.server.hub.list_changed(kind)
    context.server.hub.resource_updated("test://note")
    return "touched"


@tool("Play")
def play() -> list[AudioContent | ResourceLink]:
    """Answers with kinds of content that are not in every revision."""
    return [AudioContent(data="AAAA", mimeType="audio/wav"), ResourceLink(uri="test://note", name="note")]


@resource("test://note")
def note() -> str:
    """A note."""
    return "noted"


@resource("test://ask")
async def questioning(context: Context) -> str:
    """Asks before it can be read."""
    answer = await context.ask({"name": elicit("Who reads?", FORM)})
    return str(answer["name"].content)


@prompt("Greet")
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}."


@completer("greet", "name")
def complete(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return [name for name in ("ann", "anton", "bert") if name.startswith(typed)]


class SingleEra(Server):
    """Knows nothing of the other revisions, as servers do that were written before or after them."""

    def __init__(self, revision: str, *, page_items: int = 4, renamed: str = "ask_name") -> None:
        """`renamed` is what it calls the tool that asks."""
        self.revision = revision
        self._renamed = renamed
        self.waiting = Waiting()
        # Every message that was received, by its method.
        self.received: list[dict[str, Any]] = []
        super().__init__(
            "single",
            "1.0",
            instructions=f"Speaks {revision}.",
            offer=Offer(
                tools=[add, fail, count, wait, running, talk, ask_name, think, touch, play],
                resources=[note, questioning],
                prompts=[greet],
                completers=[complete],
                provide=[self.waiting],
            ),
            options=ServerOptions(
                announces_changes=True,
                resource_updates=True,
                client_logging=True,
                limits=Limits(page_items=page_items),
            ),
        )

    def methods(self) -> list[str]:
        return [message["method"] for message in self.received if "method" in message]

    def receive(
        self, data: bytes, peer: Peer, http: headers.Mirrored | None = None
    ) -> Reply | Work | Batch | None:
        message = json.loads(data)
        self.received.append(message)
        params = message.get("params") or {}
        is_modern = PROTOCOL_VERSION in params.get("_meta", {})
        if "method" in message and "id" in message and is_modern is not (self.revision in MODERN):
            return refusal(errors.METHOD_NOT_FOUND, "Method not found", message["id"], 400)
        if message.get("method") == "initialize":
            params["protocolVersion"] = self.revision
            data = json.dumps(message).encode()
        if params.get("name") == self._renamed:
            data = json.dumps({**message, "params": {**params, "name": "ask_name"}}).encode()
        answer = super().receive(data, peer, http)
        if message.get("method") == "tools/list" and isinstance(answer, Reply):
            own = f'"name":{json.dumps(self._renamed)}'
            return Reply(answer.body.replace(b'"name":"ask_name"', own.encode()), answer.status)
        return answer


if __name__ == "__main__":
    from qortal_mcp.transports.run import run

    run(SingleEra(sys.argv[1]), sys.argv[2:], sessions=sys.argv[1] not in MODERN)
