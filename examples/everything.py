"""Every feature of the protocol once, under the names that the official conformance suite looks for.

Start it with `examples/everything.py --listen HOST:PORT`: HTTP with sessions and stored events, both eras.
"""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta

from qortal_mcp import (
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
    run,
    sample,
    tool,
)
from qortal_mcp.protocol.messages import (
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    ResourceContents,
    SamplingMessage,
    SamplingParams,
    TextContent,
)
from qortal_mcp.server import Question

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data\0\0\0\0"
).decode()
IMAGE = ImageContent(data=PNG, mimeType="image/png")


def text(value: str) -> TextContent:
    return TextContent(text=value)


def form(message: str, required: list[str] | None = None, **properties: dict[str, Any]) -> Question:
    schema = {"type": "object", "properties": properties, "required": required or []}
    return elicit(message, schema)


def ask_model(question: str) -> Question:
    message = SamplingMessage(role="user", content=text(question))
    return sample(SamplingParams(messages=[message], maxTokens=100))


@tool
def test_simple_text() -> TextContent:
    """Answers with one line of text."""
    return text("This is a simple text response for testing.")


@tool
def test_image_content() -> ImageContent:
    """Answers with a picture of one pixel."""
    return IMAGE


@tool
def test_audio_content() -> AudioContent:
    """Answers with a sound of no length."""
    return AudioContent(data=WAV, mimeType="audio/wav")


@tool
def test_embedded_resource() -> EmbeddedResource:
    """Answers with a resource inside the result."""
    contents = ResourceContents(
        uri="test://embedded-resource", mimeType="text/plain", text="This is an embedded resource content."
    )
    return EmbeddedResource(resource=contents)


@tool
def test_multiple_content_types() -> list[Content]:
    """Answers with a text, a picture and a resource."""
    data = ResourceContents(
        uri="test://mixed-content-resource", mimeType="application/json", text='{"test":"data","value":123}'
    )
    return [text("Multiple content types test:"), IMAGE, EmbeddedResource(resource=data)]


@tool
def test_error_handling() -> TextContent:
    """Fails on purpose."""
    raise ToolError("INTENDED", "This tool intentionally returns an error for testing")


JSON_SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool(input_schema=JSON_SCHEMA_2020_12)
def json_schema_2020_12_tool(
    name: str = "", address: Any = None, contactMethod: str = "", phone: str = "", email: str = ""
) -> TextContent:
    """Takes arguments by a hand-written schema that uses much of JSON Schema 2020-12."""
    return text(f"Reached {name or 'nobody'} by {phone or email}.")


@tool(
    input_schema={
        "type": "object",
        "properties": {
            "region": {"type": "string", "description": "Where to look.", "x-mcp-header": "Region"}
        },
        "required": ["region"],
    }
)
def test_x_mcp_header(region: str) -> TextContent:
    """Takes an argument that HTTP clients of 2026-07-28 repeat in a header."""
    return text(f"Region: {region}")


@tool
async def test_tool_with_progress(ctx: Context) -> TextContent:
    """Reports its progress while it works."""
    for done in (0, 50, 100):
        await ctx.progress(done, 100, f"Completed step {done} of 100")
        await asyncio.sleep(0.05)
    return text("Tool with progress executed successfully")


@tool
async def test_tool_with_logging(ctx: Context) -> TextContent:
    """Sends three log messages while it works."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.log("info", line)
        await asyncio.sleep(0.05)
    return text("Tool with logging executed successfully")


@tool
async def test_logging_tool(ctx: Context) -> TextContent:
    """Logs only to clients that asked for log messages."""
    await ctx.log("info", "Logging tool executed")
    return text("Logged to whoever wanted it")


@tool
async def test_reconnection(ctx: Context) -> TextContent:
    """Closes its own connection and leaves the answer to be fetched."""
    ctx.close_stream()
    await asyncio.sleep(0.1)
    return text("Reconnection test completed")


@tool
def test_trigger_tool_change(ctx: Context) -> TextContent:
    """Tells subscribers that the list of tools changed."""
    ctx.server.hub.list_changed("tools")
    return text("Announced")


@tool
def test_trigger_prompt_change(ctx: Context) -> TextContent:
    """Tells subscribers that the list of prompts changed."""
    ctx.server.hub.list_changed("prompts")
    return text("Announced")


@tool
def test_trigger_resource_update(ctx: Context) -> TextContent:
    """Tells subscribers that the watched resource changed."""
    ctx.server.hub.resource_updated("test://watched-resource")
    return text("Announced")


Text = Annotated[str, Meta(max_length=2000, description="Any text.")]


@tool
async def test_sampling(prompt: Text, ctx: Context) -> TextContent:
    """Asks the client's model and passes its answer on."""
    answer = (await ctx.ask({"answer": ask_model(prompt)}))["answer"]
    return text(f"LLM response: {answer.content.get('text', '')}")


@tool
async def test_elicitation(message: Text, ctx: Context) -> TextContent:
    """Asks the person for a user name and an address."""
    question = form(
        message,
        ["username", "email"],
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return _told(await ctx.ask({"user": question}))


def _told(answers: Mapping[str, Any]) -> TextContent:
    (answer,) = answers.values()
    content = answer.content if isinstance(answer.content, dict) else {}
    return text(f"Elicitation completed: action={answer.action}, content={json.dumps(content)}")


@tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> TextContent:
    """Asks with default values of every kind."""
    question = form(
        "Please review and update the form fields with defaults",
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return _told(await ctx.ask({"form": question}))


@tool
async def test_elicitation_sep1330_enums(ctx: Context) -> TextContent:
    """Asks for choices in all five ways a form can offer them."""
    titled = [
        {"const": f"value{n}", "title": f"{word} Option"}
        for n, word in enumerate(("First", "Second", "Third"), 1)
    ]
    plain = ["option1", "option2", "option3"]
    question = form(
        "Please select options from the enum fields",
        untitledSingle={"type": "string", "enum": plain},
        titledSingle={"type": "string", "oneOf": titled},
        legacyEnum={
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={"type": "array", "items": {"type": "string", "enum": plain}},
        titledMulti={"type": "array", "items": {"anyOf": titled}},
    )
    return _told(await ctx.ask({"form": question}))


NAME = form("What is your name?", ["name"], name={"type": "string"})
CONFIRM = form("Shall I go on?", ["ok"], ok={"type": "boolean"})


@tool
async def test_missing_capability(ctx: Context) -> TextContent:
    """Needs a client that offers sampling."""
    ctx.require("sampling")
    return text("Sampling is available")


@tool
async def test_streaming_elicitation(ctx: Context) -> TextContent:
    """Asks for a confirmation, in whatever way the client's revision has."""
    return _told(await ctx.ask({"confirm": CONFIRM}))


@tool
async def test_input_required_result_elicitation(ctx: Context) -> TextContent:
    """Asks for a name, then greets."""
    answer = (await ctx.ask({"user_name": NAME}))["user_name"]
    name = answer.content.get("name", "stranger") if isinstance(answer.content, dict) else "stranger"
    return text(f"Hello, {name}!")


@tool
async def test_input_required_result_sampling(ctx: Context) -> TextContent:
    """Asks the client's model for a capital."""
    answers = await ctx.ask({"capital_question": ask_model("What is the capital of France?")})
    return text(f"The model says: {answers['capital_question'].content}")


@tool
async def test_input_required_result_list_roots(ctx: Context) -> TextContent:
    """Asks for the folders the client works in."""
    found = (await ctx.ask({"client_roots": roots()}))["client_roots"].roots
    return text(f"{len(found)} roots: {', '.join(root.uri for root in found)}")


@tool
async def test_input_required_result_request_state(ctx: Context) -> TextContent:
    """Asks once and checks that its sealed state came back."""
    await ctx.ask({"confirm": CONFIRM})
    return text("state-ok")


@tool
async def test_input_required_result_tampered_state(ctx: Context) -> TextContent:
    """Asks once; a state that was changed on the way is refused."""
    await ctx.ask({"confirm": CONFIRM})
    return text("state-ok")


@tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> TextContent:
    """Asks the person, the model and the client at once."""
    questions = {"user_name": NAME, "greeting": ask_model("Write a greeting."), "client_roots": roots()}
    answers = await ctx.ask(questions)
    return text(f"Received {len(answers)} answers")


@tool
async def test_input_required_result_multi_round(ctx: Context) -> TextContent:
    """Asks a second question after the first is answered."""
    first = (await ctx.ask({"step1": NAME}))["step1"]
    second = (await ctx.ask({"step2": form("Which colour?", ["color"], color={"type": "string"})}))["step2"]
    return text(f"Rounds done: {first.action}, {second.action}")


@tool
async def test_input_required_result_capabilities(ctx: Context) -> TextContent:
    """Asks only for what the client said it can do."""
    possible = {"elicitation": NAME, "sampling": ask_model("Say hello."), "roots": roots()}
    await ctx.ask({name: question for name, question in possible.items() if ctx.capabilities.has(name)})
    return text("Asked within your capabilities")


@resource("test://static-text", "Static text")
def static_text() -> str:
    """A text that never changes."""
    return "This is the content of the static text resource."


@resource("test://static-binary", "Static picture", mime_type="image/png")
def static_binary() -> bytes:
    """A picture that never changes."""
    return base64.b64decode(PNG)


@resource("test://watched-resource", "Watched text")
def watched_resource() -> str:
    """A text that clients can subscribe to."""
    return "Watched resource content"


@resource("test://template/{id}/data", "Data by number", mime_type="application/json")
def template_data(id: str) -> str:
    """Data for any number."""
    return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


@prompt("Simple prompt")
def test_simple_prompt() -> str:
    """A prompt without arguments."""
    return "This is a simple prompt for testing."


Arg = Annotated[str, Meta(description="Any text.")]


@prompt("Prompt with arguments")
def test_prompt_with_arguments(arg1: Arg, arg2: Arg) -> str:
    """A prompt with two arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt("Prompt with a resource")
def test_prompt_with_embedded_resource(resourceUri: Arg) -> list[PromptMessage]:
    """A prompt that carries a resource."""
    contents = ResourceContents(
        uri=resourceUri, mimeType="text/plain", text="Embedded resource content for testing."
    )
    return [
        PromptMessage(role="user", content=EmbeddedResource(resource=contents)),
        PromptMessage(role="user", content=text("Please process the embedded resource above.")),
    ]


@prompt("Prompt with a picture")
def test_prompt_with_image() -> list[PromptMessage]:
    """A prompt that carries a picture."""
    return [
        PromptMessage(role="user", content=IMAGE),
        PromptMessage(role="user", content=text("Please analyze the image above.")),
    ]


@prompt("Prompt that asks back")
async def test_input_required_result_prompt(ctx: Context) -> str:
    """A prompt that asks the person before it is written."""
    question = form("What context should the prompt use?", ["context"], context={"type": "string"})
    answer = (await ctx.ask({"user_context": question}))["user_context"]
    context = answer.content.get("context", "") if isinstance(answer.content, dict) else ""
    return f"Use this context: {context}"


@completer("test_prompt_with_arguments", "arg1")
def complete_arg1(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return [word for word in ("test", "testing", "tested") if word.startswith(typed)]


SERVER = Server(
    "everything",
    "1.0",
    title="Everything",
    instructions="A server for tests: each tool shows one feature of the protocol.",
    offer=Offer(
        tools=[
            test_simple_text,  # first: some checks call whatever is listed first, without arguments
            test_image_content,
            test_audio_content,
            test_embedded_resource,
            test_multiple_content_types,
            test_error_handling,
            json_schema_2020_12_tool,
            test_x_mcp_header,
            test_tool_with_progress,
            test_tool_with_logging,
            test_logging_tool,
            test_reconnection,
            test_trigger_tool_change,
            test_trigger_prompt_change,
            test_trigger_resource_update,
            test_sampling,
            test_elicitation,
            test_elicitation_sep1034_defaults,
            test_elicitation_sep1330_enums,
            test_missing_capability,
            test_streaming_elicitation,
            test_input_required_result_elicitation,
            test_input_required_result_sampling,
            test_input_required_result_list_roots,
            test_input_required_result_request_state,
            test_input_required_result_tampered_state,
            test_input_required_result_multiple_inputs,
            test_input_required_result_multi_round,
            test_input_required_result_capabilities,
        ],
        resources=[static_text, static_binary, watched_resource, template_data],
        prompts=[
            test_simple_prompt,
            test_prompt_with_arguments,
            test_prompt_with_embedded_resource,
            test_prompt_with_image,
            test_input_required_result_prompt,
        ],
        completers=[complete_arg1],
    ),
    options=ServerOptions(client_logging=True, announces_changes=True, resource_updates=True),
)

if __name__ == "__main__":
    run(SERVER, sessions=True)
