"""One behaviour, every wire, every revision: our client against our server."""

import asyncio
import subprocess
import sys

import msgspec
import pytest
from tests.client.conftest import Target

from qortal_mcp.client import (
    ClientError,
    ClientLimits,
    ElicitRequest,
    Handlers,
    NotSupported,
    Options,
    Progress,
    RequestTimeout,
    SamplingRequest,
    ServerError,
    Transcript,
    connect,
    elicitation,
    roots,
    sampling,
)
from qortal_mcp.protocol import errors
from qortal_mcp.protocol.jsonrpc import Notification
from qortal_mcp.protocol.messages import ElicitResult, ListenFilter, Root, SamplingResult
from qortal_mcp.protocol.versions import ELICITATION, LEGACY, MODERN, REVISIONS, STRUCTURED

QUICK = ClientLimits(exit_seconds=1.0, goodbye_seconds=1.0)


async def person(question: ElicitRequest) -> ElicitResult:
    return ElicitResult(action="accept", content={"value": question.message.split()[1]})


async def model(question: SamplingRequest) -> SamplingResult:
    return SamplingResult(role="assistant", content={"type": "text", "text": "hi"}, model="m")


ANSWERS: Handlers = {**elicitation(person), **sampling(model), **roots([Root(uri="file:///home/me/project")])}


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.mark.promise(
    "Library",
    "The client talks to servers of every revision and transport, and finds out by itself which one.",
)
async def test_the_usual_methods_work(target: Target, revision: str) -> None:
    async with asyncio.timeout(20), connect(target, revision=revision) as client:
        assert client.terms.revision == revision
        assert client.terms.info is not None
        assert client.terms.info.name == "everything"
        assert client.terms.instructions == "Use it for tests."
        tools = await client.list_tools()
        assert "add" in [tool.name for tool in tools]
        assert not tools.odd
        assert [resource.uri for resource in await client.list_resources()] == ["test://note"]
        assert len(await client.list_resource_templates()) == 0
        assert [prompt.name for prompt in await client.list_prompts()] == ["greet"]
        result = await client.call_tool("add", {"a": 2, "b": 3})
        assert (result.text, result.is_error) == ("5", False)
        assert (result.structured == {"result": 5}) is (revision >= STRUCTURED)
        assert (await client.read_resource("test://note")).contents[0].text == "noted"
        assert len((await client.get_prompt("greet", {"name": "you"})).messages) == 1
        await client.ping()


async def test_progress_is_heard(target: Target, revision: str) -> None:
    heard: list[Progress] = []
    async with asyncio.timeout(20), connect(target, revision=revision) as client:
        result = await client.call_tool("count", {"to": 3}, progress=heard.append)
    assert result.text == "3"
    assert [(step.progress, step.total) for step in heard] == [(1, 3), (2, 3), (3, 3)]


async def test_questions_of_a_server_are_answered(wire_name: str, target: Target, revision: str) -> None:
    async with (
        asyncio.timeout(20),
        connect(target, revision=revision, options=Options(handlers=ANSWERS)) as client,
    ):
        named = await client.call_tool("ask_name")
        thought = await client.call_tool("think")
    if wire_name == "http" and revision in LEGACY:
        # Without a session nothing links an answer to its question.
        assert named.is_error
        return
    assert named.is_error is (revision < ELICITATION)
    if not named.is_error:
        assert named.text == "{'value': 'name?'} {'value': 'colour?'}"
    assert thought.text == "hi in file:///home/me/project"


async def test_errors_of_the_server_come_as_they_are(target: Target, revision: str) -> None:
    async with asyncio.timeout(20), connect(target, revision=revision) as client:
        with pytest.raises(ServerError) as unknown:
            await client.request("no/such/method")
        with pytest.raises(ServerError) as wrong:
            await client.call_tool("no_such_tool")
        failed = await client.call_tool("fail")
    assert unknown.value.code == errors.METHOD_NOT_FOUND
    assert wrong.value.code == errors.INVALID_PARAMS
    assert failed.is_error
    assert "Nothing there." in failed.text


async def test_cancelling_the_wait_cancels_the_work(target: Target, revision: str) -> None:
    async with (
        asyncio.timeout(20),
        connect(target, revision=revision, options=Options(limits=QUICK)) as client,
    ):
        began = asyncio.Event()
        call = asyncio.create_task(client.call_tool("wait", progress=lambda _: began.set()))
        await began.wait()
        assert (await client.call_tool("how_many_wait")).text == "1"
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        while (await client.call_tool("how_many_wait")).text != "0":
            pass


async def test_a_timeout_is_a_cancellation_too(target: Target, revision: str) -> None:
    async with (
        asyncio.timeout(20),
        connect(target, revision=revision, options=Options(limits=QUICK)) as client,
    ):
        with pytest.raises(RequestTimeout):
            await client.call_tool("wait", timeout=0.2)
        while (await client.call_tool("how_many_wait")).text != "0":
            pass


async def test_many_calls_at_once_get_their_own_answers(target: Target) -> None:
    async with asyncio.timeout(20), connect(target) as client:
        calls = [client.call_tool("add", {"a": number, "b": 0}) for number in range(50)]
        results = await asyncio.gather(*calls)
    assert [result.text for result in results] == [str(number) for number in range(50)]


async def test_our_own_server_is_found_to_be_modern(target: Target) -> None:
    async with asyncio.timeout(20), connect(target) as client:
        assert client.terms.revision == MODERN[-1]


async def test_arguments_that_want_headers_get_them(target: Target) -> None:
    """The first call does not know about the header, the second one does."""
    async with asyncio.timeout(20), connect(target) as client:
        for city in ("Paris", "Zürich", " blank ", "=?base64?eA==?="):
            assert (await client.call_tool("look_up", {"city": city})).text == f"found {city}"


async def test_a_modern_subscription_is_acknowledged_and_ends(target: Target) -> None:
    async with asyncio.timeout(20), connect(target, era="modern") as client:
        wanted = ListenFilter(toolsListChanged=True, resourceSubscriptions=["test://note", "test://other"])
        async with client.listen(wanted) as subscription:
            assert subscription.accepted.toolsListChanged
            assert subscription.accepted.resourceSubscriptions == ["test://note"]
        assert (await client.call_tool("add", {"a": 1, "b": 1})).text == "2"


async def test_every_message_is_in_the_transcript(target: Target, revision: str) -> None:
    transcript = Transcript()
    options = Options(observer=transcript)
    async with asyncio.timeout(20), connect(target, revision=revision, options=options) as client:
        mark = transcript.count
        result = await client.call_tool("add", {"a": 1, "b": 2})
        sent = transcript.messages("sent", since=mark)
        received = transcript.messages("received", since=mark)
    assert [msgspec.json.decode(data)["method"] for data in sent] == ["tools/call"]
    assert [data.strip() for data in received] == [result.reply.raw]


async def test_a_closed_client_says_so(target: Target) -> None:
    async with asyncio.timeout(20), connect(target) as client:
        pass
    with pytest.raises(ClientError):
        await client.request("tools/list")


async def test_listening_needs_the_modern_era(target: Target) -> None:
    async with asyncio.timeout(20), connect(target, era="legacy") as client:
        with pytest.raises(NotSupported):
            async with client.listen(ListenFilter()):
                pass


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_changes_are_heard_in_memory(era: str) -> None:
    from tests.client.everything import make

    server = make()
    heard: asyncio.Queue[Notification] = asyncio.Queue()
    options = Options(on_notification=heard.put_nowait)
    async with asyncio.timeout(30), connect(server, era=era, options=options) as client:  # type: ignore[arg-type]
        if era == "legacy":
            await client.subscribe("test://note")
            server.hub.resource_updated("test://note")
            server.hub.list_changed("tools")
            assert (await heard.get()).method == "notifications/resources/updated"
            assert (await heard.get()).method == "notifications/tools/list_changed"
            await client.unsubscribe("test://note")
            return
        async with client.listen(ListenFilter(resourceSubscriptions=["test://note"])) as subscription:
            server.hub.resource_updated("test://note")
            assert (await anext(subscription)).method == "notifications/resources/updated"
            server.close()
            assert [notice async for notice in subscription] == []
    assert heard.empty()


def test_a_client_without_http_does_not_load_it() -> None:
    program = "import sys, qortal_mcp.client; print([m for m in sys.modules if m.startswith('aiohttp')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
