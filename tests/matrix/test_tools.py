"""tools/list and tools/call: every kind of result in every revision."""

import base64
import json
from typing import Any

import jsonschema_rs
import pytest
from tests.matrix import subject
from tests.matrix.conftest import Connect
from tests.matrix.subject import ERROR_KEY
from tests.matrix.wires import MODERN, Wire, unique

INVALID_PARAMS = -32602
STRUCTURED = "2025-06-18"


def text(value: str) -> dict[str, Any]:
    return {"type": "text", "text": value}


def without_meta(result: dict[str, Any]) -> dict[str, Any]:
    """A result without what the modern era adds to each."""
    return {key: value for key, value in result.items() if key not in ("resultType", "_meta")}


async def listed(wire: Wire) -> dict[str, Any]:
    return {tool["name"]: tool for tool in (await wire.request("tools/list")).result["tools"]}


@pytest.mark.promise(
    "Tools and their results",
    "The tool list is complete, in a fixed order, and does not depend on what was asked before.",
)
async def test_the_list_is_whole_ordered_and_has_only_members_of_the_revision(connect: Connect) -> None:
    wire = await connect()
    result = (await wire.request("tools/list")).result
    assert "nextCursor" not in result
    names = [tool["name"] for tool in result["tools"]]
    assert names == [tool.name for tool in subject._all(type(subject.echo))]
    assert result == (await wire.request("tools/list", {})).result
    members = {"name", "description", "inputSchema", "outputSchema"}
    if wire.revision >= "2025-03-26":
        members.add("annotations")
    if wire.revision >= STRUCTURED:
        members.add("title")
    assert set().union(*result["tools"]) == members
    for tool in result["tools"]:
        assert tool["inputSchema"]["type"] == "object"
        assert tool["description"]
        if "outputSchema" in tool:
            assert tool["outputSchema"]["type"] == "object"


async def test_the_modern_list_says_how_long_it_may_be_kept(connect: Connect) -> None:
    wire = await connect()
    for method in ("tools/list", "prompts/list", "resources/list", "resources/templates/list"):
        result = (await wire.request(method)).result
        assert ("ttlMs" in result, "cacheScope" in result, "resultType" in result) == (wire.modern,) * 3


# Tool, its blocks, and the structured value: under "native" in every revision, under "wrapped" only where
# revisions know structured content.
RESULTS: list[Any] = [
    ("gives_object", [text('{"x":1,"label":"ø"}')], "native", {"x": 1, "label": "ø"}),
    ("gives_any_object", [text('{"a":1}')], "native", {"a": 1}),
    ("gives_list", [text("[1,2]")], "wrapped", [1, 2]),
    ("gives_any_list", [text("[1,2]")], None, None),
    ("gives_text", [text("hi")], "wrapped", "hi"),
    ("gives_number", [text("5")], "wrapped", 5),
    ("gives_false", [text("false")], "wrapped", False),
    ("gives_null", [text("null")], "wrapped", None),
    ("gives_nothing", [], None, None),
]


@pytest.mark.promise(
    "Library",
    'A tool of your own may return text, a number or nothing: it is sent as text, and wrapped as `{"result": …}` where it must be an object.',
)
async def test_every_kind_of_value_has_its_shape(connect: Connect) -> None:
    wire = await connect()
    tools = await listed(wire)
    for name, content, how, value in RESULTS:
        result = (await wire.call(name, {})).result
        expected: dict[str, Any] = {"content": content, "isError": False}
        if how == "native":
            expected["structuredContent"] = value
        elif how == "wrapped" and wire.revision >= STRUCTURED:
            expected["structuredContent"] = {"result": value}
        assert without_meta(result) == expected, name
        assert result.get("resultType") == ("complete" if wire.modern else None)
        if "outputSchema" in tools[name]:
            jsonschema_rs.validate(tools[name]["outputSchema"], result["structuredContent"])
        else:
            assert how is None or "structuredContent" not in result or name == "gives_any_object"


PICTURE = {"type": "image", "data": base64.b64encode(b"picture").decode(), "mimeType": "image/png"}
SOUND = {"type": "audio", "data": base64.b64encode(b"sound").decode(), "mimeType": "audio/wav"}
EMBEDDED = {"type": "resource", "resource": {"uri": "note://fixed", "text": "inside"}}
LINK = {"type": "resource_link", "uri": "note://fixed", "name": "fixed", "title": "Fixed note"}


def blocks_in(revision: str) -> dict[str, Any]:
    """Each block as a revision knows it, or the nearest that it knows."""
    sound: dict[str, Any] = SOUND
    if revision < "2025-03-26":
        contents = {"uri": "data:audio", "mimeType": "audio/wav", "blob": SOUND["data"]}
        sound = {"type": "resource", "resource": contents}
    link: dict[str, Any] = LINK if revision >= STRUCTURED else text("Fixed note: note://fixed")
    return {"gives_picture": PICTURE, "gives_sound": sound, "gives_embedded": EMBEDDED, "gives_link": link}


@pytest.mark.promise("Library", "Results hold only what the revision of the client knows.")
async def test_blocks_are_those_that_the_revision_knows(connect: Connect) -> None:
    wire = await connect()
    expected = blocks_in(wire.revision)
    for name, block in expected.items():
        assert without_meta((await wire.call(name)).result) == {"content": [block], "isError": False}
    several = (await wire.call("gives_several")).result["content"]
    assert several == [text("several"), *expected.values()]


async def test_a_prompt_has_only_blocks_that_the_revision_knows(connect: Connect) -> None:
    wire = await connect()
    messages = (await wire.request("prompts/get", {"name": "with_blocks"})).result["messages"]
    assert [message["content"] for message in messages] == list(blocks_in(wire.revision).values())


FAILURES: list[Any] = [
    ("fails", {}, "Thing not found. There are no things.", "NOT_FOUND"),
    ("breaks", {}, "Internal error.", "INTERNAL"),
    ("breaks_later", {}, "Internal error.", "INTERNAL"),
    ("lies", {}, "Internal error.", "INTERNAL"),
    ("huge", {}, "Answer too large.", "TOO_LARGE"),
    ("echo", {}, "Missing argument text.", "INVALID_ARGUMENT"),
    ("echo", {"text": 5}, "Invalid text. text takes text of 0 to 200000 characters.", "INVALID_ARGUMENT"),
    ("echo", {"tekst": "x"}, "Unknown argument tekst. Valid arguments: text.", "INVALID_ARGUMENT"),
    ("add", {"a": 1.5}, "Invalid a. a takes a whole number.", "INVALID_ARGUMENT"),
    ("add", {"a": True}, "Invalid a. a takes a whole number.", "INVALID_ARGUMENT"),
    ("pages", {"limit": 0}, "Invalid limit. limit takes a whole number from 1 to 10.", "INVALID_ARGUMENT"),
    ("gives_text", {"a": 1}, "Unknown argument a. This tool takes no arguments.", "INVALID_ARGUMENT"),
    ("gives_text", {"\u202eevil": 1}, "Unknown argument \\u{202E}evil. This tool takes no arguments.", None),
]


@pytest.mark.promise(
    "Errors",
    "A tool that fails gives a result with `isError: true`, one plain sentence, and no `structuredContent`; it is never a JSON-RPC error.",
)
async def test_a_failed_tool_is_a_result_that_says_why_and_nothing_more(connect: Connect) -> None:
    wire = await connect()
    for name, arguments, words, code in FAILURES:
        answer = await wire.call(name, arguments)
        result = answer.result
        assert result["content"] == [text(words)]
        assert result["isError"] is True
        assert "structuredContent" not in result
        error = result["_meta"][ERROR_KEY]
        assert error == {"code": code or "INVALID_ARGUMENT", "retryable": False}
        assert answer.status in (None, 200)


@pytest.mark.promise("Tools and their results", "A number in quotes is understood, and a note says so.")
async def test_numbers_in_quotes_and_pages_too_large_are_understood_and_noted(connect: Connect) -> None:
    wire = await connect()
    assert (await wire.call("add", {"a": "5", "b": None})).text == "5"
    result = (await wire.call("pages", {"limit": 99})).result
    assert result["structuredContent"]["items"] == list(range(10))
    assert result["structuredContent"]["notes"] == [
        "limit 99 was lowered to 10, the most this tool gives at once."
    ]


BAD_CALLS: list[dict[str, Any]] = [
    {"name": "nope"},
    {"name": ""},
    {"name": "Echo"},
    {},
    {"name": 5},
    {"name": None},
    {"name": "echo", "arguments": []},
    {"name": "echo", "arguments": "text"},
    {"name": "echo", "arguments": None},
]


@pytest.mark.promise(
    "Errors",
    "Parameters that are not an object, and a call without a tool name or with arguments that are not an object, are error -32602.",
)
async def test_a_call_that_is_none_is_a_protocol_error(connect: Connect) -> None:
    wire = await connect()
    for params in BAD_CALLS:
        answer = await wire.request("tools/call", params)
        assert (params, answer.code) == (params, INVALID_PARAMS)
        assert answer.status == (None if wire.lasting else 400 if wire.modern else 200)


TEXTS = ["", "plain", 'quotes " \\ /', "line\nline\r\n\t", "é漢😀", "\x00\x7f\u2028", "</script>"]


@pytest.mark.promise(
    "Tools and their results", "Text beyond ASCII arrives as it was written, without `\\u` escapes."
)
async def test_any_text_passes_unchanged(connect: Connect) -> None:
    wire = await connect()
    for text_ in TEXTS:
        assert (await wire.call("echo", {"text": text_})).text == text_


BROKEN_ARGUMENTS: list[tuple[bytes, int | None]] = [
    (b'{"text":"\xff"}', -32700),
    (b'{"text":"\\ud800"}', None),
    (b'{"text":NaN}', -32700),
    (b'{"text":' + b"[" * 600 + b"]" * 600 + b"}", None),
    (b'{"text":1' + b"0" * 5000 + b"}", None),
    (b'{"text":"a","text":"b"}', None),
    (b'{"te\xffxt":"a"}', -32700),
]


@pytest.mark.promise(
    "Limits and abuse", "No arguments can make a tool of the server fail in an unforeseen way."
)
@pytest.mark.parametrize("tool", ["echo", "asks_twice", "region", "wait_for"])
@pytest.mark.parametrize("revision", ["2025-06-18", MODERN])
@pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
async def test_arguments_that_cannot_be_read_are_never_an_internal_error(connect: Connect, tool: str) -> None:
    wire = await connect(capabilities={})
    name = {"asks_twice": b'"topic"', "wait_for": b'"mark"'}.get(tool, b'"text"')
    for arguments, code in BROKEN_ARGUMENTS:
        if tool == "wait_for" and code is None:
            continue  # an odd but readable text, which would be waited for
        message = wire.message("tools/call", {"name": tool, "arguments": "HERE"})
        wire.remember(message)
        body = json.dumps(message).encode().replace(b'"HERE"', arguments.replace(b'"text"', name))
        (reply,) = await wire.heard_soon(await wire.raw(body, wire.headers_of(message)))
        assert reply["id"] in (message["id"], None)
        if code is not None:
            assert (arguments, reply["error"]["code"]) == (arguments, code)
        elif "result" in reply:
            assert "Internal error." not in str(reply["result"])
        else:
            assert reply["error"]["code"] in (-32600, -32602, -32700, -32020, -32021)


@pytest.mark.promise("Limits and abuse", "A tool that takes too long is ended and says so.")
async def test_a_tool_that_takes_too_long_is_ended_and_says_so(connect: Connect) -> None:
    wire = await connect(limits={"call_seconds": 0.1})
    key = unique("too long")
    result = (await wire.call("hang", {"key": key})).result
    assert result["content"] == [text("Tool did not finish in time. It was given 0.1 s.")]
    assert result["_meta"][ERROR_KEY] == {"code": "TIMEOUT", "retryable": True}
    assert (await wire.call("wait_for", {"mark": f"{key} ended"})).text == f"{key} ended"


@pytest.mark.parametrize("what", ["resources/read", "prompts/get"])
async def test_a_resource_or_prompt_that_takes_too_long_is_a_protocol_error(
    connect: Connect, what: str
) -> None:
    wire = await connect(limits={"call_seconds": 0.1})
    params = {"uri": "note://slow"} if what == "resources/read" else {"name": "slow_prompt"}
    answer = await wire.request(what, params)
    assert (answer.code, answer.status) == (-32603, None if wire.lasting else 200)


@pytest.mark.promise("Limits and abuse", "More requests at once than allowed are refused.")
async def test_more_requests_at_once_than_allowed_are_refused(connect: Connect) -> None:
    wire = await connect(limits={"peer_requests": 2, "server_requests": 2}, own=True)
    first, second = unique("first"), unique("second")
    await wire.post(wire.message("tools/call", {"name": "hang", "arguments": {"key": first}}))
    assert (await wire.call("wait_for", {"mark": f"{first} started"})).text == f"{first} started"
    # Of these two one is the third at once, whichever arrives last.
    posts = {}
    for name, arguments in (("hang", {"key": second}), ("wait_for", {"mark": "never"})):
        message = wire.message("tools/call", {"name": name, "arguments": arguments})
        posts[message["id"]] = await wire.post(message)
    refused = await wire.receive()
    assert refused["error"] == {"code": -32603, "message": "too many requests at once"}
    post = posts[refused["id"]]
    assert await post.status() == (None if wire.lasting else 503)
    if not wire.lasting:
        assert int(post.head.result().headers["retry-after"]) >= 1
