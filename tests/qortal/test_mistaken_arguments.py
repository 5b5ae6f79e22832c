"""What people and models write who mean well: it is understood, or the refusal says what to do instead."""

from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.server import make_server
from qortal_mcp.server.dispatch import Server

from .conftest import Call, request
from .outcomes import answer_of, code_of, error_of
from .world import ALICE, ALICE_KEY, BOB


@pytest.fixture
def server(node: Node) -> Server:
    return make_server(node, toolsets="all")


UNDERSTOOD: list[Any] = [
    ("search_transactions", {"types": "PAYMENT"}, {"types": ["PAYMENT"]}, "types was read as a list of one."),
    ("list_holders", {"addresses": ALICE}, {"addresses": [ALICE]}, "addresses was read as a list of one."),
    (
        "get_block",
        {"height": 5, "minting": "true"},
        {"height": 5, "minting": True},
        'minting "true" was read as',
    ),
    ("get_balance", {"address": f" {ALICE} "}, {"address": ALICE}, "Blanks around address were left out."),
    ("get_trade_ledger", {"account": f"{BOB} "}, {"account": BOB}, "Blanks around account were left out."),
    ("find_payments", {"sender": ALICE, "status": "both"}, {"sender": ALICE, "status": "BOTH"}, None),
    ("list_group_events", {"kind": "BANS", "group_id": 3}, {"kind": "bans", "group_id": 3}, None),
    ("get_block", {"position": "Last"}, {"position": "last"}, None),
    ("list_app_ratings", {"service": "app"}, {"service": "APP"}, None),
]


@pytest.mark.parametrize(("tool", "written", "meant", "note"), UNDERSTOOD)
async def test_what_can_only_mean_one_thing_is_taken_for_it(
    call: Call, tool: str, written: dict[str, Any], meant: dict[str, Any], note: str | None
) -> None:
    found, wanted = await answer_of(call, tool, **written), await answer_of(call, tool, **meant)
    notes = [one for one in found["notes"] if one not in wanted["notes"]]
    assert {**found, "notes": wanted["notes"]} == wanted
    assert len(notes) == (note is not None)
    assert all(one.startswith(str(note)) for one in notes)


REFUSED: list[Any] = [
    (
        "get_account_overview",
        {"address": ALICE, "asset_ids": ["GOLD"]},
        "takes a list of 1 to 20 whole numbers.",
    ),
    ("get_chat_stats", {"involving": [ALICE]}, "involving takes a list of 2 addresses."),
    ("get_chat_stats", {"involving": ALICE}, "involving takes a list of 2 addresses."),
    ("get_balance", {"address": "alice-test"}, "For the owner of a registered name, write @ before it."),
    (
        "list_completed_trades",
        {"buyer": "alice-test"},
        "See the argument buyer. Give an address, a public key or @ and a registered name. For the owner of a registered name, write @ before it.",
    ),
    ("search_qdn", {"service": "WEBSIT"}, "No QDN service has this name or code. Nearest: WEBSITE."),
    ("search_qdn", {"service": "qqqqq"}, "No QDN service has this name or code."),
    ("get_group", {"group_id": "Open Lounge"}, "list_groups shows it next to each name."),
    ("read_core", {"endpoint": "/blocks/byheight/5"}, "Parameters in braces go into values."),
    (
        "read_core",
        {"endpoint": "/blocks/byheight/{height}"},
        "Missing argument height. values must contain height.",
    ),
    ("read_core", {"endpoint": "/blocks/last", "values": 5}, 'It takes an object, such as {"height": 5}.'),
    ("get_block", {"height": 5, "minting": "yes"}, "minting takes true or false."),
    # More than Core can count, in digits that an amount may have.
    ("list_trade_offers", {"chain": "LTC", "qort": "999999999999"}, "That is more than there can be."),
    ("find_payments", {"amount": "92233720368.54775808"}, "That is more than there can be."),
]


@pytest.mark.promise("Errors", "A refused argument says what to give instead.")
@pytest.mark.parametrize(("tool", "arguments", "end"), REFUSED)
async def test_a_refusal_says_what_to_give_instead(
    call: Call, tool: str, arguments: dict[str, Any], end: str
) -> None:
    result = await call(tool, **arguments)
    assert code_of(result) == "INVALID_ARGUMENT"
    assert result["content"][0]["text"].endswith(end)


@pytest.mark.parametrize("address", ["12345", "", "Q" * 34, "Qortal" * 6])
async def test_what_is_no_name_either_hears_the_plain_sentence(call: Call, address: str) -> None:
    assert await error_of(call, "get_balance", address=address) == "Invalid Qortal address."


async def test_a_public_key_instead_of_an_address_is_refused_with_the_way_out(call: Call) -> None:
    result = await call("get_balance", address=ALICE_KEY)
    assert code_of(result) == "REFUSED"
    text = result["content"][0]["text"]
    assert text.endswith("If this is a public key: this argument takes an address.")
    assert ALICE_KEY not in text


async def test_an_address_instead_of_a_name_is_told_where_names_of_addresses_are(call: Call) -> None:
    result = await call("get_name", name=ALICE)
    assert code_of(result) == "NOT_FOUND"
    assert result["content"][0]["text"].endswith("use search_names with owner to list its names.")


async def test_an_asset_that_does_not_exist_does_not_cost_the_overview(call: Call) -> None:
    found = await answer_of(
        call, "get_account_overview", address=ALICE, asset_ids=[3, 999], include_zero=True
    )
    assert [row["assetId"] for row in found["assetBalances"]] == [0, 3]
    assert found["notes"][0] == "There is no asset 999."


UNKNOWN_TOOLS = [
    ("get_balence", "Unknown tool: get_balence. Did you mean get_balance?"),
    ("nope", "Unknown tool: nope"),
    ("get_balance" * 20, None),
]


@pytest.mark.parametrize(("name", "message"), UNKNOWN_TOOLS)
async def test_a_tool_that_does_not_exist_is_answered_with_those_that_come_near(
    server: Server, name: str, message: str | None
) -> None:
    error = (await request(server, "tools/call", {"name": name, "arguments": {}}))["error"]
    assert error["code"] == -32602
    assert message is None or error["message"] == message
    assert len(error["message"]) < 200


@pytest.mark.parametrize("name", ["get_chat_stats", "count_chat_messages"])
async def test_a_tool_that_is_off_says_with_which_toolset_it_comes(node: Node, name: str) -> None:
    error = (await request(make_server(node), "tools/call", {"name": name, "arguments": {}}))["error"]
    assert error["code"] == -32602
    assert error["message"].startswith(f"Unknown tool: {name}. Its toolset is off;")
    assert error["message"].endswith("--toolsets +chat.")
