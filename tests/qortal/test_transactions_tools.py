"""Transactions as a client sees them: one, many, payments, and what they cost."""

import json
from typing import Any

import pytest

from qortal_mcp.qortal.node.node import Node
from qortal_mcp.qortal.sample.chain import sample_chain
from qortal_mcp.qortal.server import make_server
from qortal_mcp.qortal.words import base58
from qortal_mcp.qortal.words.transaction_types import TRANSACTION_TYPES
from qortal_mcp.text import printable

from .conftest import Call, caller
from .faulty_node import FaultyNode, replies
from .outcomes import answer_of, error_of
from .pages import every_row
from .world import ALICE, ALICE_KEY, BOB, CONTRACT, EMPTY, HEIGHT, NOBODY, WRONG_CHECKSUM

CONFIRMED: list[dict[str, Any]] = sample_chain()["transactions"]
UNCONFIRMED: list[dict[str, Any]] = sample_chain()["unconfirmed"]
PENDING: list[dict[str, Any]] = sample_chain()["pending"]
BLOCKS: list[dict[str, Any]] = sample_chain()["blocks"]
ERIN = "QVD92gWZnvjdT4Y8RksZW414JPpe6XK2bq"
PAYMENT = next(row for row in CONFIRMED if row["type"] == "PAYMENT")


@pytest.fixture
async def call(node: Node) -> Call:
    return caller(make_server(node, toolsets="transactions"))


def signatures(rows: list[dict[str, Any]]) -> list[str]:
    return [row["signature"] for row in rows]


@pytest.mark.parametrize("kind", sorted({row["type"] for row in CONFIRMED}))
async def test_every_kind_keeps_its_own_members(call: Call, kind: str) -> None:
    row = next(row for row in CONFIRMED if row["type"] == kind)
    found = await answer_of(call, "get_transaction", signature=row["signature"])
    creators_key = {name for name in row if name.endswith("PublicKey")} - {"rewardSharePublicKey"}
    for name, value in row.items():
        # The key of who made it has one name here, and the key to QDN data is left out.
        if name in creators_key:
            assert found["creatorPublicKey"] == value
        elif name != "secret" and len(str(value)) < 1000:
            assert found[name] == (printable(value) if isinstance(value, str) else value), name


@pytest.mark.promise("Data of the chain", "Times come both in milliseconds and in ISO 8601.")
async def test_a_transaction_has_exact_amounts_with_a_unit_and_both_times(call: Call) -> None:
    found = await answer_of(call, "get_transaction", signature=PAYMENT["signature"])
    assert found["amount"] == PAYMENT["amount"]
    assert found["unit"] == "QORT"
    assert found["fee"] == "0.01000000"
    assert found["timestamp"] == PAYMENT["timestamp"]
    assert found["time"] == "2026-11-15T19:12:24.692Z"


async def test_other_assets_are_the_unit_of_their_amounts(call: Call) -> None:
    for kind, unit in (("TRANSFER_ASSET", "GOLD"), ("CREATE_ASSET_ORDER", "GOLD"), ("BUY_NAME", "QORT")):
        row = next(row for row in CONFIRMED if row["type"] == kind)
        assert (await answer_of(call, "get_transaction", signature=row["signature"]))["unit"] == unit


async def test_unconfirmed_transactions_are_found_and_messages_read(call: Call) -> None:
    found = await answer_of(call, "get_transaction", signature=UNCONFIRMED[1]["signature"])
    assert "blockHeight" not in found
    assert found["text"]
    assert found["data"] == UNCONFIRMED[1]["data"]


@pytest.mark.promise(
    "Text of strangers",
    "Hidden characters in names, messages and other texts are shown as `\\u{XXXX}` in every answer.",
)
async def test_hidden_characters_in_a_transaction_are_shown(call: Call) -> None:
    row = next(row for row in CONFIRMED if row.get("name") == "heidi-hidden")
    assert "\u202e" in row["data"]
    result = await call("get_transaction", signature=row["signature"])
    assert "\u202e" not in result["content"][0]["text"]
    assert "\\u{202E}" in result["structuredContent"]["data"]


async def test_a_transaction_is_found_by_the_reference_it_carries(call: Call) -> None:
    row = CONFIRMED[400]
    found = await answer_of(call, "get_transaction", reference=row["reference"])
    assert found["reference"] == row["reference"]
    assert found["notes"][0].startswith("Several transactions may have this reference")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Invalid arguments. Give exactly one of signature, reference."),
        (
            {"signature": PAYMENT["signature"], "reference": PAYMENT["reference"]},
            "Invalid reference. Give exactly one of signature, reference.",
        ),
        ({"signature": "abc"}, "Invalid signature."),
        ({"signature": "../../admin/stop"}, "Invalid signature."),
        ({"signature": BLOCKS[0]["signature"]}, "Invalid signature."),
        ({"signature": "1" * 64}, "Transaction not found."),
        ({"reference": "1" * 63 + "2"}, "Transaction not found."),
        ({"reference": "0" * 87}, "Invalid reference."),
    ],
)
async def test_transactions_that_cannot_be_found_are_refused(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    assert (await error_of(call, "get_transaction", **arguments)).startswith(sentence)


def mentions(address: str, row: dict[str, Any]) -> bool:
    return address in row.values()


def of_type(*kinds: str) -> set[str]:
    return {row["signature"] for row in CONFIRMED if row["type"] in kinds}


SEARCHES: list[Any] = [
    pytest.param({}, {row["signature"] for row in CONFIRMED}, id="everything"),
    pytest.param({"types": ["payment", "AT"]}, of_type("PAYMENT", "AT"), id="types"),
    pytest.param({"types": ["DEPLOY_AT"]}, of_type("DEPLOY_AT"), id="large-records"),
    pytest.param(
        {"address": ERIN}, {row["signature"] for row in CONFIRMED if mentions(ERIN, row)}, id="address"
    ),
    pytest.param(
        {"creator": ALICE},
        {row["signature"] for row in CONFIRMED if row["creatorAddress"] == ALICE},
        id="creator-by-address",
    ),
    pytest.param(
        {"creator": ALICE_KEY},
        {row["signature"] for row in CONFIRMED if row["creatorAddress"] == ALICE},
        id="creator-by-key",
    ),
    pytest.param(
        {"creator": ALICE_KEY, "types": ["PAYMENT", "JOIN_GROUP"]},
        {
            row["signature"]
            for row in CONFIRMED
            if row["creatorAddress"] == ALICE and row["type"] in ("PAYMENT", "JOIN_GROUP")
        },
        id="creator-and-types",
    ),
    pytest.param(
        {"creator": ALICE, "address": BOB},
        {row["signature"] for row in CONFIRMED if row["creatorAddress"] == ALICE and mentions(BOB, row)},
        id="creator-and-address",
    ),
    pytest.param(
        {"group_id": 6}, {row["signature"] for row in CONFIRMED if row["txGroupId"] == 6}, id="group"
    ),
    pytest.param(
        {"from_height": 250, "heights": 10},
        {row["signature"] for row in CONFIRMED if 250 <= row["blockHeight"] < 260},
        id="heights",
    ),
    pytest.param(
        {"heights": 10},
        {row["signature"] for row in CONFIRMED if row["blockHeight"] > HEIGHT - 10},
        id="newest-heights",
    ),
    pytest.param(
        {"creator": ALICE, "from_height": 500},
        {
            row["signature"]
            for row in CONFIRMED
            if row["creatorAddress"] == ALICE and row["blockHeight"] >= 500
        },
        id="creator-and-heights",
    ),
    pytest.param(
        {"block": 256},
        {row["signature"] for row in CONFIRMED if row["blockHeight"] == 256},
        id="block-height",
    ),
    pytest.param(
        {"block": BLOCKS[0]["signature"]},
        {row["signature"] for row in CONFIRMED if row["blockHeight"] == 1},
        id="block-signature",
    ),
    pytest.param(
        {"block": "1", "types": ["GENESIS"], "address": ALICE},
        {
            row["signature"]
            for row in CONFIRMED
            if row["blockHeight"] == 1 and row["type"] == "GENESIS" and mentions(ALICE, row)
        },
        id="block-and-filters",
    ),
    pytest.param({"status": "UNCONFIRMED"}, {row["signature"] for row in UNCONFIRMED}, id="unconfirmed"),
    pytest.param(
        {"status": "UNCONFIRMED", "address": ALICE, "types": ["MESSAGE"]},
        {row["signature"] for row in UNCONFIRMED if mentions(ALICE, row)},
        id="unconfirmed-of-address",
    ),
    pytest.param({"status": "PENDING"}, {row["signature"] for row in PENDING}, id="pending"),
    pytest.param({"status": "PENDING", "group_id": 3}, set(), id="pending-in-another-group"),
    pytest.param(
        {"status": "PENDING", "creator": ALICE},
        {row["signature"] for row in PENDING},
        id="pending-of-creator",
    ),
    pytest.param({"status": "BOTH"}, {row["signature"] for row in (*CONFIRMED, *UNCONFIRMED)}, id="both"),
    pytest.param(
        {"status": "BOTH", "address": BOB},
        {row["signature"] for row in (*CONFIRMED, *UNCONFIRMED) if mentions(BOB, row)},
        id="both-of-address",
    ),
    pytest.param(
        {"status": "BOTH", "creator": ALICE, "types": ["MESSAGE", "PAYMENT"]},
        {
            row["signature"]
            for row in (*CONFIRMED, *UNCONFIRMED)
            if row["creatorAddress"] == ALICE and row["type"] in ("MESSAGE", "PAYMENT")
        },
        id="both-of-creator-and-types",
    ),
    pytest.param({"address": NOBODY}, set(), id="nobody"),
    pytest.param({"creator": NOBODY}, set(), id="creator-nobody"),
]


@pytest.mark.promise("Tools and their results", "Following `page.next` reaches every record once.")
@pytest.mark.parametrize("limit", [3, 20, 100])
@pytest.mark.parametrize(("arguments", "wanted"), SEARCHES)
async def test_pages_of_any_search_reach_the_last_transaction(
    call: Call, arguments: dict[str, Any], wanted: set[str], limit: int
) -> None:
    if limit == 3 and len(wanted) > 100:
        limit = 33
    found = signatures(await every_row(call, "search_transactions", "transactions", limit=limit, **arguments))
    assert len(found) == len(set(found))
    assert set(found) == wanted


@pytest.mark.parametrize("arguments", [case.values[0] for case in SEARCHES])
async def test_a_default_page_is_small(call: Call, arguments: dict[str, Any]) -> None:
    result = await call("search_transactions", **arguments)
    assert len(result["content"][0]["text"].encode()) <= 8 * 1024


@pytest.mark.parametrize(
    "arguments", [{}, {"address": ALICE}, {"types": ["PAYMENT"]}, {"creator": BOB}, {"block": 256}]
)
async def test_the_newest_come_first_unless_told_otherwise(call: Call, arguments: dict[str, Any]) -> None:
    newest = await answer_of(call, "search_transactions", **arguments)
    oldest = await every_row(call, "search_transactions", "transactions", **arguments, reverse=False)
    down = [row["timestamp"] for row in newest["transactions"]]
    up = [row["timestamp"] for row in oldest]
    assert down == sorted(down, reverse=True)
    assert up == sorted(up)
    assert up[-1] == down[0]


async def test_unconfirmed_ones_of_an_address_come_before_the_confirmed(call: Call) -> None:
    found = await answer_of(call, "search_transactions", address=BOB, status="BOTH", limit=4)
    assert ["blockHeight" in row for row in found["transactions"]] == [False, False, True, True]


async def test_a_listed_transaction_is_short_and_says_what_was_cut(call: Call) -> None:
    found = await answer_of(call, "search_transactions", types=["DEPLOY_AT"], limit=1)
    (row,) = found["transactions"]
    assert row["creationBytes"].endswith("more characters]")
    assert len(row["creationBytes"]) < 60
    assert row["unit"] == "QORT"
    assert "reference" not in row


async def test_services_are_named(call: Call) -> None:
    found = await answer_of(call, "search_transactions", types=["ARBITRARY"], limit=100)
    assert {"JSON", "WEBSITE"} <= {row["serviceName"] for row in found["transactions"]}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"address": WRONG_CHECKSUM}, "Invalid Qortal address."),
        ({"creator": "xyz"}, "Invalid creator."),
        (
            {"creator": WRONG_CHECKSUM},
            "Invalid creator. Give an address, a public key or @ and a registered name.",
        ),
        ({"types": ["NOPE"]}, "Invalid types. Types: GENESIS, PAYMENT,"),
        ({"types": []}, "Invalid types."),
        ({"types": "NOPE"}, "Invalid types."),
        ({"group_id": -1}, "Invalid group_id."),
        ({"block": "newest"}, "Invalid block. Give a height or a block signature."),
        ({"block": 0}, "Invalid block."),
        ({"block": 597}, "Block not found."),
        ({"block": "1" * 128}, "Block not found."),
        ({"block": 5, "from_height": 5}, "Invalid block."),
        ({"block": 5, "status": "BOTH"}, "Invalid status."),
        ({"from_height": 5, "status": "UNCONFIRMED"}, "Invalid status."),
        ({"heights": 5, "status": "PENDING"}, "Invalid status."),
        ({"status": "MAYBE"}, "Invalid status."),
        ({"limit": 0}, "Invalid limit."),
        ({"offset": -1}, "Invalid offset."),
    ],
)
async def test_bad_searches_are_refused(call: Call, arguments: dict[str, Any], sentence: str) -> None:
    assert (await error_of(call, "search_transactions", **arguments)).startswith(sentence)


@pytest.mark.parametrize(
    ("tool", "arguments", "count"),
    [
        ("list_transactions_by_block", {"signature": BLOCKS[255]["signature"], "limit": 100}, 24),
        ("list_transactions_by_address", {"address": CONTRACT}, 1),
        ("list_transactions_by_creator", {"public_key": ALICE_KEY, "confirmation_status": "UNCONFIRMED"}, 2),
        ("search_transactions", {"tx_types": ["BUY_NAME"], "confirmation_status": "BOTH"}, 1),
        ("search_transactions", {"start_block": 256, "block_limit": 1, "limit": 50}, 24),
    ],
)
async def test_old_names_of_searches_still_work(
    call: Call, tool: str, arguments: dict[str, Any], count: int
) -> None:
    assert len((await answer_of(call, tool, **arguments))["transactions"]) == count


@pytest.mark.parametrize(
    ("tool", "name"),
    [("get_transaction_by_signature", "signature"), ("get_transaction_by_reference", "reference")],
)
async def test_old_names_for_one_transaction_still_work(call: Call, tool: str, name: str) -> None:
    assert (await answer_of(call, tool, **{name: CONFIRMED[300][name]}))[name] == CONFIRMED[300][name]


def payments(**wanted: str) -> list[str]:
    return [
        row["signature"]
        for row in CONFIRMED
        if row["type"] == "PAYMENT" and all(row[name] == value for name, value in wanted.items())
    ][::-1]


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"sender": ALICE, "recipient": BOB}, payments(creatorAddress=ALICE, recipient=BOB)),
        ({"recipient": BOB}, payments(recipient=BOB)),
        ({"sender": ALICE}, payments(creatorAddress=ALICE)),
        ({"sender": ALICE, "amount": "12.5"}, payments(creatorAddress=ALICE, amount="12.50000000")),
        ({"recipient": BOB, "amount": 10}, payments(recipient=BOB, amount="10.00000000")),
        ({"sender": BOB, "status": "UNCONFIRMED"}, []),
        ({"sender": NOBODY}, []),
    ],
)
async def test_payments_are_found_to_the_last(
    call: Call, arguments: dict[str, Any], wanted: list[str]
) -> None:
    rows = await every_row(call, "find_payments", "payments", **arguments, limit=4)
    assert signatures(rows) == wanted
    assert all(row["unit"] == "QORT" and row["time"].endswith("Z") for row in rows)


async def test_payments_can_be_limited_to_new_blocks(call: Call) -> None:
    found = await answer_of(call, "find_payments", sender=ALICE, from_height=590)
    assert all(row["blockHeight"] >= 590 for row in found["payments"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({}, "Invalid arguments. Give at least one of sender and recipient."),
        ({"sender": "bob"}, "Invalid Qortal address."),
        ({"sender": ALICE, "amount": "1e2"}, "Invalid amount."),
        ({"sender": ALICE, "amount": 12.5}, "Invalid amount."),
        ({"sender": ALICE, "amount": "0.000000001"}, "Invalid amount."),
        ({"sender": ALICE, "from_height": 5, "status": "BOTH"}, "Invalid status."),
    ],
)
async def test_bad_searches_for_payments_are_refused(
    call: Call, arguments: dict[str, Any], sentence: str
) -> None:
    assert (await error_of(call, "find_payments", **arguments)).startswith(sentence)


async def test_a_node_too_old_for_payments_says_so() -> None:
    async with FaultyNode() as old:
        old.behaviours["/transactions/payments/between"] = replies("<html>", 404, "text/html")
        node = Node.at([old.url])
        error = await error_of(
            caller(make_server(node, toolsets="transactions")), "find_payments", sender=ALICE
        )
        await node.close()
    assert error == "Not supported by this node."


@pytest.mark.parametrize(("kind", "fee"), [("PAYMENT", "0.01000000"), ("register_name", "1.25000000")])
async def test_fees_are_exact(call: Call, kind: str, fee: str) -> None:
    found = await answer_of(call, "get_fee", type=kind)
    assert (found["type"], found["fee"], found["unit"]) == (kind.upper(), fee, "QORT")


@pytest.mark.parametrize("kind", ["AIRDROP", "GENESIS", "AT", "ENABLE_FORGING", "nope", ""])
async def test_what_nobody_sends_has_no_fee(call: Call, kind: str) -> None:
    assert (await error_of(call, "get_fee", type=kind)).startswith("Invalid type.")


async def test_every_type_that_can_be_sent_has_a_fee(call: Call) -> None:
    for kind in set(TRANSACTION_TYPES) - {"AIRDROP", "GENESIS", "AT", "ENABLE_FORGING"}:
        assert (await answer_of(call, "get_fee", type=kind))["unit"] == "QORT"


async def test_who_is_left_out_of_the_json_of_a_transaction_still_takes_part(call: Call) -> None:
    row = next(row for row in CONFIRMED if row["type"] == "TRANSFER_PRIVS")
    found = await answer_of(call, "search_transactions", address=EMPTY, types=["TRANSFER_PRIVS"])
    assert signatures(found["transactions"]) == [row["signature"]]


async def test_unknown_kinds_and_broken_amounts_of_a_node_are_put_right() -> None:
    row = {
        "type": "TELEPORT",
        "timestamp": 1794769944692,
        "creatorAddress": ALICE,
        "signature": "evil\u202e",
        "fee": "0E-8",
        "amount": "-1.-50000000",
        "assetId": 7,
        "beam": [1, 2],
    }
    async with FaultyNode() as odd:
        odd.behaviours["/transactions/search"] = replies(json.dumps([row]))
        node = Node.at([odd.url])
        call = caller(make_server(node, toolsets="transactions"))
        found = await answer_of(call, "search_transactions", types=["PAYMENT"])
        await node.close()
    (shown,) = found["transactions"]
    assert shown["amount"] == "-1.50000000"
    assert shown["unit"] == "asset 7"
    assert shown["signature"] == "evil\\u{202E}"


async def test_every_list_is_asked_for_with_a_limit() -> None:
    async with FaultyNode() as node_on_wire:
        node = Node.at([node_on_wire.url])
        call = caller(make_server(node, toolsets="transactions"))
        for case in SEARCHES:
            await answer_of(call, "search_transactions", **case.values[0], limit=100)
        await node.close()
    lists = (
        "/transactions/search",
        "/transactions/unconfirmed",
        "/transactions/pending",
        "/transactions/creator",
    )
    asked = [target for target in node_on_wire.asked if target.startswith(lists)]
    assert asked
    for target in asked:
        limit = int(target.partition("limit=")[2].partition("&")[0])
        assert 1 <= limit <= 100


async def test_a_page_is_cut_at_a_record_when_records_are_huge() -> None:
    rows = [{**PAYMENT, "signature": f"{number}", "recipient": "x" * 3900} for number in range(60)]
    async with FaultyNode() as hostile:
        hostile.behaviours["/transactions/pending"] = replies(json.dumps(rows))
        node = Node.at([hostile.url])
        call = caller(make_server(node, toolsets="transactions"))
        result = await call("search_transactions", status="PENDING", limit=100)
        found = await every_row(call, "search_transactions", "transactions", status="PENDING", limit=100)
        await node.close()
    assert len(result["content"][0]["text"].encode()) <= 64 * 1024
    assert signatures(found) == [f"{number}" for number in range(60)]


async def test_chat_costs_nothing_whatever_core_names(call: Call) -> None:
    found = await answer_of(call, "get_fee", type="CHAT")
    assert found["fee"] == "0.00000000"
    assert found["notes"][0].startswith("Chat messages are free")


async def test_nothing_under_a_group_is_not_taken_for_nothing_about_it(call: Call) -> None:
    found = await answer_of(call, "search_transactions", group_id=3)
    assert found["transactions"] == []
    assert found["notes"][0].startswith("group_id finds transactions under a group's approval")


@pytest.mark.parametrize(
    ("kind", "not_reported"),
    [("TRANSFER_PRIVS", "the recipient"), ("CANCEL_GROUP_INVITE", "the group and who was invited")],
)
async def test_what_core_does_not_report_of_a_type_is_said(call: Call, kind: str, not_reported: str) -> None:
    row = next(row for row in CONFIRMED if row["type"] == kind)
    found = await answer_of(call, "get_transaction", signature=row["signature"])
    assert found["notes"][0] == f"Core does not report {not_reported} of a {kind} transaction."


CHAT_SIGNATURE = sample_chain()["chatGroups"]["3"][0]["signature"]


@pytest.mark.promise(
    "Errors", "The signature of a chat message is recognised where a transaction is asked for."
)
async def test_the_signature_of_a_chat_message_leads_to_the_chat(call: Call) -> None:
    said = await error_of(call, "get_transaction", signature=CHAT_SIGNATURE)
    assert said == (
        "Transaction not found. This is the signature of a chat message: get_chat_messages shows it."
    )


async def test_a_signature_of_nothing_is_just_not_found(call: Call) -> None:
    assert (
        await error_of(call, "get_transaction", signature=base58.encode(bytes(range(64))))
        == "Transaction not found."
    )


@pytest.mark.parametrize(
    ("arguments", "is_noted"),
    [
        ({"recipient": ALICE}, True),
        ({"sender": CONTRACT}, True),
        ({"sender": ALICE}, False),
        ({"sender": ALICE, "recipient": BOB}, False),
    ],
)
async def test_payments_that_a_contract_may_have_made_come_with_a_note(
    call: Call, arguments: dict[str, str], is_noted: bool
) -> None:
    found = await answer_of(call, "find_payments", **arguments)
    note = "Payouts of contracts, such as those of trades, are not payments; search_transactions finds them by type AT."
    assert (note in found["notes"]) is is_noted
    payouts = await answer_of(call, "search_transactions", types=["AT"], address=ALICE)
    assert {row["type"] for row in payouts["transactions"]} == {"AT"}
