"""The form of results in each revision."""

import json
from typing import Any

import pytest

from qortal_mcp.protocol import results, versions
from qortal_mcp.protocol.messages import AudioContent, Implementation, ResourceLink, TextContent
from qortal_mcp.protocol.results import CacheHint, Shape

INFO = Implementation(name="n", version="1")
SERVER = {"io.modelcontextprotocol/serverInfo": {"name": "n", "version": "1"}}
OLD, NEW = Shape("2025-11-25", False, INFO), Shape("2026-07-28", True, INFO)

DRESSED: list[Any] = [
    (OLD, b"{}", None, None, {}),
    (OLD, b"{}", {"a": 1}, None, {"_meta": {"a": 1}}),
    (OLD, b'{"x":1}', None, CacheHint(5), {"x": 1}),
    (OLD, b'{"x":1}', {"a": 1}, None, {"x": 1, "_meta": {"a": 1}}),
    (NEW, b"{}", None, None, {"resultType": "complete", "_meta": SERVER}),
    (NEW, b'{"x":1}', {"a": 1}, None, {"x": 1, "resultType": "complete", "_meta": {"a": 1, **SERVER}}),
    (
        NEW,
        b'{"x":1}',
        None,
        CacheHint(5, "private"),
        {"x": 1, "resultType": "complete", "ttlMs": 5, "cacheScope": "private", "_meta": SERVER},
    ),
]


@pytest.mark.parametrize(("shape", "body", "meta", "cache", "expected"), DRESSED)
def test_a_result_gains_what_its_revision_asks_for(
    shape: Shape, body: bytes, meta: Any, cache: CacheHint | None, expected: Any
) -> None:
    assert json.loads(shape.complete(body, meta, cache)) == expected


def test_a_question_is_marked_as_one() -> None:
    found = json.loads(NEW.input_required(b'{"requestState":"s"}'))
    assert found == {"requestState": "s", "resultType": "input_required", "_meta": SERVER}


@pytest.mark.promise(
    "Tools and their results",
    "A result has exactly one text block, which holds the same JSON as `structuredContent`, and `isError: false`.",
)
def test_text_and_structure_of_a_result_are_the_same_bytes() -> None:
    value = '{"é":[1,null,"\\n"]}'.encode()
    found = json.loads(results.structured_result(value))
    assert found["content"] == [{"type": "text", "text": value.decode()}]
    assert found["structuredContent"] == json.loads(value)
    assert found["isError"] is False


def test_a_failure_has_text_alone() -> None:
    found = json.loads(results.error_result("no"))
    assert found == {"content": [{"type": "text", "text": "no"}], "isError": True}


@pytest.mark.promise("Library", "Results hold only what the revision of the client knows.")
@pytest.mark.parametrize("revision", versions.REVISIONS)
def test_blocks_that_a_revision_does_not_know_are_replaced(revision: str) -> None:
    sound, link = AudioContent(data="", mimeType="audio/wav"), ResourceLink(uri="a:b", name="n")
    assert (results.known_block(sound, revision) is sound) == (revision >= "2025-03-26")
    found = results.known_block(link, revision)
    if revision >= "2025-06-18":
        assert found is link
    else:
        assert found == TextContent(text="n: a:b")


@pytest.mark.parametrize("revision", versions.REVISIONS)
def test_a_listed_thing_has_no_member_from_the_future(revision: str) -> None:
    item = {"name": "n", "title": "t", "annotations": {}, "icons": [], "_meta": {}, "inputSchema": {}}
    expected = {"name", "inputSchema"}
    if revision >= "2025-03-26":
        expected.add("annotations")
    if revision >= "2025-06-18":
        expected |= {"title", "_meta"}
    if revision >= "2025-11-25":
        expected.add("icons")
    assert set(results.known_members(item, revision)) == expected
