"""Every revision in front of every revision: what crosses a bridge."""

import asyncio

import pytest
from tests.bridge.eras.conftest import ANSWERS, crossing

from qortal_mcp.client import Options, Progress, ServerError, connect
from qortal_mcp.protocol import errors
from qortal_mcp.protocol.decoding import decode
from qortal_mcp.protocol.messages import CompletionRef, ListenFilter
from qortal_mcp.protocol.versions import AUDIO, ELICITATION, MODERN, RESOURCE_LINKS, STRUCTURED

TOOLS = ["add", "fail", "count", "wait", "running", "talk", "ask_name", "think", "touch", "play"]


@pytest.mark.promise(
    "Bridge", "Clients of each of the five revisions can use servers of each of the five, both ways."
)
async def test_a_client_gets_its_revision_and_the_server_its_own(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        assert found.client.terms.revision == front
        assert found.client.terms.info is not None
        assert found.client.terms.info.name == "single"
        assert found.client.terms.instructions == f"Speaks {behind}."
        assert found.bridge.facts()[0]["connections"][0]["revision"] == behind


async def test_lists_come_page_by_page(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        tools = await found.client.list_tools()
        assert [tool.name for tool in tools] == TOOLS
        assert len(tools.pages) == 3
        assert not tools.odd
        assert [one.uri for one in await found.client.list_resources()] == ["test://note", "test://ask"]
        assert len(await found.client.list_resource_templates()) == 0
        assert [one.name for one in await found.client.list_prompts()] == ["greet"]


async def test_a_call_is_answered(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        result = await found.client.call_tool("add", {"a": 2, "b": 3})
    assert (result.text, result.is_error) == ("5", False)
    assert (result.structured == {"result": 5}) is (behind >= STRUCTURED)
    members = decode(result.reply.result)
    assert ("resultType" in members) is (front in MODERN)
    assert "ttlMs" not in members


async def test_errors_stay_what_they_are(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        failed = await found.client.call_tool("fail")
        with pytest.raises(ServerError) as no_tool:
            await found.client.call_tool("no_such_tool")
        with pytest.raises(ServerError) as no_resource:
            await found.client.read_resource("test://nothing")
    assert failed.is_error
    assert "Nothing there." in failed.text
    assert no_tool.value.code == errors.INVALID_PARAMS
    known = {errors.RESOURCE_NOT_FOUND, errors.INVALID_PARAMS}
    assert no_resource.value.code in (known if front not in MODERN else {errors.INVALID_PARAMS})


async def test_progress_is_heard(front: str, behind: str) -> None:
    heard: list[Progress] = []
    async with crossing(front, behind) as found:
        result = await found.client.call_tool("count", {"to": 3}, progress=heard.append)
    assert result.text == "3"
    assert [(step.progress, step.total) for step in heard] == [(1, 3), (2, 3), (3, 3)]


async def test_cancelling_reaches_the_server(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        waiting = found.server.waiting
        call = asyncio.create_task(found.client.call_tool("wait"))
        await waiting.began.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await waiting.ended.wait()
        assert (await found.client.call_tool("add", {"a": 1, "b": 1})).text == "2"


async def test_the_log_is_heard_at_the_level_that_was_asked_for(front: str, behind: str) -> None:
    is_modern = front in MODERN
    async with crossing(front, behind, log_level="info" if is_modern else None) as found:
        if not is_modern:
            await found.client.request("logging/setLevel", {"level": "info"})
        assert (await found.client.call_tool("talk")).text == "said"
        notice = found.heard.get_nowait()
    assert notice.method == "notifications/message"
    assert decode(notice.params or b"") == {
        "level": "warning",
        "data": {"text": "careful"},
        "logger": "talker",
    }
    assert found.heard.empty()


async def test_resources_prompts_and_completion_are_passed_on(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        assert (await found.client.read_resource("test://note")).contents[0].text == "noted"
        assert len((await found.client.get_prompt("greet", {"name": "you"})).messages) == 1
        ref = CompletionRef(type="ref/prompt", name="greet")
        if min(front, behind) >= "2025-03-26":
            assert (await found.client.complete(ref, "name", "an")).values == ["ann", "anton"]
        await found.client.ping()


async def test_changes_are_heard(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        wanted = {"notifications/resources/updated"}
        wanted |= {f"notifications/{kind}/list_changed" for kind in ("tools", "prompts", "resources")}
        if front in MODERN:
            both = ListenFilter(
                toolsListChanged=True,
                promptsListChanged=True,
                resourcesListChanged=True,
                resourceSubscriptions=["test://note", "test://nothing"],
            )
            async with found.client.listen(both) as subscription:
                assert subscription.accepted.resourceSubscriptions == ["test://note"]
                await found.client.call_tool("touch")
                while wanted:
                    wanted.remove((await anext(subscription)).method)
            return
        await found.client.subscribe("test://note")
        with pytest.raises(ServerError):
            await found.client.subscribe("test://nothing")
        await found.client.call_tool("touch")
        while wanted:
            wanted.remove((await found.heard.get()).method)
        await found.client.unsubscribe("test://note")
        await found.client.call_tool("touch")
        later = {(await found.heard.get()).method for _ in range(3)}
        assert "notifications/resources/updated" not in later


async def test_the_server_asks_the_client_back(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        thought = await found.client.call_tool("think")
        assert thought.text == "hi in file:///home/me/project"
        if front < ELICITATION and behind in MODERN:
            with pytest.raises(ServerError) as refused:
                await found.client.call_tool("ask_name")
            assert refused.value.code == errors.MISSING_CAPABILITY
            return
        named = await found.client.call_tool("ask_name")
        if min(front, behind) < ELICITATION:
            assert named.is_error
            return
        assert named.text == "{'value': 'name?'} {'value': 'colour?'}"
        contents = (await found.client.read_resource("test://ask")).contents
        assert contents[0].text == "{'value': 'reads?'}"


async def test_a_client_that_cannot_be_asked_is_not_asked(front: str, behind: str) -> None:
    async with crossing(front, behind, handlers={}) as found:
        if behind in MODERN:
            with pytest.raises(ServerError) as refused:
                await found.client.call_tool("think")
            assert refused.value.code == errors.MISSING_CAPABILITY
        else:
            assert (await found.client.call_tool("think")).is_error
        assert not [one for one in found.server.received if "result" in one]


async def test_content_is_of_kinds_that_the_client_knows(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        result = await found.client.call_tool("play")
    kinds = [block["type"] for block in decode(result.reply.result)["content"]]
    oldest = min(front, behind)
    assert kinds == [
        "audio" if oldest >= AUDIO else "resource",
        "resource_link" if oldest >= RESOURCE_LINKS else "text",
    ]


async def test_a_second_client_finds_the_era_at_once(front: str, behind: str) -> None:
    async with crossing(front, behind) as found:
        before = len(found.server.methods())
        async with connect(found.bridge, revision=front, options=Options(handlers=ANSWERS)) as second:
            assert (await second.call_tool("add", {"a": 1, "b": 2})).text == "3"
        asked = found.server.methods()[before:]
    assert asked.count("server/discover") == (behind in MODERN)
    assert asked.count("initialize") == (behind not in MODERN)
