"""A server that talks while it works, on the official Python SDK, 2.x, and speaks only 2026-07-28: `stdio` or `http`."""

import sys

from mcp import MCPError
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)
from offer import listen
from talks import (
    LOG_TEXT,
    NAME_SCHEMA,
    NOTE,
    NOTE_TEXT,
    PLAIN_TOOLS,
    PROMPT,
    QUESTION,
    counted,
    wait_for_ever,
)


async def without_handshake(ctx, call_next):
    """The SDK serves both eras; this leaves the newest alone."""
    if ctx.method == "initialize":
        data = {"supported": ["2026-07-28"], "requested": ctx.params["protocolVersion"]}
        raise MCPError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data)
    return await call_next(ctx)


mcp = MCPServer("python-v2", version="1", log_level="WARNING", middleware=[without_handshake])
for function in PLAIN_TOOLS:
    mcp.tool(structured_output=False)(function)


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
async def touch(ctx: Context) -> str:
    """Say that the note has changed."""
    await ctx.notify_resource_updated(NOTE)
    return "touched"


def asked(ctx, request):
    """The client's answer, or else what to return so that it is asked."""
    if ctx.input_responses:
        return ctx.input_responses["question"], None
    return None, InputRequiredResult(input_requests={"question": request})


@mcp.tool(structured_output=False)
async def ask_name(ctx: Context) -> str | InputRequiredResult:
    """Ask the person for a name."""
    params = ElicitRequestFormParams(message=QUESTION, requested_schema=NAME_SCHEMA)
    answer, question = asked(ctx, ElicitRequest(params=params))
    if question:
        return question
    return f"Hello, {answer.content['name']}!" if answer.action == "accept" else answer.action


@mcp.tool(structured_output=False)
async def ask_model(ctx: Context) -> str | InputRequiredResult:
    """Ask the client's model."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=PROMPT))
    params = CreateMessageRequestParams(messages=[message], max_tokens=100)
    answer, question = asked(ctx, CreateMessageRequest(params=params))
    return question or f"The model says {answer.content.text}"


@mcp.tool(structured_output=False)
async def ask_roots(ctx: Context) -> str | InputRequiredResult:
    """Ask for the client's folders."""
    answer, question = asked(ctx, ListRootsRequest())
    return question or " ".join(str(root.uri) for root in answer.roots)


@mcp.resource(NOTE)
def note() -> str:
    """A note."""
    return NOTE_TEXT


if sys.argv[1] == "http":
    listen(mcp.streamable_http_app())
else:
    mcp.run()
