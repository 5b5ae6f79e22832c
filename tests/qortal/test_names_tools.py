"""Names: whose they are, what they cost, and how they are found."""

import json

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .pages import every_row
from .told_node import ToldNode
from .world import ALICE, BOB, CHLOE, NOBODY, WRONG_CHECKSUM


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="names,accounts")


async def test_a_name_tells_its_owner_its_data_and_its_times(call: Call) -> None:
    answer = (await call("get_name", name="Alice Renamed"))["structuredContent"]
    assert answer["name"] == "Alice Renamed"
    assert answer["isExactMatch"] is True
    assert answer["owner"] == ALICE
    assert answer["data"] == "renamed and updated"
    assert answer["registeredTime"].startswith("2026-11-15T19:12:")
    assert answer["updated"] > answer["registered"]
    assert answer["isForSale"] is False
    assert answer["salePrice"] is None
    assert answer["asOf"]["height"] == 596


async def test_a_name_for_sale_has_an_exact_price_with_a_unit(call: Call) -> None:
    answer = (await call("get_name", name="bob-for-sale"))["structuredContent"]
    assert (answer["isForSale"], answer["salePrice"], answer["unit"]) == (True, "33.33000000", "QORT")


@pytest.mark.promise(
    "Data of the chain", "A name that only looks like the one asked for is reported as a look-alike."
)
@pytest.mark.parametrize(
    ("asked", "shown", "found"),
    [
        pytest.param("B0b", "B0b", "Bob", id="digit"),
        pytest.param("ALICE-TEST", "ALICE-TEST", "alice-test", id="case"),
        pytest.param("a1ice-test", "a1ice-test", "alice-test", id="one-for-l"),
        pytest.param(" alice-test ", " alice-test ", "alice-test", id="spaces"),
        pytest.param("\u202ealice-test", "\\u{202E}alice-test", "alice-test", id="hidden-mark"),
        pytest.param("Grace & Sohne GmbH", "Grace & Sohne GmbH", "Grace & Söhne GmbH", id="umlaut"),
    ],
)
async def test_a_look_alike_is_found_and_said_to_be_one(
    call: Call, asked: str, shown: str, found: str
) -> None:
    answer = (await call("get_name", name=asked))["structuredContent"]
    assert answer["name"] == found
    assert answer["isExactMatch"] is False
    assert answer["notes"][0] == f'"{shown}" was asked for; the registered name is "{found}".'


@pytest.mark.parametrize(
    "name",
    [
        "slash/name",
        "100%real",
        "semi;colon?q=1#frag",
        "...",
        "../admin/stop",
        "日本語の名前",
        "Rocket 🚀 Team",
    ],
)
async def test_names_of_any_letters_can_be_asked_for(call: Call, name: str) -> None:
    answer = (await call("get_name", name=name))["structuredContent"]
    assert answer["name"] == name
    assert answer["isExactMatch"] is True


@pytest.mark.promise(
    "Data of the chain",
    "A name or poll whose name holds characters that are never sent in a path is found through the search or the list.",
)
@pytest.mark.parametrize(
    "name", ["slash/name", "SLASH/NAME", "100%real", "semi;colon?q=1#frag", "../admin/stop"]
)
async def test_a_name_that_is_never_sent_in_a_path_is_found_through_the_search(name: str) -> None:
    source = ToldNode()
    node = Node([source])
    answer = (await caller(make_server(node))("get_name", name=name))["structuredContent"]
    await node.close()
    assert answer["name"] == name.lower()
    assert answer["isExactMatch"] is (name == name.lower())
    asked = {target.partition("?")[0] for target in source.asked}
    assert asked == {"/admin/status", "/blocks/last", "/names/search"}


@pytest.mark.parametrize("name", ["slash/nam", "lash/name", "100%", "%", "%%%", "..\\admin", "a;b"])
async def test_nothing_but_the_whole_name_is_found_through_the_search(call: Call, name: str) -> None:
    assert (await call("get_name", name=name))["content"][0]["text"] == "Name not found."


async def test_a_name_that_matches_endless_others_is_given_up() -> None:
    others = [
        {"name": f"other {number}", "owner": ALICE, "registered": 1, "isForSale": False}
        for number in range(100)
    ]
    source = ToldNode(lambda target: others if target.startswith("/names/search") else None)
    node = Node([source])
    result = await caller(make_server(node))("get_name", name="%")
    await node.close()
    assert result["content"][0]["text"] == "Name not found."
    assert len(source.asked) < 10


@pytest.mark.parametrize(
    "name", ["no-such-name", "search", "forsale", "address", "primary", "x", "Alice Second Name"]
)
async def test_an_unknown_name_is_not_found(call: Call, name: str) -> None:
    result = await call("get_name", name=name)
    assert result["content"][0]["text"] == "Name not found."
    assert result["_meta"]["qortal-mcp/error"] == {"code": "NOT_FOUND", "retryable": False}


@pytest.mark.parametrize("name", ["search", "forsale"])
async def test_names_that_core_has_addresses_for_can_be_asked_for(name: str) -> None:
    row = {"name": name, "owner": ALICE, "registered": 1794769945481, "isForSale": False}
    async with FaultyNode() as shadowing:
        shadowing.behaviours[f"/names/{name.upper()}"] = replies(json.dumps(row))
        node = Node.at([shadowing.url])
        answer = (await caller(make_server(node, toolsets="names"))("get_name", name=name))[
            "structuredContent"
        ]
        await node.close()
    assert answer["owner"] == ALICE
    assert answer["isExactMatch"] is True


@pytest.mark.parametrize("name", ["", ".", "..", "x" * 101, None, 5])
async def test_what_cannot_be_a_name_is_refused(call: Call, name: object) -> None:
    result = await call("get_name", name=name)
    assert result["content"][0]["text"].startswith("Invalid name.")


@pytest.mark.promise(
    "Text of strangers",
    "Hidden characters in names, messages and other texts are shown as `\\u{XXXX}` in every answer.",
)
async def test_hidden_characters_in_data_are_shown(call: Call) -> None:
    result = await call("get_name", name="heidi-hidden")
    assert "\\u{202E}" in result["structuredContent"]["data"]
    assert not set(result["content"][0]["text"]) & set("\u202e\u202d\u200b\ufeff\u2066\x07")


@pytest.mark.promise(
    "Text of strangers", "A name that was shown with escapes can be asked for as it was shown."
)
async def test_a_name_that_was_shown_escaped_can_be_asked_for_as_shown() -> None:
    name = "odd\u202ename"
    row = {"name": name, "owner": ALICE, "registered": 1794769945481, "isForSale": False}
    async with FaultyNode() as hostile:
        hostile.behaviours["/names/odd%E2%80%AEname"] = replies(json.dumps(row))
        node = Node.at([hostile.url])
        call = caller(make_server(node, toolsets="names"))
        answer = (await call("get_name", name="odd\\u{202E}name"))["structuredContent"]
        await node.close()
    assert answer["name"] == "odd\\u{202E}name"
    assert answer["isExactMatch"] is True


async def test_all_data_of_one_name_is_shown_and_only_its_beginning_in_a_list(call: Call) -> None:
    whole = (await call("get_name", name="big-data"))["structuredContent"]["data"]
    (row,) = (await call("search_names", query="big-data"))["structuredContent"]["names"]
    assert len(whole) > 3900
    assert "more characters" not in whole
    assert row["data"] == f"{whole[:120]}… [{len(whole) - 120} more characters]"


@pytest.mark.parametrize("limit", [1, 7, 20, 22, 44, 99, 100])
async def test_pages_reach_the_last_name(call: Call, limit: int) -> None:
    rows = await every_row(call, "search_names", "names", limit=limit)
    assert [row["name"] for row in rows] == [row["name"] for row in sample_chain()["names"]]


@pytest.mark.parametrize("limit", [3, 11, 22, 100])
async def test_pages_reach_the_last_name_of_an_owner(call: Call, limit: int) -> None:
    rows = await every_row(call, "search_names", "names", owner=CHLOE, limit=limit)
    assert [row["name"] for row in rows] == [row["name"] for row in sample_chain()["namesByAddress"][CHLOE]]
    assert all(row["owner"] == CHLOE for row in rows)


async def test_names_are_found_by_a_part_of_them_in_any_case(call: Call) -> None:
    rows = await every_row(call, "search_names", "names", query="ALICE", limit=2)
    assert [row["name"] for row in rows] == ["Alice Renamed", "alice-test", "alice.third"]


async def test_names_are_found_by_their_beginning(call: Call) -> None:
    rows = await every_row(call, "search_names", "names", query="page", prefix=True, limit=6)
    assert len(rows) == 20
    assert (await call("search_names", query="age", prefix=True))["structuredContent"]["names"] == []


async def test_wildcards_are_explained(call: Call) -> None:
    answer = (await call("search_names", query="p_ge", limit=3))["structuredContent"]
    assert len(answer["names"]) == 3
    assert answer["notes"][0] == "In query, % matches any text and _ any character."


async def test_names_for_sale_have_exact_prices(call: Call) -> None:
    rows = await every_row(call, "search_names", "names", for_sale=True, limit=1)
    assert [(row["name"], row["salePrice"], row["unit"]) for row in rows] == [
        ("100%real", "55.00000000", "QORT"),
        ("bob-for-sale", "33.33000000", "QORT"),
    ]


async def test_an_address_without_names_has_an_empty_list(call: Call) -> None:
    answer = (await call("search_names", owner=NOBODY))["structuredContent"]
    assert answer["names"] == []
    assert answer["page"] == {"returned": 0}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"query": "a", "after": 1794770660100}, "Invalid after."),
        ({"sort": "newest", "after": 1794770660100}, "Invalid after."),
        ({"sort": "oldest"}, "Invalid sort."),
        ({"since": "yesterday"}, "Invalid since."),
        ({"prefix": True}, "Invalid prefix."),
        ({"query": ""}, "Invalid query."),
        ({"owner": WRONG_CHECKSUM}, "Invalid Qortal address."),
        ({"limit": 0}, "Invalid limit."),
        ({"offset": -1}, "Invalid offset."),
        ({"name": "bob"}, "Unknown argument name."),
    ],
)
async def test_searches_that_make_no_sense_are_refused(
    call: Call, arguments: dict[str, object], sentence: str
) -> None:
    result = await call("search_names", **arguments)
    assert result["content"][0]["text"].startswith(sentence)
    assert result["_meta"]["qortal-mcp/error"]["code"] == "INVALID_ARGUMENT"


async def test_every_question_about_names_is_bounded() -> None:
    async with FaultyNode() as watched:
        node = Node.at([watched.url])
        call = caller(make_server(node, toolsets="names"))
        for arguments in ({}, {"query": "a"}, {"owner": ALICE}, {"for_sale": True}, {"limit": 5000}):
            await call("search_names", **arguments)
        await node.close()
    lists = [target for target in watched.asked if target.startswith("/names") and "limit=" in target]
    assert len(lists) == 5
    assert all("limit=21" in target or "limit=100" in target for target in lists)


async def test_a_default_page_is_small(call: Call) -> None:
    for arguments in ({}, {"query": "a"}, {"owner": CHLOE}):
        text = (await call("search_names", **arguments))["content"][0]["text"]
        assert len(text.encode()) <= 8 * 1024


async def test_names_of_old_still_work(call: Call) -> None:
    assert (await call("get_name_info", name="Bob"))["structuredContent"]["owner"] == BOB
    assert (await call("get_primary_name", address=BOB))["structuredContent"]["primaryName"] == "Bob"
    owned = (await call("get_names_by_address", address=BOB, limit=1))["structuredContent"]
    assert [row["name"] for row in owned["names"]] == ["Bob"]
    newest = (await call("list_names", limit=1, reverse=True))["structuredContent"]
    assert newest["names"][0]["name"] == "日本語の名前"
    changed = (await call("list_names", after=1794770660100))["structuredContent"]["names"]
    assert all(max(row["registered"], row.get("updated", 0)) > 1794770660100 for row in changed)
    assert (await call("list_names_for_sale"))["structuredContent"]["page"] == {"returned": 2}


async def test_the_price_of_a_sale_that_is_over_is_not_told(call: Call) -> None:
    answer = (await call("get_name", name="frank-sold"))["structuredContent"]
    assert (answer["isForSale"], answer["salePrice"]) == (False, None)
    assert "unit" not in answer
    row = (await call("search_names", query="frank-sold"))["structuredContent"]["names"][0]
    assert row["isForSale"] is False
    assert not {"salePrice", "unit"} & row.keys()
