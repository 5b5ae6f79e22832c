"""A server with a bit of everything: in this process, or run as a program on stdio or HTTP."""

import asyncio
import sys

from qortal_mcp.protocol.messages import SamplingMessage, SamplingParams, TextContent
from qortal_mcp.server import (
    Context,
    Offer,
    Server,
    ServerOptions,
    ToolError,
    elicit,
    prompt,
    resource,
    roots,
    tool,
)
from qortal_mcp.server import sample as ask_model


class Waiting:
    """How many calls of `wait` are running."""

    def __init__(self) -> None:
        self.running = 0


@tool("Add")
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
    try:
        await context.progress(1)
        await asyncio.Event().wait()
    finally:
        waiting.running -= 1
    return "never"


@tool("Waiting")
def how_many_wait(waiting: Waiting) -> int:
    """How many calls are waiting."""
    return waiting.running


@tool("Ask")
async def ask_name(context: Context) -> str:
    """Asks for a name, then for a colour."""
    form = {"type": "object", "properties": {"value": {"type": "string"}}}
    name = await context.ask({"name": elicit("Your name?", form)})
    colour = await context.ask({"colour": elicit("Your colour?", form)})
    return f"{name['name'].content} {colour['colour'].content}"


@tool("Think")
async def think(context: Context) -> str:
    """Asks the client's model and its folders at once."""
    said = SamplingMessage(role="user", content=TextContent(text="hello"))
    answers = await context.ask(
        {"model": ask_model(SamplingParams(messages=[said], maxTokens=10)), "folders": roots()}
    )
    return f"{answers['model'].content['text']} in {answers['folders'].roots[0].uri}"


@tool(
    "Look up",
    input_schema={
        "type": "object",
        "properties": {"city": {"type": "string", "x-mcp-header": "City", "description": "A city."}},
    },
)
def look_up(city: str) -> str:
    """Looks up a city; its name is also sent in a header."""
    return f"found {city}"


@resource("test://note")
def note() -> str:
    """A note."""
    return "noted"


@prompt("Greet")
def greet(name: str) -> str:
    """Greets somebody."""
    return f"Greet {name}."


def make() -> Server:
    return Server(
        "everything",
        "1.0",
        instructions="Use it for tests.",
        offer=Offer(
            tools=[add, fail, count, wait, how_many_wait, ask_name, think, look_up],
            resources=[note],
            prompts=[greet],
            provide=[Waiting()],
        ),
        options=ServerOptions(announces_changes=True, resource_updates=True),
    )


if __name__ == "__main__":
    from qortal_mcp.transports.run import run

    arguments = sys.argv[1:]
    run(make(), [a for a in arguments if a != "--sessions"], sessions="--sessions" in arguments)
