"""What callers may write in place of an address and of a time: `@alice`, `7d`."""

import json
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.tools import TOOLSETS, load
from qortal_mcp.server.dispatch import Server

from .conftest import Call, caller
from .outcomes import answer_of, code_of, error_of
from .told_node import ToldNode
from .world import ALICE, BOB

TIP_MS = 1_794_776_745_315
WEEK_BEFORE = "2026-11-08T21:05:45.315Z"


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="all")


@pytest.mark.promise(
    "Data of the chain",
    "Where an address is taken, @ and a registered name stand for the owner's address, and the answer says which it is.",
)
async def test_a_name_stands_for_the_address_of_its_owner(call: Call) -> None:
    by_name, by_address = (
        await answer_of(call, "get_balance", address="@Bob"),
        await answer_of(call, "get_balance", address=BOB),
    )
    assert by_name["notes"] == [f"@Bob is {BOB}.", *by_address["notes"]]
    assert {**by_name, "notes": by_address["notes"]} == by_address


async def test_a_look_alike_is_said_to_be_one(call: Call) -> None:
    assert (await answer_of(call, "get_balance", address="@b0b"))["notes"][
        0
    ] == f"@b0b is {BOB}, who owns Bob."


async def test_names_that_no_path_can_hold_are_found_too(call: Call) -> None:
    assert (await answer_of(call, "get_balance", address="@slash/name"))["address"] == BOB


async def test_hidden_characters_may_be_written_as_they_are_shown(call: Call) -> None:
    answer = await answer_of(call, "get_balance", address="@\\u{202E}alice-test")
    assert answer["address"] == ALICE
    assert all("\u202e" not in note for note in answer["notes"])


@pytest.mark.parametrize("owner", ["", "Bob", "../admin/stop", "Q" * 34])
async def test_an_owner_that_is_no_address_is_a_mistake_of_the_node(owner: str) -> None:
    node = Node(
        [ToldNode(lambda target: {"name": "Bob", "owner": owner} if target == "/names/Bob" else None)]
    )
    result = await caller(make_server(node, toolsets="all"))("get_minting_profile", address="@Bob")
    await node.close()
    assert code_of(result) == "NODE_ERROR"


async def test_several_names_in_a_list_are_each_resolved(call: Call) -> None:
    answer = await answer_of(call, "list_holders", asset_id=0, addresses=["@Bob", ALICE])
    assert {row["address"] for row in answer["holders"]} == {ALICE, BOB}


async def test_the_next_page_is_asked_for_by_address(call: Call) -> None:
    answer = await answer_of(call, "search_transactions", address="@Bob", limit=1)
    assert answer["page"]["next"]["address"] == BOB
    following = await answer_of(call, "search_transactions", **answer["page"]["next"])
    assert following["transactions"] != answer["transactions"]


async def test_a_name_that_nobody_registered_is_not_found(call: Call) -> None:
    result = await call("get_balance", address="@nobody-has-this")
    assert code_of(result) == "NOT_FOUND"
    assert result["content"][0]["text"] == "Name not found."


@pytest.mark.parametrize("address", ["Bob", "@", "bob@", "@" + "x" * 101, "", "＠Bob", 5])
async def test_anything_else_stays_an_invalid_address(call: Call, address: Any) -> None:
    assert (await error_of(call, "get_balance", address=address)).startswith("Invalid Qortal address.")


def accounts() -> list[tuple[str, str]]:
    """Every argument of a tool that is an account, found by its description."""
    return [
        (tool.name, name)
        for tool in load(tuple(TOOLSETS))
        for name, schema in tool.definition.inputSchema["properties"].items()
        if "address" in json.dumps(schema).lower() and tool.name not in {"validate_address", "read_core"}
        if "ontract" not in schema.get("description", "")
    ]


NEEDED: dict[str, dict[str, Any]] = {
    "list_holders": {"asset_id": 0},
    "list_group_events": {"kind": "invites"},
    "get_poll": {"name": "Best fruit?"},
}


def is_list(tool: str, argument: str) -> bool:
    return argument in {"involving", "addresses"} and tool != "list_reward_shares"


@pytest.mark.parametrize(("tool", "argument"), accounts())
async def test_every_argument_that_is_an_account_takes_a_name(call: Call, tool: str, argument: str) -> None:
    value = ["@nobody-has-this", ALICE] if is_list(tool, argument) else "@nobody-has-this"
    assert await error_of(call, tool, **{argument: value, **NEEDED.get(tool, {})}) == "Name not found."


WORDS = "abandon ability able about above absent absorb abstract absurd abuse access accident"


@pytest.mark.promise(
    "Read-only and secrets",
    "An argument that looks like a key, a seed phrase or another secret is refused, never sent to the node and never repeated.",
)
@pytest.mark.parametrize(("tool", "argument"), accounts())
@pytest.mark.parametrize(
    "secret",
    [
        pytest.param(WORDS, id="words"),
        pytest.param("5HueCGU8rMjxEXxiPuD5BDku4MkFqeZyd4dZ1jvhTVqvbTLvyTJ", id="wif"),
        pytest.param("4f3c2b1a" * 8, id="hex"),
        pytest.param("7kuT1dfMhUysWcLEV1eYk8ir7RTjszHmsUdrrPQNThcv", id="base58"),
    ],
)
async def test_a_secret_is_never_sent_as_a_name(tool: str, argument: str, secret: str) -> None:
    named = f"@{secret}"
    pieces = [f"@{WORDS.partition(' absorb')[0]}", f"@absorb{WORDS.partition(' absorb')[2]}"]
    for given in ([named, ALICE], [ALICE, named], pieces) if is_list(tool, argument) else (named,):
        source = ToldNode()
        server = make_server(Node([source]), toolsets="all")
        result = await caller(server)(tool, **{argument: given, **NEEDED.get(tool, {})})
        assert code_of(result) == "REFUSED"
        assert secret[:20] not in json.dumps(result)
        assert not source.asked


@pytest.mark.parametrize("written", ["7d", "1w", "168h", "7D", " 7d "])
async def test_a_length_of_time_counts_back_from_the_newest_block(call: Call, written: str) -> None:
    relative = await answer_of(call, "list_completed_trades", since=written, limit=1)
    absolute = await answer_of(call, "list_completed_trades", since=WEEK_BEFORE, limit=1)
    assert relative == absolute


async def test_the_next_page_counts_from_the_same_time(call: Call) -> None:
    answer = await answer_of(call, "list_completed_trades", since="7d", limit=1)
    assert answer["page"]["next"]["since"] == WEEK_BEFORE


async def test_a_block_of_so_long_ago_is_found(call: Call) -> None:
    answer = await answer_of(call, "get_block", time="1h")
    assert answer["timestamp"] <= TIP_MS - 3_600_000
    assert (await answer_of(call, "get_block", height=answer["height"] + 1))["timestamp"] > TIP_MS - 3_600_000


@pytest.mark.parametrize("written", ["7", "d", "7 d", "7m", "-7d", "1.5d", "123456d", "7days"])
async def test_other_lengths_are_refused_with_the_forms_there_are(call: Call, written: str) -> None:
    text = await error_of(call, "list_completed_trades", since=written)
    assert text.startswith("Invalid since.")
    assert text.endswith("or 24h, 7d, 2w, 1y for so long ago.")


async def test_longer_ago_than_1970_is_the_beginning(call: Call) -> None:
    answer = await answer_of(call, "list_completed_trades", since="99999y", limit=1)
    assert answer["trades"] == (await answer_of(call, "list_completed_trades", limit=1))["trades"]
