"""Pagination, resources, prompts and completion."""

from typing import Any

import pytest
from tests.matrix.conftest import Connect
from tests.matrix.wires import MODERN, Wire

INVALID_PARAMS, INTERNAL = -32602, -32603
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


def status(wire: Wire, modern: int) -> int | None:
    return None if wire.lasting else modern if wire.modern else 200


@pytest.mark.promise("Messages", "Following the cursors of a list gives every entry once and in order.")
async def test_pages_give_everything_once_and_in_order(connect: Connect) -> None:
    whole, paged = await connect(), await connect(limits={"page_items": 2})
    for method, noun in LISTS.items():
        expected = (await whole.request(method)).result[noun]
        found: list[Any] = []
        cursor: dict[str, Any] = {}
        scopes = set()
        while True:
            result = (await paged.request(method, cursor)).result
            assert len(result[noun]) <= 2
            found += result[noun]
            scopes.add(result.get("cacheScope"))
            if "nextCursor" not in result:
                break
            assert result["nextCursor"]
            cursor = {"cursor": result["nextCursor"]}
        assert found == expected
        assert len(scopes) == 1


BAD_CURSORS = [
    "",
    "nope",
    "cGFnZTox",
    "cGFnZTotMg",
    "cGFnZToy=",
    "cGFnZToy ",
    "cGFnZTo5OTk5OTk",
    "é",
    5,
    None,
    {},
]


@pytest.mark.promise("Errors", "A cursor that the server did not give is error -32602.")
async def test_a_cursor_that_is_not_ours_is_refused(connect: Connect) -> None:
    wire = await connect(limits={"page_items": 2})
    for method in LISTS:
        for cursor in BAD_CURSORS:
            answer = await wire.request(method, {"cursor": cursor})
            assert (method, cursor, answer.code) == (method, cursor, INVALID_PARAMS)
            assert answer.status == status(wire, 400)


async def test_resources_are_listed_with_members_of_the_revision(connect: Connect) -> None:
    wire = await connect()
    listed = (await wire.request("resources/list")).result["resources"]
    fixed = next(each for each in listed if each["uri"] == "note://fixed")
    expected = {
        "uri": "note://fixed",
        "name": "fixed_note",
        "description": "A note that stays the same.",
        "mimeType": "text/plain",
    }
    title = {"title": "Fixed note"} if wire.revision >= "2025-06-18" else {}
    assert fixed == {**expected, **title}
    templates = (await wire.request("resources/templates/list")).result["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == [
        "note://item/{number}",
        "note://pair/{left}/{right}",
        "note://tide/{shore}",
    ]


READS = [
    ("note://fixed", {"mimeType": "text/plain", "text": "always this"}),
    ("note://picture", {"mimeType": "image/png", "blob": "cGljdHVyZQ=="}),
    ("note://item/7", {"mimeType": "application/json", "text": '{"number":"7"}'}),
    ("note://item/a%20b", {"mimeType": "application/json", "text": '{"number":"a b"}'}),
    ("note://pair/x/y", {"mimeType": "text/plain", "text": "x|y"}),
]


async def test_a_resource_is_read_by_its_address(connect: Connect) -> None:
    wire = await connect()
    for uri, expected in READS:
        result = (await wire.request("resources/read", {"uri": uri})).result
        assert result["contents"] == [{"uri": uri, **expected}]
        assert result.get("ttlMs") == (0 if wire.modern else None)


NOT_THERE = [
    "note://nope",
    "",
    "note://gone",
    "note://refused",
    "note://item/",
    "note://item/1/2",
    "note://FIXED",
]


async def test_a_resource_that_is_not_there_has_the_code_of_its_era(connect: Connect) -> None:
    wire = await connect()
    for uri in NOT_THERE:
        answer = await wire.request("resources/read", {"uri": uri})
        assert (uri, answer.code) == (uri, INVALID_PARAMS if wire.modern else -32002)
        assert answer.error["data"] == {"uri": uri}
        assert answer.status == status(wire, 400)


async def test_a_resource_that_fails_is_an_internal_error_without_details(connect: Connect) -> None:
    wire = await connect()
    for uri, words in (("note://broken", "Internal error"), ("note://unreachable", "Node unreachable.")):
        answer = await wire.request("resources/read", {"uri": uri})
        assert (answer.code, answer.error["message"]) == (INTERNAL, words)
        assert answer.status == status(wire, 200)


async def test_a_read_without_an_address_is_refused(connect: Connect) -> None:
    wire = await connect()
    for params in ({}, {"uri": 5}, {"uri": None}):
        answer = await wire.request("resources/read", params)
        assert (answer.code, answer.status) == (INVALID_PARAMS, status(wire, 400))


async def test_prompts_are_listed_and_written(connect: Connect) -> None:
    wire = await connect()
    listed = {each["name"]: each for each in (await wire.request("prompts/list")).result["prompts"]}
    assert "arguments" not in listed["plain"]
    assert listed["with_arguments"]["arguments"] == [
        {"name": "a", "description": "A word.", "required": True},
        {"name": "b", "required": False},
    ]
    assert ("title" in listed["plain"]) == (wire.revision >= "2025-06-18")
    result = (await wire.request("prompts/get", {"name": "with_arguments", "arguments": {"a": "x"}})).result
    assert result["messages"] == [{"role": "user", "content": {"type": "text", "text": "x and -"}}]
    assert result["description"].startswith("A prompt with one")


BAD_PROMPTS: list[Any] = [
    ({"name": "nope"}, INVALID_PARAMS),
    ({}, INVALID_PARAMS),
    ({"name": "with_arguments"}, INVALID_PARAMS),
    ({"name": "with_arguments", "arguments": {"a": 5}}, INVALID_PARAMS),
    ({"name": "with_arguments", "arguments": {"a": "x", "c": "y"}}, INVALID_PARAMS),
    ({"name": "with_arguments", "arguments": []}, INVALID_PARAMS),
    ({"name": "broken_prompt"}, INTERNAL),
    ({"name": "unreachable_prompt"}, INTERNAL),
]


async def test_a_prompt_that_cannot_be_written_is_a_protocol_error(connect: Connect) -> None:
    wire = await connect()
    for params, code in BAD_PROMPTS:
        answer = await wire.request("prompts/get", params)
        assert (params, answer.code) == (params, code)
        assert "detail" not in answer.error["message"]
        assert answer.status == status(wire, 200 if code == INTERNAL else 400)


def completion(ref: dict[str, str], name: str, value: str, **more: Any) -> dict[str, Any]:
    return {"ref": ref, "argument": {"name": name, "value": value}, **more}


PROMPT = {"type": "ref/prompt", "name": "with_arguments"}
ITEM = {"type": "ref/resource", "uri": "note://item/{number}"}


async def test_completion_suggests_at_most_a_hundred_values_and_counts_them_all(connect: Connect) -> None:
    wire = await connect()
    cases: list[Any] = [
        (completion(PROMPT, "a", "word1"), 61, False),
        (completion(PROMPT, "a", ""), 150, True),
        (completion(PROMPT, "a", "zzz"), 0, False),
        (completion(PROMPT, "unknown", ""), 0, False),
        (completion(ITEM, "number", ""), 2, False),
        (completion(PROMPT, "b", "typed", context={"arguments": {"a": "chosen"}}), 1, False),
    ]
    for params, total, has_more in cases:
        found = (await wire.request("completion/complete", params)).result["completion"]
        assert (found["total"], found["hasMore"], len(found["values"])) == (total, has_more, min(total, 100))
    assert found["values"] == ["chosen-typed"]


BAD_COMPLETIONS: list[Any] = [
    (completion({"type": "ref/prompt", "name": "nope"}, "a", ""), INVALID_PARAMS),
    (completion({"type": "ref/resource", "uri": "note://nope"}, "a", ""), INVALID_PARAMS),
    (completion({"type": "ref/tool", "name": "echo"}, "a", ""), INVALID_PARAMS),
    (completion({"type": "ref/prompt"}, "a", ""), INVALID_PARAMS),
    ({"ref": PROMPT}, INVALID_PARAMS),
    ({"ref": PROMPT, "argument": {"name": "a"}}, INVALID_PARAMS),
    (completion(ITEM, "number", "x"), INTERNAL),
]


async def test_completion_of_what_does_not_exist_is_a_protocol_error(connect: Connect) -> None:
    wire = await connect()
    for params, code in BAD_COMPLETIONS:
        answer = await wire.request("completion/complete", params)
        assert (params, answer.code) == (params, code)


@pytest.mark.promise(
    "Tools and their results",
    "The tool list is complete, in a fixed order, and does not depend on what was asked before.",
)
@pytest.mark.parametrize("revision", ["2025-11-25", MODERN])
@pytest.mark.parametrize("transport", ["memory"])
async def test_lists_do_not_depend_on_what_was_asked_before(connect: Connect) -> None:
    wire = await connect()
    before = (await wire.request("tools/list")).result
    await wire.call("echo", {"text": "x"})
    await wire.call("breaks")
    assert (await wire.request("tools/list")).result == before
