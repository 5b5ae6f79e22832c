"""A server put together by hand: plain functions, decorators on the server, and lists that change while it runs."""

import asyncio
import sys
import threading
from typing import Any

import pytest

from qortal_mcp import Context, Offer, Server, ServerOptions, prompt, resource, tool
from qortal_mcp.client import Options, ServerError, connect
from qortal_mcp.protocol.messages import CompletionRef, ListenFilter
from qortal_mcp.protocol.versions import LEGACY
from qortal_mcp.server import Tool

CHANGING = ServerOptions(announces_changes=True)


def add_up(a: int, b: int = 1) -> int:
    """Adds two numbers."""
    return a + b


async def spell(word: str) -> str:
    """Spells a word."""
    return " ".join(word)


@pytest.mark.promise(
    "Library", "A server takes plain functions as tools: title from the name, description from the docstring."
)
async def test_a_plain_function_is_a_tool() -> None:
    async with connect(Server("plain", tools=[add_up, spell])) as client:
        listed = await client.list_tools()
        assert [(each.name, each.title, each.description) for each in listed.items] == [
            ("add_up", "Add up", "Adds two numbers."),
            ("spell", "Spell", "Spells a word."),
        ]
        assert (await client.call_tool("add_up", {"a": 2})).structured == {"result": 3}
        assert (await client.call_tool("spell", {"word": "ab"})).text == "a b"


def test_a_function_that_cannot_be_described_is_refused_with_a_sentence() -> None:
    with pytest.raises(TypeError, match="needs a docstring: it is what a model reads"):
        Server("plain", tools=[lambda: 1])


def decorated() -> Server:
    server = Server("decorated")

    @server.tool
    def bare() -> str:
        """A bare one."""
        return "bare"

    @server.tool("With a title", name="other", quick=True)
    def titled() -> str:
        """One with a title."""
        return "titled"

    @server.resource("note://one", "One", mime_type="text/markdown")
    def one() -> str:
        """A note."""
        return "# one"

    @server.resource("note://by/{name}")
    def named(name: str) -> str:
        """A note by its name."""
        return name

    @server.prompt
    def plain() -> str:
        """A plain prompt."""
        return "Say hello."

    @server.prompt("Greeting", quick=True)
    def greeting(name: str) -> str:
        """Greets somebody."""
        return f"Greet {name}."

    @server.completer("greeting", "name")
    def names(typed: str, chosen: dict[str, str]) -> list[str]:
        return ["Ann"]

    assert bare() == "bare"
    assert one() == "# one"
    assert greeting("Ann") == "Greet Ann."
    return server


@pytest.mark.promise("Library", "Decorators on a server take what those of the module take.")
async def test_decorators_on_a_server_offer_what_they_decorate() -> None:
    async with connect(decorated()) as client:
        tools = {each.name: each.title for each in (await client.list_tools()).items}
        assert tools == {"bare": "Bare", "other": "With a title"}
        assert (await client.call_tool("other")).text == "titled"
        assert (await client.read_resource("note://one")).contents[0].text == "# one"
        assert (await client.read_resource("note://by/Ann")).contents[0].text == "Ann"
        assert [each.name for each in (await client.list_prompts()).items] == ["plain", "greeting"]
        assert "Greet Ann" in str((await client.get_prompt("greeting", {"name": "Ann"})).messages)
        reference = CompletionRef(type="ref/prompt", name="greeting")
        assert (await client.complete(reference, "name", "")).values == ["Ann"]


def read_note() -> str:
    """A note."""
    return "new"


def note_by(name: str) -> str:
    """A note by its name."""
    return name


def test_two_of_a_name_are_refused() -> None:
    server = decorated()
    with pytest.raises(ValueError, match="two tools are called other"):
        server.add_tool(tool(name="other")(add_up))
    with pytest.raises(ValueError, match="two prompts are called add_up"):
        server.add_prompt(server.add_prompt(add_up))
    for uri in ("note://one", "note://by/{name}"):
        with pytest.raises(ValueError, match="two resources are called"):
            server.add_resource(resource(uri)(note_by if "{" in uri else read_note))


@pytest.mark.parametrize("what", ["remove_tool", "remove_resource", "remove_prompt"])
def test_what_is_not_there_cannot_be_removed(what: str) -> None:
    with pytest.raises(LookupError, match="called nothing"):
        getattr(decorated(), what)("nothing")


@tool
def grow(ctx: Context) -> str:
    """Offers a tool more, from its thread."""
    server: Any = ctx.server
    server.add_tool(add_up)
    return "grown"


@tool
def shrink(ctx: Context) -> str:
    """Offers a tool less."""
    server: Any = ctx.server
    server.remove_tool("add_up")
    return "shrunk"


def listening(notices: "asyncio.Queue[str]") -> Options:
    return Options(on_notification=lambda notice: notices.put_nowait(notice.method))


async def heard(notices: "asyncio.Queue[str]") -> str:
    async with asyncio.timeout(10):
        return await notices.get()


@pytest.mark.promise(
    "Library",
    "Tools, resources and prompts can be added and removed while a server runs, and clients that listen are told.",
)
@pytest.mark.parametrize("revision", LEGACY)
async def test_a_legacy_client_hears_of_each_change(revision: str) -> None:
    server = Server("changing", tools=[grow, shrink], options=CHANGING)
    notices: asyncio.Queue[str] = asyncio.Queue()
    async with connect(server, revision=revision, options=listening(notices)) as client:
        assert client.terms.capabilities["tools"] == {"listChanged": True}
        assert client.terms.capabilities["prompts"] == {"listChanged": True}
        await client.call_tool("grow")
        assert await heard(notices) == "notifications/tools/list_changed"
        assert [each.name for each in (await client.list_tools()).items] == ["grow", "shrink", "add_up"]
        assert (await client.call_tool("add_up", {"a": 1})).text == "2"
        await client.call_tool("shrink")
        assert await heard(notices) == "notifications/tools/list_changed"
        assert [each.name for each in (await client.list_tools()).items] == ["grow", "shrink"]
        with pytest.raises(ServerError, match="Unknown tool: add_up") as unknown:
            await client.call_tool("add_up", {"a": 1})
        assert unknown.value.code == -32602
        server.add_prompt(spell)
        assert await heard(notices) == "notifications/prompts/list_changed"
        server.remove_prompt("spell")
        assert await heard(notices) == "notifications/prompts/list_changed"
        server.add_resource(resource("note://new")(read_note))
        assert await heard(notices) == "notifications/resources/list_changed"
        assert (await client.read_resource("note://new")).contents[0].text == "new"
        server.remove_resource("note://new")
        assert await heard(notices) == "notifications/resources/list_changed"
        with pytest.raises(ServerError, match="Resource not found"):
            await client.read_resource("note://new")


async def test_a_modern_client_hears_what_it_listens_for() -> None:
    server = Server("changing", tools=[grow, shrink], options=CHANGING)
    async with (
        connect(server) as client,
        client.listen(ListenFilter(toolsListChanged=True, promptsListChanged=True)) as subscription,
    ):
        assert subscription.accepted.promptsListChanged
        await client.call_tool("grow")
        async with asyncio.timeout(10):
            assert (await anext(subscription)).method == "notifications/tools/list_changed"
        server.add_prompt(spell)
        async with asyncio.timeout(10):
            assert (await anext(subscription)).method == "notifications/prompts/list_changed"
        listed = await client.list_tools()
        assert "add_up" in [each.name for each in listed.items]


async def test_a_call_of_a_tool_that_is_removed_meanwhile_is_finished() -> None:
    entered, leave = asyncio.Event(), asyncio.Event()

    async def linger() -> str:
        """Takes its time."""
        entered.set()
        await leave.wait()
        return "finished"

    server = Server("changing", tools=[linger], options=CHANGING)
    async with connect(server) as client:
        call = asyncio.create_task(client.call_tool("linger"))
        await entered.wait()
        server.remove_tool("linger")
        with pytest.raises(ServerError, match="Unknown tool: linger"):
            await client.call_tool("linger")
        leave.set()
        assert (await call).text == "finished"


async def test_lists_that_clients_believe_to_be_fixed_stay_so() -> None:
    server = Server("fixed", tools=[add_up])
    server.add_tool(spell)
    async with connect(server, revision="2025-06-18") as client:
        assert client.terms.capabilities["tools"] == {"listChanged": False}
        assert len((await client.list_tools()).items) == 2
        for change in (lambda: server.remove_tool("spell"), lambda: server.add_tool(grow)):
            with pytest.raises(RuntimeError, match="announces_changes=True"):
                change()
        assert len((await client.list_tools()).items) == 2


def test_a_prompt_record_can_be_added_as_well() -> None:
    server = Server("s", offer=Offer(prompts=[prompt(spell)]))
    server.remove_prompt("spell")
    assert server.add_prompt(prompt("Spelling")(spell)).definition.title == "Spelling"
    assert isinstance(server.add_tool(add_up), Tool)


def test_what_a_thread_adds_while_the_lifespan_begins_stays() -> None:
    server = Server("busy", options=ServerOptions(announces_changes=True))
    is_done = threading.Event()
    wanted = [f"tool_{number}" for number in range(300)]

    def add() -> None:
        for name in wanted:

            def function() -> str:
                """Does nothing."""
                return ""

            function.__name__ = name
            server.add_tool(function)
        is_done.set()

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        adding = threading.Thread(target=add)
        adding.start()
        while not is_done.is_set():
            server.catalogue.provide(())
        adding.join()
    finally:
        sys.setswitchinterval(usual)
    assert list(server.catalogue.tools) == wanted
