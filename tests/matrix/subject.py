"""The server that the matrix talks to: one tool, resource or prompt for each thing that a wire can show."""

import asyncio
import base64
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from qortal_mcp.limits import Limits
from qortal_mcp.protocol.messages import (
    LOG_LEVELS,
    AudioContent,
    Content,
    EmbeddedResource,
    ImageContent,
    PromptMessage,
    ResourceContents,
    ResourceLink,
    SamplingMessage,
    SamplingParams,
    TextContent,
)
from qortal_mcp.server import (
    READ_ONLY,
    Context,
    Offer,
    Question,
    ResourceNotFound,
    Server,
    ServerOptions,
    ToolError,
    completer,
    elicit,
    prompt,
    resource,
    roots,
    sample,
    tool,
)

PICTURE = ImageContent(data=base64.b64encode(b"picture").decode(), mimeType="image/png")
SOUND = AudioContent(data=base64.b64encode(b"sound").decode(), mimeType="audio/wav")
EMBEDDED = EmbeddedResource(resource=ResourceContents(uri="note://fixed", text="inside"))
LINK = ResourceLink(uri="note://fixed", name="fixed", title="Fixed note")
# Where a failed tool gives its code.
ERROR_KEY = "subject/error"
NOISE = "this is not for the wire"


class Marks:
    """What has happened in the server's process, for a test to wait on."""

    def __init__(self) -> None:
        self._events: dict[str, asyncio.Event] = {}

    def at(self, name: str) -> asyncio.Event:
        return self._events.setdefault(name, asyncio.Event())


class Point(Struct):
    x: int
    label: str


class Page(Struct):
    items: list[int]
    notes: list[str] | UnsetType = UNSET


class PageArguments(Struct, frozen=True, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=10, extra={"clamp": True}, description="How many.")] = 3


@tool("An object", annotations=READ_ONLY)
def gives_object() -> Point:
    """Answers with an object."""
    return Point(1, "ø")


@tool
def gives_list() -> list[int]:
    """Answers with a list."""
    return [1, 2]


@tool
def gives_text() -> str:
    """Answers with a text."""
    return "hi"


@tool
def gives_number() -> int:
    """Answers with a number."""
    return 5


@tool
def gives_false() -> bool:
    """Answers with false."""
    return False


@tool
def gives_null() -> int | None:
    """Answers with null where a number could be."""
    return None


@tool
def gives_nothing() -> None:
    """Answers with nothing."""


@tool
def gives_any_object() -> Any:
    """Answers with an object that no schema describes."""
    return {"a": 1}


@tool
def gives_any_list() -> Any:
    """Answers with a list that no schema describes."""
    return [1, 2]


@tool
def gives_picture() -> ImageContent:
    """Answers with a picture."""
    return PICTURE


@tool
def gives_sound() -> AudioContent:
    """Answers with a sound."""
    return SOUND


@tool
def gives_embedded() -> EmbeddedResource:
    """Answers with a resource inside."""
    return EMBEDDED


@tool
def gives_link() -> ResourceLink:
    """Answers with a link to a resource."""
    return LINK


@tool
def gives_several() -> list[Content]:
    """Answers with blocks of several kinds."""
    return [TextContent(text="several"), PICTURE, SOUND, EMBEDDED, LINK]


@tool
def echo(text: Annotated[str, Meta(max_length=200_000, description="Any text.")]) -> str:
    """Answers with what it was given."""
    return text


@tool
def add(a: int, b: int = 0) -> int:
    """Adds two numbers."""
    return a + b


@tool
def pages(args: PageArguments) -> Page:
    """Gives a page of numbers."""
    return Page(list(range(args.limit)))


@tool(
    input_schema={
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
        },
        "required": ["region"],
    }
)
def region(region: str, count: int = 0) -> str:
    """Takes arguments that HTTP clients of 2026-07-28 repeat in headers."""
    return f"{region} {count}"


@tool
def fails() -> str:
    """Fails in a way a caller can act on."""
    raise ToolError("NOT_FOUND", "Thing not found.", "There are no things.")


@tool
def breaks() -> str:
    """Has a bug."""
    raise RuntimeError("a detail that nobody outside may read")


@tool
async def breaks_later() -> str:
    """Has a bug behind an await."""
    await asyncio.sleep(0)
    raise RuntimeError("a detail that nobody outside may read")


@tool
def lies() -> Point:
    """Returns what its own schema forbids."""
    return Point("one", "ø")  # type: ignore[arg-type]


@tool
def huge() -> str:
    """Answers with more than a model can read."""
    return "x" * 100_000


@tool
def prints() -> str:
    """Prints to standard output in every way there is."""
    print(NOISE)
    sys.stdout.write(NOISE + "\n")
    sys.stdout.flush()
    os.write(1, NOISE.encode() + b"\n")
    return "printed"


@tool
async def hang(key: str, marks: Marks) -> str:
    """Never answers, and marks when it starts and when it is ended."""
    marks.at(f"{key} started").set()
    try:
        await asyncio.Event().wait()
    finally:
        marks.at(f"{key} ended").set()
    return ""


@tool
async def hang_aloud(key: str, ctx: Context, marks: Marks) -> str:
    """Says that it started, then hangs."""
    await ctx.progress(1, 2, "started")
    return str(await hang.signature.function(key, marks))


@tool
async def wait_for(mark: str, marks: Marks) -> str:
    """Answers once something has happened."""
    await marks.at(mark).wait()
    return mark


@tool(quick=True)
def set_mark(mark: str, marks: Marks) -> str:
    """Lets something happen."""
    marks.at(mark).set()
    return mark


@tool
async def finish_soon(key: str, marks: Marks) -> str:
    """Answers a moment after it was told to start."""
    marks.at(f"{key} started").set()
    await asyncio.sleep(0.3)
    return "finished"


@tool
async def busy(ctx: Context) -> int:
    """How many requests are being worked on, this one included."""
    return ctx.server.busy


@tool
async def tasks() -> int:
    """How many tasks the server's process has."""
    await asyncio.sleep(0)
    return len(asyncio.all_tasks())


@tool
async def steps(ctx: Context) -> str:
    """Reports progress, some of it going backwards."""
    for done in (1, 1, 0.5, 1.5, 2):
        await ctx.progress(done, 2, f"step {done}")
    return "done"


@tool
async def chatter(ctx: Context) -> str:
    """Logs once at every level."""
    for level in LOG_LEVELS:
        await ctx.log(level, {"said": level}, "subject")
    return "done"


@tool
def announce(listing: Literal["tools", "prompts", "resources"], ctx: Context) -> str:
    """Says that a list changed."""
    ctx.server.hub.list_changed(listing)
    return listing


@tool
def touch(uri: str, ctx: Context) -> str:
    """Says that a resource changed."""
    ctx.server.hub.resource_updated(uri)
    return uri


@tool(quick=True)
def turn_tide(shore: str, marks: Marks) -> str:
    """Makes a resource read differently, which the server notices by itself."""
    marks.at(f"tide at {shore}").set()
    return shore


@tool(quick=True)
def watched_shores(ctx: Context) -> list[str]:
    """What the server looks at for its subscribers."""
    return list(map(str, ctx.server.hub._watched))


@tool(quick=True)
def end_subscriptions(ctx: Context) -> str:
    """Ends every subscription, as a server does that stops."""
    for listener in list(ctx.server.hub._listeners):
        listener.end()
    return "ended"


@tool
async def part(ctx: Context) -> str:
    """Closes its own connection and answers afterwards."""
    ctx.close_stream()
    await asyncio.sleep(0)
    return "fetched later"


def _form(message: str, name: str) -> Question:
    return elicit(message, {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]})


def _question(text: str) -> Question:
    message = SamplingMessage(role="user", content=TextContent(text=text))
    return sample(SamplingParams(messages=[message], maxTokens=10))


def _said(answer: Any) -> str:
    content = answer.content if isinstance(answer.content, dict) else {}
    return f"{answer.action} {content.get('name', '-')}"


@tool
async def asks_person(ctx: Context) -> str:
    """Asks the person for a name."""
    return _said((await ctx.ask({"who": _form("Who are you?", "name")}))["who"])


@tool
async def asks_model(ctx: Context) -> str:
    """Asks the client's model."""
    answer = (await ctx.ask({"model": _question("Say something.")}))["model"]
    return f"{answer.model}: {answer.content['text']}"


@tool
async def asks_roots(ctx: Context) -> str:
    """Asks for the client's folders."""
    return " ".join(root.uri for root in (await ctx.ask({"roots": roots()}))["roots"].roots)


@tool
async def asks_all(ctx: Context) -> str:
    """Asks three things at once."""
    answers = await ctx.ask({"who": _form("Who?", "name"), "model": _question("Hm?"), "roots": roots()})
    return " ".join(sorted(answers))


@tool
async def asks_twice(topic: str, ctx: Context) -> str:
    """Asks a second question after the first."""
    first = (await ctx.ask({"first": _form(f"First of {topic}?", "name")}))["first"]
    second = (await ctx.ask({"second": _form(f"Second, {_said(first)}?", "name")}))["second"]
    return f"{_said(first)}, {_said(second)}"


@tool
async def needs_sampling(ctx: Context) -> str:
    """Insists on a client that offers sampling."""
    ctx.require("sampling")
    return "it does"


@resource("note://fixed", "Fixed note")
def fixed_note() -> str:
    """A note that stays the same."""
    return "always this"


@resource("note://picture", mime_type="image/png")
def picture_note() -> bytes:
    """A note in bytes."""
    return b"picture"


@resource("note://gone")
def gone_note() -> str:
    """A note that is not there any more."""
    raise ResourceNotFound


@resource("note://refused")
def refused_note() -> str:
    """A note that its reader gets wrong."""
    raise ToolError("INVALID_ARGUMENT", "Invalid note.")


@resource("note://unreachable")
def unreachable_note() -> str:
    """A note that stands somewhere else."""
    raise ToolError("NODE_UNREACHABLE", "Node unreachable.", retryable=True)


@resource("note://broken")
def broken_note() -> str:
    """A note with a bug."""
    raise RuntimeError("a detail that nobody outside may read")


@resource("note://slow")
async def slow_note() -> str:
    """A note that never comes."""
    await asyncio.Event().wait()
    return ""


@resource("note://item/{number}", "Numbered note", mime_type="application/json")
def numbered_note(number: str) -> str:
    """A note for every number."""
    return f'{{"number":"{number}"}}'


@resource("note://pair/{left}/{right}")
def paired_note(left: str, right: str) -> str:
    """A note for two words."""
    return f"{left}|{right}"


@prompt("Plain")
def plain() -> str:
    """A prompt without arguments."""
    return "Say hello."


@prompt("With arguments")
def with_arguments(a: Annotated[str, Meta(description="A word.")], b: str = "-") -> str:
    """A prompt with one required argument and one optional."""
    return f"{a} and {b}"


@prompt
def with_blocks() -> list[PromptMessage]:
    """A prompt with a block of each kind."""
    return [PromptMessage(role="user", content=block) for block in (PICTURE, SOUND, EMBEDDED, LINK)]


@prompt
async def asking(ctx: Context) -> str:
    """A prompt that asks the person first."""
    return _said((await ctx.ask({"who": _form("Who?", "name")}))["who"])


@prompt
async def slow_prompt() -> str:
    """A prompt that never comes."""
    await asyncio.Event().wait()
    return ""


@prompt
def broken_prompt() -> str:
    """A prompt with a bug."""
    raise RuntimeError("a detail that nobody outside may read")


@resource("note://tide/{shore}")
def tide(shore: str) -> str:
    """A note that changes by itself."""
    return f"The tide at {shore}"


def _tides(marks: Marks) -> Callable[[Mapping[str, str]], AsyncIterator[None]]:
    async def turning(shore: str) -> AsyncIterator[None]:
        while True:
            await marks.at(f"tide at {shore}").wait()
            marks.at(f"tide at {shore}").clear()
            yield

    def begin(variables: Mapping[str, str]) -> AsyncIterator[None]:
        if variables["shore"] == "nowhere":
            raise ToolError("INVALID_ARGUMENT", "Invalid shore.")
        if variables["shore"] == "dry":
            raise ResourceNotFound
        return turning(variables["shore"])

    return begin


@prompt
def unreachable_prompt() -> str:
    """A prompt that needs what cannot be reached."""
    raise ToolError("NODE_UNREACHABLE", "Node unreachable.", retryable=True)


@completer("with_arguments", "a")
def complete_a(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return [word for word in (f"word{n}" for n in range(150)) if word.startswith(typed)]


@completer("with_arguments", "b")
async def complete_b(typed: str, chosen: Mapping[str, str]) -> list[str]:
    return [f"{chosen.get('a', 'nothing')}-{typed}"]


@completer("note://item/{number}", "number")
def complete_number(typed: str, chosen: Mapping[str, str]) -> list[str]:
    if typed == "x":
        raise ToolError("NODE_UNREACHABLE", "Node unreachable.", retryable=True)
    return ["1", "2"]


def _all(kind: type) -> list[Any]:
    return [thing for thing in list(globals().values()) if isinstance(thing, kind)]


def build(limits: Mapping[str, Any] | None = None, **options: Any) -> Server:
    """A server with everything above."""
    from qortal_mcp.server import Completer, Prompt, Resource, Tool

    marks = Marks()
    return Server(
        "subject",
        "1.0",
        title="Subject",
        instructions="Ask away.",
        offer=Offer(
            tools=_all(Tool),
            resources=_all(Resource),
            prompts=_all(Prompt),
            completers=_all(Completer),
            provide=[marks],
            changes={"note://tide/{shore}": _tides(marks)},
        ),
        options=ServerOptions(
            limits=Limits(**(limits or {})),
            client_logging=True,
            announces_changes=True,
            resource_updates=True,
            error_key=ERROR_KEY,
            **options,
        ),
    )
