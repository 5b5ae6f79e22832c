"""A server that talks while it works, on the official Python SDK, 1.x, which has a handshake: `stdio` or `http`."""

import sys

from mcp.server.fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent
from offer import listen
from pydantic import BaseModel
from talks import LOG_TEXT, NOTE, NOTE_TEXT, PLAIN_TOOLS, PROMPT, QUESTION, counted, wait_for_ever

mcp = FastMCP("python-v1", log_level="WARNING")
for function in PLAIN_TOOLS:
    mcp.tool(structured_output=False)(function)


class Person(BaseModel):
    name: str


@mcp.tool(structured_output=False)
async def count(ctx: Context) -> str:
    """Count to two."""
    return await counted(ctx.report_progress)


@mcp.tool(structured_output=False)
async def wait(ctx: Context) -> str:
    """Wait until cancelled."""
    await ctx.report_progress(0)
    await wait_for_ever()


@mcp.tool(structured_output=False)
async def log(ctx: Context) -> str:
    """Send a log message."""
    await ctx.warning(LOG_TEXT)
    return "logged"


@mcp.tool(structured_output=False)
async def ask_name(ctx: Context) -> str:
    """Ask the person for a name."""
    answer = await ctx.elicit(QUESTION, Person)
    return f"Hello, {answer.data.name}!" if answer.action == "accept" else answer.action


@mcp.tool(structured_output=False)
async def ask_model(ctx: Context) -> str:
    """Ask the client's model."""
    question = SamplingMessage(role="user", content=TextContent(type="text", text=PROMPT))
    answer = await ctx.session.create_message([question], max_tokens=100, related_request_id=ctx.request_id)
    return f"The model says {answer.content.text}"


@mcp.tool(structured_output=False)
async def ask_roots(ctx: Context) -> str:
    """Ask for the client's folders."""
    return " ".join(str(root.uri) for root in (await ctx.session.list_roots()).roots)


@mcp.resource(NOTE)
def note() -> str:
    """A note."""
    return NOTE_TEXT


if sys.argv[1] == "http":
    listen(mcp.streamable_http_app())
else:
    mcp.run()
