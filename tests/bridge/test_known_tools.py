"""The tools of a server behind the bridge, from pages to the one list that clients get."""

from typing import Any

import pytest
from msgspec import Raw

from qortal_mcp.bridge.server_side.known_tools import KnownTools
from qortal_mcp.repairs import values
from qortal_mcp.repairs.chosen import REPAIRED, Repairs
from qortal_mcp.repairs.subjects import Asked

ASKED = Asked(revision="2025-11-25", method="tools/list")


def known(*pages: Any) -> KnownTools:
    """Tools read page by page, each under the cursor p1, p2, … and repaired at `all`."""
    tools = KnownTools(read_only=False, hidden=frozenset(), misfits=set())
    read = [Repairs("all").page(Raw(values.write(page)), "tools", ASKED) for page in pages]
    tools.replace({f"p{number}" if number else None: page for number, page in enumerate(read)}, now=0.0)
    return tools


def page(*names: str, **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {}}
    return {
        "tools": [{"name": name, "description": "A tool.", "inputSchema": schema} for name in names],
        **more,
    }


def test_one_page_stays_as_it_is() -> None:
    assert known(page("a", "b")).all_in_one() == page("a", "b")


def test_pages_become_one_that_says_so() -> None:
    tools = known(page("a", nextCursor="p1"), page("b", nextCursor="p2"), page("c"))
    assert tools.are_complete
    assert tools.all_in_one() == {**page("a", "b", "c"), "_meta": {REPAIRED: ["tools-list-paginated"]}}


def test_what_was_repaired_on_any_page_is_still_marked() -> None:
    null_title = page("b")
    null_title["tools"][0]["title"] = None
    whole = known(page("a", nextCursor="p1"), null_title).all_in_one()
    assert whole is not None
    assert whole["_meta"] == {REPAIRED: ["optional-null", "tools-list-paginated"]}


def test_marks_that_a_server_makes_up_do_no_harm() -> None:
    whole = known(page("a", nextCursor="p1", _meta={REPAIRED: 5}), page("b", _meta=[])).all_in_one()
    assert whole is not None
    assert whole["_meta"] == {REPAIRED: ["tools-list-paginated"]}


def test_a_list_whose_next_page_was_not_read_is_not_complete() -> None:
    assert not known(page("a", nextCursor="p1"), page("b", nextCursor="p2")).are_complete
    assert known(page("a", nextCursor="p1"), page("b", nextCursor="p1")).are_complete


@pytest.mark.parametrize("wrong", ["x", 5, {"tools": "x"}, {"tools": 5}, {"error": "no"}])
def test_a_page_that_is_not_a_list_is_not_made_one(wrong: Any) -> None:
    assert known(page("a", nextCursor="p1"), wrong).all_in_one() is None
    assert known(wrong).all_in_one() is None
    assert KnownTools(read_only=False, hidden=frozenset(), misfits=set()).all_in_one() is None


@pytest.mark.parametrize("least", [b"0", b"0.5", b"1e-3"])
def test_a_schema_with_any_number_in_it_can_be_held_against_a_result(least: bytes) -> None:
    schema = b'{"type":"object","properties":{"x":{"type":"number","minimum":%b}}}' % least
    listed = b'{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":%b}]}' % schema
    repairs = Repairs("safe")
    tools = KnownTools(read_only=False, hidden=frozenset(), misfits=set())
    tools.replace({None: repairs.page(Raw(listed), "tools", ASKED)}, now=0.0)
    tool = tools.get("a")
    assert tool is not None
    wrong = repairs.call(Raw(b'{"content":[],"structuredContent":{"x":"one"}}'), None, ASKED, tool.known)
    assert [change.code for change in wrong.changes] == ["structured-content-schema-mismatch"]
    assert wrong.drops_schema


def test_numbers_of_a_schema_are_listed_as_they_were_written() -> None:
    listed = b'{"tools":[{"name":"a","inputSchema":{"type":"object"},"outputSchema":{"minimum":1.50,"type":"object"}}]}'
    tools = KnownTools(read_only=False, hidden=frozenset(), misfits=set())
    tools.replace({None: Repairs("safe").page(Raw(listed), "tools", ASKED)}, now=0.0)
    assert b'"minimum":1.50' in values.write(tools.all_in_one())
