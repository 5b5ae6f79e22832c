"""Malformed replies: each fails its own request at once, with the evidence, and affects nothing else."""

import asyncio
from typing import Any

import pytest
from tests.client.fakes import (
    HttpScript,
    Json,
    Script,
    error,
    legacy,
    modern,
    result,
    silent,
    web_server,
    websocket_server,
)

from qortal_mcp.client import (
    ClientError,
    ClientLimits,
    MalformedReply,
    OddBlock,
    Options,
    RequestTimeout,
    ServerError,
    connect,
)
from qortal_mcp.protocol.messages import TextContent

LIMITS = ClientLimits(request_seconds=0.3, probe_seconds=0.3, linger_seconds=0.1)


def raw(text: str) -> Script:
    """Every request gets this text, where ID stands for its id."""
    return legacy(lambda message: [text.replace("ID", str(message["id"])).encode("latin-1")])


BROKEN = [
    pytest.param('{"id":ID,"result":{}}', MalformedReply, id="no-jsonrpc"),
    pytest.param('{"jsonrpc":"1.0","id":ID,"result":{}}', MalformedReply, id="jsonrpc-1.0"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":{},"error":null}', MalformedReply, id="error-null"),
    pytest.param('{"jsonrpc":"2.0","id":ID}', MalformedReply, id="neither"),
    pytest.param('{"jsonrpc":"2.0","id":"ID","result":{}}', MalformedReply, id="id-of-another-type"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":"text"}', MalformedReply, id="result-string"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":[1]}', MalformedReply, id="result-array"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"result":null}', MalformedReply, id="result-null"),
    pytest.param('{"jsonrpc":"2.0","id":ID,"error":"no"}', MalformedReply, id="error-string"),
    pytest.param(
        '{"jsonrpc":"2.0","id":ID,"error":{"code":"x","message":"m"}}', MalformedReply, id="code-string"
    ),
    pytest.param('{"jsonrpc":"2.0","id":ID,"error":{"code":1}}', MalformedReply, id="no-error-message"),
    pytest.param(
        '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}', ServerError, id="error-id-null"
    ),
    pytest.param('{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}', ServerError, id="error-no-id"),
]
SILENT = [
    pytest.param('{"jsonrpc":"2.0","id":null,"result":{}}', id="id-null"),
    pytest.param('{"jsonrpc":"2.0","result":{}}', id="no-id"),
    pytest.param('{"jsonrpc":"2.0","id":987654,"result":{}}', id="foreign-id"),
    pytest.param('{"jsonrpc":"2.0","id":1.5,"result":{}}', id="fractional-id"),
    pytest.param("{not json", id="not-json"),
    pytest.param('{"jsonrpc":"2.0","id":"\xff","result":{}}', id="not-utf8"),
    pytest.param("[]", id="empty-batch"),
]


@pytest.mark.parametrize(("text", "kind"), BROKEN)
async def test_a_broken_reply_fails_its_request_on_a_lasting_connection(
    text: str, kind: type[ClientError]
) -> None:
    options = Options(limits=LIMITS)
    async with (
        asyncio.timeout(30),
        websocket_server(raw(text)) as url,
        connect(url, options=options) as client,
    ):
        with pytest.raises(kind) as failure:
            await client.request("tools/list")
    assert failure.value.evidence


@pytest.mark.parametrize(("text", "kind"), BROKEN)
@pytest.mark.parametrize("sse", [False, True], ids=["json", "sse"])
async def test_a_broken_reply_fails_its_request_over_http(
    text: str, kind: type[ClientError], sse: bool
) -> None:
    server = HttpScript(raw(text), sse=sse)
    options = Options(limits=LIMITS)
    async with asyncio.timeout(30), web_server(server) as url, connect(url, options=options) as client:
        with pytest.raises(kind) as failure:
            await client.request("tools/list")
    assert failure.value.evidence


@pytest.mark.parametrize("text", SILENT)
async def test_what_belongs_to_no_request_is_the_evidence_of_a_timeout(text: str) -> None:
    options = Options(limits=LIMITS)
    async with (
        asyncio.timeout(30),
        websocket_server(raw(text)) as url,
        connect(url, options=options) as client,
    ):
        with pytest.raises(RequestTimeout) as failure:
            await client.request("tools/list")
    assert failure.value.evidence == (text.encode("latin-1"),)


@pytest.mark.parametrize("text", SILENT)
@pytest.mark.parametrize("sse", [False, True], ids=["json", "sse"])
async def test_over_http_the_reply_that_answers_nothing_fails_at_once(text: str, sse: bool) -> None:
    server = HttpScript(raw(text), sse=sse)
    options = Options(limits=ClientLimits(request_seconds=4))
    async with asyncio.timeout(30), web_server(server) as url, connect(url, options=options) as client:
        with pytest.raises(MalformedReply) as failure:
            await client.request("tools/list")
    assert failure.value.evidence == (text.encode("latin-1"),)


async def test_a_late_reply_is_dropped_and_the_next_request_gets_its_own() -> None:
    held: list[bytes] = []

    def script(message: Json) -> list[bytes]:
        if message["method"] == "slow":
            held.append(result(message, {"late": True}))
            return []
        return [*held, result(message, {"late": False})]

    options = Options(limits=LIMITS)
    async with (
        asyncio.timeout(30),
        websocket_server(legacy(script)) as url,
        connect(url, options=options) as client,
    ):
        with pytest.raises(RequestTimeout):
            await client.request("slow", timeout=0.1)
        assert (await client.request("quick")).read(dict[str, bool]) == {"late": False}


async def test_extra_members_doubled_replies_and_grouped_replies_do_no_harm() -> None:
    def script(message: Json) -> list[bytes]:
        once = result(message, {"ok": True})
        return [once[:-1] + b',"requestId":1}', once, b"[%b]" % once]

    async with asyncio.timeout(30), websocket_server(legacy(script)) as url, connect(url) as client:
        for _ in range(2):
            assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}


async def test_a_batched_reply_is_taken_apart() -> None:
    def script(message: Json) -> list[bytes]:
        return [b"[%b]" % result(message, {"ok": True})]

    async with asyncio.timeout(30), websocket_server(legacy(script)) as url, connect(url) as client:
        assert (await client.request("x")).read(dict[str, bool]) == {"ok": True}


async def test_the_error_of_a_server_keeps_code_message_and_data() -> None:
    script = legacy(lambda message: [error(message, 1234, "odd \u202e text", {"why": [1]})])
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url) as client:
        with pytest.raises(ServerError) as failure:
            await client.request("x")
    assert (failure.value.code, failure.value.message, failure.value.data) == (
        1234,
        "odd \u202e text",
        {"why": [1]},
    )
    assert "\u202e" not in str(failure.value)


def tool_result(value: Any) -> Script:
    return legacy(lambda message: [result(message, value)])


NO_RESULT = [
    pytest.param({}, id="empty"),
    pytest.param({"answer": 42}, id="bare-payload"),
    pytest.param({"content": None}, id="content-null"),
    pytest.param({"content": "text"}, id="content-string"),
    pytest.param({"content": {"type": "text", "text": "x"}}, id="content-object"),
    pytest.param({"content": [], "isError": "yes"}, id="isError-string"),
    pytest.param({"content": [], "isError": None}, id="isError-null"),
    pytest.param({"structuredContent": {"a": 1}}, id="content-missing"),
]


@pytest.mark.parametrize("value", NO_RESULT)
async def test_an_invalid_tool_result_is_refused_with_the_reply(value: Any) -> None:
    async with asyncio.timeout(30), websocket_server(tool_result(value)) as url, connect(url) as client:
        with pytest.raises(MalformedReply) as failure:
            await client.call_tool("t")
    assert b'"result"' in failure.value.evidence[0]


async def test_an_odd_block_does_not_cost_the_others() -> None:
    blocks = [{"type": "text", "text": "good"}, {"type": "hologram"}, {"type": "image"}, "text", None]
    value = {"content": blocks, "structuredContent": [1], "isError": True}
    async with asyncio.timeout(30), websocket_server(tool_result(value)) as url, connect(url) as client:
        found = await client.call_tool("t")
    assert [type(block) for block in found.content] == [TextContent, OddBlock, OddBlock, OddBlock, OddBlock]
    assert (found.text, found.structured, found.is_error) == ("good", [1], True)


def pages(*cursors: Any) -> Script:
    """One tool per page; each page names the next cursor, None meaning that it has none."""
    served = iter(cursors)

    def script(message: Json) -> list[bytes]:
        cursor = next(served, "more")
        page: Json = {"tools": [{"name": f"t{cursor}", "inputSchema": {"type": "object"}}]}
        if cursor is not None:
            page["nextCursor"] = None if cursor == "null" else cursor
        return [result(message, page)]

    return script


GOOD_PAGES = [
    pytest.param(("a", "b", None), 3, id="three-pages"),
    pytest.param((None,), 1, id="one-page"),
    pytest.param(("null",), 1, id="cursor-null"),
    pytest.param(("",), 1, id="legacy-empty-cursor"),
]


@pytest.mark.parametrize(("cursors", "items"), GOOD_PAGES)
async def test_all_pages_are_read(cursors: tuple[Any, ...], items: int) -> None:
    async with asyncio.timeout(30), websocket_server(legacy(pages(*cursors))) as url, connect(url) as client:
        listing = await client.list_tools()
    assert len(listing) == len(listing.pages) == items


async def test_in_the_modern_era_an_empty_cursor_is_a_cursor() -> None:
    async with asyncio.timeout(30), websocket_server(modern(pages("", None))) as url, connect(url) as client:
        assert len(await client.list_tools()) == 2


ENDLESS = [
    pytest.param(("a", "b", "a"), "twice", id="cursor-repeats"),
    pytest.param(tuple(map(str, range(99))), "pages", id="new-cursors-for-ever"),
]


@pytest.mark.parametrize(("cursors", "words"), ENDLESS)
async def test_a_list_without_end_ends(cursors: tuple[str, ...], words: str) -> None:
    options = Options(limits=ClientLimits(list_pages=20))
    script = legacy(pages(*cursors))
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url, options=options) as client:
        with pytest.raises(MalformedReply, match=words):
            await client.list_tools()


async def test_one_bad_tool_costs_one_tool() -> None:
    tools = [
        {"name": "good", "title": None, "description": None, "inputSchema": {}, "outputSchema": None},
        {"name": "no-schema"},
        {"name": "schema-null", "inputSchema": None},
        {"inputSchema": {}},
        "text",
    ]
    script = legacy(lambda message: [result(message, {"tools": tools})])
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url) as client:
        listing = await client.list_tools()
    assert [tool.name for tool in listing] == ["good"]
    assert len(listing.odd) == 4
    assert all(item.reason for item in listing.odd)


@pytest.mark.parametrize("value", [{"tools": {}}, {}, {"tools": None}, {"tools": [], "nextCursor": 5}])
async def test_an_invalid_page_is_refused(value: Any) -> None:
    script = legacy(lambda message: [result(message, value)])
    async with asyncio.timeout(30), websocket_server(script) as url, connect(url) as client:
        with pytest.raises(MalformedReply):
            await client.list_tools()


async def test_a_silent_server_times_out_with_nothing_to_show() -> None:
    options = Options(limits=LIMITS)
    async with (
        asyncio.timeout(30),
        websocket_server(legacy(silent)) as url,
        connect(url, options=options) as client,
    ):
        with pytest.raises(RequestTimeout) as failure:
            await client.request("tools/list")
    assert failure.value.evidence == ()
